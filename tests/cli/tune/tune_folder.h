// A temporary work folder with one small convolution to tune, and hone-tune to run in it.
#pragma once

#include <fmt/format.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "base/text.h"
#include "record/store.h"
#include "semantics/semantics.h"
#include "target/target.h"
#include "task/workload.h"
#include "test_folder.h"

namespace hone {

// Simulated times from seed 7 instead of measured ones.
inline const Words kFake = {"--fake-measure", "7"};

class TuneFolder : public TestFolder {
 protected:
  // t.json, a convolution; s.json: 40 random trials.
  void SetUp() override {
    WriteTask(kConv);
    WriteSettings(40);
  }

  // Settings with that many trials; `more` has further keys: ", \"early_stop\": 5".
  void WriteSettings(int trials, const std::string& more = "") {
    Write("s.json", fmt::format(R"({{"version": 1, "tuner": "random", "trials": {}, "seed": 3{}}})", trials, more));
  }
  // Empty target: this machine.
  void WriteTask(const std::string& workload, const std::string& target = "") {
    const std::string on = Must(target.empty() ? HostTarget() : Target::Parse(target)).Text();
    const Workload parsed = Must(Workload::Parse(workload));
    Write("t.json", fmt::format(R"({{"version": 1, "id": "{}", "workload": "{}", "target": "{}", "flop": {}}})",
                                TaskId(parsed, on), parsed.Text(), on, static_cast<int64_t>(semantics::Flop(parsed))));
  }

  static constexpr const char* kConv = "conv2d(f32[1,32,14,14], f32[32,32,3,3], pad=1,1,1,1) + bias";
  static constexpr const char* kDense = "dense(f32[4,64], f32[32,64])";
  static constexpr const char* kDb = "records/t.db";
  static constexpr const char* kStamp = "stamps/t.done";
  static constexpr const char* kProgress = "records/t.progress.json";

  // hone-tune with --task --settings --db --stamp, and `more`.
  Words Command(const Words& more) const {
    return Words{HONE_TUNE, "--task", "t.json", "--settings", "s.json", "--db", kDb, "--stamp", kStamp} + more;
  }
  CommandResult Tune(const Words& more) { return Run(Command(more)); }
  // Runs it and expects success.
  CommandResult TuneOk(const Words& more) { return ExpectOk(Tune(more)); }
  // Runs with these arguments and only the task.
  CommandResult TuneTask(const Words& arguments) { return Run(Words{HONE_TUNE, "--task", "t.json"} + arguments); }
  // Expects an error in one line, and no stamp.
  void ExpectMisused(const CommandResult& result, const std::string& words) {
    ExpectRefused(result, kMisused, {words});
    EXPECT_FALSE(Has(kStamp));
  }

  // Empty without records.
  std::vector<record::Trial> Trials() const {
    auto store = record::Store::OpenForReading(Path(kDb));
    return store.ok() ? Must((*store)->Trials()) : std::vector<record::Trial>();
  }
  std::vector<uint64_t> Indices() const {
    std::vector<uint64_t> indices;
    for (const record::Trial& trial : Trials()) indices.push_back(trial.outcome.config.index);
    return indices;
  }
  std::string StampText() const { return Has(kStamp) ? Read(kStamp) : ""; }
  Json Stamp() const { return ReadJson(kStamp); }
  // Removes trials, stamp and records; keeps the job's input files.
  void Reset() {
    for (const char* folder : {"records", "stamps"}) Must(RemoveTree(Path(folder)));
  }
  // Waits until the process has tried something or ended.
  void WaitForProgress(Subprocess* process) const {
    EXPECT_TRUE(WaitFor(120, [&] { return Has(kProgress) || !process->Running(); }));
  }
};

}  // namespace hone
