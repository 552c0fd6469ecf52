// The list of ONNX's backend tests that must pass: `passed NAME` or `folded NAME` (the importer computes all of it), a
// line a case, in the order of names. An operator that is refused from now on is no failure by itself: the list says.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace hone::onnx {

using Passes = std::map<std::string, std::string>;  // "passed" or "folded", by the name of the case

// kInvalid, naming `path`, for a line of another form, or a name that stands twice.
Result<Passes> ParsePasses(const std::string& text, const std::string& path);
std::string PassesText(const Passes& passes);

// Cases of `wanted` that `found` has not, and those that ran and are folded now: a line each.
std::vector<std::string> NoLonger(const Passes& wanted, const Passes& found);

}  // namespace hone::onnx
