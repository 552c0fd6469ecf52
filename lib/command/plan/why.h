// hone-plan --why TARGET: why something is out of date, in words, for the whole chain behind it.
#pragma once

#include <string>

#include "command/plan/ninja_view.h"

namespace hone::command {

// The text to print, with a newline at its end; "TARGET is up to date." if nothing is to be done. Ninja lists the edges
// that are out of date (`view`). The digests in a stamp say what changed for a tuning job; file times and Ninja's log
// say which file changed for other edges. Runs nothing and changes nothing.
std::string WhyText(const std::string& work, const std::string& target, const NinjaView& view);

}  // namespace hone::command
