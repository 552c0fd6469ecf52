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
  ASSERT_TRUE(MakeDirs(Path("records")).ok());
  auto store = record::Store::OpenForWriting(Path("records/" + id + ".db"), {id, workload, kTarget, {{"dense", 1}}});
  ASSERT_TRUE(store.ok()) << store.status().message();
  record::Session session;
  session.started = started;
  session.host = "the-host";
  session.device = "a device";
  session.fingerprint = fingerprint;
  session.tool_version = "1.2.3";
  session.seed = 7;
  session.settings = "{}";
  const Result<int64_t> number = (*store)->BeginSession(session);
  ASSERT_TRUE(number.ok()) << number.status().message();
  ASSERT_TRUE((*store)->Append(*number, outcomes).ok());
  ASSERT_TRUE((*store)->EndSession(*number, started + 10).ok());
}

void RecordsFolder::WriteTaskList(const std::vector<std::pair<std::string, std::string>>& tasks) {
  pipeline::TaskList list{"net", kTarget, "cpu", {}};
  for (const auto& [id, workload] : tasks) list.tasks.push_back({id, workload, 2, 1000000});
  Write("tasks/net.cpu.tasks.json", pipeline::TaskListText(list));
}

void RecordsFolder::Sql(const std::string& db, const std::string& sql) {
  auto open = record::Database::Open(Path(db), record::OpenMode::kWrite);
  ASSERT_TRUE(open.ok()) << open.status().message();
  const Status status = (*open)->Execute(sql);
  ASSERT_TRUE(status.ok()) << status.message();
}

CommandResult RecordsFolder::PickBest(const Words& more) {
  return Run(Words{HONE_PICK_BEST, "--tasks", "tasks/net.cpu.tasks.json", "--records", "records", "--out",
                   "best/net.cpu.json"} +
             more);
}

}  // namespace hone
