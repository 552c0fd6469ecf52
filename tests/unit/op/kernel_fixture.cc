#include "unit/op/kernel_fixture.h"

#include <algorithm>
#include <cmath>

#include "base/rng.h"
#include "semantics/semantics.h"

namespace hone::op {

Target HostWith(int vector_bytes, int registers, int threads) {
  Result<Target> host = HostTarget();
  EXPECT_TRUE(host.ok()) << host.status().message();
  Target target = *host;
  if (vector_bytes < target.vector_bytes) {
    target.vector_bytes = vector_bytes;
    target.vector_registers = registers;
  }
  target.threads = threads;
  return target;
}

namespace {

// How many numbers are summed up for one output: errors grow with it.
double ReductionLength(const Workload& w) {
  double length = 0;
  for (const Workload& part : w.Parts()) {
    const TensorType& last = part.inputs.back();
    if (part.op == "conv2d" || part.op == "conv3d" || part.op == "dense") {
      length += static_cast<double>(last.Elements() / last.shape[0]);
    } else if (part.op.starts_with("conv_transpose")) {
      length += static_cast<double>(last.Elements() / last.shape[1]);
    } else if (part.op == "matmul") {
      length += static_cast<double>(part.inputs[0].shape.back());
    } else if (part.op == "global_avg_pool") {
      length += static_cast<double>(last.Elements() / (last.shape[0] * last.shape[1]));
    } else if (part.op.starts_with("reduce_")) {
      length += static_cast<double>(last.Elements() / semantics::InferOutput(part)->Elements());
    } else if (part.op == "softmax") {
      length += static_cast<double>(last.Elements() / last.shape[0]);
    }
  }
  return std::max(length, 16.0);
}

std::string Describe(const Operand& out, size_t at) {
  std::string text = "[";
  int64_t rest = static_cast<int64_t>(at);
  std::vector<int64_t> index(out.physical.size());
  for (size_t i = out.physical.size(); i-- > 0;) index[i] = rest % out.physical[i], rest /= out.physical[i];
  for (int64_t i : index) text += std::to_string(i) + " ";
  return text + "] of " + std::to_string(out.PhysicalElements());
}

}  // namespace

void CheckConfig(const Workload& w, const Target& target, const Config& config, runtime::ThreadPool* pool,
                 testing::OperandData* data, const std::vector<float>& reference) {
  SCOPED_TRACE(w.Text() + "\n  " + config.Text() + " vector=" + std::to_string(target.vector_bytes));
  Result<testing::KernelCase> kernel = testing::KernelCase::Create(w, target, config, pool);
  ASSERT_TRUE(kernel.ok()) << kernel.status().message();
  Status loaded = kernel->Load(*data);
  ASSERT_TRUE(loaded.ok()) << loaded.message();
  kernel->Run();
  kernel->Run();  // a second run must not depend on what the first one left behind
  EXPECT_TRUE(kernel->Intact()) << "something was written beside a buffer";
  testing::Difference d = testing::Compare(reference, kernel->output());
  const Operand& out = data->operands.back();
  double bound = 4e-7 * (4 + std::sqrt(ReductionLength(w))) + kernel->compiled().rounding;
  EXPECT_LE(d.worst, bound) << "at " << Describe(out, d.at) << ": " << kernel->output()[d.at] << " for "
                            << reference[d.at];
  if (out.layout != Layout::kBlocked) return;
  int64_t channels = out.logical.shape[1], lanes = out.physical.back(), blocks = out.physical[1];
  int64_t inner = out.PhysicalElements() / (out.physical[0] * blocks);
  for (int64_t i = 0; i < out.PhysicalElements(); ++i) {
    int64_t c = i / inner % blocks * lanes + i % lanes;
    if (c < channels) continue;
    ASSERT_EQ(kernel->output()[i], 0.0f) << "unused lane at " << Describe(out, i);
  }
}

std::optional<ReferenceCase> MakeReferenceCase(const std::string& text, const Target& target) {
  Result<Workload> w = ParseChecked(text);
  EXPECT_TRUE(w.ok()) << text << ": " << w.status().message();
  if (!w.ok()) return {};
  const Operator* op = *FindOperator(*w);
  Result<testing::OperandData> data = testing::MakeOperandData(*w, target, 11);
  EXPECT_TRUE(data.ok()) << text << ": " << data.status().message();
  if (!data.ok()) return {};
  op->Reference(*w, target, data->Pointers());
  std::vector<float> reference = data->values.back();
  std::fill(data->values.back().begin(), data->values.back().end(), NAN);
  return ReferenceCase{*std::move(w), op, *std::move(data), std::move(reference)};
}

void CheckWorkload(const std::string& text, const Target& target, runtime::ThreadPool* pool, int random_points) {
  SCOPED_TRACE(text);
  std::optional<ReferenceCase> c = MakeReferenceCase(text, target);
  if (!c) return;
  Result<search::TaskSpace> space = MakeTaskSpace(c->workload, target);
  ASSERT_TRUE(space.ok()) << space.status().message();
  Result<Config> config = DefaultConfig(c->workload, target);
  ASSERT_TRUE(config.ok()) << config.status().message();
  EXPECT_FALSE(space->Reject(config->index).has_value());
  CheckConfig(c->workload, target, *config, pool, &c->data, c->reference);
  Rng rng(std::hash<std::string>()(text));
  for (int i = 0; i < random_points && c->op->Tunable(c->workload); ++i) {
    std::optional<PointIndex> index = space->SampleLegal(rng);
    ASSERT_TRUE(index.has_value());
    if (*index == config->index) continue;
    CheckConfig(c->workload, target, space->At(*index), pool, &c->data, c->reference);
  }
}

}  // namespace hone::op
