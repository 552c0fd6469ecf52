#include "pipeline/ninja_reader.h"

#include <fmt/format.h>

#include <string>
#include <utility>

namespace hone::pipeline {
namespace {

// The next logical line from `*at`: wrapped ones joined by what stands between them without the line break.
std::string NextLine(std::string_view text, size_t* at, int* number) {
  std::string line;
  while (*at < text.size()) {
    const size_t end = std::min(text.find('\n', *at), text.size());
    std::string_view piece = text.substr(*at, end - *at);
    *at = end + 1;
    ++*number;
    if (!line.empty()) piece.remove_prefix(std::min(piece.find_first_not_of(' '), piece.size()));
    // An odd number of '$' at the end: the last one escapes the line break.
    size_t dollars = 0;
    while (dollars < piece.size() && piece[piece.size() - 1 - dollars] == '$') ++dollars;
    if (dollars % 2 == 0) return line.append(piece);
    line.append(piece.substr(0, piece.size() - 1));
  }
  return line;
}

// Paths and the separators between them: "|", "||", ":".
std::vector<std::pair<std::string, bool>> Tokens(std::string_view line) {
  std::vector<std::pair<std::string, bool>> tokens;  // text, is it a separator
  std::string word;
  bool in_word = false;
  const auto finish = [&] {
    if (in_word) tokens.emplace_back(std::move(word), false);
    word.clear();
    in_word = false;
  };
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '$' && i + 1 < line.size()) {
      word += line[++i];
      in_word = true;
    } else if (c == ' ') {
      finish();
    } else if (c == ':' || (c == '|' && !in_word)) {
      finish();
      const bool two = c == '|' && i + 1 < line.size() && line[i + 1] == '|';
      i += two;
      tokens.emplace_back(two ? "||" : std::string(1, c), true);
    } else {
      word += c;
      in_word = true;
    }
  }
  finish();
  return tokens;
}

}  // namespace

Result<std::vector<NinjaBuild>> ReadBuilds(std::string_view manifest) {
  std::vector<NinjaBuild> builds;
  size_t at = 0;
  int number = 0;
  bool in_build = false;
  while (at < manifest.size()) {
    const std::string line = NextLine(manifest, &at, &number);
    constexpr std::string_view kBuild = "build ";
    if (line.substr(0, kBuild.size()) == kBuild) {
      NinjaBuild build;
      std::vector<std::string>* to = &build.outputs;
      bool behind = false, has_rule = false;
      for (auto& [text, separator] : Tokens(std::string_view(line).substr(kBuild.size()))) {
        if (separator && text == ":") {
          behind = true;
          to = &build.inputs;
        } else if (separator) {
          to = !behind ? &build.implicit_outputs : text == "|" ? &build.implicit_inputs : &build.order_only_inputs;
        } else if (behind && !has_rule) {
          build.rule = std::move(text);
          has_rule = true;
        } else {
          to->push_back(std::move(text));
        }
      }
      if (!has_rule || build.outputs.empty()) {
        return Status::Invalid(
            fmt::format("build.ninja:{}: a build statement that is cut short; run hone-plan", number));
      }
      builds.push_back(std::move(build));
      in_build = true;
    } else if (in_build && line.substr(0, 2) == "  ") {
      const size_t equal = line.find(" = ");
      if (equal != std::string::npos)
        builds.back().bindings.emplace_back(line.substr(2, equal - 2), line.substr(equal + 3));
    } else {
      in_build = false;
    }
  }
  return builds;
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
