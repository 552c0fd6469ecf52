// Where elements go.
#pragma once

#include "base/result.h"
#include "define/attributes.h"

namespace hone::define {

// The output's element `index` along an axis of `pad` (its input has `extent`): the input's index, or -1 for the value.
int64_t PaddedFrom(const std::string& mode, int64_t index, int64_t low, int64_t extent);

}  // namespace hone::define
