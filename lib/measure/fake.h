// A simulated compiler and clock, for tests of everything around them (and `hone-tune --fake-measure`): every verdict
// and every time is a pure function of the config's values and a seed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "measure/builder.h"
#include "task/candidate.h"

namespace hone::measure {

struct FakeWorld {
  uint64_t seed = 0;
  double fail_share = 0.1;   // of configs, distributed over compile, crash, timeout, wrong
  double sleep_seconds = 0;  // actual sleep per measured trial, so that tests can interrupt
  double prune_factor = 2;

  double Seconds(const Config& config) const;  // 0.2 to 2 ms
  TrialError Fails(const Config& config) const;
};

// Builds synchronously: when Begin returns, all is built.
class FakeBuilder : public Builder {
 public:
  // `candidate` gives a config's candidate for its record, from which hone-build can then build the kernel. Without it,
  // or where it fails, records have invented steps.
  explicit FakeBuilder(const FakeWorld& world, std::function<Result<Candidate>(const Config&)> candidate = {})
      : world_(world), candidate_(std::move(candidate)) {}
  Result<std::vector<BuildResult>> Build(const std::vector<Config>& configs) override;
  Status Begin(const std::vector<Config>& configs) override;
  Result<BuildResult> Next() override;
  Result<bool> Ready(double) override { return true; }
  Result<bool> Advance() override { return true; }
  void Abandon() override;
  int64_t built() const { return built_; }

 private:
  FakeWorld world_;
  std::function<Result<Candidate>(const Config&)> candidate_;
  int64_t built_ = 0;
  std::vector<BuildResult> begun_;
  size_t given_ = 0;  // number of results returned
};

class FakeMeasurer : public Measurer {
 public:
  explicit FakeMeasurer(const FakeWorld& world) : world_(world) {}
  Result<Outcome> Measure(const BuiltKernel& kernel, double incumbent) override;
  Result<std::vector<Series>> MeasureInterleaved(const std::vector<BuiltKernel>& kernels, int rounds) override;
  double peak_flops() const override { return 500e9; }
  int64_t measured() const { return measured_; }

 private:
  FakeWorld world_;
  int64_t measured_ = 0;
};

}  // namespace hone::measure
