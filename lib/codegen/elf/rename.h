// Renames the symbols of an object, so that every network library can contain the compiled runtime under its own name.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hone::codegen {

// `object`, a relocatable object of any machine (64 bit, little endian), with each symbol's name passed through
// `rename`; all else stays the same. Returns kInvalid, beginning with `name`, if it is not such an object or is
// damaged.
Result<std::string> RenameSymbols(const std::string& name, const std::string& object,
                                  const std::function<std::string(std::string_view)>& rename);

}  // namespace hone::codegen
