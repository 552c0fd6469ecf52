// The Builder that compiles in children (`hone-worker compile`), several at a time. If a child crashes or hangs, its
// candidate gets a compile error and the child is replaced. After a failure of this machine (a child killed from
// outside, no memory, no space) the candidate goes to a new child, at most measure::kMostAttempts times; then it has no
// verdict.
//
// Kernels that were built stay until they take too much memory: finalists need not be built again.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "measure/builder.h"
#include "measure/worker.h"
#include "session/compile_worker.h"
#include "target/target.h"
#include "task/workload.h"

namespace hone::session {

class ChildBuilder : public measure::Builder {
 public:
  // `program` is the path of hone-worker; at most `jobs` children run, started when needed. Shared objects go to a
  // private folder in memory (/dev/shm) or, if that is not writable, to one for temporary files. CUDA code is generated
  // for the driver of this machine.
  static Result<std::unique_ptr<ChildBuilder>> Create(const std::string& program, const Workload& workload,
                                                      const Target& target, int jobs,
                                                      const std::vector<pipeline::SketchFile>& sketches = {},
                                                      double timeout_seconds = 60);

  Status Begin(const std::vector<Config>& configs) override;
  Result<measure::BuildResult> Next() override;
  Result<bool> Ready(double seconds) override;
  Result<bool> Advance() override;
  void Abandon() override;

 private:
  struct Slot {
    measure::Worker worker;
    std::optional<size_t> job;  // index into the batch
    double started = 0;
    int attempts = 0;
    Status sent = {};  // of the job: an error stands for the answer
  };
  struct Job {
    CompileRequest request;
    std::optional<measure::BuildResult> result;
  };
  struct Batch {
    std::vector<Job> jobs;
    size_t next = 0;   // index of the next candidate for a child
    size_t done = 0;   // number of those with a result
    size_t taken = 0;  // number returned by Next
  };

  ChildBuilder(TempDir dir, double timeout) : dir_(std::move(dir)), timeout_seconds_(timeout) {}
  Status Give(Slot* slot);
  Status Collect(Slot* slot);
  Status OrAbandon(Status status);
  // If one of these fails, it abandons the batch.
  Status GiveOut();     // assigns waiting candidates to idle children
  Status CollectAll();  // all results available now
  Status WaitForAny(double seconds);
  void Keep(const measure::BuildResult& result);
  Status Tidy();  // removes files that are not kept, and the oldest kept ones

  std::string setup_;  // the first message to each child
  TempDir dir_;
  double timeout_seconds_;
  int64_t serial_ = 0;
  std::vector<std::string> files_;               // of the last batch, unless kept
  std::map<Digest, measure::BuildResult> kept_;  // by the config's values
  std::deque<Digest> kept_order_;                // the oldest first
  int64_t kept_bytes_ = 0;                       // size of their files
  std::vector<Slot> slots_;
  Batch batch_;
};

}  // namespace hone::session
