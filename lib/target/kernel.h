// A kernel's interface and meaning, from the compiler to the measuring child and to the library.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "target/artifact.h"

namespace hone {

// Where an argument of a function comes from.
struct ArgSource {
  enum class Kind { kOperand, kPrepared } kind = Kind::kOperand;
  int index = 0;  // of the operand in the operator's order, or of the prepared constant
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
  double arithmetic = 1;  // the algorithm's share of the task's FLOP: below 1 for Winograd
  double rounding = 0;    // the error that the algorithm may add to that of plain sums, for outputs of order 1
};

}  // namespace hone
