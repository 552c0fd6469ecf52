// stamps/TASKID.TARGET.done: the output that Ninja sees of a tuning job, written last. It says what the job was (the
// digests of everything that has an influence on its meaning, and those texts themselves, so that `hone-plan --why` can
// say what has changed) and how its budget was met. Equal states give equal bytes, and equal bytes are not written
// again. Where no trial was right, "result" is "none" and there is no "best": that ends a job that the network does
// without.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "session/history.h"

namespace hone::session {

struct StampInputs {
  std::string task_id;
  std::string task_text;      // of the task file
  std::string settings_text;  // of the settings file
  std::string abi;            // the tool's semantic versions
  std::string fingerprint;
  Budget budget;
  std::vector<std::string> donors = {};  // ids of the tasks whose records the tuner was given
};

// The object "search" in it has the number of trials within the budget and the fastest time among them as it was while
// searching: a function of those trials alone, whatever came later. Sharing a budget out goes by it
// (pipeline/shares.h).

std::string StampText(const StampInputs& inputs, const History& history, StopReason reason);

// True if it was written. Makes its folder.
Result<bool> WriteStamp(const std::string& path, const std::string& text);

}  // namespace hone::session
