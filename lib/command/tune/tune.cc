#include "command/tune/tune.h"

#include "base/interrupt.h"
#include "base/log.h"
#include "base/text.h"
#include "base/threads.h"

namespace hone::command {

constexpr int64_t kCompileOnlyCandidates = 32;

static Result<measure::FakeWorld> ParseFakeWorld(const std::string& text) {
  measure::FakeWorld world;
  const std::vector<std::string> parts = Split(text, ',');
  HONE_ASSIGN_OR_RETURN(const int64_t seed, ParseInt(parts[0]));
  world.seed = static_cast<uint64_t>(seed);
  if (parts.size() > 1) {
    HONE_ASSIGN_OR_RETURN(world.sleep_seconds, ParseDouble(parts[1]));
  }
  if (parts.size() > 2) {
    HONE_ASSIGN_OR_RETURN(world.fail_share, ParseDouble(parts[2]));
  }
  return world;
}

static int Misused(const std::string& message) { return ExitCodeOf(Status::Invalid(message)); }

std::string TuneAbi() { return session::TuneAbi(); }

int RunTune(const TuneOptions& options) {
  if (const Status stack = EnsureStack(); !stack.ok()) return ExitCodeOf(stack);
  session::TuneJobOptions job = options;
  if (options.verbose) SetLogLevel(LogLevel::kDebug);
  if (options.fake_measure) {
    auto world = ParseFakeWorld(*options.fake_measure);
    if (!world.ok()) return Misused("--fake-measure: " + world.status().message());
    job.fake = true;
    job.fake_world = *world;
  }
  const int modes = options.compile_only + options.list_sketches + options.write_sketch.has_value() +
                    options.explain.has_value() + options.trial.has_value();
  if (modes > 1) {
    return Misused("--compile-only, --list-sketches, --write-sketch, --explain and --trial exclude each other");
  }
  for (const std::string& what : options.show) {
    if (what != "program" && what != "llvm" && what != "assembly" && what != "source") {
      return Misused("--show " + what + ": known are program, llvm, assembly, source");
    }
  }
  if (!options.find_device.empty()) return RunFindDevice(options.find_device, options.out);
  if (!options.describe_device.empty()) return RunDescribeDevice(options.describe_device);
  if (options.task_path.empty()) return Misused("--task is required: the task file");
  if (options.compile_only) return ExitCodeOf(session::CompileOnly(job, kCompileOnlyCandidates));
  if (options.list_sketches) return ExitCodeOf(session::ListSketches(job));
  if (options.trial) return ExitCodeOf(session::TryOne(job, *options.trial));
  if (options.db_path.empty()) return Misused("--db is required: the records of the task");
  if (options.write_sketch) return ExitCodeOf(session::WriteSketch(job, *options.write_sketch));
  if (options.explain) return ExitCodeOf(session::Explain(job, *options.explain, options.show));
  if (options.settings_path.empty()) return Misused("--settings is required to tune: the job's .tune.json");
  if (options.stamp_path.empty()) return Misused("--stamp is required to tune: the file that says it is done");
  return session::RunTuneJob(job);
}

}  // namespace hone::command
