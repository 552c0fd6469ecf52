#include "nightly/measure_night.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/file.h"
#include "nightly/verdict.h"

namespace hone::nightly {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

// A machine whose processes take exactly what they are told, a little more each: ranks are clear, noise is none.
class Machine {
 public:
  double library = 0.01, reference = 0.01, canary = 0.01;
  double repeat_library = 0;  // in the repeat; 0: the same
  Status fails;               // from the third process on
  Status canary_fails;        // from its process of round `canary_round` on
  int canary_round = 0;
  std::string order;  // "LRRL|.."

  TimeProcess Timer() {
    return [this](const ProcessKey& key) -> Result<ProcessTimes> {
      const auto [who, phase, round] = key;
      if (phase != phase_) order += "|";
      phase_ = phase;
      order += who == Who::kLibrary ? "L" : who == Who::kReference ? "R" : "C";
      if (!fails.ok() && ++started_ > 2) return fails;
      if (who == Who::kCanary && !canary_fails.ok() && round >= canary_round) return canary_fails;
      double seconds = who == Who::kLibrary ? library : who == Who::kReference ? reference : canary;
      if (who == Who::kLibrary && phase == 1 && repeat_library > 0) seconds = repeat_library;
      const double own = seconds * (1 + 1e-4 * round);
      return ProcessTimes{{own, 3 * own, own, own}, {}, {{"c1", own / 4}, {"c2", own / 2}}};
    };
  }

 private:
  int phase_ = 0, started_ = 0;
};

NightInput Input(const std::vector<Night>* before) {
  NightInput input;
  input.night = "n1";
  input.fingerprint = "f1";
  input.library = "aa";
  input.reference = input.canary = "bb";
  input.before = before;
  return input;
}

const std::vector<Night> kNone;

TEST(MeasureNight, RunsInTurnsForwardsAndBackwards) {
  Machine machine;
  NightInput input = Input(&kNone);
  input.processes = 5;
  const auto night = MeasureNight(input, machine.Timer());
  ASSERT_TRUE(night.ok()) << night.status().message();
  EXPECT_EQ(machine.order, "LRRLLRRLLR");
  // The reference is the canary: its own times are the canary's.
  EXPECT_EQ(night->canary->processes, night->reference.processes);
  EXPECT_EQ(night->canary->digest, "bb");
  Machine third;
  input.canary = "cc";
  EXPECT_EQ(MeasureNight(input, third.Timer())->canary->digest, "cc");
  EXPECT_EQ(third.order, "LRCCRLLRCCRLLRC");
}

TEST(MeasureNight, AProcessStandsForItsFastRuns) {
  Machine machine;
  const auto night = MeasureNight(Input(&kNone), machine.Timer());
  ASSERT_TRUE(night.ok());
  ASSERT_EQ(night->library.processes.size(), 7u);
  EXPECT_DOUBLE_EQ(night->library.processes[0], 0.01);  // of 10, 30, 10 and 10 ms
  ASSERT_EQ(night->library.layers.size(), 2u);
  EXPECT_EQ(night->library.layers[1].node, "c2");
  EXPECT_NEAR(night->library.layers[1].seconds, 0.005, 1e-5);
  EXPECT_EQ(night->comparison.change, Change::kNone);
  EXPECT_FALSE(night->repeat.has_value());
  // Seven runs of twenty are the fast ones: the lower quartile is one of them.
  ProcessTimes mixed;
  for (int i = 0; i < 20; ++i) mixed.samples.push_back(i % 3 == 0 ? 0.01 : 0.02);
  EXPECT_DOUBLE_EQ(mixed.Seconds(), 0.01);
}

// A machine that is up to 1.6 times slower from process to process, and the night that it gives.
Result<Night> PacedNight(double library, const std::function<double(const ProcessKey&)>& slowness) {
  NightInput input = Input(&kNone);
  return MeasureNight(input, [&](const ProcessKey& key) -> Result<ProcessTimes> {
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
  const auto same = PacedNight(0.01, slowness);
  ASSERT_TRUE(same.ok());
  EXPECT_EQ(same->comparison.change, Change::kNone);
  EXPECT_NEAR(same->comparison.ratio, 1, 1e-3);
  EXPECT_TRUE(same->Usable());
  // The paces are 10 to 16 ms (their lower quartiles: four of twelve runs are as fast), the middle one is 13.
  EXPECT_THAT(same->library.processes, Each(::testing::DoubleNear(0.013, 1e-4)));
  EXPECT_THAT(same->reference.processes, Each(::testing::DoubleNear(0.013, 1e-4)));
  const auto slower = PacedNight(0.0104, slowness);
  EXPECT_EQ(slower->comparison.change, Change::kSlower);
  EXPECT_NEAR(slower->comparison.ratio, 1.04, 1e-3);
  // A pace that took no time is no pace.
  EXPECT_THAT(PacedNight(0.01, [](const ProcessKey&) { return 0; })->failure, HasSubstr("timed nothing"));
}

TEST(MeasureNight, AChangeIsMeasuredAgainAtOnce) {
  Machine machine;
  machine.library = 0.0106;
  const auto night = MeasureNight(Input(&kNone), machine.Timer());
  ASSERT_TRUE(night.ok());
  EXPECT_EQ(night->comparison.change, Change::kSlower);
  EXPECT_NEAR(night->comparison.ratio, 1.06, 0.001);
  ASSERT_TRUE(night->repeat.has_value());
  EXPECT_EQ(night->repeat->change, Change::kSlower);
  EXPECT_EQ(machine.order, "LRRLLRRLLRRLLR|LRRLLRRLLRRLLR");
  EXPECT_TRUE(night->Usable());
}

TEST(MeasureNight, WhatTheRepeatDoesNotConfirmIsNoChange) {
  Machine machine;
  machine.library = 0.0106;
  machine.repeat_library = 0.01;
  const auto night = MeasureNight(Input(&kNone), machine.Timer());
  ASSERT_TRUE(night.ok());
  EXPECT_EQ(night->comparison.change, Change::kNone);
  EXPECT_EQ(night->repeat->change, Change::kNone);
  EXPECT_THAT(night->comparison.why, HasSubstr("the repeat does not confirm it"));
  // The other way round is no confirmation, either.
  Machine other;
  other.library = 0.0106;
  other.repeat_library = 0.0094;
  EXPECT_EQ(MeasureNight(Input(&kNone), other.Timer())->comparison.change, Change::kNone);
}

TEST(MeasureNight, EqualBytesThatDifferAreADisturbedMachine) {
  Machine machine;
  machine.library = 0.0106;
  NightInput input = Input(&kNone);
  input.library = input.reference;
  const auto night = MeasureNight(input, machine.Timer());
  ASSERT_TRUE(night.ok());
  EXPECT_THAT(night->environment, HasSubstr("the same bytes"));
  EXPECT_FALSE(night->Usable());
}

TEST(MeasureNight, ACanaryOffItsLevelBlamesNobody) {
  std::vector<Night> before;
  for (int i = 0; i < 6; ++i) {
    Machine machine;
    before.push_back(*MeasureNight(Input(&kNone), machine.Timer()));
  }
  Machine slow;
  slow.library = 0.0122;
  slow.reference = 0.0110;
  const auto night = MeasureNight(Input(&before), slow.Timer());
  ASSERT_TRUE(night.ok());
  EXPECT_THAT(night->environment, HasSubstr("canary"));
}

TEST(MeasureNight, ACanaryThatCannotRunIsLeftOutAndTheNightGoesOn) {
  for (const int round : {0, 1}) {
    Machine machine;
    machine.canary_fails = Status::Unsupported("libone.so: made by another version");
    machine.canary_round = round;
    NightInput input = Input(&kNone);
    input.canary = "cc";
    input.processes = 4;
    const auto night = MeasureNight(input, machine.Timer());
    ASSERT_TRUE(night.ok()) << night.status().message();
    EXPECT_EQ(machine.order, round == 0 ? "LRCRLLRRL" : "LRCCRLLRRL");
    EXPECT_TRUE(night->Usable()) << night->failure;
    EXPECT_FALSE(night->canary.has_value()) << "a part of its processes would be another canary";
    EXPECT_EQ(night->no_canary, "libone.so: made by another version");
    EXPECT_EQ(night->library.processes.size(), 4u);
    const Verdict verdict = Judge({{"one.cpu", {*night}}}, "n1");
    EXPECT_EQ(verdict.ExitCode(), 0);
    EXPECT_THAT(verdict.jobs[0].words, HasSubstr("without its canary: libone.so: made by another version"));
    const auto read = ParseHistory(NightText(*night), "h");
    ASSERT_TRUE(read.ok() && read->nights.size() == 1);
    EXPECT_EQ(read->nights[0].no_canary, night->no_canary);
  }
  // What is no fault of the canary's ends the night as ever; so does a reference that cannot run.
  Machine full;
  full.canary_fails = Status::Io("no space left");
  NightInput input = Input(&kNone);
  input.canary = "cc";
  EXPECT_EQ(MeasureNight(input, full.Timer()).status().kind(), StatusKind::kIo);
}

// Where the processes lie 30 % apart nobody would have seen 5 %; what is seen nevertheless counts.
TEST(MeasureNight, ABusyMachineBlamesNobody) {
  for (const double library : {0.01, 0.02}) {
    Machine machine;
    machine.library = library;
    const TimeProcess timer = [inner = machine.Timer()](const ProcessKey& key) {
      auto times = inner(key);
      for (double& seconds : times->samples) seconds *= 1 + 0.05 * key.round;
      return times;
    };
    const auto night = MeasureNight(Input(&kNone), timer);
    ASSERT_TRUE(night.ok());
    EXPECT_EQ(night->Usable(), library > 0.01);
    EXPECT_EQ(night->comparison.change, library > 0.01 ? Change::kSlower : Change::kNone);
    if (!night->Usable()) {
      EXPECT_THAT(night->environment, HasSubstr("the machine was busy"));
    }
  }
}

TEST(MeasureNight, AProcessThatDiesIsAFactAboutTheNight) {
  Machine machine;
  machine.fails = Status::Crashed("killed by SIGSEGV");
  const auto night = MeasureNight(Input(&kNone), machine.Timer());
  ASSERT_TRUE(night.ok());
  EXPECT_EQ(night->failure, "killed by SIGSEGV");
  EXPECT_EQ(night->library.digest, "aa");
  EXPECT_TRUE(night->library.processes.empty());
  EXPECT_TRUE(ParseHistory(NightText(*night), "n").ok());
  Machine empty;
  EXPECT_THAT(
      MeasureNight(Input(&kNone), [](const ProcessKey&) { return Result<ProcessTimes>(ProcessTimes()); })->failure,
      HasSubstr("timed nothing"));
}

TEST(MeasureNight, AnInterruptOrAFullDiskIsNoFactAboutTheLibrary) {
  for (const Status& status : {Status::Interrupted("^C"), Status::Io("no space left"), Status::Locked("x")}) {
    Machine machine;
    machine.fails = status;
    EXPECT_EQ(MeasureNight(Input(&kNone), machine.Timer()).status().kind(), status.kind());
  }
}

TEST(NightSamples, ANightGoesOnWhereItStopped) {
  const auto dir = TempDir::Create();
  ASSERT_TRUE(dir.ok());
  const std::string path = dir->Join("samples/a.cpu/n1.jsonl");
  {
    auto samples = NightSamples::Open(path, "k");
    ASSERT_TRUE(samples.ok()) << samples.status().message();
    EXPECT_EQ(samples->Find({Who::kLibrary, 0, 0}), nullptr);
    ASSERT_TRUE(samples->Append({Who::kLibrary, 0, 0}, {{0.25, 0.5}, {2, 3}, {{"c1", 0.125}}, 0.0625}).ok());
    ASSERT_TRUE(samples->Append({Who::kCanary, 1, 3}, {{0.75}}).ok());
    EXPECT_NE(samples->Find({Who::kCanary, 1, 3}), nullptr);
  }
  // A line that was torn when the machine went down is that process again.
  const std::string whole = *ReadFile(path);
  ASSERT_TRUE(WriteFileAtomic(path, whole + "{\"who\": \"lib").ok());
  {
    auto samples = NightSamples::Open(path, "k");
    ASSERT_TRUE(samples.ok());
    const ProcessTimes* times = samples->Find({Who::kLibrary, 0, 0});
    ASSERT_NE(times, nullptr);
    EXPECT_EQ(times->samples, (std::vector<double>{0.25, 0.5}));
    EXPECT_EQ(times->pace, (std::vector<double>{2, 3}));
    EXPECT_EQ(times->layers.at(0).seconds, 0.125);
    EXPECT_EQ(times->lost, 0.0625);
    EXPECT_TRUE(samples->Find({Who::kCanary, 1, 3})->pace.empty());
    EXPECT_EQ(samples->Find({Who::kReference, 0, 0}), nullptr);
    ASSERT_TRUE(samples->Append({Who::kReference, 0, 0}, {{1}}).ok());
  }
  EXPECT_NE(NightSamples::Open(path, "k")->Find({Who::kReference, 0, 0}), nullptr);
  // Another library, or another way to measure: nothing of it counts.
  EXPECT_EQ(NightSamples::Open(path, "k2")->Find({Who::kLibrary, 0, 0}), nullptr);
}

}  // namespace
}  // namespace hone::nightly
