// Shared parts of the tests of compiled kernels: compares a workload's kernels with its operator's reference, which
// does not use te, schedules or code generation (loops over plain indices in double precision).
#pragma once

#include "base/rng.h"
#include "common/expect.h"
#include "propose/propose.h"
#include "semantics/semantics.h"
#include "target/arm_cores.h"
#include "unit/op/kernel_case.h"

namespace hone::op {

// The number of values summed for one output, with which errors grow.
inline double ReductionLength(const Workload& w) {
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

inline std::string Describe(const Operand& out, size_t at) {
  std::string text = "[";
  int64_t rest = static_cast<int64_t>(at);
  std::vector<int64_t> index(out.physical.size());
  for (size_t i = out.physical.size(); i-- > 0;) index[i] = rest % out.physical[i], rest /= out.physical[i];
  for (int64_t i : index) text += std::to_string(i) + " ";
  return text + "] of " + std::to_string(out.PhysicalElements());
}

// This host, with vectors of at most this width.
inline Target HostWith(int vector_bytes, int registers, int threads) {
  Target target = Must(HostTarget());
  if (vector_bytes < target.vector_bytes) {
    target.vector_bytes = vector_bytes;
    target.vector_registers = registers;
  }
  target.threads = threads;
  return target;
}

// A core of AArch64, whose kernels are emulated.
inline Target Arm(const std::string& cpu, int threads) {
  Target target = Must(Target::Parse("cpu -triple=aarch64-unknown-linux-gnu -vector=16 -cpu=" + cpu));
  target.features = ArmCoreFeatures(cpu).value();
  target.threads = threads;
  return target;
}

// A workload with inputs and its operator's reference output. The output in the data is NaN.
struct ReferenceCase {
  Workload workload;
  const Operator* op = nullptr;
  testing::OperandData data;
  std::vector<float> reference;
};
using Change = std::function<void(std::vector<std::vector<float>>* operands)>;
// `change` may replace the usual inputs.
inline ReferenceCase MakeReferenceCase(const std::string& text, const Target& target, const Change& change = {}) {
  ReferenceCase c{Must(ParseChecked(text)), nullptr, {}, {}};
  c.op = Must(FindOperator(c.workload));
  c.data = Must(testing::MakeOperandData(c.workload, target, 11));
  if (change) change(&c.data.values);
  c.op->Reference(c.workload, target, c.data.Pointers());
  c.reference = c.data.values.back();
  std::fill(c.data.values.back().begin(), c.data.values.back().end(), NAN);
  return c;
}

// The kernel of one candidate or point, loaded with the case's data, after one run.
inline testing::KernelCase RunOnce(const ReferenceCase& c, const Target& target, const Candidate& candidate,
                                   runtime::ThreadPool* pool) {
  testing::KernelCase kernel = Must(testing::KernelCase::Create(c.workload, target, candidate, pool));
  Must(kernel.Load(c.data));
  kernel.Run();
  return kernel;
}
inline testing::KernelCase RunOnce(const ReferenceCase& c, const Target& target, const Config& config,
                                   runtime::ThreadPool* pool) {
  return RunOnce(c, target, Must(propose::Instantiate(c.workload, target, config)), pool);
}

// The allowed error relative to max(1, |reference|), without an algorithm's own rounding.
inline double RoundingBound(const Workload& w) { return 4e-7 * (4 + std::sqrt(ReductionLength(w))); }

// Expects zeros in lanes of a blocked output beyond its channels.
inline void ExpectUnusedLanesAreZero(const Operand& out, const float* values) {
  if (out.layout != Layout::kBlocked) return;
  int64_t channels = out.logical.shape[1], lanes = out.physical.back(), blocks = out.physical[1];
  int64_t inner = out.PhysicalElements() / (out.physical[0] * blocks);
  for (int64_t i = 0; i < out.PhysicalElements(); ++i) {
    int64_t c = i / inner % blocks * lanes + i % lanes;
    if (c < channels) continue;
    ASSERT_EQ(values[i], 0.0f) << "unused lane at " << Describe(out, i);
  }
}

// One configuration: expects that two runs are within its bound, and that unused lanes are zero.
inline void CheckConfig(const ReferenceCase& c, const Target& target, const Config& config, runtime::ThreadPool* pool) {
  SCOPED_TRACE(c.workload.Text() + "\n  " + config.Text() + " vector=" + std::to_string(target.vector_bytes));
  testing::KernelCase kernel = RunOnce(c, target, config, pool);
  kernel.Run();  // a second run must not depend on the first one's leftovers
  EXPECT_TRUE(kernel.Intact()) << "something was written beside a buffer";
  testing::Difference d = testing::Compare(c.reference, kernel.output());
  const Operand& out = c.data.operands.back();
  EXPECT_LE(d.worst, RoundingBound(c.workload) + kernel.compiled().rounding)
      << "at " << Describe(out, d.at) << ": " << kernel.output()[d.at] << " for " << c.reference[d.at];
  ExpectUnusedLanesAreZero(out, kernel.output());
}

// Checks the default configuration and, if there is a choice, some random legal ones.
inline void CheckWorkload(const std::string& text, const Target& target, runtime::ThreadPool* pool, int random_points) {
  SCOPED_TRACE(text);
  const ReferenceCase c = MakeReferenceCase(text, target);
  const search::TaskSpace space = Must(propose::MakeTaskSpace(c.workload, target));
  const Config config = Must(propose::DefaultConfig(c.workload, target));
  EXPECT_FALSE(space.Reject(config.index).has_value());
  CheckConfig(c, target, config, pool);
  Rng rng(std::hash<std::string>()(text));
  for (int i = 0; i < random_points && propose::Tunable(c.workload, target); ++i) {
    std::optional<PointIndex> index = space.SampleLegal(rng);
    ASSERT_TRUE(index.has_value());
    if (*index != config.index) CheckConfig(c, target, space.At(*index), pool);
  }
}

class KernelTest : public ::testing::Test {
 protected:
  // With the host's own vectors, and with 32-byte ones and half the registers.
  void Check(const std::vector<std::string>& texts, int random_points = 3) {
    int i = 0;
    for (const std::string& text : texts) {
      CheckWorkload(text, HostWith(64, 32, 2 + i % 2), &pool_, random_points);
      if (i++ % 4 == 0) CheckWorkload(text, HostWith(32, 16, 3), &pool_, 1);
    }
  }
  // The default configuration on changed inputs.
  void CheckDefault(const ReferenceCase& c, const Target& target) {
    CheckConfig(c, target, Must(propose::DefaultConfig(c.workload, target)), &pool_);
  }
  runtime::ThreadPool pool_ = Must(runtime::ThreadPool::Create(3, false));
};

}  // namespace hone::op
