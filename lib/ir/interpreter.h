// The interpreter: what a program means (ir/expr.h, ir/stmt.h). Backends are tested against it. It checks what they
// assume: every access in bounds, no read of memory that was never written, no store to an argument that is not marked
// written, no integer division by 0. Slow (some 10 ns an operation and lane), but fast enough for small convolutions.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ir/stmt.h"

namespace hone::ir {

struct RunArgument {
  void* data = nullptr;  // elements in memory as the type has them: bool one byte, f16 IEEE binary16
  int64_t elements = 0;  // at least the parameter's size
};

// In which order the iterations of a parallel (or bound) loop run. A correct program gives the same result in all.
enum class ParallelOrder { kForward, kReversed, kShuffled };

struct RunOptions {
  ParallelOrder order = ParallelOrder::kForward;
  uint64_t seed = 0;  // of kShuffled
};

// Runs `f` on one argument a parameter. The failure names the buffer, the index and the statement; what was stored
// before it stays. kUnsupported: te's nodes, and loops over threads that are not in the form of ir/device_kernels.h. Of
// a device's kernels also races between threads and barriers that some of a block do not come to are failures.
Status Run(const Function& f, const std::vector<RunArgument>& arguments, const RunOptions& options = {});

// The value of an expression without loads: a lane an element, of one of the vectors by its type.
struct Value {
  DType type;
  std::vector<int64_t> ints;  // integers and bool; u64 as bit pattern
  std::vector<double> floats;
  bool operator==(const Value&) const = default;
};
Result<Value> EvaluateExpr(const Expr& e, const std::vector<std::pair<Var, int64_t>>& variables);

}  // namespace hone::ir
