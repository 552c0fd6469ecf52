#include "unit/op/kernel_fixture.h"

#include <algorithm>
#include <cmath>

#include "base/rng.h"

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
  if (w.op == "conv2d") return static_cast<double>(w.inputs[1].Elements() / w.inputs[1].shape[0]);
  if (w.op == "conv3d") return static_cast<double>(w.inputs[1].Elements() / w.inputs[1].shape[0]);
  if (w.op == "dense") return static_cast<double>(w.inputs[1].shape[1]);
  if (w.op == "global_avg_pool") return static_cast<double>(w.inputs[0].shape[2] * w.inputs[0].shape[3]);
  if (w.op == "softmax") return static_cast<double>(w.inputs[0].shape[1]);
  return 16;
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

void CheckWorkload(const std::string& text, const Target& target, runtime::ThreadPool* pool, int random_points) {
  SCOPED_TRACE(text);
  Result<Workload> w = ParseChecked(text);
  ASSERT_TRUE(w.ok()) << w.status().message();
  const Operator* op = *FindOperator(*w);
  Result<testing::OperandData> data = testing::MakeOperandData(*w, target, 11);
  ASSERT_TRUE(data.ok());
  op->Reference(*w, target, data->Pointers());
  std::vector<float> reference = data->values.back();
  std::fill(data->values.back().begin(), data->values.back().end(), NAN);

  Result<search::TaskSpace> space = MakeTaskSpace(*w, target);
  ASSERT_TRUE(space.ok()) << space.status().message();
  Result<Config> config = DefaultConfig(*w, target);
  ASSERT_TRUE(config.ok()) << config.status().message();
  EXPECT_FALSE(space->Reject(config->index).has_value());
  CheckConfig(*w, target, *config, pool, &*data, reference);
  Rng rng(std::hash<std::string>()(text));
  for (int i = 0; i < random_points && op->Tunable(*w); ++i) {
    std::optional<uint64_t> index = space->SampleLegal(rng);
    ASSERT_TRUE(index.has_value());
    if (*index == config->index) continue;
    CheckConfig(*w, target, space->At(*index), pool, &*data, reference);
  }
}

}  // namespace hone::op
