// The parts of measuring that need no candidate: stopping, inputs, comparison, files, messages.
#include <fstream>

#include "base/fields.h"
#include "base/file.h"
#include "common/expect.h"
#include "measure/cold_ring.h"
#include "measure/inputs.h"
#include "measure/messages.h"
#include "measure/protocol.h"
#include "measure/reference.h"

namespace hone::measure {
namespace {

using Verdict = StoppingRule::Verdict;

TEST(StoppingRuleTest, TwoSlowRunsPruneWithTheFasterAsBoundButNotOne) {
  StoppingRule one(Protocol{}, 1e-3), two = one;
  EXPECT_EQ(one.Add(9e-3), Verdict::kMore);
  EXPECT_EQ(one.Add(1.1e-3), Verdict::kMore);
  EXPECT_FALSE(one.pruned());
  EXPECT_EQ(two.Add(9e-3), Verdict::kMore);
  EXPECT_EQ(two.Add(2.5e-3), Verdict::kPruned);
  EXPECT_TRUE(two.pruned());
  EXPECT_EQ(two.median(), 2.5e-3);
}

TEST(StoppingRuleTest, NothingIsPrunedWithoutAnIncumbentOrAFactor) {
  StoppingRule first(Protocol{}, 0);
  EXPECT_EQ(first.Add(9), Verdict::kDone) << "beyond candidate_seconds";
  EXPECT_FALSE(first.pruned());
  Protocol never{.prune_factor = 0};
  StoppingRule rule(never, 1e-6);
  EXPECT_EQ(rule.Add(1e-3), Verdict::kMore);
  EXPECT_EQ(rule.Add(1e-3), Verdict::kMore);
}

TEST(StoppingRuleTest, ALoserStopsAsSoonAsItsIntervalIsAboveTheIncumbent) {
  StoppingRule rule(Protocol{}, 1.0e-3);
  for (const double t : {1.3e-3, 1.5e-3, 1.2e-3, 1.6e-3}) EXPECT_EQ(rule.Add(t), Verdict::kMore);
  EXPECT_EQ(rule.Add(1.4e-3), Verdict::kDone);
  EXPECT_EQ(rule.median(), 1.4e-3);
}

// The number of runs, alternating between these times, until the rule stops.
int RunsUntilDone(StoppingRule rule, double even, double odd) {
  int count = 0;
  while (rule.Add(count++ % 2 == 0 ? even : odd) == Verdict::kMore) continue;
  return count;
}

TEST(StoppingRuleTest, AWinnerIsRepeatedUntilItsMedianIsKnown) {
  Protocol patient{.usual_seconds = 1};
  EXPECT_EQ(RunsUntilDone(StoppingRule(patient, 2e-3), 1.0e-3, 1.2e-3), patient.max_samples);
  EXPECT_EQ(RunsUntilDone(StoppingRule(Protocol{}, 2e-3), 1e-3, 1e-3), Protocol{}.min_samples);
}

TEST(StoppingRuleTest, WhatIsTooCloseToCallIsLeftToTheFinalists) {
  EXPECT_EQ(RunsUntilDone(StoppingRule(Protocol{}, 5.1e-3), 5.0e-3, 5.2e-3), 6) << "six runs of 5.1 ms are 30 ms";
}

TEST(StoppingRuleTest, TheTimeLimitHolds) {
  Protocol protocol{.candidate_seconds = 1};
  StoppingRule rule(protocol, 0);
  EXPECT_EQ(rule.Add(0.4), Verdict::kMore);
  EXPECT_EQ(rule.Add(0.4), Verdict::kMore);
  EXPECT_EQ(rule.Add(0.4), Verdict::kDone);
}

Operand Blocked(int64_t channels, int64_t block) {
  Operand o{.name = "data"};
  o.logical.shape = {2, channels, 3, 5};
  o.physical = {2, (channels + block - 1) / block, 3, 5, block};
  o.layout = Layout::kBlocked;
  return o;
}

std::vector<float> Filled(const Operand& operand) {
  const TensorData data = MakeInput(operand);
  EXPECT_EQ(data.type, (TensorType{operand.logical.type, operand.physical}));
  const auto values = data.as<float>();
  return {values.begin(), values.end()};
}

TEST(InputsTest, ValuesDependOnTheLogicalIndexAndNotOnTheBlock) {
  Operand plain = Blocked(20, 16);
  plain.layout = Layout::kPlain;
  plain.physical = plain.logical.shape;
  const std::vector<float> expected = Filled(plain);
  for (const int64_t block : {4, 8, 16}) {
    const Operand o = Blocked(20, block);
    const std::vector<float> values = Filled(o);
    size_t i = 0;
    for (int64_t n = 0; n < 2; ++n) {
      for (int64_t c = 0; c < 20; ++c) {
        for (int64_t p = 0; p < 15; ++p, ++i) {
          const int64_t at = ((n * o.physical[1] + c / block) * 15 + p) * block + c % block;
          ASSERT_EQ(values[static_cast<size_t>(at)], expected[i]) << block << " " << n << " " << c << " " << p;
        }
      }
    }
  }
}

TEST(InputsTest, PaddedLanesAreZeroAndNothingElseIs) {
  const Operand o = Blocked(20, 16);
  const std::vector<float> values = Filled(o);
  int64_t zeros = 0;
  for (const float v : values) zeros += v == 0;
  EXPECT_EQ(zeros, 2 * 12 * 15);
}

TEST(InputsTest, OutputsOfALongReductionAreOfOrderOne) {
  Operand data, weight;
  data.name = "data";
  data.logical.shape = data.physical = {1, 4096};
  weight.name = "weight";
  weight.role = OperandRole::kConstant;
  weight.logical.shape = weight.physical = {64, 4096};
  const auto x = Filled(data), w = Filled(weight);
  double square = 0;
  for (int o = 0; o < 64; ++o) {
    double sum = 0;
    for (int i = 0; i < 4096; ++i) sum += static_cast<double>(x[i]) * w[o * 4096 + i];
    square += sum * sum / 64;
  }
  EXPECT_NEAR(std::sqrt(square), std::sqrt(2.0), 0.4);
  EXPECT_EQ(ReductionLength({data, weight}), 4096);
  EXPECT_EQ(ReductionLength({data}), 1);
}

TEST(InputsTest, OperandsOfDifferentNamesDiffer) {
  Operand a = Blocked(16, 16), b = a;
  b.name = "residual";
  EXPECT_NE(Filled(a), Filled(b));
}

Operand Output() {
  Operand o = Blocked(20, 16);
  o.name = "out";
  o.role = OperandRole::kOutput;
  return o;
}

TEST(VerifyTest, NamesTheFirstDifferingElementAndCounts) {
  const Operand o = Output();
  std::vector<float> want(static_cast<size_t>(o.PhysicalElements()), 1.0f), got = want;
  EXPECT_FALSE(FirstDifference(o, got.data(), want.data(), 1e-5).has_value());
  got[480 + 240 + 16 + 3] = 1.5f;  // image 1, block 1, row 0, column 1, lane 3
  got[959] = 2;
  const std::string difference = FirstDifference(o, got.data(), want.data(), 1e-5).value_or("");
  EXPECT_THAT(difference, HasSubstr("out[1,1,0,1,3] is 1.5, expected 1"));
  EXPECT_THAT(difference, HasSubstr("2 of 960"));
}

TEST(VerifyTest, IntegersAreEqualOrWrong) {
  Operand o = Output();
  o.logical.type = DType::Int(8);
  const TensorType stored{o.logical.type, o.physical};
  const TensorData want(stored, std::vector<double>(960, 100));
  TensorData got = want;
  EXPECT_FALSE(FirstDifference(o, got.bytes.data(), want.bytes.data(), 1e-5).has_value());
  got.as<int8_t>()[959] = 101;
  EXPECT_THAT(FirstDifference(o, got.bytes.data(), want.bytes.data(), 0.99).value_or(""),
              HasSubstr("is 101, expected 100; 1 of 960"));
  // Groups that quantise floats may be a step away.
  EXPECT_FALSE(FirstDifference(o, got.bytes.data(), want.bytes.data(), 1.001).has_value());
  got.as<int8_t>()[959] = 102;
  EXPECT_TRUE(FirstDifference(o, got.bytes.data(), want.bytes.data(), 1.001).has_value());
}

TEST(InputsTest, IntegersAreOfTheirRangeAndNeverZero) {
  for (const DType type : {DType::Int(8), DType::UInt(8), DType::Int(32)}) {
    Operand o = Blocked(20, 16);
    o.logical.type = type;
    double least = 0, most = 0;
    size_t zeros = 0;
    for (double value : MakeInput(o).Doubles()) {
      least = std::min(least, value), most = std::max(most, value);
      zeros += value == 0 ? 1 : 0;
    }
    EXPECT_EQ(zeros, 2u * 15 * 12) << ToString(type) << ": the lanes beyond the channels alone";
    EXPECT_EQ(least < -100, type.is_int()) << ToString(type);
    EXPECT_EQ(most > 200, type.is_uint()) << ToString(type);
  }
}

TEST(VerifyTest, NanAndInfinityAreNeverRight) {
  const Operand o = Output();
  std::vector<float> want(static_cast<size_t>(o.PhysicalElements()), 1.0f), got = want;
  for (const float bad : {NAN, INFINITY, -INFINITY}) {
    got[7] = bad;
    EXPECT_TRUE(FirstDifference(o, got.data(), want.data(), 1e-3).has_value()) << bad;
  }
}

// At every length, the tolerance must lie between rounding errors and the effect of a missing term.
TEST(VerifyTest, ToleranceSeparatesRoundingFromMissingTerms) {
  for (const int64_t length : {1, 9, 64, 576, 4608, 25088}) {
    const double missing_term = 1 / std::sqrt(static_cast<double>(length));
    const double rounding = 0x1p-24 * std::sqrt(static_cast<double>(length));
    EXPECT_LT(rounding * 10, Tolerance(length)) << length;
    EXPECT_GT(missing_term, Tolerance(length) * 20) << length;
  }
}

TEST(ReferenceFileTest, RoundTripAndEveryDamageIsNoticed) {
  auto dir = Must(TempDir::Create());
  const std::string path = dir.Join("t.reference");
  const TensorData values = std::vector<float>{1, 2.5f, -3};
  const Operand output{"out", OperandRole::kOutput, values.type, Layout::kPlain, {3}};
  EXPECT_EQ(ReadReference(path, "key", output).status().kind(), StatusKind::kNotFound);
  ASSERT_TRUE(WriteReference(path, "key", values).ok());
  EXPECT_EQ(Must(ReadReference(path, "key", output)), values);
  EXPECT_EQ(ReadReference(path, "other", output).status().kind(), StatusKind::kCorrupt);
  Operand longer = output;
  longer.physical = {4};
  EXPECT_EQ(ReadReference(path, "key", longer).status().kind(), StatusKind::kCorrupt);
  const std::string bytes = *ReadFile(path);
  const auto write = [&](const std::string& text) { std::ofstream(path, std::ios::binary) << text; };
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] ^= 1;
    write(damaged);
    EXPECT_EQ(ReadReference(path, "key", output).status().kind(), StatusKind::kCorrupt) << "byte " << i;
    write(bytes.substr(0, i));
    EXPECT_EQ(ReadReference(path, "key", output).status().kind(), StatusKind::kCorrupt) << "cut at " << i;
  }
}

TEST(MessagesTest, SetupAndVerdictSurviveTheWire) {
  TaskSetup setup;
  setup.operands = {Blocked(20, 16), Output()};
  setup.reference_path = "a/b";
  setup.reference_key = "k";
  setup.flop = 1.5e9;
  setup.threads = 3;
  setup.target = "opencl";
  setup.protocol.max_samples = 17;
  setup.protocol.patience_seconds = 0.75;
  auto read = Must(ParseFields<TaskSetup>(FieldsText(setup, -1), "wire"));
  EXPECT_EQ(FieldsText(read), FieldsText(setup));
  EXPECT_EQ(read.protocol.patience_seconds, 0.75);
  EXPECT_EQ(read.target, "opencl");
  const BuiltKernel kernel{.format = "cubin"};
  EXPECT_EQ(Must(FieldsFrom<BuiltKernel>(FieldsJson(kernel), "kernel")).format, "cubin");

  Outcome outcome{.state = TrialState::kPruned, .samples = {0.1, 1e-9 / 3}, .median = 1e-9 / 3};
  auto verdict = ParseJson(DumpJson(VerdictToJson(outcome), -1), "wire");
  Outcome back;
  ASSERT_TRUE(VerdictFromJson(*verdict, &back).ok());
  EXPECT_EQ(back.state, outcome.state);
  EXPECT_EQ(back.samples, outcome.samples);
  EXPECT_EQ(back.median, outcome.median);
}

TEST(RingCacheTest, CopiesAreDistinctAndHoldTheContents) {
  auto pool = Must(runtime::ThreadPool::Create(2, false));
  RingCache cache(64 * 100, 2);
  constexpr int kCopies = 20;  // 6400 bytes / (128 + 64 + 64 behind each)
  const std::string a(100, 'a'), b(30, 'b'), c(100, 'c');
  auto ring = cache.Get({100, 30}, {a.data(), b.data()}, &pool);
  ASSERT_TRUE(ring.ok());
  EXPECT_EQ((*ring)->copies(), kCopies);
  std::set<char*> seen;
  for (int i = 0; i < kCopies; ++i) {
    const auto& addresses = (*ring)->Next();
    ASSERT_EQ(addresses.size(), 2u);
    seen.insert(addresses[0]);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(addresses[0]) % 64, 0u);
    EXPECT_EQ(std::string(addresses[0], 100), a);
    EXPECT_EQ(std::string(addresses[1], 30), b);
  }
  EXPECT_EQ(seen.size(), static_cast<size_t>(kCopies));
  ColdRing* first = *ring;
  EXPECT_NE(*cache.Get({100, 30}, {c.data(), b.data()}, &pool), first);
  EXPECT_EQ(*cache.Get({100, 30}, {a.data(), b.data()}, &pool), first) << "the same contents share a ring";
  first->Next()[0][0] = 'x';
  cache.Forget();
  auto again = cache.Get({100, 30}, {a.data(), b.data()}, &pool);
  for (int i = 0; i < kCopies; ++i) EXPECT_EQ(std::string((*again)->Next()[0], 100), a);
}

TEST(RingCacheTest, AHigherLimitKeepsWhatIsThere) {
  auto pool = Must(runtime::ThreadPool::Create(2, false));
  RingCache cache(64 * 100, 2);
  const auto ring = [&](char c) { return Must(cache.Get({100}, {std::string(100, c).data()}, &pool)); };
  const ColdRing* const a = ring('a');
  const ColdRing* const b = ring('b');
  cache.SetLimit(3);
  const ColdRing* const c = ring('c');
  EXPECT_EQ(ring('a'), a);
  EXPECT_EQ(ring('b'), b);
  EXPECT_EQ(std::string(ring('c')->Next()[0], 100), std::string(100, 'c'));
  cache.SetLimit(1);
  EXPECT_EQ(ring('c'), c);  // the one used last
}

// Large constants also have 8 copies, within three times the bytes, but never fewer than 2.
TEST(RingCacheTest, FewCopiesWouldStayInALastCache) {
  auto pool = Must(runtime::ThreadPool::Create(2, false));
  struct Case {
    int64_t bytes;  // a multiple of 64 less the 64 behind them
    int copies;
  };
  for (const Case& c :
       {Case{960, 64}, Case{8128, 8}, Case{16320, 8}, Case{24512, 8}, Case{49088, 4}, Case{131008, 2}}) {
    const std::string constant(static_cast<size_t>(c.bytes), 'a');
    ColdRing ring;
    ASSERT_TRUE(ring.Fill({c.bytes}, {constant.data()}, 65536, &pool).ok());
    EXPECT_EQ(ring.copies(), c.copies) << c.bytes;
    for (int i = 0; i < 2 * c.copies; ++i) EXPECT_EQ(std::string(ring.Next()[0], constant.size()), constant);
  }
}

TEST(RingCacheTest, ACopyKnowsWhoWroteBesideItsConstants) {
  auto pool = Must(runtime::ThreadPool::Create(2, false));
  ColdRing ring;
  const std::string a(100, 'a'), b(64, 'b');
  const auto fill = [&] { return ring.Fill({100, 64}, {a.data(), b.data()}, 2000, &pool); };
  ASSERT_TRUE(fill().ok());
  for (int i = 0; i < 2 * ring.copies(); ++i) {
    const std::vector<char*> copy = ring.Next();
    EXPECT_TRUE(ring.Intact()) << i;
    for (char* at : {copy[0] - 1, copy[0] + 100, copy[0] + 127, copy[1] - 1, copy[1] + 64}) {
      *at = 0;
      EXPECT_FALSE(ring.Intact()) << i << ": " << at - copy[0];
      runtime::AlignedBuffer::Mark(at, at + 1);
    }
    copy[0][99] = copy[1][0] = 'x';  // it does not check the constants themselves
    EXPECT_TRUE(ring.Intact()) << i;
  }
  ring.Next()[1][64] = 0;
  ASSERT_TRUE(fill().ok());
  ring.Next();
  EXPECT_TRUE(ring.Intact()) << "filled again";
}

}  // namespace
}  // namespace hone::measure
