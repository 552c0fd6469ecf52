#pragma once

#include "base/dtype.h"

namespace hone::ir {

inline constexpr DType kF32 = DType::Float(32);

}  // namespace hone::ir
