// Runs each target over its corpus: corpus/NAME/good_* must be accepted, bad_* rejected, and findings of a fuzzer (any
// other name) must do no harm. Then over variations: flipped bytes, truncated files. The address sanitizer (make
// check-asan) makes "no harm" stricter.
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "base/file.h"
#include "base/rng.h"
#include "base/text.h"
#include "fuzz_target.h"

namespace hone::fuzz {

void PrintTo(const FuzzTarget& target, std::ostream* out) { *out << target.name; }

namespace {

constexpr char kCorpus[] = "tests/fuzz/corpus";
constexpr char kModels[] = "tests/data/onnx";
constexpr size_t kLargest = 200 << 10;  // for all corpora together, as every checkout contains them

struct Case {
  std::string name, bytes;
};

std::vector<Case> CasesOf(const std::string& target) {
  std::vector<Case> cases;
  const std::string folder = JoinPath(kCorpus, target);
  const auto names = ListDir(folder);
  EXPECT_TRUE(names.ok()) << folder;
  if (!names.ok()) return cases;
  for (const std::string& name : *names) {
    auto bytes = ReadFile(JoinPath(folder, name));
    EXPECT_TRUE(bytes.ok()) << name;
    if (bytes.ok()) cases.push_back({name, std::move(*bytes)});
  }
  return cases;
}

class Corpus : public testing::TestWithParam<FuzzTarget> {};

TEST_P(Corpus, IsTakenOrRefusedAsItSays) {
  int good = 0, bad = 0;
  for (const Case& c : CasesOf(GetParam().name)) {
    const Status status = GetParam().read(c.bytes);
    if (StartsWith(c.name, "good_")) {
      ++good;
      EXPECT_TRUE(status.ok()) << c.name << ": " << status.message();
    } else if (StartsWith(c.name, "bad_")) {
      ++bad;
      EXPECT_FALSE(status.ok()) << c.name;
    }
    EXPECT_EQ(status.message().find('\n'), std::string::npos) << c.name << ": a message is one line";
  }
  EXPECT_GE(good, 1) << "what is refused whole teaches a fuzzer nothing";
  EXPECT_GE(bad, 1);
}

TEST_P(Corpus, ChangesDoNoHarm) {
  int refused = 0;
  for (const Case& c : CasesOf(GetParam().name)) {
    if (c.bytes.empty()) continue;
    Rng rng(7);
    const auto any = [&] { return static_cast<size_t>(rng.UniformInt(c.bytes.size())); };
    for (int i = 0; i < 40; ++i) {
      std::string changed = c.bytes;
      if (i % 4 == 3) {
        changed.resize(any());
      } else {
        for (int flips = 0; flips <= i % 4; ++flips) changed[any()] ^= static_cast<char>(1 << rng.UniformInt(8));
      }
      refused += !GetParam().read(changed).ok();
    }
  }
  EXPECT_GT(refused, 0);
}

INSTANTIATE_TEST_SUITE_P(, Corpus, testing::ValuesIn(FuzzTargets()), [](const auto& info) { return info.param.name; });

TEST(Corpora, AreOfTargetsThatExistAndSmall) {
  const auto folders = ListDir(kCorpus);
  ASSERT_TRUE(folders.ok());
  size_t bytes = 0;
  for (const std::string& folder : *folders) {
    const auto has_name = [&](const FuzzTarget& target) { return target.name == folder; };
    EXPECT_TRUE(std::any_of(FuzzTargets().begin(), FuzzTargets().end(), has_name)) << folder;
    for (const Case& c : CasesOf(folder)) bytes += c.bytes.size();
  }
  EXPECT_LE(bytes, kLargest);
}

}  // namespace
}  // namespace hone::fuzz
