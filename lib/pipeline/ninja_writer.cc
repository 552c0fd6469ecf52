#include "pipeline/ninja_writer.h"

#include "base/check.h"
#include "base/text.h"

namespace hone::pipeline {
namespace {

constexpr size_t kWidth = 120;
constexpr std::string_view kIndent = "    ";

// Behind `mark`, if there are any.
void AppendPaths(const std::vector<std::string>& paths, const char* mark, std::string* line) {
  if (!paths.empty()) *line += mark;
  for (const std::string& path : paths) *line += " " + EscapePath(path);
}

std::string Escape(std::string_view text, std::string_view special) {
  HONE_CHECK(text.find('\n') == std::string_view::npos);
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) out += '$';
    out += c;
  }
  return out;
}

// The last unescaped space of `line` at or before `limit` and after `first`, else the first one after the limit, else
// npos.
size_t BreakPoint(std::string_view line, size_t first, size_t limit) {
  size_t best = std::string_view::npos;
  bool escaped = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (escaped) {
      escaped = false;
    } else if (line[i] == '$') {
      escaped = true;
    } else if (line[i] == ' ' && i > first) {
      if (i > limit && best != std::string_view::npos) return best;
      best = i;
      if (i > limit) return best;
    }
  }
  return best;
}

}  // namespace

std::string EscapePath(std::string_view path) { return Escape(path, "$ :"); }
std::string EscapeValue(std::string_view text) { return Escape(text, "$"); }

std::string ShellQuote(std::string_view text) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+./=,:@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) return std::string(text);
  return "'" + ReplaceAll(text, "'", "'\\''") + "'";
}

std::vector<std::string> SplitCommand(std::string_view command) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  const auto end_word = [&] {
    if (std::exchange(in_word, false)) words.push_back(std::exchange(word, ""));
  };
  for (size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (c == ' ') {
      end_word();
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
  end_word();
  if (words.empty() || words[0] != "exec") return {};
  words.erase(words.begin());
  if (!words.empty() && words[0] == "$HONE_LAUNCHER") words.erase(words.begin());
  return words;
}

std::string NinjaBuild::Binding(std::string_view name) const {
  for (const auto& [key, value] : bindings) {
    if (key == name) return value;
  }
  return "";
}

void NinjaWriter::WrappedLine(std::string_view line) {
  const size_t indent = line.find_first_not_of(' ');
  std::string_view prefix;
  while (prefix.size() + line.size() > kWidth) {
    // Two columns are kept for the " $" of a broken line.
    const size_t at = BreakPoint(line, prefix.empty() ? indent : 0, kWidth - 2 - prefix.size());
    if (at == std::string_view::npos) break;
    text_.append(prefix).append(line.substr(0, at)).append(" $\n");
    line.remove_prefix(at + 1);
    prefix = kIndent;
  }
  text_.append(prefix).append(line).append("\n");
}

void NinjaWriter::Bindings(const NinjaBindings& bindings) {
  for (const auto& [name, value] : bindings) WrappedLine("  " + name + " = " + value);
}

void NinjaWriter::Comment(std::string_view text) {
  std::string line = "#";
  size_t pos = 0;
  while (pos < text.size()) {
    size_t end = text.find_first_of(" \n", pos);
    if (end == std::string_view::npos) end = text.size();
    const std::string_view word = text.substr(pos, end - pos);
    pos = end + 1;
    if (word.empty()) continue;
    if (line.size() > 1 && line.size() + 1 + word.size() > kWidth) {
      text_ += line + "\n";
      line = "#";
    }
    line += ' ';
    line += word;
  }
  text_ += line + "\n";
}

void NinjaWriter::Variable(std::string_view name, std::string_view value) {
  WrappedLine(std::string(name) + " = " + std::string(value));
}

void NinjaWriter::Pool(std::string_view name, int depth) {
  text_.append("pool ").append(name).append("\n  depth = ").append(std::to_string(depth)).append("\n");
}

void NinjaWriter::Rule(std::string_view name, const NinjaBindings& bindings) {
  text_.append("rule ").append(name).append("\n");
  Bindings(bindings);
}

void NinjaWriter::Build(const NinjaBuild& build) {
  HONE_CHECK(!build.outputs.empty());
  std::string line = "build";
  AppendPaths(build.outputs, "", &line);
  AppendPaths(build.implicit_outputs, " |", &line);
  line += ": " + build.rule;
  AppendPaths(build.inputs, "", &line);
  AppendPaths(build.implicit_inputs, " |", &line);
  AppendPaths(build.order_only_inputs, " ||", &line);
  WrappedLine(line);
  Bindings(build.bindings);
}

void NinjaWriter::Default(const std::vector<std::string>& paths) {
  std::string line = "default";
  AppendPaths(paths, "", &line);
  WrappedLine(line);
}

}  // namespace hone::pipeline
