// Whether the sum of the kernels' times, measured alone as in tuning, predicts the network's time. Tuning's own times
// are minutes older than the network's, and a shared machine has changed by then. So each kernel of a library is
// measured again, next to runs of the library, in rounds.
//
//   predict_check --work=W [--rounds=5] NET.TARGET ..
//
// Prints a line per job: the medians over the rounds of the sum, of the network and of their ratio (goal: 0.93 to
// 1.07), and the ratio by the times of tuning. Layers without records count with their time in the network. Nothing
// else may run.
#include <stdio.h>

#include <memory>

#include "command/bench/bench.h"
#include "command/bench/library_process.h"
#include "library/loaded_network.h"
#include "measure/child_measurer.h"
#include "perf/flags.h"
#include "pipeline/best_file.h"
#include "pipeline/task_list.h"
#include "session/child_builder.h"
#include "session/machine.h"
#include "session/tune_job.h"
#include "task/outcome.h"

namespace {

using namespace hone;  // NOLINT: a program, not a header

constexpr int kRuns = 15;  // of a kernel, or of the library, per round
constexpr int kCompilers = 2;

// One of the library's kernels, ready to be timed during its lifetime.
struct Kernel {
  std::string workload;
  double uses = 0, tuned_seconds = 0;
  std::unique_ptr<session::ChildBuilder> builder;  // owns the built kernel's files
  std::unique_ptr<measure::ChildMeasurer> measurer;
  measure::BuiltKernel built;
};

Result<Kernel> Prepare(const std::string& work, const library::LibraryFolder::Kernel& in_library,
                       const pipeline::BestEntry& entry) {
  Kernel kernel;
  kernel.workload = in_library.workload;
  kernel.uses = static_cast<double>(in_library.uses);
  kernel.tuned_seconds = entry.median;
  HONE_ASSIGN_OR_RETURN(const std::string program, measure::DefaultWorkerProgram());
  const std::string path = fmt::format("{}/tasks/{}.task.json", work, in_library.task);
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  HONE_ASSIGN_OR_RETURN(const pipeline::TaskFile task, pipeline::ParseTaskFile(text, path));
  HONE_ASSIGN_OR_RETURN(kernel.builder, session::ChildBuilder::Create(program, task.workload, task.target, kCompilers));
  HONE_ASSIGN_OR_RETURN(const auto built, kernel.builder->Build({*entry.config}));
  if (!built[0].ok) return Status::Io(built[0].error_text);
  kernel.built = built[0].kernel;
  const std::string reference = fmt::format("{}/records/cpu/{}.reference", work, in_library.task);
  HONE_ASSIGN_OR_RETURN(measure::TaskSetup setup, session::MeasureSetup(task, reference, Protocol()));
  kernel.measurer = std::make_unique<measure::ChildMeasurer>(program, std::move(setup));
  // A kernel must be verified before it is measured in turns.
  HONE_ASSIGN_OR_RETURN(const Outcome outcome, kernel.measurer->Measure(kernel.built, 0));
  if (outcome.state != TrialState::kOk) return Status::Io(in_library.task + ": " + outcome.error_text);
  return kernel;
}

Result<double> SecondsNow(Kernel* kernel, MachineLock* machine) {
  HONE_RETURN_IF_ERROR(session::TakeMachine(machine, session::Use::kExclusive));
  const auto series = kernel->measurer->MeasureInterleaved({kernel->built}, kRuns);
  machine->Unlock();
  HONE_RETURN_IF_ERROR(series.status());
  if ((*series)[0].seconds.empty()) return Status::Io(kernel->workload + ": could not be timed again");
  return Median((*series)[0].seconds);
}

struct Network {
  double seconds = 0, others = 0;  // of a run; of its layers without a kernel here
};

Result<Network> TimeLibrary(const std::string& dir, const std::vector<Kernel>& kernels, MachineLock* machine) {
  library::TimeRequest request;
  request.dir = dir;
  request.warmup = 5;
  request.iterations = kRuns;
  request.profiled = 5;
  request.patience_seconds = 2;
  HONE_ASSIGN_OR_RETURN(const library::TimeReply reply, command::TimeInProcess(request, machine));
  Network network;
  network.seconds = Median(reply.samples);
  for (size_t i = 0; i < reply.layers.size(); ++i) {
    bool known = false;
    for (const Kernel& kernel : kernels) known = known || kernel.workload == reply.described[i].workload;
    if (!known) network.others += reply.layers[i];
  }
  return network;
}

Status Check(const std::string& work, const std::string& job, int64_t rounds) {
  const std::string library = JoinPath(work, "out/" + job);
  HONE_ASSIGN_OR_RETURN(const auto folder, library::CheckedLibrary(library));
  HONE_ASSIGN_OR_RETURN(const auto best, pipeline::ReadBestFile(fmt::format("{}/best/{}.confirmed.json", work, job)));
  HONE_ASSIGN_OR_RETURN(MachineLock machine, session::OpenMachine());
  std::vector<Kernel> kernels;
  double tuned = 0;
  for (const auto& in_library : folder.kernels) {
    const pipeline::BestEntry* entry = best.Find(in_library.task);
    if (entry == nullptr || !entry->config || entry->median <= 0) continue;
    HONE_ASSIGN_OR_RETURN(Kernel kernel, Prepare(work, in_library, *entry));
    tuned += kernel.uses * kernel.tuned_seconds;
    kernels.push_back(std::move(kernel));
  }
  std::vector<double> networks, others, sums, ratios;  // seconds; sums: of the kernels and the other layers
  for (int64_t round = 0; round < rounds && !Interrupted(); ++round) {
    HONE_ASSIGN_OR_RETURN(const Network before, TimeLibrary(library, kernels, &machine));
    double sum = 0;
    for (Kernel& kernel : kernels) {
      HONE_ASSIGN_OR_RETURN(const double seconds, SecondsNow(&kernel, &machine));
      sum += kernel.uses * seconds;
    }
    HONE_ASSIGN_OR_RETURN(const Network after, TimeLibrary(library, kernels, &machine));
    networks.push_back((before.seconds + after.seconds) / 2);
    others.push_back((before.others + after.others) / 2);
    sums.push_back(sum + others.back());
    ratios.push_back(sums.back() / networks.back());
  }
  if (ratios.empty()) return Status::Interrupted("interrupted before the end of the first round");
  const auto [least, most] = std::minmax_element(ratios.begin(), ratios.end());
  fmt::print(
      "{}: {} kernels {:.3f} ms, network {:.3f} ms, ratio {:.3f} ({:.3f} .. {:.3f}); by the times of tuning {:.3f}\n",
      job, kernels.size(), 1e3 * Median(sums), 1e3 * Median(networks), Median(ratios), *least, *most,
      (tuned + Median(others)) / Median(networks));
  fflush(stdout);
  return Status();
}

}  // namespace

int main(int argc, char** argv) {
  perf::Flags flags("predict_check --work=W [--rounds=5] NET.TARGET ..", argc, argv);
  if (flags.Has("--child")) return command::RunBenchChild();
  const std::string work = flags.Text("--work");
  const int64_t rounds = flags.Number("--rounds", 5);
  const std::vector<std::string> jobs = flags.Words();
  if (work.empty() || jobs.empty()) flags.Misused("--work or the jobs");
  InstallInterruptHandlers();
  int code = kDone;
  for (const std::string& job : jobs) code = std::max(code, ExitCodeOf(Check(work, job, rounds)));
  return code;
}
