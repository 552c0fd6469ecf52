#include "library/compare.h"

#include "base/clock.h"
#include "base/fields.h"
#include "base/interrupt.h"
#include "graph/graph.h"
#include "library/network_runner.h"
#include "library/quiet_runs.h"
#include "library/reference.h"
#include "library/tensor_fields.h"
#include "plugin/plugin.h"

namespace hone::library {
namespace {

struct Subject {
  RunningNetwork running;
  Compared compared;
};

Status Turn(const CompareOptions& options, QuietRuns* runs, Subject* subject) {
  const size_t layers = subject->compared.workloads.size();
  std::vector<double> seconds(layers);
  const auto run = [&]() -> Status {
    if (Interrupted()) return Status::Interrupted("interrupted; nothing was written, the same command starts again");
    return options.layers ? subject->running.runner->Profile(seconds.data()) : subject->running.runner->Run();
  };
  for (int64_t i = 0; i < options.warm; ++i) HONE_RETURN_IF_ERROR(run());
  for (int64_t i = 0; i < options.timed; ++i) {
    HONE_ASSIGN_OR_RETURN(subject->compared.runs.emplace_back(), runs->Time(run));
    if (!options.layers) continue;
    for (size_t layer = 0; layer < layers; ++layer) subject->compared.layers[layer].push_back(seconds[layer]);
  }
  return Status();
}

}  // namespace

Result<std::vector<Compared>> CompareLibraries(const std::vector<LibraryFolder>& folders,
                                               const CompareOptions& options) {
  if (folders.empty()) return std::vector<Compared>();
  HONE_ASSIGN_OR_RETURN(const graph::Graph graph, graph::ReadGraph(folders[0].GraphPath(), plugin::LoadNamed));
  const auto inputs = BenchInputs(graph, options.seed);
  const ThreadCores cores;
  std::vector<Subject> subjects(folders.size());
  for (size_t i = 0; i < folders.size(); ++i) {
    cores.Restore();
    Subject& subject = subjects[i];
    HONE_ASSIGN_OR_RETURN(subject.running, RunningNetwork::Start(folders[i], inputs));
    const HoneNetInfo& info = subject.running.net->info();
    for (int layer = 0; layer < info.layer_count; ++layer) {
      subject.compared.names.push_back(info.layers[layer].name);
      subject.compared.workloads.push_back(info.layers[layer].workload);
    }
    subject.compared.layers.resize(subject.compared.workloads.size());
    subject.compared.outputs = subject.running.runner->Outputs();
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

static void ListFields(Fields* f, CompareRequest* request) {
  CompareOptions& o = request->options;
  HONE_VALUES(f, request->dirs, o.seed, o.layers, o.warm, o.timed, o.min_rounds, o.max_rounds, o.seconds,
              o.patience_seconds);
}

static void ListFields(Fields* f, Compared* c) {
  f->Value("names", &c->names);
  f->Value("workloads", &c->workloads)
      .Check(c->workloads.size() == c->names.size(), "the layers do not fit each other");
  f->Value("layers", &c->layers).Check(c->layers.size() == c->names.size(), "the layers do not fit each other");
  HONE_VALUES(f, c->runs, c->outputs);
}

std::string CompareRequestText(const CompareRequest& request) { return FieldsText(request, -1); }

Result<CompareRequest> ParseCompareRequest(std::string_view text) {
  return ParseFields<CompareRequest>(text, "request");
}

std::string CompareReplyText(const std::vector<Compared>& compared) {
  Json list = Json::array();
  for (const Compared& c : compared) list.push_back(FieldsJson(c));
  return DumpJson(list, -1);
}

Result<std::vector<Compared>> ParseCompareReply(std::string_view text) {
  HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(text, "reply"));
  std::vector<Compared> compared;
  if (!json.is_array()) return Status::Invalid("reply: expected a list");
  for (const Json& item : json) {
    HONE_ASSIGN_OR_RETURN(compared.emplace_back(), FieldsFrom<Compared>(item, "reply"));
  }
  return compared;
}

}  // namespace hone::library
