// Asks Ninja what it would do, and why: `ninja -n -v -d explain TARGET`. Ninja has no other way to tell; its sentences
// (1.10 to 1.12) are known here and nowhere else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hone::pipeline {

enum class DirtyKind {
  kMissing,   // the output is not there
  kNewer,     // `input` is newer than the output was when it was made
  kCommand,   // it was made by another command
  kUnlogged,  // Ninja's log does not know it
};

struct Explanation {
  std::string output;
  DirtyKind kind = DirtyKind::kMissing;
  std::string input;  // of kNewer: the newest
};

// The reasons in Ninja's output, in its order. That an input is dirty is not a reason of its own and is left out.
std::vector<Explanation> ParseExplanations(std::string_view text);

// The commands that it would run, in its order: the lines that are nothing else. REQUIRES: NINJA_STATUS was empty.
std::vector<std::string> ParseCommands(std::string_view text);

// The words of a command as hone-plan writes them (ninja_writer.h: ShellQuote), without its `exec` and
// `$HONE_LAUNCHER`. Empty if it is not such a command: one that a shell would have to expand.
std::vector<std::string> SplitCommand(std::string_view command);

}  // namespace hone::pipeline
