#include "codegen/c_source/source.h"

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

}  // namespace

Result<DeviceSource> WriteDeviceSource(const std::vector<ir::Function>& functions, const Dialect& dialect) {
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
  if (needs.f64) source.text += dialect.preamble_f64;
  for (const std::string& helper : needs.helpers) source.text += helper + "\n";
  source.text += kernels;
  if (!source.text.empty() && source.text[0] == '\n') source.text.erase(0, 1);
  return source;
}

}  // namespace hone::codegen
