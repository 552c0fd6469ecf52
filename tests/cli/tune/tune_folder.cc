#include "tune_folder.h"

#include <fmt/format.h>

#include "base/clock.h"
#include "base/text.h"
#include "target/target.h"
#include "task/workload.h"

namespace hone {

void TuneFolder::SetUp() {
  WriteTask("conv2d(f32[1,32,14,14], f32[32,32,3,3], pad=1,1,1,1) + bias");
  WriteSettings(40);
}

void TuneFolder::WriteSettings(int trials, const std::string& more) {
  Write("s.json", fmt::format(R"({{"version": 1, "tuner": "random", "trials": {}, "seed": 3{}}})", trials, more));
}

void TuneFolder::WriteTask(const std::string& workload, const std::string& target) {
  const std::string on = Must(target.empty() ? HostTarget() : Target::Parse(target)).Text();
  const Workload parsed = Must(Workload::Parse(workload));
  Write("t.json", fmt::format(R"({{"version": 1, "id": "{}", "workload": "{}", "target": "{}", "flop": 3612672}})",
                              TaskId(parsed, on), parsed.Text(), on));
}

Words TuneFolder::Command(const Words& more) const {
  return Words{HONE_TUNE, "--task", "t.json", "--settings", "s.json", "--db", kDb, "--stamp", kStamp} + more;
}

CommandResult TuneFolder::TuneOk(const Words& more) {
  CommandResult result = Tune(more);
  ExpectOk(result);
  return result;
}

void TuneFolder::ExpectMisused(const CommandResult& result, const std::string& words) {
  ExpectRefused(result, kMisused, {words});
  EXPECT_FALSE(Has(kStamp));
}

std::vector<record::Trial> TuneFolder::Trials() const {
  auto store = record::Store::OpenForReading(Path(kDb));
  return store.ok() ? Must((*store)->Trials()) : std::vector<record::Trial>();
}

std::vector<uint64_t> TuneFolder::Indices() const {
  std::vector<uint64_t> indices;
  for (const record::Trial& trial : Trials()) indices.push_back(trial.outcome.config.index);
  return indices;
}

void TuneFolder::Reset() {
  Must(RemoveTree(Path("records")));
  Must(RemoveTree(Path("stamps")));
}

void TuneFolder::WaitForProgress(Subprocess* process) const {
  while (!Has(kProgress) && process->Running()) RealClock()->SleepSeconds(0.002);
}

std::vector<pid_t> ChildrenOf(pid_t parent, const std::string& word) {
  std::vector<pid_t> found;
  auto children = ReadFile(fmt::format("/proc/{0}/task/{0}/children", parent));
  if (!children.ok()) return found;
  for (const std::string& text : SplitWords(*children)) {
    auto pid = ParseInt(text);
    auto command = ReadFile(fmt::format("/proc/{}/cmdline", text));
    if (pid.ok() && command.ok() && command->find(word) != std::string::npos) found.push_back(static_cast<pid_t>(*pid));
  }
  return found;
}

}  // namespace hone
