// The result of building a candidate, for measuring: plain data, sent between processes as JSON (base/fields.h).
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "target/kernel.h"
#include "task/config.h"
#include "task/operand.h"

namespace hone {
class Fields;
void ListFields(Fields* f, Operand* operand);
}  // namespace hone

namespace hone::measure {

// A candidate as a file, ready to be loaded: a shared object, or the bytes of a device's artifact.
struct BuiltKernel : KernelInterface {
  Config config;                      // not sent: each process knows what it asked for
  std::string format = "elf-shared";  // Artifact::format
  std::string path;                   // of the file; the builder removes it with itself or at the next batch
  std::string artifact_digest;        // hex, of the machine code: equal digests are equal kernels
  std::string steps;                  // Candidate::Text
  double compile_seconds = 0;
};

// Whether `args` describe the entry's arguments as they are, before an address is handed to the candidate. kInvalid,
// with the argument, if not.
Status CheckArgs(const EntryPoint& entry, const std::vector<ArgSource>& args, const BuiltKernel& kernel,
                 const std::vector<Operand>& operands);

void ListFields(Fields* f, BuiltKernel* kernel);

}  // namespace hone::measure
