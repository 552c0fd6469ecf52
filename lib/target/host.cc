#include <sys/utsname.h>

#include <algorithm>
#include <utility>

#include "base/cpu.h"
#include "target/target.h"
#include "target/x86_levels.h"

namespace hone {
namespace {

struct FeatureName {
  const char* kernel;  // the kernel's name for it
  const char* llvm;
};

// The features that code generation uses, in the order of the x86-64 levels.
constexpr FeatureName kX86Features[] = {
    {"pni", "sse3"},
    {"ssse3", "ssse3"},
    {"sse4_1", "sse4.1"},
    {"sse4_2", "sse4.2"},
    {"popcnt", "popcnt"},
    {"avx", "avx"},
    {"avx2", "avx2"},
    {"bmi1", "bmi"},
    {"bmi2", "bmi2"},
    {"f16c", "f16c"},
    {"fma", "fma"},
    {"abm", "lzcnt"},
    {"movbe", "movbe"},
    {"avx512f", "avx512f"},
    {"avx512bw", "avx512bw"},
    {"avx512cd", "avx512cd"},
    {"avx512dq", "avx512dq"},
    {"avx512vl", "avx512vl"},
    {"avx512_vnni", "avx512vnni"},
    {"avx_vnni", "avxvnni"},
    {"avx512_bf16", "avx512bf16"},
};

}  // namespace

Result<Target> HostTarget() {
  utsname names;
  if (uname(&names) != 0) return Status::Io("the kernel does not say what machine this is");
  std::string machine = names.machine;
  HONE_ASSIGN_OR_RETURN(const CpuInfo cpu, DetectCpu());
  Target target{.threads = std::max(1, cpu.logical_cores)};
  if (machine == "aarch64") {
    target.triple = "aarch64-unknown-linux-gnu";
    target.cpu = "generic";
    target.features = {"neon"};
    target.vector_registers = 32;
    return target;
  }
  if (machine != "x86_64") return Status::Unsupported("no code generator for this machine: " + machine);
  target.triple = "x86_64-unknown-linux-gnu";
  for (const FeatureName& feature : kX86Features) {
    if (std::binary_search(cpu.features.begin(), cpu.features.end(), std::string(feature.kernel))) {
      target.features.emplace_back(feature.llvm);
    }
  }
  target.features = WithoutPartialAvx512(std::move(target.features));
  std::sort(target.features.begin(), target.features.end());
  // The psABI level is all of the CPU's identity that affects generated code. Product names would need a table to
  // maintain, and two machines with the same features could not share records.
  target.cpu = X86Level(target.features);
  if (target.cpu == "x86-64-v4") {
    target.vector_bytes = 64;
    target.vector_registers = 32;
  } else if (target.cpu == "x86-64-v3") {
    target.vector_bytes = 32;
  }
  return target;
}

}  // namespace hone
