// A nightly run of one job: which processes run in which order, and what their times mean. The caller runs the
// processes: on a machine, or in a test.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "nightly/gate.h"
#include "nightly/history.h"
#include "nightly/samples.h"

namespace hone::nightly {

struct NightInput {
  std::string night, recorded, host, fingerprint, tools;
  std::string library, reference;  // digests
  std::string canary;              // likewise; empty: there is none. The reference's own times are taken if it is that
  std::string no_canary;           // why it is empty though one was accepted: one line
  const std::vector<Night>* before = nullptr;
  int processes = 7;  // fresh ones of each, and as many again for a repeat
};

// Is the failure a fact about the library (kCrashed, kTimeout, kCorrupt, kInvalid, kNotFound, kUnsupported)? Other
// failures (an interrupt, a full disk, a lost lock) end the run, and nothing is recorded.
bool OfTheArtifact(const Status& failure);

// Says so if tonight's canary runs at another level than in earlier nights; empty if it does not. Silent with fewer
// than kLeastHistory nights on this machine (fingerprint). A single night off the level is only marked, since somebody
// else had the machine; two in a row that agree are a machine that changed, and begin a new level.
std::string EnvironmentMoved(std::vector<Night> before, const Night& tonight);

// Times one fresh process.
using TimeProcess = std::function<Result<ProcessTimes>(const ProcessKey& key)>;

// The artifacts run in turns, forwards and backwards (A B B A; with a canary of its own A B C C B A), so that a drift
// of the machine hits them alike. A machine with neighbours also changes from second to second, faster than processes
// follow one another: so each process runs the reference in turns with its artifact, the reference's own processes too,
// and what it stands for is its artifact's time over that of this pace, turn by turn, times the pace of the night. A
// change is measured once more at once, without the canary, and stands if the repeat says the same. A night without a
// change whose figures lie too far apart to show one (TooWide) is marked as one on a busy machine and blames nobody;
// equal libraries that differ, even confirmed, are a disturbed machine and marked likewise.
//
// A canary of its own that cannot be timed (it may be of an older Hone, whose libraries this one no longer runs) is
// left out of the rest of the night, which says so in `no_canary`.
//
// What else goes wrong with a process makes a night with its `failure` if it is OfTheArtifact, and is returned if not.
Result<Night> MeasureNight(const NightInput& input, const TimeProcess& time);

// The figures of `processes`. `pace`: seconds of the night's pace; not looked at if the processes had none.
Subject Summarise(const std::string& digest, const std::vector<ProcessTimes>& processes, double pace);

}  // namespace hone::nightly
