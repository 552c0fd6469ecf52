#include "task/candidate.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace hone {

constexpr std::string_view kAlgorithmLine = "algorithm ";

int64_t Algorithm::Number(std::string_view key, int64_t fallback) const {
  for (const auto& [name_of, value] : numbers) {
    if (name_of == key) return value;
  }
  return fallback;
}

std::string Algorithm::Text() const {
  std::vector<std::string> parts;
  for (const auto& [key, value] : numbers) parts.push_back(fmt::format("{}={}", key, value));
  return parts.empty() ? name : fmt::format("{}({})", name, Join(parts, ", "));
}

Result<Algorithm> Algorithm::Parse(const std::string& text) {
  Algorithm algorithm;
  const size_t open = text.find('(');
  algorithm.name = text.substr(0, open);
  if (open != std::string::npos && EndsWith(text, ")")) {
    for (const std::string& part : Split(text.substr(open + 1, text.size() - open - 2), ',')) {
      const std::vector<std::string> sides = Split(Trim(part), '=');
      const Result<int64_t> value = ParseInt(sides.back());
      if (value.ok()) algorithm.numbers.emplace_back(sides[0], *value);
    }
  }
  if (!algorithm.name.empty() && algorithm.Text() == text) return algorithm;
  return Status::Invalid("`{}` is not an algorithm; expected a text such as winograd(m=4)", Printable(text));
}

std::string Candidate::Text() const {
  const bool direct = algorithm == Algorithm();
  return (direct ? "" : std::string(kAlgorithmLine) + algorithm.Text() + "\n") + StepsText(steps);
}

Result<Candidate> Candidate::Parse(const std::string& text) {
  Candidate candidate;
  std::string lines = text;
  if (StartsWith(text, kAlgorithmLine)) {
    const size_t end = std::min(text.find('\n'), text.size());
    HONE_ASSIGN_OR_RETURN(candidate.algorithm,
                          Algorithm::Parse(text.substr(kAlgorithmLine.size(), end - kAlgorithmLine.size())));
    lines.erase(0, end + 1);
  }
  HONE_ASSIGN_OR_RETURN(candidate.steps, ParseSteps(lines));
  return candidate;
}

}  // namespace hone
