// The interpreter: defines what a program means (ir/expr.h, ir/stmt.h). Back ends are tested against it. It checks what
// they assume: every access is in bounds, memory is written before it is read, only arguments marked written are stored
// to, and integers are never divided by 0. Slow (about 10 ns an operation and lane), but fast enough for small
// convolutions.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "ir/stmt.h"

namespace hone::ir {

struct RunArgument {
  void* data = nullptr;  // elements in memory in their type's format: bool one byte, f16 IEEE binary16
  int64_t elements = 0;  // at least the parameter's size
};

// The order in which the iterations of a parallel (or bound) loop run. All orders give the same result for a correct
// program.
enum class ParallelOrder { kForward, kReversed, kShuffled };

struct RunOptions {
  ParallelOrder order = ParallelOrder::kForward;
  uint64_t seed = 0;  // for kShuffled
};

// Runs `f` with one argument for each parameter. A failure names the buffer, the index and the statement; stores before
// it stay. Returns kUnsupported for te's nodes, and for loops over threads that are not in the form of
// ir/device_kernels.h. In a device's kernels, races between threads and barriers that only some threads of a block
// reach are failures as well.
Status Run(const Function& f, const std::vector<RunArgument>& arguments, const RunOptions& options = {});

}  // namespace hone::ir
