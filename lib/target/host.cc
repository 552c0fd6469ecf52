#include <sys/utsname.h>

#include <algorithm>
#include <span>

#include "base/cpu.h"
#include "base/text.h"
#include "target/architecture.h"
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
constexpr FeatureName kArmFeatures[] = {
    {"asimddp", "dotprod"}, {"asimdhp", "fullfp16"}, {"bf16", "bf16"}, {"i8mm", "i8mm"}};

std::vector<std::string> Features(const CpuInfo& cpu, std::span<const FeatureName> names) {
  std::vector<std::string> features;
  for (const FeatureName& feature : names) {
    if (std::binary_search(cpu.features.begin(), cpu.features.end(), std::string(feature.kernel))) {
      features.emplace_back(feature.llvm);
    }
  }
  std::sort(features.begin(), features.end());
  return features;
}

}  // namespace

std::string Architecture(const std::string& triple) { return triple.substr(0, triple.find('-')); }

Result<std::string> HostTriple() {
  utsname names;
  if (uname(&names) != 0) return Status::Io("the kernel does not say what machine this is");
  const std::string machine = names.machine;
  if (machine == "x86_64" || machine == "aarch64") return machine + "-unknown-linux-gnu";
  return Status::Unsupported("no code generator for this machine: " + machine);
}

Status CheckRunsHere(const Target& target) {
  if (target.kind != &CpuKind() || target.triple.empty()) return Status();
  HONE_ASSIGN_OR_RETURN(const std::string host, HostTriple());
  if (Architecture(target.triple) == Architecture(host)) return Status();
  return Status::Unsupported("this machine is {} and cannot run code for {}; run this on such a machine",
                             Architecture(host), Architecture(target.triple));
}

Result<Target> HostTarget() {
  HONE_ASSIGN_OR_RETURN(const CpuInfo cpu, DetectCpu());
  Target target{.threads = std::max(1, cpu.logical_cores)};
  HONE_ASSIGN_OR_RETURN(target.triple, HostTriple());
  if (StartsWith(target.triple, "aarch64")) {
    target.cpu = "generic";
    target.features = Features(cpu, kArmFeatures);
    target.vector_registers = 32;
    return target;
  }
  target.features = WithoutPartialAvx512(Features(cpu, kX86Features));
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
