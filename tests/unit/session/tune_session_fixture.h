// A tuning job with a fake device: times are a pure function of the config, so every run can be compared exactly.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/interrupt.h"
#include "fake/fake_clock.h"
#include "fake/memory_store.h"
#include "measure/fake.h"
#include "session/tune_session.h"

namespace hone::session {

using fake::MemoryStore;

inline search::TaskSpace MakeSpace(int a_values, int b_values) {
  std::vector<int64_t> a, b;
  for (int i = 0; i < a_values; ++i) a.push_back(i);
  for (int i = 0; i < b_values; ++i) b.push_back(i);
  search::Space space("fake");
  space.Add(search::Knob::Choice("a", a));
  space.Add(search::Knob::Choice("b", b));
  space.AddRule({"odd_sum", [](const Config& c) -> std::optional<std::string> {
                   if ((c.Number("a") + c.Number("b")) % 5 == 4) return "a + b is 4 modulo 5";
                   return std::nullopt;
                 }});
  search::TaskSpace task;
  task.Add(std::move(space));
  return task;
}

inline std::vector<record::Trial> TrialsOf(const MemoryStore& store) {
  auto trials = store.Trials();
  return trials.ok() ? *trials : std::vector<record::Trial>();
}

// What a device saw in one run.
struct Counts {
  int64_t measured = 0;
  int devices = 0;
};

class CountingMeasurer : public measure::FakeMeasurer {
 public:
  CountingMeasurer(const measure::FakeWorld& world, Counts* counts, int64_t interrupt_after)
      : FakeMeasurer(world), counts_(counts), interrupt_after_(interrupt_after) {}
  Result<Outcome> Measure(const measure::BuiltKernel& kernel, double incumbent) override {
    if (counts_->measured == interrupt_after_) return Status::Interrupted("test");
    ++counts_->measured;
    return FakeMeasurer::Measure(kernel, incumbent);
  }

 private:
  Counts* counts_;
  int64_t interrupt_after_;
};

// A builder whose kernels are equal for configs with equal a: few distinct artifacts.
class TwinBuilder : public measure::FakeBuilder {
 public:
  using FakeBuilder::FakeBuilder;
  Result<std::vector<measure::BuildResult>> Build(const std::vector<Config>& configs) override {
    auto results = FakeBuilder::Build(configs);
    for (measure::BuildResult& result : *results) {
      result.kernel.artifact_digest = "a" + std::to_string(result.kernel.config.Number("a"));
    }
    return results;
  }
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

  Result<SessionResult> Run(MemoryStore* store, const SessionOptions& options, int64_t interrupt_after = -1) {
    counts_ = {};
    SessionWorld world;
    world.store = store;
    world.clock = &clock_;
    world.open_device = [&]() -> Result<Device> {
      ++counts_.devices;
      Device device;
      if (twins_) {
        device.builder = std::make_unique<TwinBuilder>(world_);
      } else {
        device.builder = std::make_unique<measure::FakeBuilder>(world_);
      }
      device.measurer = std::make_unique<CountingMeasurer>(world_, &counts_, interrupt_after);
      return device;
    };
    History history(options.session.fingerprint);
    const Status loaded = history.Load(*store);
    if (!loaded.ok()) return loaded;
    auto result = RunSession(options, world, &history);
    if (history.best()) best_ = history.outcomes()[*history.best()];
    return result;
  }

  static std::vector<uint64_t> Indices(const MemoryStore& store) {
    std::vector<uint64_t> indices;
    for (const record::Trial& trial : TrialsOf(store)) indices.push_back(trial.outcome.config.index);
    return indices;
  }

  static void ExpectSameTrials(const MemoryStore& a, const MemoryStore& b, const std::string& what) {
    const auto left = TrialsOf(a), right = TrialsOf(b);
    ASSERT_EQ(left.size(), right.size()) << what;
    for (size_t i = 0; i < left.size(); ++i) {
      EXPECT_EQ(left[i].outcome.config.index, right[i].outcome.config.index) << what << ", trial " << i;
      EXPECT_EQ(left[i].outcome.state, right[i].outcome.state) << what << ", trial " << i;
      EXPECT_EQ(left[i].outcome.median, right[i].outcome.median) << what << ", trial " << i;
      EXPECT_EQ(left[i].outcome.proposer, right[i].outcome.proposer) << what << ", trial " << i;
    }
  }

  search::TaskSpace space_;
  SessionOptions options_;
  measure::FakeWorld world_;
  FakeClock clock_;
  Counts counts_;
  Outcome best_;
  bool twins_ = false;
};

}  // namespace hone::session
