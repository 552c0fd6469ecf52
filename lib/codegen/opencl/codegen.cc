#include "codegen/opencl/codegen.h"

#include <fmt/format.h>

#include "codegen/c_source/source.h"

namespace hone::codegen {

static std::string KernelHead(const std::string& symbol, const int64_t block[3]) {
  return fmt::format("__kernel __attribute__((reqd_work_group_size({}, {}, {})))\nvoid {}", block[0], block[1],
                     block[2], symbol);
}

constexpr Dialect kOpenClC = {
    .name = "OpenCL C",
    .int64 = "long",
    .uint64 = "unsigned long",
    .int64_suffix = "L",
    .helper_prefix = "",
    .global_prefix = "__global ",
    .shared_array = "__local __attribute__((aligned(16))) ",
    .shared_prefix = "__local ",
    .dynamic_shared = "",
    .restrict_word = "restrict",
    .barrier = "barrier(CLK_LOCAL_MEM_FENCE);",
    .barrier_global = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
    .block_index = {"(int)get_group_id(0)", "(int)get_group_id(1)", "(int)get_group_id(2)"},
    .thread_index = {"(int)get_local_id(0)", "(int)get_local_id(1)", "(int)get_local_id(2)"},
    .infinity = "INFINITY",
    .nan = "NAN",
    .float_suffix = false,
    .vector_make = {"(", ")("},
    .static_shared_limit = INT64_MAX,
    .async_copy = nullptr,
    .async_commit = "",
    .async_wait = "",
    .kernel_head = KernelHead,
    .preamble_f64 = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n",
};

Result<Artifact> CompileToOpenCl(const std::vector<ir::Function>& functions, const Target& target) {
  if (target.kind != &OpenClKind()) return Status::Unsupported("OpenCL C is for targets of kind `opencl` only");
  HONE_ASSIGN_OR_RETURN(DeviceSource source, WriteDeviceSource(functions, kOpenClC, target.limits));
  Artifact artifact;
  artifact.format = "opencl-c";
  artifact.bytes = std::move(source.text);
  artifact.entries = std::move(source.entries);
  return artifact;
}

}  // namespace hone::codegen
