// stamps/TASKID.TARGET.done: the output of a tuning job for Ninja, written last. It holds the digests of the job's
// inputs, the inputs' texts (`hone-plan --why` compares them to say what changed), and why the job stopped. Equal
// states give equal bytes, and an unchanged file is not rewritten. If no trial is correct, "result" is "none" and
// "best" is missing; only a job for an optional task ends like that.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "session/history.h"

namespace hone::session {

struct StampInputs {
  std::string task_id;
  std::string task_text;      // the task file's
  std::string settings_text;  // the settings file's
  std::string abi;            // the tool's semantic versions
  std::string fingerprint;
  Budget budget;
  std::vector<std::string> donors = {};  // ids of the tasks whose records the tuner got
};

// Its object "search" describes the trials within the budget, and depends only on them: their number, the fastest time
// among them as measured during the search, the sum of their compile and measure seconds, the improvements as pairs of a
// number of trials and a time, what the tuner expected to gain next, if known, and with a budget of seconds the tuning
// time they took. pipeline/shares.h divides a total by it.
std::string StampText(const StampInputs& inputs, const History& history, StopReason reason);

// Creates the folder if necessary. Returns true if the file was written.
Result<bool> WriteStamp(const std::string& path, const std::string& text);

}  // namespace hone::session
