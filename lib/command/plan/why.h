// hone-plan --why TARGET: explains why something is out of date, for the whole chain that leads to it.
#pragma once

#include <string>

#include "command/plan/ninja_view.h"

namespace hone::command {

// The text to print, ending with a newline; "TARGET is up to date." if there is nothing to do. Ninja lists the edges
// that are out of date (`view`). For a tuning job the digests in its stamp tell what changed; for other edges file
// times and Ninja's log tell which file changed. Runs nothing and changes nothing.
std::string WhyText(const std::string& work, const std::string& target, const NinjaView& view);

}  // namespace hone::command
