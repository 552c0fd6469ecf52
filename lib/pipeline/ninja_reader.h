// The build statements and commands of a manifest that hone-plan wrote, read back, so that edges can be
// examined without planning again.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "pipeline/ninja_writer.h"

namespace hone::pipeline {

// In their order; paths plain, values of bindings raw. Knows what NinjaWriter writes, not all that Ninja reads:
// kInvalid with the line's number for a statement that is cut short.
Result<std::vector<NinjaBuild>> ReadBuilds(std::string_view manifest);

// The words of a command as hone-plan writes them (ninja_writer.h: ShellQuote), without its `exec` and
// `$HONE_LAUNCHER`. Empty if it is not such a command: one that a shell would have to expand.
std::vector<std::string> SplitCommand(std::string_view command);

}  // namespace hone::pipeline
