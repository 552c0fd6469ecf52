// The build statements of a manifest that hone-plan wrote, read back: for what asks about edges without planning again.
#pragma once

#include <string_view>
#include <vector>

#include "base/result.h"
#include "pipeline/ninja_writer.h"

namespace hone::pipeline {

// In their order; paths plain, values of bindings raw. Knows what NinjaWriter writes, not all that Ninja reads:
// kInvalid with the line's number for a statement that is cut short.
Result<std::vector<NinjaBuild>> ReadBuilds(std::string_view manifest);

}  // namespace hone::pipeline
