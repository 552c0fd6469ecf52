// How many candidates a second hone-tune gets through, verification included: the 3x3 layer of 64 channels at 56x56,
// whose kernels take less than a millisecond.
//
//   tune_rate [--trials=128] [--workload=TEXT] [--tuner=random]
//
// Prints trials a second of the whole run (start of the tool, reference and finalists included), what a candidate cost
// to compile and to measure, and the best kernel's share of the peak. Uses its own temporary records.
#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "base/clock.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "op/operator.h"
#include "perf/flags.h"
#include "pipeline/task_file.h"
#include "record/store.h"
#include "semantics/semantics.h"
#include "target/target.h"

namespace {

using namespace hone;  // NOLINT: a program, not a header

struct Options {
  int64_t trials = 128;
  std::string workload = "conv2d(f32[1,64,56,56], f32[64,64,3,3], pad=1,1,1,1) + bias + relu";
  std::string tuner = "random";
};

Status Run(const Options& options) {
  HONE_ASSIGN_OR_RETURN(const TempDir dir, TempDir::Create("hone-rate"));
  HONE_ASSIGN_OR_RETURN(const Target target, HostTarget());
  HONE_ASSIGN_OR_RETURN(const Workload workload, op::ParseChecked(options.workload));
  const pipeline::TaskFile task{TaskId(workload, target.Text()), workload, target,
                                static_cast<int64_t>(semantics::Flop(workload))};
  HONE_RETURN_IF_ERROR(WriteFileAtomic(dir.Join("t.json"), pipeline::TaskFileText(task)));
  HONE_RETURN_IF_ERROR(
      WriteFileAtomic(dir.Join("s.json"),
                      fmt::format(R"({{"version": 1, "tuner": "{}", "trials": {}}})", options.tuner, options.trials)));
  const std::string db = dir.Join("t.db");
  CommandOptions command;
  command.timeout_seconds = 1800;
  const double start = RealClock()->NowSeconds();
  HONE_ASSIGN_OR_RETURN(const CommandResult result,
                        RunCommand({HONE_TUNE, "--task", dir.Join("t.json"), "--settings", dir.Join("s.json"), "--db",
                                    db, "--stamp", dir.Join("t.done")},
                                   command));
  const double seconds = RealClock()->NowSeconds() - start;
  std::fputs(result.err.c_str(), stderr);
  if (!result.status.ok()) return Status::Invalid("hone-tune " + result.status.ToString());
  HONE_ASSIGN_OR_RETURN(const auto store, record::Store::OpenForReading(db));
  HONE_ASSIGN_OR_RETURN(const auto trials, store->Trials());
  double compile = 0, measure = 0, samples = 0;
  for (const record::Trial& trial : trials) {
    compile += trial.outcome.compile_seconds;
    measure += trial.outcome.measure_seconds;
    samples += static_cast<double>(trial.outcome.samples.size());
  }
  const double count = static_cast<double>(trials.size());
  std::printf("%s\n%zu trials in %.2f s: %.1f a second (at least 15 wanted, 40 aimed at)\n", workload.Text().c_str(),
              trials.size(), seconds, count / seconds);
  std::printf("a candidate: compile %s (of one core), measure %s, %.1f runs\n", FormatSeconds(compile / count).c_str(),
              FormatSeconds(measure / count).c_str(), samples / count);
  return Status();
}

}  // namespace

int main(int argc, char** argv) {
  perf::Flags flags("tune_rate [--trials=128] [--workload=TEXT] [--tuner=random]", argc, argv);
  Options options;
  options.trials = flags.Number("--trials", options.trials);
  options.workload = flags.Text("--workload", options.workload);
  options.tuner = flags.Text("--tuner", options.tuner);
  flags.Words();
  return ExitCodeOf(Run(options));
}
