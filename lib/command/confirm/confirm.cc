#include "command/confirm/confirm.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/clock.h"
#include "base/counted.h"
#include "base/cpu.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/text.h"
#include "command/common/load_graph.h"
#include "command/confirm/choose_in_network.h"
#include "command/confirm/trial_networks.h"
#include "compile/compile.h"
#include "graph/alternatives.h"
#include "graph/graph.h"
#include "graph/normalise.h"
#include "library/network_plan.h"
#include "library/runtime/net_runtime.h"
#include "measure/protocol.h"
#include "pipeline/best_file.h"
#include "plugin/plugin.h"
#include "propose/versions.h"
#include "report/report_data.h"
#include "session/machine.h"
#include "target/architecture.h"

namespace hone::command {
namespace {

using pipeline::BestEntry;
using pipeline::BestFile;
using pipeline::Finalist;

struct Question {
  Target target;
  graph::Graph graph;           // canonical, without alternatives
  BestFile best;                // the best alone, with finalists
  std::set<std::string> tasks;  // of the network with and without alternatives
  std::string key;              // QuestionKey
};

// A digest of everything that the answer depends on. It leaves out the figures and their order of the finalists:
// measuring them again does not change the question.
Result<std::string> QuestionKey(const Question& question) {
  HONE_ASSIGN_OR_RETURN(const std::string machine,
                        session::HostFingerprint(compile::CodegenVersion(), measure::kProtocolVersion));
  std::string text = ConfirmAbi() + "\n" + question.target.Text() + "\n" +
                     Digest128(graph::GraphText(question.graph)).Hex() + "\n" + machine + "\n";
  for (const pipeline::Alternative& alternative : question.best.alternatives) {
    for (const pipeline::AlternativeNode& node : alternative.by) text += node.name + " " + node.workload + "\n";
  }
  // Tuned kernels are identified by their steps (below), all others by the versions of templates.
  for (const graph::Node& node : question.graph.nodes) {
    const auto version = propose::TaskSpaceVersion(node.workload, question.target);
    if (version.ok()) text += *version + "\n";
  }
  for (const BestEntry& task : question.best.tasks) {
    if (question.tasks.count(task.id) == 0) continue;
    std::set<std::string> configs;
    for (const Finalist& f : task.finalists) configs.insert(f.config.ValueDigest().Hex() + f.steps_digest);
    text += task.id;
    for (const std::string& config : configs) text += " " + config;
    text += "\n";
  }
  return Digest128(text).Hex();
}

// Returns `question.best` with the answer in the earlier output file; nothing without such a file, or if it answers
// another question.
std::optional<BestFile> EarlierAnswer(const Question& question, const std::string& path) {
  if (!Exists(path)) return std::nullopt;
  const Result<BestFile> earlier = pipeline::ReadBestFile(path);
  if (!earlier.ok() || !earlier->in_network || earlier->in_network->key != question.key) return std::nullopt;
  BestFile best = question.best;
  best.in_network = earlier->in_network;
  best.alternatives = earlier->alternatives;
  best.share = earlier->share;
  for (BestEntry& task : best.tasks) {
    if (question.tasks.count(task.id) == 0) continue;
    const BestEntry* then = earlier->Find(task.id);
    if (then == nullptr) return std::nullopt;
    for (Finalist& f : task.finalists) {
      for (const Finalist& old : then->finalists) {
        if (old.config == f.config) f.in_network = old.in_network;
      }
      if (then->config == f.config) task.Choose(f);
    }
    if (task.config != then->config) return std::nullopt;
  }
  return best;
}

class Confirmer {
 public:
  explicit Confirmer(const ConfirmOptions& options) : options_(options) {}

  Status Run() {
    HONE_RETURN_IF_ERROR(CheckRegular(options_.out).WithContext("--out"));
    HONE_RETURN_IF_ERROR(CheckRegular(options_.choice).WithContext("--choice"));
    HONE_RETURN_IF_ERROR(ReadQuestion());
    best_ = question_.best;
    if (most_ > 1 || !best_.alternatives.empty()) HONE_RETURN_IF_ERROR(Answer());
    HONE_ASSIGN_OR_RETURN(const std::set<std::string> built, Tasks(best_.alternatives));
    for (const std::string* path : {&options_.out, &options_.choice}) {
      HONE_RETURN_IF_ERROR(MakeDirs(DirName(*path)));
    }
    HONE_RETURN_IF_ERROR(WriteFileIfChanged(options_.choice, pipeline::ChoiceText(best_, &built)).status());
    return WriteFileIfChanged(options_.out, pipeline::BestFileText(best_)).status();
  }

 private:
  Status ReadQuestion() {
    graph::Graph& graph = question_.graph;
    HONE_ASSIGN_OR_RETURN(question_.target, ReadTargetFile(options_.target));
    HONE_RETURN_IF_ERROR(CheckRunsHere(question_.target).WithContext(options_.target));
    HONE_ASSIGN_OR_RETURN(graph, graph::ReadGraph(options_.graph, plugin::LoadNamed));
    HONE_RETURN_IF_ERROR(CheckMemory(graph).WithContext(options_.graph));
    HONE_RETURN_IF_ERROR(graph::Normalise(&graph).WithContext(options_.graph));
    HONE_RETURN_IF_ERROR(library::Canonicalise(&graph).WithContext(options_.graph));
    HONE_ASSIGN_OR_RETURN(question_.best, pipeline::ReadBestFile(options_.best));
    HONE_ASSIGN_OR_RETURN(const std::set<std::string> with, Tasks(question_.best.alternatives));
    HONE_ASSIGN_OR_RETURN(question_.tasks, Tasks({}));
    question_.tasks.insert(with.begin(), with.end());
    for (const BestEntry& task : question_.best.tasks) {
      if (with.count(task.id)) most_ = std::max(most_, task.finalists.size());
    }
    HONE_ASSIGN_OR_RETURN(question_.key, QuestionKey(question_));
    return Status();
  }

  // The tasks of the network with these alternatives.
  Result<std::set<std::string>> Tasks(const std::vector<pipeline::Alternative>& taken) const {
    const auto graph = [&]() -> Result<graph::Graph> {
      HONE_ASSIGN_OR_RETURN(const auto alternatives, library::FromFile(taken));
      return graph::WithAlternatives(question_.graph, alternatives);
    }();
    if (!graph.ok()) return graph.status().WithContext(options_.best);
    return library::TaskIds(*graph, question_.target);
  }

  Status Answer() {
    if (auto earlier = EarlierAnswer(question_, options_.out)) {
      best_ = std::move(*earlier);
      return Status();
    }
    const Status confirmed = Confirm();
    if (confirmed.kind() != StatusKind::kCrashed) return confirmed;
    // If a kernel of the best alone crashes, hone-bench reports it.
    LogWarning(confirmed.message() + "; building the best alone, without alternatives");
    best_ = question_.best;
    best_.alternatives.clear();
    return Status();
  }

  Status Confirm() {
    const double start = RealClock()->NowSeconds();
    HONE_ASSIGN_OR_RETURN(const auto parameters, LoadParameterFile(options_.parameter_file, options_.inputs));
    TrialNetworks networks(question_.graph, question_.target, parameters ? &*parameters : nullptr,
                           static_cast<int>(UsableCpus().size()), options_.best);
    HONE_RETURN_IF_ERROR(networks.Open());
    InNetworkTrial trial{question_.graph, &networks, {}};
    trial.compare.seconds = options_.seconds;
    // Times are from the device's clock, and no other process shares the device.
    if (question_.target.kind->has_device()) trial.compare.patience_seconds = 0;
    pipeline::InNetwork in_network{
        .key = question_.key, .host = Hostname(), .recorded = FormatIso8601(RealClock()->WallSeconds())};
    HONE_RETURN_IF_ERROR(ChooseFinalists(trial, most_, &best_, &in_network));
    const int changed = Changed();
    HONE_RETURN_IF_ERROR(ChooseAlternatives(trial, &best_));
    HONE_RETURN_IF_ERROR(ChooseWhole(trial, changed > 0, &best_, &in_network));
    best_.in_network = in_network;
    Tell(changed, RealClock()->NowSeconds() - start);
    return Status();
  }

  int Changed() const {
    int changed = 0;
    for (const BestEntry& task : best_.tasks) {
      changed += !task.finalists.empty() && task.config != task.finalists[0].config;
    }
    return changed;
  }

  void Tell(int changed, double seconds) const {
    const pipeline::InNetwork& in_network = *best_.in_network;
    LogInfo(
        "{}: tasks with another finalist that is faster in the network: {}; {:.3f} ms with them, {:.3f} ms "
        "without: {}; in {}",
        best_.network, changed, in_network.confirmed_seconds * 1e3, in_network.alone_seconds * 1e3,
        in_network.kept ? "taken" : "left as it is", FormatSeconds(seconds));
    if (const size_t places = question_.best.alternatives.size(); places > 0)
      LogInfo("{}: {} of {} kept", best_.network, best_.alternatives.size(),
              Counted(static_cast<int64_t>(places), "alternative"));
    for (const pipeline::ComparedChoice& c : in_network.compared) {
      LogInfo("{}: {} with {}, {} without: {}", best_.network, FormatSeconds(c.with_seconds),
              report::ChoiceText(c.what), FormatSeconds(c.without_seconds),
              report::VerdictText(c.with_seconds, c.without_seconds, c.kept));
    }
  }

  const ConfirmOptions& options_;
  Question question_;
  BestFile best_;    // the answer
  size_t most_ = 0;  // finalists per task
};

}  // namespace

std::string ConfirmAbi() {
  return fmt::format("confirm 5\nlibrary {}\ncodegen {}", HONE_NET_ABI_VERSION, compile::CodegenVersion());
}

int RunConfirm(const ConfirmOptions& options) {
  const Status status = Confirmer(options).Run();
  ShowLiveLine("");
  return ExitCodeOf(status);
}

}  // namespace hone::command
