// What tests of compiled kernels share: a workload's kernels against its operator's reference, which is independent of
// te, schedules and code generation (loops over plain indices in double precision).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/expect.h"
#include "op/operator.h"
#include "unit/op/kernel_case.h"

namespace hone::op {

// This host, with vectors no wider than asked for.
Target HostWith(int vector_bytes, int registers, int threads);

// A workload with inputs, and what its operator's reference makes of them. The data's output is NaN.
struct ReferenceCase {
  Workload workload;
  const Operator* op = nullptr;
  testing::OperandData data;
  std::vector<float> reference;
};
using Change = std::function<void(std::vector<std::vector<float>>* operands)>;
// `change` may set inputs to other values than the usual ones.
ReferenceCase MakeReferenceCase(const std::string& text, const Target& target, const Change& change = {});

// The kernel of one point, loaded with the case's data, after one run.
testing::KernelCase RunOnce(const ReferenceCase& c, const Target& target, const Config& config,
                            runtime::ThreadPool* pool);

// What an error may be relative to max(1, |reference|), without what an algorithm's own rounding adds.
double RoundingBound(const Workload& w);

// Lanes of a blocked output beyond its channels hold zeros.
void ExpectUnusedLanesAreZero(const Operand& out, const float* values);

// One configuration: two runs are right within its bound, and unused lanes hold zeros.
void CheckConfig(const ReferenceCase& c, const Target& target, const Config& config, runtime::ThreadPool* pool);

// The default configuration and some random legal ones, if there is anything to choose.
void CheckWorkload(const std::string& text, const Target& target, runtime::ThreadPool* pool, int random_points);

class KernelTest : public ::testing::Test {
 protected:
  // On the host's own vectors, and on 32-byte ones with half the registers.
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
