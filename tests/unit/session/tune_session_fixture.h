// A tuning job with a fake device: times are a pure function of the config, so runs can be compared exactly.
#pragma once

#include "base/file.h"
#include "base/interrupt.h"
#include "common/expect.h"
#include "fake/fake_clock.h"
#include "fake/memory_store.h"
#include "measure/fake.h"
#include "search/tuner/tuner.h"
#include "session/machine.h"
#include "session/tune_session.h"

namespace hone::session {

using fake::MemoryStore;

// 0, 1, 2, ..: a knob's values.
inline std::vector<int64_t> UpTo(size_t count) {
  std::vector<int64_t> values(count);
  std::iota(values.begin(), values.end(), 0);
  return values;
}

inline search::TaskSpace MakeSpace(size_t a_values, size_t b_values) {
  search::Space space("fake");
  space.Add(search::Knob::Choice("a", UpTo(a_values)));
  space.Add(search::Knob::Choice("b", UpTo(b_values)));
  space.AddRule({"odd_sum", [](const Config& c) -> std::optional<std::string> {
                   if ((c.Number("a") + c.Number("b")) % 5 == 4) return "a + b is 4 modulo 5";
                   return std::nullopt;
                 }});
  search::TaskSpace task;
  task.Add(std::move(space));
  return task;
}

inline std::vector<record::Trial> TrialsOf(const MemoryStore& store) { return Must(store.Trials()); }

// Makes the outcome of a candidate that could not be tried.
inline void FailDevice(Outcome* outcome, const std::string& text) {
  *outcome = {.config = outcome->config, .error = TrialError::kDevice, .error_text = text};
}

// A device's counts in one run.
struct Counts {
  int64_t measured = 0;
  int devices = 0;
};

// A test's additions to the fake device, called if set.
struct Hooks {
  std::function<void()> open;    // when the device is opened
  std::function<void()> before;  // before a candidate is measured
  std::function<void(const Config&, Outcome*)> after;
  std::function<void(std::vector<measure::BuildResult>*)> built;
  std::function<void(const std::vector<measure::BuiltKernel>&, int rounds)> heat;
  std::function<void(std::vector<measure::Series>*)> finalists;
  std::function<double()> busy_seconds;
  std::function<bool()> sound;
};

class HookedMeasurer : public measure::FakeMeasurer {
 public:
  HookedMeasurer(const measure::FakeWorld& world, const Hooks& hooks, Counts* counts, int64_t interrupt_after)
      : FakeMeasurer(world), hooks_(hooks), counts_(counts), interrupt_after_(interrupt_after) {}
  Result<Outcome> Measure(const measure::BuiltKernel& kernel, double incumbent) override {
    if (hooks_.before) hooks_.before();
    if (counts_->measured == interrupt_after_) return Status::Interrupted("test");
    ++counts_->measured;
    auto outcome = FakeMeasurer::Measure(kernel, incumbent);
    if (hooks_.after) hooks_.after(kernel.config, &*outcome);
    return outcome;
  }
  Result<std::vector<measure::Series>> MeasureInterleaved(const std::vector<measure::BuiltKernel>& kernels,
                                                          int rounds) override {
    if (hooks_.heat) hooks_.heat(kernels, rounds);
    auto series = FakeMeasurer::MeasureInterleaved(kernels, rounds);
    if (hooks_.finalists) hooks_.finalists(&*series);
    return series;
  }
  Result<bool> Sound() override { return !hooks_.sound || hooks_.sound(); }
  std::optional<double> busy_seconds() const override {
    return hooks_.busy_seconds ? std::optional(hooks_.busy_seconds()) : FakeMeasurer::busy_seconds();
  }

 private:
  const Hooks& hooks_;
  Counts* counts_;
  int64_t interrupt_after_;
};

class HookedBuilder : public measure::FakeBuilder {
 public:
  HookedBuilder(const measure::FakeWorld& world, const Hooks& hooks) : FakeBuilder(world), hooks_(hooks) {}
  Result<std::vector<measure::BuildResult>> Build(const std::vector<Config>& configs) override {
    auto results = FakeBuilder::Build(configs);
    if (hooks_.built) hooks_.built(&*results);
    return results;
  }

 private:
  const Hooks& hooks_;
};

class TuneSessionTest : public ::testing::Test {
 protected:
  TuneSessionTest() : space_(MakeSpace(12, 10)) {
    options_.space = &space_;
    options_.default_config = space_.At(37);
    options_.budget.trials = 50;
    options_.finalists = 4;
    options_.batch = 8;
    options_.session.fingerprint = "here";
    options_.session.settings = "{}";
    world_.seed = 5;
  }

  SessionWorld World(MemoryStore* store, int64_t interrupt_after = -1) {
    counts_ = {};
    SessionWorld world;
    world.store = store;
    world.clock = &clock_;
    world.open_device = [=, this]() -> Result<Device> {
      ++counts_.devices;
      if (hooks_.open) hooks_.open();
      return Device{MakeBuilder(), std::make_unique<HookedMeasurer>(world_, hooks_, &counts_, interrupt_after)};
    };
    return world;
  }
  virtual std::unique_ptr<measure::Builder> MakeBuilder() { return std::make_unique<HookedBuilder>(world_, hooks_); }

  // A session on the store's contents; keeps its history in history_.
  Result<SessionResult> RunIn(const SessionWorld& world, const Scope& scope = {}) {
    history_.emplace(options_.session.fingerprint, scope);
    HONE_RETURN_IF_ERROR(history_->Load(*world.store));
    return RunSession(options_, world, &*history_);
  }
  Result<SessionResult> Run(MemoryStore* store, int64_t interrupt_after = -1) {
    return RunIn(World(store, interrupt_after));
  }

  // Configs with equal a get equal kernels: few distinct artifacts.
  void MakeTwins() {
    hooks_.built = [](std::vector<measure::BuildResult>* results) {
      for (auto& [ok, kernel, error, text, seconds] : *results) {
        kernel.artifact_digest = "a" + std::to_string(kernel.config.Number("a"));
      }
    };
  }
  // Finalists take this many times as long when measured again.
  void SlowFinalists(double factor) {
    hooks_.finalists = [factor](std::vector<measure::Series>* all) {
      for (measure::Series& series : *all) {
        for (double& seconds : series.seconds) seconds *= factor;
      }
    };
  }

  static std::vector<PointIndex> Indices(const MemoryStore& store) {
    std::vector<PointIndex> indices;
    for (const record::Trial& trial : TrialsOf(store)) indices.push_back(trial.outcome.config.index);
    return indices;
  }
  static void ExpectSameTrials(const MemoryStore& a, const MemoryStore& b, const std::string& what) {
    const auto left = TrialsOf(a), right = TrialsOf(b);
    ASSERT_EQ(left.size(), right.size()) << what;
    for (size_t i = 0; i < left.size(); ++i) {
      EXPECT_EQ(left[i].outcome.config.Text(), right[i].outcome.config.Text()) << what << ", trial " << i;
      EXPECT_EQ(left[i].outcome.state, right[i].outcome.state) << what << ", trial " << i;
      EXPECT_EQ(left[i].outcome.median, right[i].outcome.median) << what << ", trial " << i;
      EXPECT_EQ(left[i].outcome.proposer, right[i].outcome.proposer) << what << ", trial " << i;
    }
  }
  // Kills the run that made `whole` after each `step`th trial; `run` must measure the missing ones.
  void ExpectResumes(const MemoryStore& whole, size_t step,
                     const std::function<Result<SessionResult>(MemoryStore*)>& run) {
    const size_t trials = TrialsOf(whole).size();
    const double best = history_->best_seconds();
    for (size_t kept = 0; kept <= trials; kept += step) {
      MemoryStore store = whole;
      store.Truncate(kept);
      EXPECT_EQ(Must(run(&store)).new_trials, static_cast<int64_t>(trials - kept));
      ExpectSameTrials(store, whole, "killed after " + std::to_string(kept));
      EXPECT_EQ(history_->best_seconds(), best) << kept;
    }
  }
  void ExpectResumes(const MemoryStore& whole, size_t step = 1) {
    ExpectResumes(whole, step, [this](MemoryStore* store) { return Run(store); });
  }

  search::TaskSpace space_;
  SessionOptions options_;
  measure::FakeWorld world_;
  Hooks hooks_;
  FakeClock clock_;
  Counts counts_;
  std::optional<History> history_;  // of the last session
};

// The locks of a host and of a separate device.
class TwoLocksTest : public TuneSessionTest {
 protected:
  MachineLock Lock(const std::string& name) { return Must(MachineLock::Open(dir_.Join(name))); }

  // How others can lock it: "alone", "shared" (with us) or "nothing".
  std::string Free(const std::string& name) {
    MachineLock other = Lock(name);
    if (other.LockExclusive(0).ok()) return "alone";
    return other.LockShared(0).ok() ? "shared" : "nothing";
  }

  TempDir dir_ = Must(TempDir::Create());
};

}  // namespace hone::session
