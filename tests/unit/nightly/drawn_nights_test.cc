// The gate on randomly drawn nights, through everything in a real night: processes in turns, the repeat, the noise of
// earlier nights, the canary, the verdict. The machine is the one that the rule was designed for: log-normal times;
// nights differ by 1 %, processes by 1 %, runs by 2 %, and 3 % of the runs are up to half slower.
#include <fmt/format.h>

#include "base/rng.h"
#include "common/expect.h"
#include "nightly/measure_night.h"
#include "nightly/report.h"

namespace hone::nightly {
namespace {

constexpr int kNights = 300;
constexpr int kRuns = 30;

class DrawnMachine {
 public:
  explicit DrawnMachine(uint64_t seed) : rng_(seed) {}

  // A night of a library that takes 1 + `change` times as long as its reference and has different bytes. Counts its
  // verdict.
  Night Draw(const std::string& name, const std::string& library, double change, const std::vector<Night>& before) {
    NightInput input{.night = name, .fingerprint = "f1", .library = library};
    input.reference = input.canary = "reference";
    input.before = &before;
    const double tonight = 0.01 * std::exp(0.01 * rng_.Normal());
    const auto night = Must(MeasureNight(input, [&](const ProcessKey& key) -> Result<ProcessTimes> {
      return Process(key.who == Who::kLibrary ? tonight * (1 + change) : tonight);
    }));
    ++counts[Judge({{"net.cpu", {night}}}, name).jobs.at(0).state];
    return night;
  }

  std::string Text() const {
    std::string text;
    for (const auto& [state, count] : counts) text += fmt::format("{} {}, ", count, JobStateName(state));
    return text;
  }

  std::map<JobState, int> counts;

 private:
  ProcessTimes Process(double level) {
    level *= std::exp(0.01 * rng_.Normal());
    ProcessTimes times;
    for (int run = 0; run < kRuns; ++run) {
      const bool disturbed = rng_.UniformDouble() < 0.03;
      times.samples.push_back(level * std::exp(0.02 * rng_.Normal()) *
                              (disturbed ? 1 + 0.5 * rng_.UniformDouble() : 1));
    }
    return times;
  }

  Rng rng_;
};

TEST(DrawnNights, EqualLibrariesAreLeftAloneAndFivePercentAreFound) {
  DrawnMachine machine(20261122);
  std::vector<Night> equal;
  for (int i = 0; i < kNights; ++i) equal.push_back(machine.Draw(fmt::format("equal {:03}", i), "same", 0, equal));
  EXPECT_LT(machine.counts[JobState::kSlower] + machine.counts[JobState::kFaster], 0.005 * kNights) << machine.Text();
  EXPECT_GE(machine.counts[JobState::kFine], 0.9 * kNights) << "most nights say something: " << machine.Text();
  for (const double change : {0.05, -0.05}) {
    machine.counts.clear();
    for (int i = 0; i < kNights; ++i) machine.Draw(fmt::format("changed {:03}", i), "other", change, equal);
    const JobState wanted = change > 0 ? JobState::kSlower : JobState::kFaster;
    EXPECT_GE(machine.counts[wanted], 0.95 * kNights) << change << ": " << machine.Text();
    EXPECT_EQ(machine.counts[change > 0 ? JobState::kFaster : JobState::kSlower], 0) << change;
  }
}

// The first nights, which do not know the noise yet, give no more false alarms than later ones.
TEST(DrawnNights, NorAreTheFirstNightsOfAJobFlagged) {
  DrawnMachine machine(7);
  for (int job = 0; job < kNights / 5; ++job) {
    std::vector<Night> nights;
    for (int i = 0; i < 5; ++i)
      nights.push_back(machine.Draw(fmt::format("job {:03} night {}", job, i), "same", 0, nights));
  }
  EXPECT_LT(machine.counts[JobState::kSlower] + machine.counts[JobState::kFaster], 0.005 * kNights) << machine.Text();
}

}  // namespace
}  // namespace hone::nightly
