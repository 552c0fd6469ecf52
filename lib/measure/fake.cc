#include "measure/fake.h"

#include "base/check.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/rng.h"

namespace hone::measure {

static double Uniform(uint64_t seed, const Config& config, uint64_t stream) {
  const Digest digest = config.ValueDigest();
  return static_cast<double>(Mix64(digest.lo ^ Mix64(digest.hi ^ Mix64(seed ^ stream))) >> 11) * 0x1p-53;
}

double FakeWorld::Seconds(const Config& config) const { return 2e-4 + 1.8e-3 * Uniform(seed, config, 1); }

TrialError FakeWorld::Fails(const Config& config) const {
  if (Uniform(seed, config, 2) >= fail_share) return TrialError::kNone;
  constexpr TrialError kKinds[] = {TrialError::kCompile, TrialError::kCrash, TrialError::kTimeout, TrialError::kWrong};
  return kKinds[static_cast<int>(4 * Uniform(seed, config, 3)) & 3];
}

Result<std::vector<BuildResult>> FakeBuilder::Build(const std::vector<Config>& configs) {
  std::vector<BuildResult> results;
  for (const Config& config : configs) {
    ++built_;
    BuildResult result;
    result.kernel.config = config;
    result.kernel.artifact_digest = config.ValueDigest().Hex();
    Candidate candidate{{}, {PragmaStep("out", "n", "fake", 1)}};
    if (candidate_) {
      if (Result<Candidate> made = candidate_(config); made.ok()) candidate = std::move(*made);
    }
    result.kernel.steps = candidate.Text();
    result.compile_seconds = result.kernel.compile_seconds = 1e-3;
    result.ok = world_.Fails(config) != TrialError::kCompile;
    if (!result.ok) {
      result.error = TrialError::kCompile;
      result.error_text = "fake: this config does not compile";
    }
    results.push_back(std::move(result));
  }
  return results;
}

Status FakeBuilder::Begin(const std::vector<Config>& configs) {
  Abandon();
  HONE_ASSIGN_OR_RETURN(begun_, Build(configs));
  return Status();
}

Result<BuildResult> FakeBuilder::Next() {
  HONE_CHECK(given_ < begun_.size());
  return std::move(begun_[given_++]);
}

void FakeBuilder::Abandon() {
  begun_.clear();
  given_ = 0;
}

Result<Outcome> FakeMeasurer::Measure(const BuiltKernel& kernel, double incumbent) {
  if (world_.sleep_seconds > 0) RealClock()->SleepSeconds(world_.sleep_seconds);
  if (Interrupted()) return Status::Interrupted("interrupted while measuring");
  ++measured_;
  Outcome outcome{.config = kernel.config,
                  .error = world_.Fails(kernel.config),
                  .artifact_digest = kernel.artifact_digest,
                  .compile_seconds = kernel.compile_seconds,
                  .measure_seconds = 2e-3,
                  .steps = kernel.steps};
  if (outcome.error != TrialError::kNone) {
    outcome.error_text = std::string("fake: ") + TrialErrorName(outcome.error);
    return outcome;
  }
  const double seconds = world_.Seconds(kernel.config);
  const bool hopeless = incumbent > 0 && world_.prune_factor > 0 && seconds > world_.prune_factor * incumbent;
  outcome.state = hopeless ? TrialState::kPruned : TrialState::kOk;
  outcome.samples.assign(hopeless ? 2 : 5, seconds);
  outcome.median = seconds;
  return outcome;
}

Result<std::vector<Series>> FakeMeasurer::MeasureInterleaved(const std::vector<BuiltKernel>& kernels, int rounds) {
  if (Interrupted()) return Status::Interrupted("interrupted while measuring");
  std::vector<Series> series(kernels.size());
  for (size_t i = 0; i < kernels.size(); ++i) {
    series[i].seconds.assign(static_cast<size_t>(rounds), world_.Seconds(kernels[i].config));
  }
  return series;
}

}  // namespace hone::measure
