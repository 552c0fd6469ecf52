// The spaces of AutoTVM's templates (v0.14), by its names and with its indices: a log's index and its entity find each
// other here as they did there. Spaces only; lib/op has code for those of CUDA's floats. doc/reference/formats.md lists
// the templates; their knobs are a table in autotvm_space.cc.
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
  // On rocm and nvptx unroll_explicit has the value 1 alone.
  bool unroll_always_explicit = false;
  bool four_bits = false;  // the type of the tensors: int4, uint4
};

// Names of all known templates.
const std::vector<std::string>& AutoTvmTemplates();

// kNotFound if there is no such template, kInvalid if the shape does not fit it; kUnsupported beyond 2^20 an extent.
Result<Space> AutoTvmSpace(const std::string& template_name, const AutoTvmShape& shape);

// Of Hone's conv2d, dense and batched matmul workloads, whatever follows them; kUnsupported for other operators.
Result<AutoTvmShape> AutoTvmShapeOf(const Workload& workload);

}  // namespace hone::search
