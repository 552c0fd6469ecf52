// Does the sum of the kernels' times, measured alone as tuning measures them, predict the network's? The times of
// tuning are minutes old when the network is timed, and a shared machine is another one by then: so each kernel that a
// library was built from is measured again, next to runs of the library, in rounds.
//
//   predict_check --work=W [--rounds=5] [--layers] [--cold=48,120] NET.TARGET ..
//
// A line a job: the medians over the rounds of the sum, of the network and of their ratio (0.93 to 1.07 is wanted), and
// the ratio by the times of tuning. Layers without records count as they ran in the network. Nothing else may run.
// --cold: the copies of the weights that runs rotate through, in MB (Protocol::cold_bytes), one line each.
// --layers: behind the line, each kernel's own times alone and in the network, where they differ most first.
#include <fmt/format.h>
#include <stdio.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/statistics.h"
#include "base/text.h"
#include "command/bench/bench.h"
#include "command/bench/library_process.h"
#include "library/loaded_network.h"
#include "measure/child_measurer.h"
#include "pipeline/best_file.h"
#include "pipeline/task_file.h"
#include "session/child_builder.h"
#include "session/machine.h"
#include "session/tune_job.h"
#include "task/outcome.h"

namespace {

using namespace hone;  // NOLINT: a program, not a header

constexpr int kRuns = 15;  // of a kernel, or of the library, a round
constexpr int kCompilers = 2;

// One of the library's kernels, ready to be timed for as long as it lives.
struct Kernel {
  std::string workload;
  double uses = 0, tuned_seconds = 0;
  std::unique_ptr<session::ChildBuilder> builder;                  // owns the built kernel's files
  std::vector<std::unique_ptr<measure::ChildMeasurer>> measurers;  // one of each way to measure
  measure::BuiltKernel built;
  std::vector<std::vector<double>> alone;  // of each way to measure, seconds of one use, one a round
  std::vector<double> in_network;          // the same of all uses together, one each time the library was timed
};

Result<Kernel> Prepare(const std::string& work, const library::LibraryFolder::Kernel& in_library,
                       const pipeline::BestEntry& entry, const std::vector<Protocol>& protocols) {
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
  kernel.alone.resize(protocols.size());
  const std::string reference = fmt::format("{}/records/cpu/{}.reference", work, in_library.task);
  for (const Protocol& protocol : protocols) {
    HONE_ASSIGN_OR_RETURN(measure::TaskSetup setup, session::MeasureSetup(task, reference, protocol));
    kernel.measurers.push_back(std::make_unique<measure::ChildMeasurer>(program, std::move(setup)));
    // What is measured in turns must have been right once.
    HONE_ASSIGN_OR_RETURN(const Outcome outcome, kernel.measurers.back()->Measure(kernel.built, 0));
    if (outcome.state != TrialState::kOk) return Status::Io(in_library.task + ": " + outcome.error_text);
  }
  return kernel;
}

Result<double> SecondsNow(Kernel* kernel, size_t protocol, MachineLock* machine) {
  HONE_RETURN_IF_ERROR(session::TakeMachine(machine, session::Use::kExclusive));
  const auto series = kernel->measurers[protocol]->MeasureInterleaved({kernel->built}, kRuns);
  machine->Unlock();
  HONE_RETURN_IF_ERROR(series.status());
  if ((*series)[0].seconds.empty()) return Status::Io(kernel->workload + ": could not be timed again");
  return Median((*series)[0].seconds);
}

struct Network {
  double seconds = 0, others = 0;  // of a run; of its layers that have no kernel here
};

Result<Network> TimeLibrary(const std::string& dir, std::vector<Kernel>* kernels, MachineLock* machine) {
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
    for (const Kernel& kernel : *kernels) known = known || kernel.workload == reply.described[i].workload;
    if (!known) network.others += reply.layers[i];
  }
  for (Kernel& kernel : *kernels) {
    double sum = 0;
    for (size_t i = 0; i < reply.layers.size(); ++i) {
      if (kernel.workload == reply.described[i].workload) sum += reply.layers[i];
    }
    kernel.in_network.push_back(sum);
  }
  return network;
}

// What the rounds said of one way to measure.
struct Sums {
  std::vector<double> kernels, ratios;  // seconds with the other layers; over the network's
};

void PrintLayers(const std::vector<Kernel>& kernels, size_t protocol) {
  struct Row {
    double alone, in_network;
    const Kernel* kernel;
  };
  std::vector<Row> rows;
  for (const Kernel& kernel : kernels) {
    rows.push_back({kernel.uses * Median(kernel.alone[protocol]), Median(kernel.in_network), &kernel});
  }
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return std::abs(a.alone - a.in_network) > std::abs(b.alone - b.in_network);
  });
  for (const Row& row : rows) {
    fmt::print("  {:8.1f} us alone, {:8.1f} in the network ({:.2f}), {} x {}\n", 1e6 * row.alone, 1e6 * row.in_network,
               row.alone / row.in_network, row.kernel->uses, row.kernel->workload);
  }
}

Status Check(const std::string& work, const std::string& job, int rounds, bool layers,
             const std::vector<Protocol>& protocols) {
  const std::string library = JoinPath(work, "out/" + job);
  HONE_ASSIGN_OR_RETURN(const auto folder, library::CheckedLibrary(library));
  HONE_ASSIGN_OR_RETURN(const auto best, pipeline::ReadBestFile(fmt::format("{}/best/{}.confirmed.json", work, job)));
  HONE_ASSIGN_OR_RETURN(MachineLock machine, session::OpenMachine());
  std::vector<Kernel> kernels;
  double tuned = 0;
  for (const auto& in_library : folder.kernels) {
    const pipeline::BestEntry* entry = best.Find(in_library.task);
    if (entry == nullptr || !entry->config || entry->median <= 0) continue;
    HONE_ASSIGN_OR_RETURN(Kernel kernel, Prepare(work, in_library, *entry, protocols));
    tuned += kernel.uses * kernel.tuned_seconds;
    kernels.push_back(std::move(kernel));
  }
  std::vector<double> networks, others;
  std::vector<Sums> sums(protocols.size());
  for (int round = 0; round < rounds && !Interrupted(); ++round) {
    for (size_t p = 0; p < protocols.size(); ++p) {
      HONE_ASSIGN_OR_RETURN(const Network before, TimeLibrary(library, &kernels, &machine));
      double sum = 0;
      for (Kernel& kernel : kernels) {
        HONE_ASSIGN_OR_RETURN(const double seconds, SecondsNow(&kernel, p, &machine));
        sum += kernel.uses * seconds;
        kernel.alone[p].push_back(seconds);
      }
      HONE_ASSIGN_OR_RETURN(const Network after, TimeLibrary(library, &kernels, &machine));
      networks.push_back((before.seconds + after.seconds) / 2);
      others.push_back((before.others + after.others) / 2);
      sums[p].kernels.push_back(sum + others.back());
      sums[p].ratios.push_back(sums[p].kernels.back() / networks.back());
    }
  }
  if (sums.back().ratios.empty()) return Status::Interrupted("interrupted before the end of the first round");
  for (size_t p = 0; p < protocols.size(); ++p) {
    const auto [least, most] = std::minmax_element(sums[p].ratios.begin(), sums[p].ratios.end());
    fmt::print(
        "{}: {} kernels {:.3f} ms over {:.0f} MB, network {:.3f} ms, ratio {:.3f} ({:.3f} .. {:.3f}); by the times "
        "of tuning {:.3f}\n",
        job, kernels.size(), 1e3 * Median(sums[p].kernels), 1e-6 * protocols[p].cold_bytes, 1e3 * Median(networks),
        Median(sums[p].ratios), *least, *most, (tuned + Median(others)) / Median(networks));
    if (layers) PrintLayers(kernels, p);
  }
  fflush(stdout);
  return Status();
}

}  // namespace

int main(int argc, char** argv) {
  std::string work;
  int rounds = 5;
  bool layers = false;
  std::vector<std::string> jobs;
  std::vector<Protocol> protocols;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--child") return command::RunBenchChild();
    if (word.rfind("--work=", 0) == 0) {
      work = word.substr(7);
    } else if (word.rfind("--rounds=", 0) == 0) {
      rounds = std::atoi(word.c_str() + 9);
    } else if (word == "--layers") {
      layers = true;
    } else if (word.rfind("--cold=", 0) == 0) {
      for (const std::string& megabytes : Split(word.substr(7), ',')) {
        protocols.emplace_back().cold_bytes = 1e6 * std::atof(megabytes.c_str());
      }
    } else {
      jobs.push_back(word);
    }
  }
  if (work.empty() || jobs.empty() || rounds < 1) {
    fmt::print(stderr, "usage: predict_check --work=W [--rounds=5] [--layers] [--cold=48,120] NET.TARGET ..\n");
    return 2;
  }
  if (protocols.empty()) protocols.emplace_back();
  InstallInterruptHandlers();
  int code = kDone;
  for (const std::string& job : jobs) code = std::max(code, ExitCodeOf(Check(work, job, rounds, layers, protocols)));
  return code;
}
