// hone-tune without its flags: everything around a tuning session: input files, locks, records, log, progress, stamp.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "measure/fake.h"
#include "measure/messages.h"
#include "op/operator.h"
#include "pipeline/settings.h"
#include "pipeline/task_file.h"
#include "session/tune_session.h"

namespace hone::session {

struct TuneJobOptions {
  std::string task_path;                 // TASKID.task.json
  std::string settings_path;             // JOB.tune.json
  std::string db_path;                   // TASKID.db; beside it: .log, .progress.json, .reference, .db.lock
  std::string stamp_path;                // written last
  std::vector<std::string> donor_paths;  // databases of other tasks for the tuner to learn from, the most useful first
  std::string like, tuner;               // instead of the settings' if not empty
  std::string worker_program;            // hone-worker; empty: beside this program
  bool optional = false;                 // a task that the network does without: succeed even if no trial is correct
  bool fake = false;                     // no compiler, no clock: measure/fake.h
  measure::FakeWorld fake_world;
};

// The files of a job that stand beside its records: "records/cpu/conv2d-1.db" -> "records/cpu/conv2d-1" + suffix.
std::string BesideRecords(const std::string& db_path, const std::string& suffix);

// The versions that a stamp of tuning depends on beside its input files, a line each: templates, code generation,
// protocol. (--abi)
std::string TuneAbi();

// The limits of the settings, and which recorded trials count under them.
op::Numerics NumericsOf(const pipeline::TuneSettings& settings);
Scope ScopeOf(const Workload& workload, const Target& target, const op::Numerics& numerics);

// Sets operands, reference_path and reference_key of `setup`; computes the reference with op::Operator::Reference and
// writes it to `path` unless it is there already (and right). True if it was computed; kInterrupted: not written.
// kUnsupported for an unknown operator.
Result<bool> EnsureReference(const Workload& workload, const Target& target, const std::string& path,
                             measure::TaskSetup* setup);

// Setup of measuring for a task; computes the reference if it is not there.
Result<measure::TaskSetup> MeasureSetup(const pipeline::TaskFile& task, const std::string& reference_path,
                                        const Protocol& protocol);

// The whole job. The exit code (base/interrupt.h): kDone and a stamp; kFailed; kMisused for bad input files;
// kInterrupted. Prints errors on stderr.
int RunTuneJob(const TuneJobOptions& options);

}  // namespace hone::session
