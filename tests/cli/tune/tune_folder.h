// A temporary work folder with one small convolution to tune, and hone-tune to run in it.
#pragma once

#include <string>
#include <vector>

#include "base/interrupt.h"
#include "base/json.h"
#include "record/store.h"
#include "test_folder.h"

namespace hone {

// Times invented from seed 7 in place of measured ones.
inline const Words kFake = {"--fake-measure", "7"};

class TuneFolder : public TestFolder {
 protected:
  // t.json, a convolution; s.json: 40 trials at random.
  void SetUp() override;

  // Settings with that many trials; `more`: further keys, ", \"early_stop\": 5".
  void WriteSettings(int trials, const std::string& more = "");
  void WriteTask(const std::string& workload, const std::string& target = "");  // empty: this machine

  static constexpr const char* kDb = "records/t.db";
  static constexpr const char* kStamp = "stamps/t.done";
  static constexpr const char* kProgress = "records/t.progress.json";

  // hone-tune with --task --settings --db --stamp, and `more`.
  Words Command(const Words& more) const;
  CommandResult Tune(const Words& more) { return Run(Command(more)); }
  // The same, and expects success.
  CommandResult TuneOk(const Words& more);
  // With these arguments and the task alone.
  CommandResult TuneTask(const Words& arguments) { return Run(Words{HONE_TUNE, "--task", "t.json"} + arguments); }
  // Expects a refusal in one line that writes no stamp.
  void ExpectMisused(const CommandResult& result, const std::string& words);

  std::vector<record::Trial> Trials() const;  // none without records
  std::vector<uint64_t> Indices() const;
  std::string StampText() const { return Has(kStamp) ? Read(kStamp) : ""; }
  Json Stamp() const { return ReadJson(kStamp); }
  // Its trials, stamp and records are gone; the job's input files stay.
  void Reset();
  // Waits until the process has tried something, or ended.
  void WaitForProgress(Subprocess* process) const;
};

// Children of a process whose command line contains `word`.
std::vector<pid_t> ChildrenOf(pid_t parent, const std::string& word);

}  // namespace hone
