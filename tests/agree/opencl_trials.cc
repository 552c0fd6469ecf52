#include "agree/opencl_trials.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "codegen/opencl/codegen.h"
#include "ir/printer.h"

namespace hone::agree {

void ExpectAgreeOnOpenCl(runtime::Device* device, const Prepared& prepared, const std::vector<Trial>& trials) {
  std::vector<ir::Function> functions;
  for (const Trial& trial : trials) functions.push_back(trial.function);
  Target target;
  target.kind = &OpenClKind();
  const auto artifact = codegen::CompileToOpenCl(functions, target);
  ASSERT_TRUE(artifact.ok()) << artifact.status().message();
  const auto module = device->Load(*artifact);
  ASSERT_TRUE(module.ok()) << module.status().message() << "\n" << artifact->bytes;
  for (const Trial& trial : trials) {
    Buffers host(prepared);
    std::vector<std::unique_ptr<runtime::DeviceBuffer>> buffers;
    runtime::DeviceArguments arguments;
    for (size_t i = 0; i < host.bytes().size(); ++i) {
      auto buffer = device->Allocate(host.bytes()[i]);
      ASSERT_TRUE(buffer.ok()) << buffer.status().message();
      ASSERT_TRUE(device->CopyIn(buffer->get(), host.pointers()[i], host.bytes()[i]).ok());
      arguments.push_back(buffer->get());
      buffers.push_back(std::move(*buffer));
    }
    const Status ran = (*module)->Run(trial.function.name, arguments);
    ASSERT_TRUE(ran.ok()) << ran.message() << "\n" << trial.context << ir::ToString(trial.function);
    for (size_t i = 0; i < buffers.size(); ++i) {
      ASSERT_TRUE(device->CopyOut(host.pointers()[i], *buffers[i], host.bytes()[i]).ok());
    }
    ASSERT_EQ(host.Difference(), "") << trial.context << ir::ToString(trial.function) << artifact->bytes;
  }
}

}  // namespace hone::agree
