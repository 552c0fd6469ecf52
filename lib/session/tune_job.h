// hone-tune without its flags: everything around a tuning session: input files, locks, records, log, progress, stamp.
#pragma once

#include <string>

#include "base/result.h"
#include "measure/fake.h"
#include "measure/messages.h"
#include "pipeline/settings.h"
#include "pipeline/task_file.h"
#include "session/tune_session.h"

namespace hone::session {

struct TuneJobOptions {
  std::string task_path;       // TASKID.task.json
  std::string settings_path;   // JOB.tune.json
  std::string db_path;         // TASKID.db; beside it: .log, .progress.json, .reference, .db.lock
  std::string stamp_path;      // written last
  std::string worker_program;  // hone-worker; empty: beside this program
  bool fake = false;           // no compiler, no clock: measure/fake.h
  measure::FakeWorld fake_world;
};

// The files of a job that stand beside its records: "records/cpu/conv2d-1.db" -> "records/cpu/conv2d-1" + suffix.
std::string BesideRecords(const std::string& db_path, const std::string& suffix);

// What the records of a task hold their indices of: the versions of its templates, "conv2d_direct=1".
Result<std::string> TaskSpaceVersion(const Workload& workload, const Target& target);

// What a stamp of tuning depends on beside its input files, a line each: templates, code generation, protocol. (--abi)
std::string TuneAbi();

// The measuring protocol with a job's settings in it. The defaults of the two are the same.
measure::Protocol ProtocolOf(const pipeline::MeasureSettings& settings);

// Setup of measuring for a task; computes the reference if it is not there.
Result<measure::TaskSetup> MeasureSetup(const pipeline::TaskFile& task, const std::string& reference_path,
                                        const measure::Protocol& protocol);

// The whole job. The exit code (base/interrupt.h): kDone and a stamp; kFailed; kMisused for bad input files;
// kInterrupted. Says what is wrong on stderr.
int RunTuneJob(const TuneJobOptions& options);

}  // namespace hone::session
