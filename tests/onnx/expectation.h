// The list of ONNX's backend tests that must pass: `passed NAME` or `folded NAME` (the importer computes everything),
// one case per line, sorted by name. An operator that becomes unsupported is not a failure by itself: this list
// decides.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/text.h"

namespace hone::onnx {

using Passes = std::map<std::string, std::string>;  // "passed" or "folded", by the case's name

// Returns kInvalid, naming `path`, for a malformed line or a repeated name.
inline Result<Passes> ParsePasses(const std::string& text, const std::string& path) {
  Passes passes;
  int number = 0;
  for (const std::string& line : Split(text, '\n')) {
    ++number;
    if (line.empty()) continue;
    const std::vector<std::string> words = SplitWords(line);
    if (words.size() != 2 || (words[0] != "passed" && words[0] != "folded") ||
        !passes.emplace(words[1], words[0]).second) {
      return Status::Invalid(
          fmt::format("{}:{}: expected `passed NAME` or `folded NAME`, each name once", path, number));
    }
  }
  return passes;
}

inline std::string PassesText(const Passes& passes) {
  std::string text;
  for (const auto& [name, how] : passes) text += how + " " + name + "\n";
  return text;
}

// One line for each case of `wanted` that is not in `found`, or that ran before and is folded now.
inline std::vector<std::string> NoLonger(const Passes& wanted, const Passes& found) {
  std::vector<std::string> lines;
  for (const auto& [name, how] : wanted) {
    const auto now = found.find(name);
    if (now == found.end()) {
      lines.push_back(fmt::format("{}: {} before, does not pass any more", name, how));
    } else if (how == "passed" && now->second != how) {
      lines.push_back(name + ": ran before, is computed by the importer now");
    }
  }
  return lines;
}

}  // namespace hone::onnx
