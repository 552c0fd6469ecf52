// What building a candidate hands to measuring: plain data, sent between processes as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "target/artifact.h"
#include "task/config.h"

namespace hone::measure {

// One operand of the task, in the operator's order: inputs first, the output last. Elements are f32.
struct Operand {
  enum class Role { kData, kConstant, kOutput };
  std::string name;
  Role role = Role::kData;
  std::vector<int64_t> logical;
  // As stored: equal to `logical`, or, of a blocked [N,C,H,W], [N, ceil(C/B), H, W, B] with zeros in the lanes beyond
  // C.
  std::vector<int64_t> physical;
  bool blocked = false;

  int64_t PhysicalElements() const;
};

// Where an argument of a function comes from.
struct ArgRef {
  bool prepared = false;  // a constant that the prepare function wrote; else an operand
  int index = 0;          // of the operand, or of the prepared constant
};

struct PreparedConstant {
  std::string name;
  int64_t elements = 0;  // f32
};

// A candidate as a file, ready to be loaded: a shared object, or the bytes of a device's artifact.
struct BuiltKernel {
  Config config;
  std::string format = "elf-shared";  // Artifact::format
  std::string path;                   // of the file; the builder removes it with itself or at the next batch
  std::string artifact_digest;        // hex, of the machine code: equal digests are equal kernels
  EntryPoint kernel;
  std::vector<ArgRef> kernel_args;
  bool has_prepare = false;
  EntryPoint prepare;  // arguments: raw constants, then prepared constants (written)
  std::vector<ArgRef> prepare_args;
  std::vector<PreparedConstant> prepared;
  std::string steps;      // StepsText
  double arithmetic = 1;  // the share of the task's FLOP that the algorithm does: Winograd saves some
  double rounding = 0;    // the error that the algorithm may have beyond that of plain sums, for outputs of order 1
  double compile_seconds = 0;
};

// Whether `args` describe the entry's arguments as they are, before an address is handed to the candidate. kInvalid,
// with the argument, if not.
Status CheckArgs(const EntryPoint& entry, const std::vector<ArgRef>& args, const BuiltKernel& kernel,
                 const std::vector<Operand>& operands);

Json KernelToJson(const BuiltKernel& kernel);
Result<BuiltKernel> KernelFromJson(const Json& json);
Json OperandsToJson(const std::vector<Operand>& operands);
Result<std::vector<Operand>> OperandsFromJson(const Json& json);

}  // namespace hone::measure
