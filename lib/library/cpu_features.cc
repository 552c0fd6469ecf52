// The features of CPUs that a network library checks before it runs.
#include <algorithm>
#include <span>

#include "library/tables.h"
#include "target/architecture.h"

namespace hone::library {
namespace {

enum Register : uint32_t { kEax, kEbx, kEcx, kEdx };

// XCR0 bits: SSE and AVX registers; these and the three parts of AVX-512; AMX tiles.
constexpr uint64_t kAvx = 0x6, kAvx512 = 0xe6, kAmx = 0x60000;

struct Named {
  const char* name;
  HoneNetFeature feature;
};

constexpr Named kFeatures[] = {
    {"sse3", {1, 0, kEcx, 0, 0}},
    {"ssse3", {1, 0, kEcx, 9, 0}},
    {"fma", {1, 0, kEcx, 12, kAvx}},
    {"sse4.1", {1, 0, kEcx, 19, 0}},
    {"sse4.2", {1, 0, kEcx, 20, 0}},
    {"movbe", {1, 0, kEcx, 22, 0}},
    {"popcnt", {1, 0, kEcx, 23, 0}},
    {"avx", {1, 0, kEcx, 28, kAvx}},
    {"f16c", {1, 0, kEcx, 29, kAvx}},
    {"bmi", {7, 0, kEbx, 3, 0}},
    {"avx2", {7, 0, kEbx, 5, kAvx}},
    {"bmi2", {7, 0, kEbx, 8, 0}},
    {"avx512f", {7, 0, kEbx, 16, kAvx512}},
    {"avx512dq", {7, 0, kEbx, 17, kAvx512}},
    {"avx512ifma", {7, 0, kEbx, 21, kAvx512}},
    {"avx512cd", {7, 0, kEbx, 28, kAvx512}},
    {"avx512bw", {7, 0, kEbx, 30, kAvx512}},
    {"avx512vl", {7, 0, kEbx, 31, kAvx512}},
    {"avx512vbmi", {7, 0, kEcx, 1, kAvx512}},
    {"avx512vbmi2", {7, 0, kEcx, 6, kAvx512}},
    {"gfni", {7, 0, kEcx, 8, 0}},
    {"vaes", {7, 0, kEcx, 9, kAvx}},
    {"vpclmulqdq", {7, 0, kEcx, 10, kAvx}},
    {"avx512vnni", {7, 0, kEcx, 11, kAvx512}},
    {"avx512bitalg", {7, 0, kEcx, 12, kAvx512}},
    {"avx512vpopcntdq", {7, 0, kEcx, 14, kAvx512}},
    {"avx512fp16", {7, 0, kEdx, 23, kAvx512}},
    {"amx-bf16", {7, 0, kEdx, 22, kAmx}},
    {"amx-tile", {7, 0, kEdx, 24, kAmx}},
    {"amx-int8", {7, 0, kEdx, 25, kAmx}},
    {"avxvnni", {7, 1, kEax, 4, kAvx}},
    {"avx512bf16", {7, 1, kEax, 5, kAvx512}},
    {"lzcnt", {0x80000001u, 0, kEcx, 5, 0}},
};

// Entries of the auxiliary vector (<sys/auxv.h>) with the kernel's HWCAP bits for AArch64.
constexpr uint32_t kHwcap = 16, kHwcap2 = 26;
constexpr Named kArmFeatures[] = {
    {"bf16", {kHwcap2, 0, 0, 14, 0}},
    {"dotprod", {kHwcap, 0, 0, 20, 0}},
    {"fullfp16", {kHwcap, 0, 0, 10, 0}},
    {"i8mm", {kHwcap2, 0, 0, 13, 0}},
};

}  // namespace

const HoneNetFeature* FindCpuFeature(const Target& target, const std::string& name) {
  const std::string architecture = Architecture(target.triple);
  std::span<const Named> known;
  if (architecture == "x86_64") known = kFeatures;
  if (architecture == "aarch64") known = kArmFeatures;
  const auto found = std::ranges::find(known, name, &Named::name);
  return found == known.end() ? nullptr : &found->feature;
}

}  // namespace hone::library
