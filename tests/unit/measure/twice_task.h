// The task of the measuring tests: out[i] = data[i] * 2 * weight[i], kCount elements, the weight doubled by the prepare
// function.
#pragma once

#include "base/file.h"
#include "common/expect.h"
#include "measure/inputs.h"
#include "measure/messages.h"
#include "measure/reference.h"

namespace hone::measure {

inline constexpr int64_t kCount = 64;

inline Operand MakeOperand(const std::string& name, OperandRole role) {
  Operand operand{.name = name, .role = role};
  operand.logical.shape = operand.physical = {kCount};
  return operand;
}

// With its reference in `dir`, and time limits that suit a loaded machine.
inline TaskSetup TwiceTask(const TempDir& dir) {
  TaskSetup setup;
  setup.operands = {MakeOperand("data", OperandRole::kData), MakeOperand("weight", OperandRole::kConstant),
                    MakeOperand("out", OperandRole::kOutput)};
  const TensorData data = MakeInput(setup.operands[0]), weight = MakeInput(setup.operands[1]);
  std::vector<float> out(kCount);
  for (int i = 0; i < kCount; ++i) out[i] = data.as<float>()[i] * 2 * weight.as<float>()[i];
  setup.reference_path = dir.Join("t.reference");
  setup.reference_key = ReferenceKey("twice", setup.operands);
  EXPECT_TRUE(WriteReference(setup.reference_path, setup.reference_key, out).ok());
  setup.protocol.candidate_seconds = 0.05;
  setup.protocol.timeout_seconds = 60;  // a loaded machine must not fail tests without hangs
  return setup;
}

// The kernel `symbol` of this task and its prepare function, without launches.
inline BuiltKernel TwiceKernel(const std::string& symbol, const std::string& prepare) {
  BuiltKernel kernel;
  kernel.config.template_name = "c";
  const auto arg = [](const std::string& name, bool written) {
    return ArtifactArg{name, DType::Float(32), kCount, written};
  };
  kernel.kernel = {symbol, {arg("data", false), arg("packed", false), arg("out", true)}, 0, 0};
  using Kind = ArgSource::Kind;
  kernel.kernel_args = {{Kind::kOperand, 0}, {Kind::kPrepared, 0}, {Kind::kOperand, 2}};
  kernel.has_prepare = true;
  kernel.prepare = {prepare, {arg("weight", false), arg("packed", true)}, 0, 0};
  kernel.prepare_args = {{Kind::kOperand, 1}, {Kind::kPrepared, 0}};
  kernel.prepared = {{"packed", DType::Float(32), kCount}};
  return kernel;
}

}  // namespace hone::measure
