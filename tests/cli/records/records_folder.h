// A temporary work folder with records, for tests of the tools that read them.
#pragma once

#include <string>
#include <vector>

#include "record/store.h"
#include "test_folder.h"

namespace hone {

inline constexpr char kTarget[] = "cpu -features=avx2";
// Tasks a and b differ only in their epilogue; c is another computation.
inline constexpr char kWorkloadA[] = "dense(f32[1,4], f32[8,4]) + bias + relu";
inline constexpr char kWorkloadB[] = "dense(f32[1,4], f32[8,4]) + bias";
inline constexpr char kWorkloadC[] = "dense(f32[1,16], f32[8,16])";

Outcome Ok(int64_t unroll, double seconds);  // three samples around `seconds`, their median
Outcome Pruned(int64_t unroll, double seconds);
Outcome Failed(int64_t unroll, TrialError error, const std::string& text);

class RecordsFolder : public TestFolder {
 protected:
  // Creates records/ID.db, or continues it by one more session that began at `started`.
  void Record(const std::string& id, const std::string& workload, const std::vector<Outcome>& outcomes,
              const std::string& fingerprint = "machine-1", double started = 1000);
  // Runs SQL on the database, like another program.
  void Sql(const std::string& db, const std::string& sql);
  void WriteTaskList(
      const std::vector<std::pair<std::string, std::string>>& tasks);  // ids, workloads; tasks/net.cpu.tasks.json

  CommandResult Records(const Words& arguments) { return Run(Words{HONE_RECORDS} + arguments); }
  std::string RecordsOk(const Words& arguments) { return RunOk(Words{HONE_RECORDS} + arguments); }
  CommandResult PickBest(const Words& more = {});
};

}  // namespace hone
