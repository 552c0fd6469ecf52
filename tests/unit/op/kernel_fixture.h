// What tests of compiled kernels share: a workload's kernels against its operator's reference, which is independent of
// te, schedules and code generation (loops over plain indices in double precision).
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "op/operator.h"
#include "unit/op/kernel_case.h"

namespace hone::op {

// This host, with vectors no wider than asked for.
Target HostWith(int vector_bytes, int registers, int threads);

// One configuration: two runs are right within its bound, and lanes beyond the channels hold zeros.
void CheckConfig(const Workload& w, const Target& target, const Config& config, runtime::ThreadPool* pool,
                 testing::OperandData* data, const std::vector<float>& reference);

// A workload with inputs, and what its operator's reference makes of them. The data's output is NaN.
struct ReferenceCase {
  Workload workload;
  const Operator* op = nullptr;
  testing::OperandData data;
  std::vector<float> reference;
};
// Nothing, and a failure of the test, where the text is no workload.
std::optional<ReferenceCase> MakeReferenceCase(const std::string& text, const Target& target);

// The default configuration and some random legal ones, if there is anything to choose.
void CheckWorkload(const std::string& text, const Target& target, runtime::ThreadPool* pool, int random_points);

class KernelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<runtime::ThreadPool> pool = runtime::ThreadPool::Create(3, false);
    ASSERT_TRUE(pool.ok()) << pool.status().message();
    pool_.push_back(*std::move(pool));
  }
  // On the host's own vectors, and on 32-byte ones with half the registers.
  void Check(const std::vector<std::string>& texts, int random_points = 3) {
    int i = 0;
    for (const std::string& text : texts) {
      CheckWorkload(text, HostWith(64, 32, 2 + i % 2), &pool_[0], random_points);
      if (i++ % 4 == 0) CheckWorkload(text, HostWith(32, 16, 3), &pool_[0], 1);
    }
  }
  std::vector<runtime::ThreadPool> pool_;
};

}  // namespace hone::op
