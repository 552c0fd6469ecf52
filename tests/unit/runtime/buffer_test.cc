#include "runtime/host/buffer.h"

#include "base/file.h"
#include "base/text.h"
#include "common/expect.h"
#include "runtime/host/loader.h"

namespace hone::runtime {
namespace {

TEST(AlignedBuffer, IsAlignedZeroAndWritable) {
  for (bool guard : {false, true}) {
    for (int64_t bytes : {0, 1, 63, 64, 65, 4096, 5000}) {
      auto buffer = Must(AlignedBuffer::Create(bytes, guard));
      EXPECT_EQ(buffer.bytes(), bytes);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(buffer.data()) % 64, 0U);
      for (int64_t i = 0; i < bytes; ++i) {
        ASSERT_EQ(buffer.data()[i], 0);
        buffer.data()[i] = 1;
      }
    }
  }
}

TEST(AlignedBufferDeathTest, ASealedBufferCanOnlyBeRead) {
  for (const bool guard : {false, true}) {
    auto buffer = Must(AlignedBuffer::Create(5000, guard));
    buffer.data()[4999] = 7;
    Must(buffer.Seal());
    EXPECT_EQ(buffer.data()[4999], 7);
    EXPECT_DEATH(buffer.data()[0] = 1, "");
    EXPECT_DEATH(buffer.data()[4999] = 1, "");
  }
}

TEST(AlignedBufferDeathTest, GuardFaultsAtTheEnd) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  auto guarded = Must(AlignedBuffer::Create(128, true));
  volatile char* end = guarded.data() + 128;
  EXPECT_DEATH(*end = 1, "");
}

TEST(AlignedBuffer, KnowsWhoWroteBesideIt) {
  for (const int64_t bytes : {4, 60, 64, 100, 4096, 5000}) {
    auto buffer = Must(AlignedBuffer::Create(bytes, true));
    std::memset(buffer.data(), 1, static_cast<size_t>(bytes));
    EXPECT_TRUE(buffer.Intact()) << bytes;
    // The first byte behind it, up to the faulting page, and the last byte in front, if there is one.
    std::vector<char*> beside;
    if (bytes % 64 != 0) beside = {buffer.data() + bytes, buffer.data() + (bytes + 63) / 64 * 64 - 1};
    if (bytes % 4096 != 0) beside.push_back(buffer.data() - 1);
    for (char* at : beside) {
      const char was = *at;
      EXPECT_NE(was, 0) << "who reads it must not get zeros";
      *at = 0;
      EXPECT_FALSE(buffer.Intact()) << bytes;
      buffer.Mend();
      EXPECT_EQ(*at, was);
      EXPECT_TRUE(buffer.Intact()) << bytes;
    }
    EXPECT_EQ(buffer.data()[0], 1);
    EXPECT_EQ(buffer.data()[bytes - 1], 1);
  }
}

TEST(AlignedBuffer, MarkedBytesAreUntouchedUntilOneChanges) {
  for (const size_t count : {0, 1, 2, 63, 64, 1000}) {
    std::vector<char> bytes(count + 1, 0);
    char* begin = bytes.data();
    AlignedBuffer::Mark(begin, begin + count);
    EXPECT_TRUE(AlignedBuffer::Untouched(begin, begin + count)) << count;
    EXPECT_EQ(bytes[count], 0);
    for (size_t i = 0; i < count; ++i) {
      ++bytes[i];
      EXPECT_FALSE(AlignedBuffer::Untouched(begin, begin + count)) << count << " " << i;
      --bytes[i];
    }
    std::fill(bytes.begin(), bytes.end(), 0);
    EXPECT_EQ(AlignedBuffer::Untouched(begin, begin + count), count == 0) << "all alike, but no mark";
  }
}

// As the memory of a network library does: times would differ otherwise.
TEST(AlignedBuffer, ALargeOneAsksForHugePages) {
  if (!Exists("/sys/kernel/mm/transparent_hugepage")) GTEST_SKIP() << "this kernel has no huge pages on request";
  for (const bool guard : {false, true}) {
    const auto buffer = Must(AlignedBuffer::Create(int64_t{4} << 20, guard));
    const auto address = reinterpret_cast<uintptr_t>(buffer.data());
    bool inside = false, asked = false;
    for (const std::string& line : Split(Must(ReadFile("/proc/self/smaps")), '\n')) {
      unsigned long begin = 0, end = 0;
      if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2) inside = begin <= address && address < end;
      if (inside && StartsWith(line, "VmFlags:")) asked = line.find(" hg") != std::string::npos;
    }
    EXPECT_TRUE(asked) << guard;
  }
}

TEST(AlignedBuffer, MovesItsMemory) {
  auto buffer = Must(AlignedBuffer::Create(64));
  char* data = buffer.data();
  AlignedBuffer other = std::move(buffer);
  EXPECT_EQ(other.data(), data);
  EXPECT_EQ(buffer.data(), nullptr);
}

TEST(LoadedModule, FailuresNameTheFile) {
  EXPECT_EQ(LoadedModule::Open("/nowhere/k.so").status().kind(), StatusKind::kNotFound);
  auto dir = Must(TempDir::Create());
  std::string path = dir.Join("text.so");
  ASSERT_TRUE(WriteFileAtomic(path, "not a shared object").ok());
  Status status = LoadedModule::Open(path).status();
  EXPECT_EQ(status.kind(), StatusKind::kInvalid);
  EXPECT_THAT(status.message(), HasSubstr("text.so"));
}

}  // namespace
}  // namespace hone::runtime
