#include "records_folder.h"

#include "pipeline/task_list.h"
#include "record/sqlite.h"

namespace hone {
namespace {

Outcome Of(int64_t unroll) {
  Outcome o;
  o.config = {"dense", static_cast<uint64_t>(unroll), {{"unroll", KnobKind::kOther, {unroll}, {}}}};
  o.proposer = "random";
  o.artifact_digest = std::to_string(unroll);
  o.steps = "unroll out k";
  o.compile_seconds = 0.25;
  o.measure_seconds = 0.5;
  return o;
}

}  // namespace

Outcome Ok(int64_t unroll, double seconds) {
  Outcome o = Of(unroll);
  o.state = TrialState::kOk;
  o.samples = {seconds, 1.5 * seconds, 0.5 * seconds};
  o.median = seconds;
  return o;
}

Outcome Pruned(int64_t unroll, double seconds) {
  Outcome o = Ok(unroll, seconds);
  o.state = TrialState::kPruned;
  o.samples = {seconds};
  return o;
}

Outcome Failed(int64_t unroll, TrialError error, const std::string& text) {
  Outcome o = Of(unroll);
  o.state = TrialState::kFailed;
  o.error = error;
  o.error_text = text;
  return o;
}

void RecordsFolder::Record(const std::string& id, const std::string& workload, const std::vector<Outcome>& outcomes,
                           const std::string& fingerprint, double started) {
  Must(MakeDirs(Path("records")));
  const auto store =
      Must(record::Store::OpenForWriting(Path("records/" + id + ".db"), {id, workload, kTarget, {{"dense", 1}}}));
  record::Session session;
  session.started = started;
  session.host = "the-host";
  session.device = "a device";
  session.fingerprint = fingerprint;
  session.tool_version = "1.2.3";
  session.seed = 7;
  session.settings = "{}";
  const int64_t number = Must(store->BeginSession(session));
  Must(store->Append(number, outcomes));
  Must(store->EndSession(number, started + 10));
}

void RecordsFolder::WriteTaskList(const std::vector<std::pair<std::string, std::string>>& tasks) {
  pipeline::TaskList list{"net", kTarget, "cpu", {}};
  for (const auto& [id, workload] : tasks) list.tasks.push_back({id, workload, 2, 1000000});
  Write("tasks/net.cpu.tasks.json", pipeline::TaskListText(list));
}

void RecordsFolder::Sql(const std::string& db, const std::string& sql) {
  Must(Must(record::Database::Open(Path(db), record::OpenMode::kWrite))->Execute(sql));
}

CommandResult RecordsFolder::PickBest(const Words& more) {
  return Run(Words{HONE_PICK_BEST, "--tasks", "tasks/net.cpu.tasks.json", "--records", "records", "--out",
                   "best/net.cpu.json"} +
             more);
}

}  // namespace hone
