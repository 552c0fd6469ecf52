#include "base/cpu.h"

#include "common/expect.h"

namespace hone {
namespace {

TEST(Cpu, DetectsSomethingSensible) {
  const CpuInfo info = Must(DetectCpu());
  EXPECT_GE(info.logical_cores, 1);
  EXPECT_EQ(static_cast<size_t>(info.logical_cores), UsableCpus().size());
  EXPECT_FALSE(info.model.empty());
  EXPECT_FALSE(info.governor.empty());
  EXPECT_TRUE(std::is_sorted(info.features.begin(), info.features.end()));
#ifdef __x86_64__
  // Every 64-bit x86 processor has it.
  EXPECT_TRUE(std::binary_search(info.features.begin(), info.features.end(), "sse2"));
#endif
  EXPECT_FALSE(KernelRelease().empty());
  EXPECT_FALSE(Hostname().empty());
}

}  // namespace
}  // namespace hone
