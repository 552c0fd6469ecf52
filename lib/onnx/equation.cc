#include "onnx/equation.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/text.h"

namespace hone::onnx {
namespace {

constexpr int kEllipsis = 256;  // above all letters: the last of its axes; + 1 the one before it
constexpr const char* kDots = "...";

bool IsLetter(char ch) { return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z'); }

// One tensor's labels, of which an ellipsis stands for `further` axes.
Result<Labels> ParseTerm(const std::string& term, size_t further) {
  const Status wrong = Status::Invalid("its equation must be letters, `...`, commas and one `->`");
  if (const size_t dots = term.find(kDots);
      dots != std::string::npos && term.find(kDots, dots + 3) != std::string::npos) {
    return wrong;  // two of them would stand for more axes than there are
  }
  Labels labels;
  for (size_t i = 0; i < term.size(); ++i) {
    if (term.compare(i, 3, kDots) == 0) {
      for (size_t axis = further; axis-- > 0;) labels.push_back(kEllipsis + static_cast<int>(axis));
      i += 2;
    } else if (IsLetter(term[i])) {
      labels.push_back(term[i]);
    } else {
      return wrong;
    }
  }
  return labels;
}

// The axes that stand in one operand alone, behind those of ellipses.
Labels UsualOutput(const std::vector<Labels>& operands, size_t further) {
  std::map<int, int> count;
  for (const Labels& labels : operands) {
    for (int label : labels) ++count[label];
  }
  Labels output;
  for (size_t axis = further; axis-- > 0;) output.push_back(kEllipsis + static_cast<int>(axis));
  for (const auto& [label, times] : count) {
    if (label < kEllipsis && times == 1) output.push_back(label);
  }
  return output;
}

}  // namespace

Result<Equation> ParseEquation(const std::string& text, const std::vector<size_t>& ranks) {
  std::string plain = text;
  std::erase(plain, ' ');
  const size_t arrow = plain.find("->");
  const std::vector<std::string> terms = Split(std::string_view(plain).substr(0, arrow), ',');
  if (terms.size() != ranks.size()) {
    return Status::Invalid(fmt::format("its equation is of {} operands, it has {}", terms.size(), ranks.size()));
  }
  Equation equation;
  size_t most = 0;  // axes of an ellipsis
  for (size_t i = 0; i < terms.size(); ++i) {
    const auto letters = static_cast<size_t>(std::count_if(terms[i].begin(), terms[i].end(), IsLetter));
    const bool open = terms[i].find(kDots) != std::string::npos;
    if (letters > ranks[i] || (!open && letters != ranks[i])) {
      return Status::Invalid(fmt::format("operand {} has {} dimensions, its equation names {}", i, ranks[i], letters));
    }
    most = std::max(most, ranks[i] - letters);
    HONE_ASSIGN_OR_RETURN(Labels labels, ParseTerm(terms[i], ranks[i] - letters));
    equation.operands.push_back(std::move(labels));
  }
  if (arrow == std::string::npos) {
    equation.output = UsualOutput(equation.operands, most);
    return equation;
  }
  const std::string result = plain.substr(arrow + 2);
  HONE_ASSIGN_OR_RETURN(equation.output, ParseTerm(result, most));
  Labels sorted = equation.output;
  std::sort(sorted.begin(), sorted.end());
  if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
    return Status::Invalid("its equation's result `" + result + "` names an axis twice");
  }
  for (int label : equation.output) {
    const bool known = std::any_of(equation.operands.begin(), equation.operands.end(), [label](const Labels& labels) {
      return std::find(labels.begin(), labels.end(), label) != labels.end();
    });
    if (!known) return Status::Invalid("its equation has an axis in the result that no operand has");
  }
  return equation;
}

}  // namespace hone::onnx
