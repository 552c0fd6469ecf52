#include "op/batch.h"

#include <algorithm>
#include <string_view>

namespace hone::op {
namespace {

constexpr std::string_view kOfImages[] = {"avg_pool2d",    "avg_pool3d", "batch_norm",       "block",
                                          "conv2d",        "conv3d",     "conv_transpose2d", "conv_transpose3d",
                                          "dense",         "flatten",    "global_avg_pool",  "global_max_pool",
                                          "instance_norm", "lrn",        "max_pool2d",       "max_pool3d",
                                          "pad2d",         "unblock"};

}  // namespace

bool HasBatch(const Workload& workload) {
  return std::find(std::begin(kOfImages), std::end(kOfImages), workload.op) != std::end(kOfImages);
}

}  // namespace hone::op
