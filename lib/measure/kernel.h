// A built candidate, for measuring: plain data, sent between processes as JSON (base/fields.h).
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

// A candidate as a file that is ready to load: a shared object, or the bytes of a device's artifact.
struct BuiltKernel : KernelInterface {
  Config config;                      // not sent: each process knows which config it asked for
  std::string format = "elf-shared";  // Artifact::format
  std::string path;                   // of the file; the builder removes it with the next batch or in its destructor
  std::string artifact_digest;        // hex, of the machine code: equal digests mean equal kernels
  std::string steps;                  // Candidate::Text
  double compile_seconds = 0;
};

// Checks that the arguments of both functions match what the kernel says, before the candidate gets any address.
// Returns kInvalid with the argument if not.
Status CheckArgs(const BuiltKernel& kernel, const std::vector<Operand>& operands);

void ListFields(Fields* f, BuiltKernel* kernel);

}  // namespace hone::measure
