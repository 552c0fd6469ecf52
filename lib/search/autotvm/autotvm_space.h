// The spaces of AutoTVM's templates (v0.14) for which lib/op has kernels, with its names and indices, so that the
// indices and entities in its logs resolve as they did there. doc/reference/formats.md lists the templates; a table in
// autotvm_space.cc defines their knobs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "search/space/space.h"
#include "task/workload.h"

namespace hone::search {

// The arguments of an AutoTVM template that its space depends on.
struct AutoTvmShape {
  std::vector<std::vector<int64_t>>
      tensors;  // data [N,C,H,W], weights [CO,CI,KH,KW]; dense [M,K], [N,K]; batch_matmul [B,M,K], [B,N,K]
  std::vector<int64_t> strides = {1, 1};
  std::vector<int64_t> padding = {0, 0};  // height, width; or top, left, bottom, right; or one number for all
  std::vector<int64_t> dilation = {1, 1};
  // True for rocm and nvptx, where unroll_explicit has only the value 1.
  bool unroll_always_explicit = false;
};

// Returns kNotFound for an unknown template, kInvalid if the shape does not fit it, kUnsupported for extents above
// 2^20.
Result<Space> AutoTvmSpace(const std::string& template_name, const AutoTvmShape& shape);

// For Hone's conv2d, dense and batched matmul workloads with any epilogue; kUnsupported for other operators.
Result<AutoTvmShape> AutoTvmShapeOf(const Workload& workload);

}  // namespace hone::search
