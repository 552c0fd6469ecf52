// Lowering: from a schedule to one function of loops, ready for a back end.
//
// The passes in order (each in its own file, whose top explains its position):
//   bounds -> loop_nest -> specialize -> partition -> simplify -> dot4 -> auto_unroll -> vectorize -> unroll
//   -> prefetch -> storage
// and for a GPU, whose function gets one nest of loops over blocks and threads per kernel (ir/device_kernels.h):
//   bounds -> fill -> loop_nest -> vthread -> gpu_threads -> double_buffer -> simplify -> tensorize -> barriers
//   -> auto_unroll -> vectorize -> unroll -> storage
// Only bounds knows the schedule's relations, and only loop_nest makes loops from them. After unroll the program is
// large, so all costly passes precede it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ir/stmt.h"
#include "schedule/schedule.h"

namespace hone::lower {

struct LowerOptions {
  std::string name = "kernel";  // the function's; a C identifier
  bool gpu = false;             // makes a device function: loops bound to blocks and threads
  bool verify = false;          // runs the verifier between passes
};

// `args` are the tensors that the function takes as buffers, in order: all inputs and all outputs of the schedule, each
// once. Returns kUnsupported if it is not for a GPU but has a loop bound to blocks or threads, a loop tensorized with
// mma_tf32 or a shared buffer, or if it is for a GPU but has a loop tensorized with dot4.
Result<ir::Function> Lower(const schedule::Schedule& schedule, const std::vector<te::Tensor>& args,
                           const LowerOptions& options);

}  // namespace hone::lower
