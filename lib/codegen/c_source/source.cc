#include "codegen/c_source/source.h"

#include <fmt/format.h>

#include <algorithm>

#include "codegen/c_source/kernel_writer.h"
#include "ir/device_kernels.h"

namespace hone::codegen {
namespace {

int Position(const std::vector<ir::Buffer>& list, const ir::Buffer& buffer) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].same_as(buffer)) return static_cast<int>(i);
  }
  return -1;
}

Launch LaunchOf(const ir::DeviceKernel& kernel, const ir::Function& function, const ir::DeviceProgram& program) {
  Launch launch;
  launch.symbol = kernel.name;
  std::copy_n(kernel.grid, 3, launch.grid);
  std::copy_n(kernel.block, 3, launch.block);
  launch.shared_bytes = kernel.shared_bytes;
  for (const ir::Buffer& buffer : kernel.params) {
    const int argument = Position(function.params, buffer);
    launch.args.push_back(argument >= 0 ? argument : ~Position(program.workspaces, buffer));
  }
  return launch;
}

// A last check after the closed-form rules of templates, before anything is compiled.
Status CheckLaunch(const Launch& launch, const DeviceLimits& limits) {
  const auto more = [&](const char* what, int64_t has, int64_t may) {
    return Status::Unsupported("kernel `{}` needs {} {}, the target has {}", launch.symbol, has, what, may);
  };
  const int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
  if (threads > limits.max_threads_per_block) {
    return more("threads in a block", threads, limits.max_threads_per_block);
  }
  for (size_t i = 0; i < 3; ++i) {
    const char axis = "xyz"[i];
    if (launch.block[i] > limits.max_block[i]) {
      return more(fmt::format("threads along {}", axis).c_str(), launch.block[i], limits.max_block[i]);
    }
    if (launch.grid[i] > limits.max_grid[i]) {
      return more(fmt::format("blocks along {}", axis).c_str(), launch.grid[i], limits.max_grid[i]);
    }
  }
  if (launch.shared_bytes > limits.shared_bytes_per_block) {
    return more("bytes of shared memory in a block", launch.shared_bytes, limits.shared_bytes_per_block);
  }
  return Status();
}

}  // namespace

Result<DeviceSource> WriteDeviceSource(const std::vector<ir::Function>& functions, const Dialect& dialect,
                                       const DeviceLimits& limits) {
  DeviceSource source;
  Needs needs;
  std::string kernels;
  for (const ir::Function& function : functions) {
    HONE_ASSIGN_OR_RETURN(const ir::DeviceProgram program, ir::SplitKernels(function));
    EntryPoint entry;
    entry.symbol = function.name;
    for (const ir::Buffer& b : function.params) entry.args.push_back({b.name(), b->type, b->size, b->written});
    for (const ir::Buffer& b : program.workspaces) {
      entry.workspace_buffers.push_back(b->size * b->type.element_bytes());
    }
    for (const ir::DeviceKernel& kernel : program.kernels) {
      Launch launch = LaunchOf(kernel, function, program);
      KernelWriter writer(dialect, &needs);
      HONE_ASSIGN_OR_RETURN(const std::string text, writer.Write(kernel, &launch.dynamic_shared_bytes));
      kernels += "\n" + text;
      entry.launches.push_back(std::move(launch));
    }
    source.entries.push_back(std::move(entry));
  }
  for (const EntryPoint& entry : source.entries) {
    for (const Launch& launch : entry.launches) HONE_RETURN_IF_ERROR(CheckLaunch(launch, limits));
  }
  if (needs.f64) source.text += dialect.preamble_f64;
  for (const std::string& helper : needs.helpers) source.text += helper + "\n";
  source.text += kernels;
  if (!source.text.empty() && source.text[0] == '\n') source.text.erase(0, 1);
  return source;
}

}  // namespace hone::codegen
