#include "nightly/measure_night.h"

#include "base/file.h"
#include "common/expect.h"
#include "nightly/report.h"

namespace hone::nightly {
namespace {

using ::testing::Each;

NightInput Input(const std::vector<Night>* before = nullptr) {
  static const std::vector<Night> kNone;
  NightInput input{.night = "n1", .fingerprint = "f1", .library = "aa"};
  input.reference = input.canary = "bb";
  input.before = before != nullptr ? before : &kNone;
  return input;
}

// A machine without noise: each process takes the given time, plus slightly more than the previous one, so that ranks
// are unambiguous.
struct Machine {
  double library = 0.01, reference = 0.01, canary = 0.01;
  double repeat_library = 0;     // in the repeat; 0: the same
  double slower_each_round = 0;  // share by which each round is slower than the previous one
  Status fails;                  // from the third process on
  Status canary_fails;           // from its process of round `canary_round` on
  int canary_round = 0;
  std::string order;  // "LRRL|.."
  int started = 0, last_phase = 0;

  Result<ProcessTimes> Time(const ProcessKey& key) {
    const auto [who, phase, round] = key;
    if (phase != last_phase) order += "|";
    last_phase = phase;
    order += who == Who::kLibrary ? "L" : who == Who::kReference ? "R" : "C";
    if (!fails.ok() && ++started > 2) return fails;
    if (who == Who::kCanary && !canary_fails.ok() && round >= canary_round) return canary_fails;
    double seconds = who == Who::kLibrary ? library : who == Who::kReference ? reference : canary;
    if (who == Who::kLibrary && phase == 1 && repeat_library > 0) seconds = repeat_library;
    const double own = seconds * (1 + (1e-4 + slower_each_round) * round);
    return ProcessTimes{{own, 3 * own, own, own}, {}, {{"c1", own / 4}, {"c2", own / 2}}};
  }

  Result<Night> Run(const NightInput& input = Input()) {
    return MeasureNight(input, [this](const ProcessKey& key) { return Time(key); });
  }
};

TEST(MeasureNight, RunsInTurnsForwardsAndBackwards) {
  Machine machine, third;
  NightInput input = Input();
  input.processes = 5;
  const auto night = Must(machine.Run(input));
  EXPECT_EQ(machine.order, "LRRLLRRLLR");
  // The reference is the canary: its own times are the canary's.
  EXPECT_EQ(night.canary->processes, night.reference.processes);
  EXPECT_EQ(night.canary->digest, "bb");
  input.canary = "cc";
  EXPECT_EQ(third.Run(input)->canary->digest, "cc");
  EXPECT_EQ(third.order, "LRCCRLLRCCRLLRC");
}

TEST(MeasureNight, AProcessStandsForItsFastRuns) {
  const auto night = Must(Machine().Run());
  ASSERT_EQ(night.library.processes.size(), 7u);
  EXPECT_DOUBLE_EQ(night.library.processes[0], 0.01);  // of 10, 30, 10 and 10 ms
  ASSERT_EQ(night.library.layers.size(), 2u);
  EXPECT_EQ(night.library.layers[1].node, "c2");
  EXPECT_NEAR(night.library.layers[1].seconds, 0.005, 1e-5);
  EXPECT_EQ(night.comparison.change, Change::kNone);
  EXPECT_FALSE(night.repeat.has_value());
  // Seven runs of twenty are the fast ones: the lower quartile is one of them.
  ProcessTimes mixed;
  for (int i = 0; i < 20; ++i) mixed.samples.push_back(i % 3 == 0 ? 0.01 : 0.02);
  EXPECT_DOUBLE_EQ(mixed.Seconds(), 0.01);
}

// A machine that is up to 1.6 times slower from process to process, and the night that it gives.
Result<Night> PacedNight(double library, const std::function<double(const ProcessKey&)>& slowness) {
  return MeasureNight(Input(), [&](const ProcessKey& key) -> Result<ProcessTimes> {
    const double own = key.who == Who::kLibrary ? library : 0.01, machine = slowness(key) * (1 + 1e-4 * key.round);
    ProcessTimes times;
    // The machine is another one in the second turn, and half of each turn's runs are disturbed.
    for (const double turn : {1.0, 1.5, 1.0}) {
      for (const double run : {1.3, 1.0, 1.0, 2.0}) times.samples.push_back(run * turn * machine * own);
      for (const double run : {1.0, 1.7, 1.4, 1.0}) times.pace.push_back(run * turn * slowness(key) * 0.01);
    }
    return times;
  });
}

TEST(MeasureNight, WhatSlowsTheReferenceInTheSameProcessIsTakenOut) {
  const auto slowness = [](const ProcessKey& key) {
    return 1 + 0.1 * ((3 * key.round + (key.who == Who::kLibrary)) % 7);
  };
  const auto same = Must(PacedNight(0.01, slowness));
  EXPECT_EQ(same.comparison.change, Change::kNone);
  EXPECT_NEAR(same.comparison.ratio, 1, 1e-3);
  EXPECT_TRUE(same.Usable());
  // The paces are 10 to 16 ms (their lower quartiles: four of twelve runs are as fast), the middle one is 13.
  EXPECT_THAT(same.library.processes, Each(::testing::DoubleNear(0.013, 1e-4)));
  EXPECT_THAT(same.reference.processes, Each(::testing::DoubleNear(0.013, 1e-4)));
  const auto slower = PacedNight(0.0104, slowness);
  EXPECT_EQ(slower->comparison.change, Change::kSlower);
  EXPECT_NEAR(slower->comparison.ratio, 1.04, 1e-3);
  // A pace that took no time is no pace.
  EXPECT_THAT(PacedNight(0.01, [](const ProcessKey&) { return 0; })->failure, HasSubstr("timed nothing"));
}

// A change counts only if the repeat shows it in the same direction.
TEST(MeasureNight, AChangeIsMeasuredAgainAtOnce) {
  const struct {
    double repeat;
    Change change, stands;
  } cases[] = {{0.0106, Change::kSlower, Change::kSlower},
               {0.0100, Change::kNone, Change::kNone},
               {0.0094, Change::kFaster, Change::kNone}};
  for (const auto& c : cases) {
    Machine machine{.library = 0.0106, .repeat_library = c.repeat};
    const auto night = machine.Run();
    ASSERT_TRUE(night.ok() && night->repeat.has_value());
    EXPECT_EQ(machine.order, "LRRLLRRLLRRLLR|LRRLLRRLLRRLLR");
    EXPECT_NEAR(night->comparison.ratio, 1.06, 0.001);
    EXPECT_EQ(night->comparison.change, c.stands) << c.repeat;
    EXPECT_EQ(night->repeat->change, c.change) << c.repeat;
    EXPECT_THAT(night->comparison.why,
                HasSubstr(c.stands == Change::kNone ? "the repeat does not confirm it" : "the repeat confirms it"));
    EXPECT_TRUE(night->Usable());
  }
}

TEST(MeasureNight, EqualBytesThatDifferAreADisturbedMachine) {
  NightInput input = Input();
  input.library = input.reference;
  const auto night = Must(Machine{.library = 0.0106}.Run(input));
  EXPECT_THAT(night.environment, HasSubstr("the same bytes"));
  EXPECT_FALSE(night.Usable());
}

TEST(MeasureNight, ACanaryOffItsLevelBlamesNobody) {
  const std::vector<Night> before(6, *Machine().Run());
  const auto night = Must(Machine{.library = 0.0122, .reference = 0.0110}.Run(Input(&before)));
  EXPECT_THAT(night.environment, HasSubstr("canary"));
}

TEST(MeasureNight, ACanaryThatCannotRunIsLeftOutAndTheNightGoesOn) {
  NightInput input = Input();
  input.canary = "cc";
  input.processes = 4;
  const Status old = Status::Unsupported("libone.so: made by another version");
  for (const int round : {0, 1}) {
    Machine machine{.canary_fails = old, .canary_round = round};
    const auto night = Must(machine.Run(input));
    EXPECT_EQ(machine.order, round == 0 ? "LRCRLLRRL" : "LRCCRLLRRL");
    EXPECT_TRUE(night.Usable()) << night.failure;
    EXPECT_FALSE(night.canary.has_value()) << "a part of its processes would be another canary";
    EXPECT_EQ(night.no_canary, old.message());
    EXPECT_EQ(night.library.processes.size(), 4u);
    const Verdict verdict = Judge({{"one.cpu", {night}}}, "n1");
    EXPECT_EQ(verdict.ExitCode(), 0);
    EXPECT_THAT(verdict.jobs[0].words, HasSubstr("without its canary: " + old.message()));
    EXPECT_EQ(ParseHistory(NightText(night), "h")->nights.at(0).no_canary, old.message());
  }
  // An error that is not the canary's fault still ends the night.
  EXPECT_EQ(Machine{.canary_fails = Status::Io("no space left")}.Run(input).status().kind(), StatusKind::kIo);
}

// If processes differ by 30 %, a change of 5 % cannot be detected; but a detected change still counts.
TEST(MeasureNight, ABusyMachineBlamesNobody) {
  const auto unseen = Machine{.slower_each_round = 0.05}.Run();
  EXPECT_THAT(unseen->environment, HasSubstr("the machine was busy"));
  EXPECT_EQ(unseen->comparison.change, Change::kNone);
  const auto seen = Machine{.library = 0.02, .slower_each_round = 0.05}.Run();
  EXPECT_TRUE(seen->Usable()) << seen->environment;
  EXPECT_EQ(seen->comparison.change, Change::kSlower);
}

TEST(MeasureNight, OnlyWhatIsWrongWithTheLibraryIsAFactAboutTheNight) {
  const auto night = Must(Machine{.fails = Status::Crashed("killed by SIGSEGV")}.Run());
  EXPECT_EQ(night.failure, "killed by SIGSEGV");
  EXPECT_EQ(night.library.digest, "aa");
  EXPECT_TRUE(night.library.processes.empty());
  EXPECT_TRUE(ParseHistory(NightText(night), "n").ok());
  const auto empty = MeasureNight(Input(), [](const ProcessKey&) { return Result<ProcessTimes>(ProcessTimes()); });
  EXPECT_THAT(empty->failure, HasSubstr("timed nothing"));
  for (const Status& status : {Status::Interrupted("^C"), Status::Io("no space left"), Status::Locked("x")}) {
    EXPECT_EQ(Machine{.fails = status}.Run().status().kind(), status.kind());
  }
}

TEST(NightSamples, ANightGoesOnWhereItStopped) {
  const auto dir = Must(TempDir::Create());
  const std::string path = dir.Join("samples/a.cpu/n1.jsonl");
  const ProcessKey first{Who::kLibrary, 0, 0}, repeated{Who::kCanary, 1, 3}, missing{Who::kReference, 0, 0};
  {
    auto samples = Must(NightSamples::Open(path, "k"));
    EXPECT_EQ(samples.Find(first), nullptr);
    ASSERT_TRUE(samples.Append(first, {{0.25, 0.5}, {2, 3}, {{"c1", 0.125}}, 0.0625}).ok());
    ASSERT_TRUE(samples.Append(repeated, {{0.75}}).ok());
    EXPECT_NE(samples.Find(repeated), nullptr);
  }
  // A line that was torn when the machine went down is that process again.
  ASSERT_TRUE(WriteFileAtomic(path, *ReadFile(path) + "{\"who\": \"lib").ok());
  {
    auto samples = Must(NightSamples::Open(path, "k"));
    const ProcessTimes* times = samples.Find(first);
    ASSERT_NE(times, nullptr);
    EXPECT_EQ(times->samples, (std::vector<double>{0.25, 0.5}));
    EXPECT_EQ(times->pace, (std::vector<double>{2, 3}));
    EXPECT_EQ(times->layers.at(0).seconds, 0.125);
    EXPECT_EQ(times->lost, 0.0625);
    EXPECT_TRUE(samples.Find(repeated)->pace.empty());
    EXPECT_EQ(samples.Find(missing), nullptr);
    ASSERT_TRUE(samples.Append(missing, {{1}}).ok());
  }
  EXPECT_NE(NightSamples::Open(path, "k")->Find(missing), nullptr);
  // Another library, or another way to measure: nothing of it counts.
  EXPECT_EQ(NightSamples::Open(path, "k2")->Find(first), nullptr);
}

}  // namespace
}  // namespace hone::nightly
