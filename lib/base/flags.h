// The last step of a tool's command line, the same for all tools. Flags are declared with CLI11 in the tool's own .cc.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace hone {

// Parses the command line into the variables bound to `app`. Nothing if all is well; else the code to exit with:
// 0 after --help or --version (printed to stdout), 2 after a mistake, which stderr names in one line that starts with
// `app`'s name and, for an unknown flag or command, suggests a known one (of the command, where it is a command's
// flag).
std::optional<int> ParseFlags(CLI::App* app, int argc, const char* const* argv);

// After parsing: nothing if all these flags were given, else the code to exit with, and a line on stderr. For flags
// that only one of the tool's modes needs; others are required() by CLI11.
std::optional<int> RequireFlags(const CLI::App& app, const std::vector<std::string>& flags);

// The same as ParseFlags for a tool that Ninja runs: also --abi, which prints `abi` and exits 0: one line for each
// version that, when it changes, makes the tool's outputs stale (work/abi/TOOL.txt; doc/internals/manifest.md).
std::optional<int> ParseFlags(CLI::App* app, int argc, const char* const* argv, const std::string& abi);

// The same for a tool whose versions tests may pretend to be others: --pretend-versions (base/version.h), which is not
// in --help, comes before `abi` is asked.
std::optional<int> ParseFlags(CLI::App* app, int argc, const char* const* argv, std::string (*abi)());

}  // namespace hone
