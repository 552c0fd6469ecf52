#include "codegen/cuda/codegen.h"

#include <fmt/format.h>

#include "base/text.h"
#include "codegen/c_source/source.h"
#include "codegen/cuda/nvrtc.h"
#include "target/cuda_arch.h"

namespace hone::codegen {
namespace {

// Without the 1, the assembler spills a few values in cases where one block more would then fit on a multiprocessor.
std::string KernelHead(const std::string& symbol, const int64_t block[3]) {
  return fmt::format("extern \"C\" __global__ void __launch_bounds__({}, 1)\n{}", block[0] * block[1] * block[2],
                     symbol);
}

// cp.async needs sm_80; copies of 16 bytes bypass the first-level cache.
const char* AsyncCopy(int bytes) {
  return bytes == 16
             ? "__device__ __forceinline__ void hone_copy_async_16(float* to, const float* from, bool inside) { "
               "asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16, %2;\" :: "
               "\"r\"((unsigned int)__cvta_generic_to_shared(to)), \"l\"(from), \"r\"(inside ? 16 : 0) : \"memory\"); }"
             : "__device__ __forceinline__ void hone_copy_async_4(float* to, const float* from, bool inside) { "
               "asm volatile(\"cp.async.ca.shared.global [%0], [%1], 4, %2;\" :: "
               "\"r\"((unsigned int)__cvta_generic_to_shared(to)), \"l\"(from), \"r\"(inside ? 4 : 0) : \"memory\"); }";
}

// Rounds to nearest, ties away from zero: mma.sync would drop the last bits.
constexpr char kTf32[] =
    "__device__ __forceinline__ float hone_tf32(float value) { unsigned int rounded; "
    "asm(\"cvt.rna.tf32.f32 %0, %1;\" : \"=r\"(rounded) : \"f\"(value)); return __uint_as_float(rounded); }";

constexpr char kMmaTf32[] =
    "__device__ __forceinline__ void hone_mma_tf32(float& d0, float& d1, float& d2, float& d3, float a0, float a1, "
    "float a2, float a3, float b0, float b1, float c0, float c1, float c2, float c3) { "
    "asm volatile(\"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
    "{%10, %11, %12, %13};\" : \"=f\"(d0), \"=f\"(d1), \"=f\"(d2), \"=f\"(d3) : \"r\"(__float_as_uint(a0)), "
    "\"r\"(__float_as_uint(a1)), \"r\"(__float_as_uint(a2)), \"r\"(__float_as_uint(a3)), \"r\"(__float_as_uint(b0)), "
    "\"r\"(__float_as_uint(b1)), \"f\"(c0), \"f\"(c1), \"f\"(c2), \"f\"(c3)); }";

constexpr Dialect kCudaC = {
    .name = "CUDA C",
    .int64 = "long long",
    .uint64 = "unsigned long long",
    .int64_suffix = "LL",
    .helper_prefix = "__device__ __forceinline__ ",
    .global_prefix = "",
    .shared_array = "__shared__ __align__(16) ",
    .shared_prefix = "",
    .dynamic_shared = "extern __shared__ __align__(16) unsigned char hone_shared[];",
    .restrict_word = "__restrict__",
    .barrier = "__syncthreads();",
    .barrier_global = "__syncthreads();",
    .block_index = {"blockIdx.x", "blockIdx.y", "blockIdx.z"},
    .thread_index = {"threadIdx.x", "threadIdx.y", "threadIdx.z"},
    .infinity = "__int_as_float(0x7f800000)",
    .nan = "__int_as_float(0x7fffffff)",
    .float_suffix = true,
    .vector_make = {"make_", "("},
    .static_shared_limit = 49152,
    .async_copy = AsyncCopy,
    .async_commit = "asm volatile(\"cp.async.commit_group;\" ::: \"memory\");",
    .async_wait = "asm volatile(\"cp.async.wait_group {};\" ::: \"memory\");",
    .tf32 = kTf32,
    .mma_tf32 = kMmaTf32,
    .kernel_head = KernelHead,
    .preamble_f64 = "",
};

// The number before `unit` in a line such as "16 bytes stack frame, 0 bytes spill stores"; 0 if `unit` is missing.
int64_t NumberBefore(const std::string& line, const std::string& unit) {
  const size_t at = line.find(unit);
  if (at == std::string::npos) return 0;
  size_t begin = at;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  Result<int64_t> number = ParseInt(line.substr(begin, at - begin));
  return number.ok() ? *number : 0;
}

// The assembler names a kernel, then reports its resources in two lines.
void ReadResources(const std::string& log, std::vector<KernelResources>* resources) {
  KernelResources* current = nullptr;
  for (const std::string& line : Split(log, '\n')) {
    for (KernelResources& r : *resources) {
      if (line.find("entry function '" + r.symbol + "'") != std::string::npos) current = &r;
    }
    if (current == nullptr) continue;
    if (line.find(" bytes stack frame") != std::string::npos) {
      current->stack_bytes = NumberBefore(line, " bytes stack frame");
      current->spill_bytes = NumberBefore(line, " bytes spill stores") + NumberBefore(line, " bytes spill loads");
    } else if (line.find("Used ") != std::string::npos) {
      current->registers = NumberBefore(line, " registers");
      current->shared_bytes = NumberBefore(line, " bytes smem");
    }
  }
}

std::string FirstWarning(const std::string& log) {
  for (const std::string& line : Split(log, '\n')) {
    // NVRTC 12.9 for sm_50 to sm_72: "Architectures prior to .. are deprecated". That is not about the code.
    if (line.find("rchitectures prior to") != std::string::npos) continue;
    if (line.find("warning") != std::string::npos) return std::string(Trim(line));
  }
  return "";
}

}  // namespace

Result<CudaCode> WriteCuda(const std::vector<ir::Function>& functions, const Target& target) {
  if (target.kind != &CudaKind()) return Status::Unsupported("CUDA C is for targets of kind `cuda` only");
  Dialect dialect = kCudaC;
  if (!HasAsyncCopies(target.cpu)) dialect.async_copy = nullptr;
  if (!HasTensorFloat32(target.cpu)) dialect.tf32 = dialect.mma_tf32 = nullptr;
  HONE_ASSIGN_OR_RETURN(DeviceSource source, WriteDeviceSource(functions, dialect, target.limits));
  CudaCode code;
  code.source = std::move(source.text);
  code.artifact.format = "cubin";
  code.artifact.entries = std::move(source.entries);
  return code;
}

Result<CudaCode> CompileToCuda(const std::vector<ir::Function>& functions, const Target& target,
                               const CudaOptions& options) {
  HONE_ASSIGN_OR_RETURN(CudaCode code, WriteCuda(functions, target));
  HONE_ASSIGN_OR_RETURN(const Nvrtc* nvrtc, ChooseNvrtc(options.nvrtc, target.cpu, options.newest));
  HONE_ASSIGN_OR_RETURN(Nvrtc::Output output, nvrtc->Compile(code.source, target.cpu));
  const std::string warning = FirstWarning(output.log);
  if (options.warnings_fail && !warning.empty()) return Status::Invalid("a warning of NVRTC: " + warning);
  for (const EntryPoint& entry : code.artifact.entries) {
    for (const Launch& launch : entry.launches) code.resources.push_back({launch.symbol});
  }
  ReadResources(output.log, &code.resources);
  code.artifact.bytes = std::move(output.cubin);
  return code;
}

Result<std::string> NvrtcVersion(const std::string& arch, const CudaOptions& options) {
  HONE_ASSIGN_OR_RETURN(const Nvrtc* nvrtc, ChooseNvrtc(options.nvrtc, arch, options.newest));
  return nvrtc->Version();
}

}  // namespace hone::codegen
