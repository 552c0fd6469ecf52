// A kernel's interface and meaning, used from the compiler to the measuring child and the library.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "target/artifact.h"

namespace hone {

// The source of a function's argument.
struct ArgSource {
  enum class Kind { kOperand, kPrepared } kind = Kind::kOperand;
  int index = 0;  // index of the operand in the operator's order, or of the prepared constant
};

// A constant that the prepare function writes.
struct PreparedConstant {
  std::string name;
  DType type;
  int64_t elements = 0;

  int64_t Bytes() const { return elements * type.bytes(); }
};

// A kernel and, if it has packed constants, the function that packs them. Run that function once, before the kernel.
struct KernelInterface {
  EntryPoint kernel, prepare;           // set once code is generated; `prepare` only if has_prepare
  std::vector<ArgSource> kernel_args;   // one for each argument of `kernel`
  bool has_prepare = false;
  std::vector<ArgSource> prepare_args;  // raw constants, then prepared ones (written)
  std::vector<PreparedConstant> prepared;
  double arithmetic = 1;  // the algorithm's FLOP as a share of the task's: below 1 for Winograd
  double rounding = 0;    // error that the algorithm may add to that of plain sums, for outputs of order 1
};

}  // namespace hone
