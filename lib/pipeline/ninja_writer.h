// NinjaWriter: the text of a Ninja manifest, statement by statement. It knows escaping and wrapping and nothing else;
// what to build is decided in pipeline/plan.h. Emits nothing newer than Ninja 1.10.
//
// Lines are wrapped at 120 columns where the syntax allows it: at an unescaped space of a `build` line or of a value,
// by " $" and a line indented by four. A wrapped value is the same value to Ninja, so wrapping never makes an edge
// dirty.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hone::pipeline {

// `$`, space and `:` of a path as Ninja wants them in a `build` line. REQUIRES: no newline in `path` (Ninja has none).
std::string EscapePath(std::string_view path);

// `$` of a literal text for the right-hand side of a variable. Values that mean to use $in, $out or a variable are not
// passed through this. REQUIRES: no newline in `text`.
std::string EscapeValue(std::string_view text);

// `text` as one word of a POSIX shell: unchanged if it needs no quotes.
std::string ShellQuote(std::string_view text);

// The words of a command that consists of `exec` and quoted words, without its `exec` and `$HONE_LAUNCHER`. Empty if it
// is not such a command: one that a shell would have to expand.
std::vector<std::string> SplitCommand(std::string_view command);

// name = value, in the order they are to be written; values are raw Ninja text (see EscapeValue).
using NinjaBindings = std::vector<std::pair<std::string, std::string>>;

// One `build` statement; paths are plain and are escaped by the writer.
struct NinjaBuild {
  std::vector<std::string> outputs;
  std::vector<std::string> implicit_outputs;  // after `|`, not in $out
  std::string rule;
  std::vector<std::string> inputs;
  std::vector<std::string> implicit_inputs;    // after `|`, not in $in
  std::vector<std::string> order_only_inputs;  // after `||`: must exist, their time does not matter
  NinjaBindings bindings;

  std::string Binding(std::string_view name) const;  // its value; empty if there is none of that name
};

class NinjaWriter {
 public:
  void Blank() { text_ += '\n'; }
  // `text` filled to the width, each line behind "# ". A word that is longer than a line stands alone.
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
