// The list of ONNX's backend tests that must pass: `passed NAME` or `folded NAME` (the importer computes everything),
// one case per line, sorted by name. An operator that becomes unsupported is not a failure by itself: this list
// decides.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace hone::onnx {

using Passes = std::map<std::string, std::string>;  // "passed" or "folded", by the case's name

// Returns kInvalid, naming `path`, for a malformed line or a repeated name.
Result<Passes> ParsePasses(const std::string& text, const std::string& path);
std::string PassesText(const Passes& passes);

// One line for each case of `wanted` that is not in `found`, or that ran before and is folded now.
std::vector<std::string> NoLonger(const Passes& wanted, const Passes& found);

}  // namespace hone::onnx
