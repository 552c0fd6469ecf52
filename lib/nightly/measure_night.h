// Measures a nightly run of one job: which processes run in which order, and how to interpret their times. The caller
// runs the processes, on a machine or in a test.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "nightly/history.h"
#include "nightly/samples.h"

namespace hone::nightly {

struct NightInput {
  std::string night, recorded, host, fingerprint, tools;
  std::string library, reference;  // digests
  std::string canary;              // as above; empty: no canary. If it is the reference, the reference's times are used
  std::string no_canary;           // one line: why an accepted canary is not used
  const std::vector<Night>* before = nullptr;
  int processes = 7;  // fresh processes for each, and as many again for a repeat
};

// Whether the library caused the failure (kCrashed, kTimeout, kCorrupt, kInvalid, kNotFound, kUnsupported). Other
// failures (an interrupt, a full disk, a lost lock) end the run, and nothing is recorded.
bool OfTheArtifact(const Status& failure);

// A message if tonight's canary differs from its level in earlier nights, else empty. Needs at least kLeastHistory
// nights on this machine (fingerprint). A single night off the level is only marked, since somebody else may have used
// the machine; two consecutive ones that agree mean that the machine changed, and begin a new level.
std::string EnvironmentMoved(std::vector<Night> before, const Night& tonight);

// Times one fresh process.
using TimeProcess = std::function<Result<ProcessTimes>(const ProcessKey& key)>;

// The artifacts run in turns, forwards and backwards (A B B A; with a separate canary A B C C B A), so that a drift of
// the machine affects them equally. A machine with neighbours also changes from second to second, faster than processes
// alternate. So each process, including the reference's own, alternates runs of its artifact with runs of the
// reference, the pace. Its value is the artifact's time divided by the pace, turn by turn, times the pace of the whole
// night. A change is measured again at once, without the canary, and counts if the repeat confirms it. A night without
// a change whose figures scatter too much to show one (TooWide) is marked as one on a busy machine; equal libraries
// that differ, even confirmed, mean a disturbed machine and are marked likewise.
//
// A separate canary that cannot be timed (it may come from an older Hone whose libraries this one no longer runs) is
// left out of the rest of the night, which records the reason in `no_canary`.
//
// Any other failure of a process gives a night with its `failure` if it is OfTheArtifact; else it is returned.
Result<Night> MeasureNight(const NightInput& input, const TimeProcess& time);

// The figures of `processes`. `pace` is the night's pace in seconds; ignored if the processes did not record it.
Subject Summarise(const std::string& digest, const std::vector<ProcessTimes>& processes, double pace);

}  // namespace hone::nightly
