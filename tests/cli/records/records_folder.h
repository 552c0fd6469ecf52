// A temporary work folder with records, for tests of the tools that read them.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/subprocess.h"
#include "record/store.h"

namespace hone {

inline constexpr char kTarget[] = "cpu -features=avx2";
// Task a computes the same as task b but for what follows it; c is something else.
inline constexpr char kWorkloadA[] = "dense(f32[1,4], f32[8,4]) + bias + relu";
inline constexpr char kWorkloadB[] = "dense(f32[1,4], f32[8,4]) + bias";
inline constexpr char kWorkloadC[] = "dense(f32[1,16], f32[8,16])";

Outcome Ok(int64_t unroll, double seconds);  // three samples around `seconds`, their median
Outcome Pruned(int64_t unroll, double seconds);
Outcome Failed(int64_t unroll, TrialError error, const std::string& text);

class RecordsFolderTest : public testing::Test {
 protected:
  void SetUp() override;

  std::string Path(const std::string& name) const { return dir_->Join(name); }
  void Write(const std::string& name, const std::string& text);
  std::string Read(const std::string& name) const;
  // records/ID.db, created or continued by one more session, which began at `started`.
  void Record(const std::string& id, const std::string& workload, const std::vector<Outcome>& outcomes,
              const std::string& fingerprint = "machine-1", double started = 1000);
  void WriteTaskList(
      const std::vector<std::pair<std::string, std::string>>& tasks);  // ids, workloads; tasks/net.cpu.tasks.json

  // In the folder.
  CommandResult Run(const std::string& program, const std::vector<std::string>& arguments);
  CommandResult Records(const std::vector<std::string>& arguments) { return Run(HONE_RECORDS, arguments); }
  CommandResult PickBest(const std::vector<std::string>& more = {});
  // Code 1, nothing on stdout, one line on stderr that holds every part.
  void ExpectRefused(const CommandResult& result, const std::vector<std::string>& parts, int code = 1);

 private:
  std::optional<TempDir> dir_;
};

}  // namespace hone
