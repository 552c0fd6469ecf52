// Lowering: from a schedule to one function of loops, ready for a backend.
//
// The passes in order (each in its own file, whose top says why it stands there):
//   bounds -> loop_nest -> specialize -> partition -> simplify -> vectorize -> unroll -> prefetch -> storage
// and for a GPU, whose function gets one nest of loops over blocks and threads a kernel (ir/device_kernels.h):
//   bounds -> fill -> loop_nest -> vthread -> gpu_threads -> double_buffer -> simplify -> tensorize -> barriers
//   -> auto_unroll -> vectorize -> unroll -> storage
// Only bounds knows the schedule's relations; only loop_nest makes loops from them; after unroll the program is large,
// so that everything costly stands before it.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "ir/stmt.h"
#include "schedule/schedule.h"

namespace hone::lower {

struct LowerOptions {
  std::string name = "kernel";  // of the function; a C identifier
  bool gpu = false;             // a device function: loops bound to blocks and threads
  bool verify = false;          // run the verifier between passes
};

// `args`: the tensors that the function takes as buffers, in order: all inputs and all outputs of the schedule, each
// once. kUnsupported if a loop is bound to blocks or threads or tensorized, or a buffer is to be shared, and it is not
// for a GPU.
Result<ir::Function> Lower(const schedule::Schedule& schedule, const std::vector<te::Tensor>& args,
                           const LowerOptions& options);

}  // namespace hone::lower
