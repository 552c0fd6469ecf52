#include "library/compare.h"

#include <memory>

#include "base/clock.h"
#include "base/interrupt.h"
#include "graph/graph_json.h"
#include "library/network_runner.h"
#include "library/quiet_runs.h"
#include "library/reference_cache.h"
#include "library/thread_cores.h"

namespace hone::library {
namespace {

struct Subject {
  std::unique_ptr<LoadedNetwork> net;
  std::unique_ptr<NetworkRunner> runner;
  Compared compared;
};

Status Turn(const CompareOptions& options, QuietRuns* runs, Subject* subject) {
  const size_t layers = subject->compared.workloads.size();
  std::vector<double> seconds(layers);
  const auto run = [&]() -> Status {
    if (Interrupted()) return Status::Interrupted("interrupted; nothing was written, the same command starts again");
    return options.layers ? subject->runner->Profile(seconds.data()) : subject->runner->Run();
  };
  for (int64_t i = 0; i < options.warm; ++i) HONE_RETURN_IF_ERROR(run());
  for (int64_t i = 0; i < options.timed; ++i) {
    HONE_ASSIGN_OR_RETURN(const double taken, runs->Time(run));
    subject->compared.runs.push_back(taken);
    if (!options.layers) continue;
    for (size_t layer = 0; layer < layers; ++layer) subject->compared.layers[layer].push_back(seconds[layer]);
  }
  return Status();
}

}  // namespace

Result<std::vector<Compared>> CompareLibraries(const std::vector<LibraryFolder>& folders,
                                               const CompareOptions& options) {
  if (folders.empty()) return std::vector<Compared>();
  HONE_ASSIGN_OR_RETURN(const graph::Graph graph, graph::ReadGraph(folders[0].GraphPath()));
  const auto inputs = BenchInputs(graph, options.seed);
  const ThreadCores cores;
  std::vector<Subject> subjects(folders.size());
  for (size_t i = 0; i < folders.size(); ++i) {
    cores.Restore();
    Subject& subject = subjects[i];
    HONE_ASSIGN_OR_RETURN(LoadedNetwork net, LoadedNetwork::Load(folders[i].LibraryPath(), folders[i].identifier));
    subject.net = std::make_unique<LoadedNetwork>(std::move(net));
    subject.runner = std::make_unique<NetworkRunner>(*subject.net);
    HONE_RETURN_IF_ERROR(subject.runner->Create(folders[i].ParamsPath(), inputs));
    const HoneNetInfo& info = subject.net->info();
    for (int layer = 0; layer < info.layer_count; ++layer) {
      subject.compared.names.push_back(info.layers[layer].name);
      subject.compared.workloads.push_back(info.layers[layer].workload);
    }
    subject.compared.layers.resize(subject.compared.workloads.size());
    HONE_RETURN_IF_ERROR(subject.runner->Run());
    subject.compared.outputs = subject.runner->Outputs();
  }
  QuietRuns runs(options.patience_seconds);
  const double start = RealClock()->NowSeconds();
  for (int64_t round = 0; round < options.max_rounds; ++round) {
    const double spent = RealClock()->NowSeconds() - start - runs.wasted_seconds();
    if (round >= options.min_rounds && spent > options.seconds) break;
    for (size_t i = 0; i < subjects.size(); ++i) {
      HONE_RETURN_IF_ERROR(Turn(options, &runs, &subjects[round % 2 == 0 ? i : subjects.size() - 1 - i]));
    }
  }
  std::vector<Compared> out;
  for (Subject& subject : subjects) out.push_back(std::move(subject.compared));
  return out;
}

}  // namespace hone::library
