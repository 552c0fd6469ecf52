// NinjaWriter: the text of a Ninja manifest, statement by statement. It only escapes and wraps; pipeline/plan.h decides
// what to build. Emits nothing newer than Ninja 1.10.
//
// Lines are wrapped at 120 columns where the syntax allows it: at an unescaped space of a `build` line or of a value,
// by " $" and a line indented by four. Ninja reads a wrapped value as the same value, so wrapping never makes an edge
// dirty.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::pipeline {

// Escapes `$`, space and `:` of a path for a `build` line. REQUIRES: no newline in `path` (Ninja cannot express it).
std::string EscapePath(std::string_view path);

// Escapes `$` of a literal text for the right-hand side of a variable. Do not use it for values that refer to $in, $out
// or a variable. REQUIRES: no newline in `text`.
std::string EscapeValue(std::string_view text);

// Quotes `text` as one word of a POSIX shell, if it needs quotes.
std::string ShellQuote(std::string_view text);

// The words of a command that consists of `exec` and quoted words, without `exec` and `$HONE_LAUNCHER`. Empty for other
// commands, which a shell would have to expand.
std::vector<std::string> SplitCommand(std::string_view command);

// name = value, in the order of writing; values are raw Ninja text (see EscapeValue).
using NinjaBindings = std::vector<std::pair<std::string, std::string>>;

// One `build` statement; paths are plain, and the writer escapes them.
struct NinjaBuild {
  std::vector<std::string> outputs;
  std::vector<std::string> implicit_outputs;  // after `|`, not in $out
  std::string rule;
  std::vector<std::string> inputs;
  std::vector<std::string> implicit_inputs;    // after `|`, not in $in
  std::vector<std::string> order_only_inputs;  // after `||`: must exist, their time does not matter
  NinjaBindings bindings;

  std::string Binding(std::string_view name) const;  // its value; empty if there is no such binding
};

class NinjaWriter {
 public:
  void Blank() { text_ += '\n'; }
  // Writes `text` as lines that begin with "# ", filled to the width. A word longer than a line gets its own line.
  void Comment(std::string_view text);
  void Variable(std::string_view name, std::string_view value);
  void Pool(std::string_view name, int depth);
  void Rule(std::string_view name, const NinjaBindings& bindings);
  void Build(const NinjaBuild& build);
  void Default(const std::vector<std::string>& paths);

  const std::string& text() const { return text_; }
  std::string Take() { return std::move(text_); }

 private:
  void WrappedLine(std::string_view line);
  void Bindings(const NinjaBindings& bindings);

  std::string text_;
};

}  // namespace hone::pipeline
