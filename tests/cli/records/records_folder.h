// A temporary work folder with records, for tests of the tools that read them.
#pragma once

#include "pipeline/task_list.h"
#include "record/sqlite.h"
#include "record/store.h"
#include "test_folder.h"

namespace hone {

inline constexpr char kTarget[] = "cpu -features=avx2";
// Tasks a and b differ only in their epilogue; c is another computation.
inline constexpr char kWorkloadA[] = "dense(f32[1,4], f32[8,4]) + bias + relu";
inline constexpr char kWorkloadB[] = "dense(f32[1,4], f32[8,4]) + bias";
inline constexpr char kWorkloadC[] = "dense(f32[1,16], f32[8,16])";

// Three samples around `seconds`, their median.
inline Outcome Ok(int64_t unroll, double seconds) {
  Outcome o;
  o.config = {"dense", static_cast<uint64_t>(unroll), {{"unroll", KnobKind::kOther, {unroll}, {}}}};
  o.state = TrialState::kOk;
  o.samples = {seconds, 1.5 * seconds, 0.5 * seconds};
  o.median = seconds;
  o.proposer = "random";
  o.artifact_digest = std::to_string(unroll);
  o.steps = "unroll out k";
  o.compile_seconds = 0.25;
  o.measure_seconds = 0.5;
  return o;
}

inline Outcome Pruned(int64_t unroll, double seconds) {
  Outcome o = Ok(unroll, seconds);
  o.state = TrialState::kPruned;
  o.samples = {seconds};
  return o;
}

inline Outcome Failed(int64_t unroll, TrialError error, const std::string& text) {
  Outcome o = Ok(unroll, 0);
  o.state = TrialState::kFailed;
  o.samples.clear();
  o.error = error;
  o.error_text = text;
  return o;
}

class RecordsFolder : public TestFolder {
 protected:
  // Creates records/ID.db, or continues it by one more session that began at `started`.
  void Record(const std::string& id, const std::string& workload, const std::vector<Outcome>& outcomes,
              const std::string& fingerprint = "machine-1", double started = 1000) {
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
  // Runs SQL on the database, like another program.
  void Sql(const std::string& db, const std::string& sql) {
    Must(Must(record::Database::Open(Path(db), record::OpenMode::kWrite))->Execute(sql));
  }
  // tasks/net.cpu.tasks.json, of ids and workloads.
  void WriteTaskList(const std::vector<std::pair<std::string, std::string>>& tasks) {
    pipeline::TaskList list{"net", kTarget, "cpu", {}};
    for (const auto& [id, workload] : tasks) list.tasks.push_back({id, workload, 2, 1000000});
    Write("tasks/net.cpu.tasks.json", pipeline::TaskListText(list));
  }

  CommandResult Records(const Words& arguments) { return Run(Words{HONE_RECORDS} + arguments); }
  std::string RecordsOk(const Words& arguments) { return RunOk(Words{HONE_RECORDS} + arguments); }
  CommandResult PickBest(const Words& more = {}) {
    return Run(Words{HONE_PICK_BEST, "--tasks", "tasks/net.cpu.tasks.json", "--records", "records", "--out",
                     "best/net.cpu.json"} +
               more);
  }
};

}  // namespace hone
