// Code shared by the series of nightly runs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/lock.h"
#include "base/log.h"
#include "base/result.h"
#include "library/time_network.h"
#include "nightly/accepted.h"
#include "target/target.h"

namespace hone::command {

// A job's turn in a series of nights, which is its alone as long as the lock is held: whoever measures gives it a
// Heartbeat.
struct SeriesJob {
  std::string dir;                                 // of the series
  std::string history;                             // the file with the job's lines
  std::vector<nightly::Acceptance> accepted = {};  // the last holds, the first is the canary
  std::string night = {};                          // the one under way
  FileLock lock;
};

// kInvalid if `job` is not NET.TARGET, kNotFound if nothing was accepted of it, kLocked if somebody else has it.
// `nights`, `accepted`: the folders.
Result<SeriesJob> OpenSeries(const std::string& nights, const std::string& series, const std::string& accepted,
                             const std::string& job);

// Is one of `nights` the one under way? Then that is said, and there is nothing to do.
template <typename Night>
bool HasItsLine(const SeriesJob& series, const std::string& job, const std::vector<Night>& nights) {
  for (const Night& night : nights) {
    if (night.night != series.night) continue;
    LogInfo(job + ": measured in this night (" + series.night + ") already");
    return true;
  }
  return false;
}

// The machine, or the device of the target, and the way that nightly runs measure, but not the libraries. An error if
// there is no such device.
Result<std::string> NightFingerprint(const Target& target);
// How a process of a night is timed: 5 runs to warm up, then 30 at least, for 0.2 s at least, but for no more than 10 s
// once there are 5. Without a folder.
library::TimeRequest NightRequest();

std::string NightTools();  // versions of what builds libraries

// For tests: seconds by digest, from lines `DIGEST SECONDS`.
Result<std::map<std::string, double>> ReadFakeTimes(const std::string& path);
Status NoTimeInvented(const std::string& digest);  // of an artifact that is not among them: as if its process had died

}  // namespace hone::command
