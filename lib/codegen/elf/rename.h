// Other names for the symbols of an object: what lets one compiled runtime be in every network library, under its name.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hone::codegen {

// `object`, a relocatable object of any machine (64 bit, little endian), with the name of each symbol passed through
// `rename`; all else is as it was. kInvalid, beginning with `name`, if it is not such an object, or damaged.
Result<std::string> RenameSymbols(const std::string& name, const std::string& object,
                                  const std::function<std::string(std::string_view)>& rename);

}  // namespace hone::codegen
