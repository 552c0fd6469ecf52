// hone-tune without its flags: everything around a tuning session: input files, locks, records, log, progress, stamp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "measure/fake.h"
#include "measure/messages.h"
#include "op/operator.h"
#include "pipeline/settings.h"
#include "pipeline/task_list.h"
#include "session/tune_session.h"

namespace hone::session {

struct TuneJobOptions {
  std::string task_path;                 // TASKID.task.json
  std::string settings_path;             // JOB.tune.json
  std::string db_path;                   // TASKID.db; beside it: .log, .progress.json, .reference, .db.lock
  std::string stamp_path;                // written last
  std::vector<std::string> donor_paths;  // databases of other tasks for the tuner to learn from, the most useful first
  std::string like, mode, tuner, model;  // override the settings if not empty; model: a file
  std::vector<std::string> sketches;     // files of sketches (sketch/sketch.h), in addition to those of the settings
  std::string worker_program;            // hone-worker; empty: the one beside this program
  bool optional = false;                 // a task that the network does without: succeed even if no trial is correct
  bool wait = false;                     // for a live tuner that holds the records; otherwise fails after ten seconds
  bool fake = false;                     // no compiler and no clock: measure/fake.h
  measure::FakeWorld fake_world;
};

// Reads a task file, whose text goes to `text`, and loads its plugin. Errors as of pipeline::ParseTaskFile.
Result<pipeline::TaskFile> ReadTask(const std::string& path, std::string* text);

// hone-worker: that of the options, or the one beside this program.
Result<std::string> WorkerProgram(const TuneJobOptions& options);

// The path of a job's file beside its records: "records/cpu/conv2d-1.db" -> "records/cpu/conv2d-1" + suffix.
std::string BesideRecords(const std::string& db_path, const std::string& suffix);

// The versions that tuning depends on in addition to its input files, one per line: templates, code generation,
// protocol. (--abi)
std::string TuneAbi();

// Puts `like`, `mode`, `tuner` and `sketches` of the options into the settings; true if there are any. Returns kInvalid
// for an unknown word, and a mistake in a sketch, also of the settings.
Result<bool> Override(const TuneJobOptions& options, pipeline::TuneSettings* settings);

// The limits of the settings, and the recorded trials that count under them.
op::Numerics NumericsOf(const pipeline::TuneSettings& settings);
Scope ScopeOf(const Workload& workload, const Target& target, const op::Numerics& numerics);

// Sets operands, reference_path and reference_key of `setup`. Unless `path` has the right reference, computes it with
// op::Operator::Reference and writes it; returns true then. On kInterrupted nothing is written. Returns kUnsupported
// for an unknown operator.
Result<bool> EnsureReference(const Workload& workload, const Target& target, const std::string& path,
                             measure::TaskSetup* setup);

// The setup for measuring a task; computes the reference if it is missing.
Result<measure::TaskSetup> MeasureSetup(const pipeline::TaskFile& task, const std::string& reference_path,
                                        const Protocol& protocol);

// Runs the whole job and prints errors to stderr. Returns the exit code (base/interrupt.h): kDone with a stamp;
// kFailed; kMisused for bad input files; kInterrupted.
int RunTuneJob(const TuneJobOptions& options);

// The next five inspect a task without tuning it, print to stdout and return an exit code.

// --compile-only: compiles the candidates that a run with these settings would try first, including the default, then
// other legal points until there are `count` or no more, each once. Measures and stores nothing. Prints a line for each
// candidate with its index, seconds and error, then the sum. Returns kFailed if no candidate compiled.
Result<int> CompileOnly(const TuneJobOptions& options, int64_t count);

// --list-sketches: prints the texts of the sketches (sketch/sketch.h) in the task's space, with a blank line between
// them, without those that the settings' numerics forbid; without any, a line with the templates.
Result<int> ListSketches(const TuneJobOptions& options);

// --explain: prints trial `ordinal` of the records: its config, verdict and steps; `show` may contain "program"
// (lowered), "llvm", "assembly".
Result<int> Explain(const TuneJobOptions& options, int64_t ordinal, const std::vector<std::string>& show);

// --write-sketch: prints the sketch of trial `ordinal` (sketch/sketch.h), to be edited and read by --sketch: with its
// decisions, one value each, or, for a template's trial or without the sketch, algorithm and steps alone. In a file of
// foreign records, `ordinal` is the number of a record of Ansor, whose schedule is translated for the task
// (session/ansor_sketch.h).
Result<int> WriteSketch(const TuneJobOptions& options, int64_t ordinal);

// --trial: builds and measures only the point `index` of the space, against the reference, and records nothing.
Result<int> TryOne(const TuneJobOptions& options, uint64_t index);

}  // namespace hone::session
