#include "pipeline/ninja_explain.h"

#include <optional>

#include "base/text.h"

namespace hone::pipeline {
namespace {

constexpr std::string_view kExplain = "ninja explain: ";

// The text between `before` and `after` in `line`, if it begins with the one and contains the other.
std::optional<std::string> Between(std::string_view line, std::string_view before, std::string_view after) {
  if (line.substr(0, before.size()) != before) return std::nullopt;
  line.remove_prefix(before.size());
  if (after.empty()) return std::string(line);
  const size_t end = line.rfind(after);
  if (end == std::string_view::npos) return std::nullopt;
  return std::string(line.substr(0, end));
}

// "Y (17 vs 18)" -> "Y"; older versions of Ninja have no times.
std::string WithoutTimes(std::string_view text) {
  const size_t open = text.rfind(" (");
  if (open != std::string_view::npos && text.back() == ')') text = text.substr(0, open);
  return std::string(text);
}

std::optional<Explanation> ParseLine(std::string_view line) {
  constexpr std::string_view kNewer = " older than most recent input ";
  for (const std::string_view before : {"output ", "restat of output ", "recorded mtime of "}) {
    const auto output = Between(line, before, kNewer);
    if (!output) continue;
    const size_t at = line.rfind(kNewer) + kNewer.size();
    return Explanation{*output, DirtyKind::kNewer, WithoutTimes(line.substr(at))};
  }
  for (const std::string_view after : {" of phony edge with no inputs doesn't exist", " doesn't exist"}) {
    if (auto output = Between(line, "output ", after)) return Explanation{*output, DirtyKind::kMissing, ""};
  }
  if (auto output = Between(line, "command line changed for ", ""))
    return Explanation{*output, DirtyKind::kCommand, ""};
  if (auto output = Between(line, "command line not found in log for ", ""))
    return Explanation{*output, DirtyKind::kUnlogged, ""};
  return std::nullopt;
}

}  // namespace

std::vector<Explanation> ParseExplanations(std::string_view text) {
  std::vector<Explanation> found;
  for (const std::string& line : Split(std::string(text), '\n')) {
    if (!StartsWith(line, std::string(kExplain))) continue;
    if (auto explanation = ParseLine(std::string_view(line).substr(kExplain.size()))) found.push_back(*explanation);
  }
  return found;
}

std::vector<std::string> ParseCommands(std::string_view text) {
  std::vector<std::string> commands;
  for (const std::string& line : Split(std::string(text), '\n')) {
    if (!Trim(line).empty() && !StartsWith(line, "ninja: ") && !StartsWith(line, std::string(kExplain))) {
      commands.push_back(line);
    }
  }
  return commands;
}

std::vector<std::string> SplitCommand(std::string_view command) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  for (size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (c == ' ') {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else if (c == '\'') {
      const size_t end = command.find('\'', i + 1);
      if (end == std::string_view::npos) return {};
      word += command.substr(i + 1, end - i - 1);
      in_word = true;
      i = end;
    } else if (c == '\\' && i + 1 < command.size()) {
      word += command[++i];
      in_word = true;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_word) words.push_back(std::move(word));
  if (words.empty() || words[0] != "exec") return {};
  words.erase(words.begin());
  if (!words.empty() && words[0] == "$HONE_LAUNCHER") words.erase(words.begin());
  return words;
}

}  // namespace hone::pipeline
