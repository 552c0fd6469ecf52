// A tuning job with a fake device: times are a pure function of the config, so every run can be compared exactly.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/file.h"
#include "base/interrupt.h"
#include "common/expect.h"
#include "fake/fake_clock.h"
#include "fake/memory_store.h"
#include "measure/fake.h"
#include "session/machine.h"
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

inline std::vector<record::Trial> TrialsOf(const MemoryStore& store) { return Must(store.Trials()); }

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

  // A world with `store` and a device of these parts; without a builder, with this fixture's.
  SessionWorld World(MemoryStore* store, std::function<std::unique_ptr<measure::Measurer>()> measurer,
                     std::function<std::unique_ptr<measure::Builder>()> builder = {}) {
    counts_ = {};
    SessionWorld world;
    world.store = store;
    world.clock = &clock_;
    world.open_device = [=, this]() -> Result<Device> {
      ++counts_.devices;
      Device device;
      if (builder) {
        device.builder = builder();
      } else if (twins_) {
        device.builder = std::make_unique<TwinBuilder>(world_);
      } else {
        device.builder = std::make_unique<measure::FakeBuilder>(world_);
      }
      device.measurer = measurer();
      return device;
    };
    return world;
  }
  template <typename Measurer>
  SessionWorld WorldWith(MemoryStore* store) {
    return World(store, [this] { return std::make_unique<Measurer>(world_); });
  }

  // A session on what the store holds; its history stays in history_.
  Result<SessionResult> RunIn(const SessionWorld& world, const Scope& scope = {}) {
    history_.emplace(options_.session.fingerprint, scope);
    HONE_RETURN_IF_ERROR(history_->Load(*world.store));
    return RunSession(options_, world, &*history_);
  }

  Result<SessionResult> Run(MemoryStore* store, int64_t interrupt_after = -1) {
    auto result = RunIn(
        World(store, [=, this] { return std::make_unique<CountingMeasurer>(world_, &counts_, interrupt_after); }));
    if (history_->best()) best_ = history_->outcomes()[*history_->best()];
    return result;
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

  search::TaskSpace space_;
  SessionOptions options_;
  measure::FakeWorld world_;
  FakeClock clock_;
  Counts counts_;
  std::optional<History> history_;  // of the last session
  Outcome best_;
  bool twins_ = false;
};

// The locks of a host and of a device apart from it.
class TwoLocksTest : public TuneSessionTest {
 protected:
  MachineLock Lock(const std::string& name) { return Must(MachineLock::Open(dir_.Join(name))); }

  // What others can have of it: "alone", "shared" (with us) or "nothing".
  std::string Free(const std::string& name) {
    MachineLock other = Lock(name);
    if (other.LockExclusive(0).ok()) return "alone";
    return other.LockShared(0).ok() ? "shared" : "nothing";
  }

  TempDir dir_ = Must(TempDir::Create());
};

}  // namespace hone::session
