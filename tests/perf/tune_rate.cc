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
#include "base/subprocess.h"
#include "base/text.h"
#include "op/operator.h"
#include "record/store.h"
#include "semantics/semantics.h"
#include "target/target.h"

namespace {

using namespace hone;  // NOLINT: a program, not a header

struct Options {
  int trials = 128;
  std::string workload = "conv2d(f32[1,64,56,56], f32[64,64,3,3], pad=1,1,1,1) + bias + relu";
  std::string tuner = "random";
};

Status Run(const Options& options) {
  HONE_ASSIGN_OR_RETURN(const TempDir dir, TempDir::Create("hone-rate"));
  HONE_ASSIGN_OR_RETURN(const Target target, HostTarget());
  HONE_ASSIGN_OR_RETURN(const Workload workload, op::ParseChecked(options.workload));
  HONE_ASSIGN_OR_RETURN(const op::Operator* op, op::FindOperator(workload));
  const std::string task = fmt::format(R"({{"version": 1, "id": "{}", "workload": "{}", "target": "{}", "flop": {}}})",
                                       TaskId(workload, target.Text()), workload.Text(), target.Text(),
                                       static_cast<int64_t>(semantics::Flop(workload)));
  HONE_RETURN_IF_ERROR(WriteFileAtomic(dir.Join("t.json"), task));
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
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    const std::string value = arg.substr(std::min(arg.size(), arg.find('=') + 1));
    if (StartsWith(arg, "--trials=")) {
      auto trials = ParseInt(value);
      options.trials = trials.ok() ? static_cast<int>(*trials) : 0;
    } else if (StartsWith(arg, "--workload=")) {
      options.workload = value;
    } else if (StartsWith(arg, "--tuner=")) {
      options.tuner = value;
    } else {
      std::fprintf(stderr, "usage: tune_rate [--trials=128] [--workload=TEXT] [--tuner=random]\n");
      return 2;
    }
  }
  const Status status = Run(options);
  if (status.ok()) return 0;
  std::fprintf(stderr, "tune_rate: %s\n", status.message().c_str());
  return 1;
}
