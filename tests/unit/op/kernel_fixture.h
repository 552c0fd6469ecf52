// Shared parts of the tests of compiled kernels: compares a workload's kernels with its operator's reference, which
// does not use te, schedules or code generation (loops over plain indices in double precision).
#pragma once

#include "common/expect.h"
#include "op/operator.h"
#include "unit/op/kernel_case.h"

namespace hone::op {

// This host, with vectors of at most this width.
Target HostWith(int vector_bytes, int registers, int threads);

// A workload with inputs and its operator's reference output. The output in the data is NaN.
struct ReferenceCase {
  Workload workload;
  const Operator* op = nullptr;
  testing::OperandData data;
  std::vector<float> reference;
};
using Change = std::function<void(std::vector<std::vector<float>>* operands)>;
// `change` may replace the usual inputs.
ReferenceCase MakeReferenceCase(const std::string& text, const Target& target, const Change& change = {});

// The kernel of one candidate or point, loaded with the case's data, after one run.
testing::KernelCase RunOnce(const ReferenceCase& c, const Target& target, const Candidate& candidate,
                            runtime::ThreadPool* pool);
testing::KernelCase RunOnce(const ReferenceCase& c, const Target& target, const Config& config,
                            runtime::ThreadPool* pool);

// The allowed error relative to max(1, |reference|), without an algorithm's own rounding.
double RoundingBound(const Workload& w);

// Expects zeros in lanes of a blocked output beyond its channels.
void ExpectUnusedLanesAreZero(const Operand& out, const float* values);

// One configuration: expects that two runs are within its bound, and that unused lanes are zero.
void CheckConfig(const ReferenceCase& c, const Target& target, const Config& config, runtime::ThreadPool* pool);

// Checks the default configuration and, if there is a choice, some random legal ones.
void CheckWorkload(const std::string& text, const Target& target, runtime::ThreadPool* pool, int random_points);

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
    CheckConfig(c, target, Must(DefaultConfig(c.workload, target)), &pool_);
  }
  runtime::ThreadPool pool_ = Must(runtime::ThreadPool::Create(3, false));
};

}  // namespace hone::op
