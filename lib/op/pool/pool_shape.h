// The numbers of a pooling window; see op/pool.h for their meaning.
#pragma once

#include <cstdint>

#include "task/workload.h"

namespace hone::op {

struct PoolShape {
  int64_t n = 1, c = 1, h = 1, w = 1, kh = 1, kw = 1, sh = 1, sw = 1, dh = 1, dw = 1, pt = 0, pl = 0, pb = 0, pr = 0;
  bool include_pad = false;
  bool padding_alone = false;  // some window may see nothing else
  int64_t oh = 0, ow = 0;

  // REQUIRES: the operator's Check accepts the workload.
  static PoolShape Of(const Workload& workload);
  int64_t ph() const { return (oh - 1) * sh + (kh - 1) * dh + 1; }
  int64_t pw() const { return (ow - 1) * sw + (kw - 1) * dw + 1; }
};

}  // namespace hone::op
