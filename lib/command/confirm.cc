#include "command/confirm.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/text.h"
#include "command/load_graph.h"
#include "command/trial_networks.h"
#include "compile/compile.h"
#include "graph/alternatives.h"
#include "graph/graph_json.h"
#include "graph/normalise.h"
#include "library/alternatives.h"
#include "library/compare.h"
#include "library/network_plan.h"
#include "library/runtime/net_runtime.h"
#include "measure/protocol.h"
#include "op/operator.h"
#include "op/space_version.h"
#include "pipeline/best_file.h"
#include "session/fingerprint.h"

namespace hone::command {
namespace {

using library::Compared;
using pipeline::BestEntry;
using pipeline::BestFile;
using pipeline::Finalist;

constexpr double kWorthwhile = 0.99;
// Of all libraries together: they lie in a temporary folder.
constexpr int64_t kMostBytes = int64_t{3} << 30;

// The choice in all variants that are compared.
struct Variant {
  std::string what;  // as ComparedChoice::what; "finalists" for what is best alone
  BestFile choice;
};

class Confirmer {
 public:
  explicit Confirmer(const ConfirmOptions& options) : options_(options) {}

  Status Run() {
    HONE_ASSIGN_OR_RETURN(target_, ReadTargetFile(options_.target));
    HONE_RETURN_IF_ERROR(CheckBackend(target_));
    HONE_ASSIGN_OR_RETURN(graph_, graph::ReadGraph(options_.graph));
    HONE_RETURN_IF_ERROR(CheckMemory(graph_).WithContext(options_.graph));
    HONE_RETURN_IF_ERROR(graph::Normalise(&graph_).WithContext(options_.graph));
    HONE_RETURN_IF_ERROR(library::Canonicalise(&graph_).WithContext(options_.graph));
    HONE_ASSIGN_OR_RETURN(best_, pipeline::ReadBestFile(options_.best));
    HONE_ASSIGN_OR_RETURN(const std::set<std::string> with, Tasks(best_.alternatives));
    HONE_ASSIGN_OR_RETURN(asked_, Tasks({}));
    asked_.insert(with.begin(), with.end());
    for (const BestEntry& task : best_.tasks) {
      if (with.count(task.id)) most_ = std::max(most_, task.finalists.size());
    }
    if ((most_ > 1 || !best_.alternatives.empty()) && !TakeEarlier()) {
      const BestFile asked = best_;
      const Status confirmed = Confirm();
      if (confirmed.kind() == StatusKind::kCrashed) {
        // What is best alone has run in the network of hone-bench at the latest; one that dies there is found there.
        LogWarning(confirmed.message() + "; what is best alone is built, without alternatives");
        best_ = asked;
        best_.alternatives.clear();
      } else {
        HONE_RETURN_IF_ERROR(confirmed);
      }
    }
    HONE_ASSIGN_OR_RETURN(const std::set<std::string> built, Tasks(best_.alternatives));
    for (const std::string* path : {&options_.out, &options_.choice}) {
      HONE_RETURN_IF_ERROR(MakeDirs(DirName(*path)));
    }
    HONE_RETURN_IF_ERROR(WriteFileIfChanged(options_.choice, pipeline::ChoiceText(best_, &built)).status());
    return WriteFileIfChanged(options_.out, pipeline::BestFileText(best_)).status();
  }

 private:
  // Those that the network is made of with these alternatives.
  Result<std::set<std::string>> Tasks(const std::vector<pipeline::Alternative>& taken) const {
    const auto graph = [&]() -> Result<graph::Graph> {
      HONE_ASSIGN_OR_RETURN(const auto alternatives, library::FromFile(taken));
      return graph::WithAlternatives(graph_, alternatives);
    }();
    if (!graph.ok()) return graph.status().WithContext(options_.best);
    return library::TaskIds(*graph, target_);
  }

  // Of everything that the answer depends on. Not of the figures alone, nor of the order that they put the finalists
  // in: measuring them again asks nothing new.
  std::string Key() const {
    std::string text = ConfirmAbi() + "\n" + target_.Text() + "\n" + Digest128(graph::GraphText(graph_)).Hex() + "\n" +
                       session::HostFingerprint(compile::CodegenVersion(), measure::kProtocolVersion) + "\n";
    for (const pipeline::Alternative& alternative : best_.alternatives) {
      for (const pipeline::AlternativeNode& node : alternative.by) text += node.name + " " + node.workload + "\n";
    }
    // What is tuned is said by its steps below; the schedules of all else are those of their templates' versions.
    for (const graph::Node& node : graph_.nodes) {
      const auto version = op::TaskSpaceVersion(node.workload, target_);
      if (version.ok()) text += *version + "\n";
    }
    for (const BestEntry& task : best_.tasks) {
      if (asked_.count(task.id) == 0) continue;
      std::set<std::string> configs;
      for (const Finalist& f : task.finalists) configs.insert(f.config.ValueDigest().Hex() + f.steps_digest);
      text += task.id;
      for (const std::string& config : configs) text += " " + config;
      text += "\n";
    }
    return Digest128(text).Hex();
  }

  // From the file of the last time, if that was about the same.
  bool TakeEarlier() {
    if (!Exists(options_.out)) return false;
    const Result<BestFile> earlier = pipeline::ReadBestFile(options_.out);
    if (!earlier.ok() || !earlier->in_network || earlier->in_network->key != Key()) return false;
    BestFile best = best_;
    best.in_network = earlier->in_network;
    best.alternatives = earlier->alternatives;
    best.share = earlier->share;
    for (BestEntry& task : best.tasks) {
      if (asked_.count(task.id) == 0) continue;
      const BestEntry* then = earlier->Find(task.id);
      if (then == nullptr) return false;
      for (Finalist& f : task.finalists) {
        for (const Finalist& old : then->finalists) {
          if (old.config == f.config) f.in_network = old.in_network;
        }
        if (then->config == f.config) task.Choose(f);
      }
      if (task.config != then->config) return false;
    }
    best_ = std::move(best);
    return true;
  }

  Status Confirm() {
    const double start = RealClock()->NowSeconds();
    HONE_ASSIGN_OR_RETURN(const auto parameters, LoadParameterFile(options_.parameter_file, options_.inputs));
    TrialNetworks networks(graph_, target_, parameters ? &*parameters : nullptr,
                           options_.jobs > 0 ? options_.jobs : DetectCpu().logical_cores, options_.best);
    HONE_RETURN_IF_ERROR(networks.Open());
    networks_ = &networks;
    pipeline::InNetwork in_network;
    in_network.key = Key();
    in_network.host = Hostname();
    in_network.recorded = FormatIso8601(RealClock()->WallSeconds());
    const size_t places = best_.alternatives.size();
    HONE_RETURN_IF_ERROR(ChooseFinalists(&in_network));
    const int changed = Changed();
    HONE_RETURN_IF_ERROR(ChooseGroups());
    HONE_RETURN_IF_ERROR(ChooseWhole(changed > 0, &in_network));
    best_.in_network = in_network;
    LogInfo(fmt::format(
        "{}: {} of {} tasks have another finalist that is faster in the network; {:.3f} ms with them, "
        "{:.3f} ms without: {}; in {}",
        best_.network, changed, asked_.size(), in_network.confirmed_seconds * 1e3, in_network.alone_seconds * 1e3,
        in_network.kept ? "taken" : "left as it is", FormatSeconds(RealClock()->NowSeconds() - start)));
    if (places > 0)
      LogInfo(fmt::format("{}: {} of {} alternatives kept", best_.network, best_.alternatives.size(), places));
    for (const pipeline::ComparedChoice& c : in_network.compared) {
      LogInfo(fmt::format("{}: {:.3f} ms with {}, {:.3f} ms without: {}", best_.network, c.with_seconds * 1e3, c.what,
                          c.without_seconds * 1e3, c.kept ? "kept" : "not built"));
    }
    return Status();
  }

  int Changed() const {
    int changed = 0;
    for (const BestEntry& task : best_.tasks) {
      changed += !task.finalists.empty() && task.config != task.finalists[0].config;
    }
    return changed;
  }

  static BestFile Alone(BestFile choice) {
    for (BestEntry& task : choice.tasks) {
      if (!task.finalists.empty()) task.Choose(task.finalists[0]);
    }
    return choice;
  }

  library::CompareOptions Options(bool layers) const {
    library::CompareOptions compare;
    compare.layers = layers;
    compare.seconds = options_.seconds;
    if (target_.IsGpu()) compare.patience_seconds = 0;  // the clock is the device's, and nobody shares it
    return compare;
  }

  // The network with the first, second, .. finalists; a task that has fewer stays with its first.
  Status ChooseFinalists(pipeline::InNetwork* in_network) {
    std::vector<TrialNetwork> built;
    size_t count = std::max<size_t>(most_, 1);
    for (size_t k = 0; k < count; ++k) {
      ShowLiveLine(fmt::format("{}: building with finalist {} of {}", best_.network, k + 1, count));
      BestFile choice = best_;
      for (BestEntry& task : choice.tasks) {
        if (!task.finalists.empty()) task.Choose(task.finalists[k < task.finalists.size() ? k : 0]);
      }
      HONE_ASSIGN_OR_RETURN(TrialNetwork network, networks_->Build(choice));
      if (k == 0 && count > 1) {
        count =
            std::clamp<size_t>(static_cast<size_t>(kMostBytes / std::max<int64_t>(network.params_bytes, 1)), 2, most_);
      }
      built.push_back(std::move(network));
    }
    ShowLiveLine(fmt::format("{}: timing {} finalists in the network", best_.network, count));
    HONE_ASSIGN_OR_RETURN(const std::vector<Compared> rounds, networks_->Compare(built, Options(true)));
    for (size_t k = 1; k < built.size(); ++k) networks_->Drop(built[k]);  // the first is asked for again
    in_network->runs = static_cast<int64_t>(rounds[0].runs.size());
    in_network->alone_seconds = in_network->confirmed_seconds = rounds[0].RunSeconds();
    for (BestEntry& task : best_.tasks) Choose(rounds, &task);
    return Status();
  }

  void Choose(const std::vector<Compared>& rounds, BestEntry* task) const {
    const Finalist* chosen = nullptr;
    for (size_t k = 0; k < std::min(task->finalists.size(), rounds.size()); ++k) {
      const Compared& with = rounds[k];
      Finalist* finalist = &task->finalists[k];
      finalist->in_network = 0;
      for (size_t layer = 0; layer < with.workloads.size(); ++layer) {
        if (networks_->TaskOf(with.workloads[layer]) == task->id) finalist->in_network += with.LayerSeconds(layer);
      }
      if (finalist->in_network <= 0) return;  // the network as it is built here does not have this task
      if (chosen == nullptr || finalist->in_network < chosen->in_network) chosen = finalist;
    }
    if (chosen == nullptr || !(chosen->in_network < kWorthwhile * task->finalists[0].in_network)) return;
    task->Choose(*chosen);
  }

  // Alternatives of one kernel stand or fall together: the layers of the network with them against those of the network
  // without any.
  Status ChooseGroups() {
    std::map<std::string, std::pair<double, double>> groups;  // with, without; by the kernel's workload
    for (const pipeline::Alternative& a : best_.alternatives) groups[a.by.back().workload] = {0, 0};
    if (groups.size() < 2) return Status();  // whole runs decide
    ShowLiveLine(fmt::format("{}: building without alternatives", best_.network));
    BestFile without = best_;
    without.alternatives.clear();
    HONE_ASSIGN_OR_RETURN(TrialNetwork with_network, networks_->Build(best_));
    HONE_ASSIGN_OR_RETURN(TrialNetwork without_network, networks_->Build(without));
    ShowLiveLine(fmt::format("{}: timing {} alternatives in the network", best_.network, best_.alternatives.size()));
    HONE_ASSIGN_OR_RETURN(const std::vector<Compared> both,
                          networks_->Compare({with_network, without_network}, Options(true)));
    std::map<std::string, double> with_layers, without_layers;
    for (size_t i = 0; i < both[0].names.size(); ++i) with_layers[both[0].names[i]] = both[0].LayerSeconds(i);
    for (size_t i = 0; i < both[1].names.size(); ++i) without_layers[both[1].names[i]] = both[1].LayerSeconds(i);
    for (const pipeline::Alternative& a : best_.alternatives) {
      auto& [seconds, apart] = groups[a.by.back().workload];
      for (const pipeline::AlternativeNode& node : a.by) {
        if (&node == &a.by.back() || !without_layers.count(node.name)) seconds += with_layers[node.name];
      }
      for (const std::string& name : a.replaces) {
        apart += without_layers[name];
        for (const std::string& input : graph_.FindNode(name)->inputs) {
          const graph::Node* before = graph_.FindNode(input);
          if (before == nullptr || !graph::IsTransform(before->workload) || with_layers.count(input)) continue;
          apart += without_layers[input];  // a transform that only the network without them needs
        }
      }
    }
    std::erase_if(best_.alternatives, [&](const pipeline::Alternative& a) {
      const auto& [seconds, apart] = groups[a.by.back().workload];
      return !(seconds < apart);
    });
    return Status();
  }

  // The combination against what differs from it in one respect, in whole runs: layers that are fast beside the
  // neighbours that they were timed with may be slower beside others, and a copy that vanished is no layer.
  Status ChooseWhole(bool changed, pipeline::InNetwork* in_network) {
    ShowLiveLine(fmt::format("{}: building the combination", best_.network));
    HONE_ASSIGN_OR_RETURN(TrialNetwork chosen, networks_->Build(best_));
    std::vector<Variant> variants;
    if (changed) variants.push_back({"finalists", Alone(best_)});
    const auto add = [&](const char* what) {
      variants.push_back({what, best_});
      return &variants.back().choice;
    };
    if (!best_.alternatives.empty()) add("alternatives")->alternatives.clear();
    if (chosen.slices > 0) add("slices")->share.slices = false;
    if (chosen.in_place > 0) add("in_place")->share.in_place = false;
    if (variants.empty()) return Status();
    std::vector<TrialNetwork> built = {chosen};
    for (const Variant& variant : variants) {
      HONE_ASSIGN_OR_RETURN(TrialNetwork network, networks_->Build(variant.choice));
      built.push_back(std::move(network));
    }
    ShowLiveLine(fmt::format("{}: timing the combination", best_.network));
    HONE_ASSIGN_OR_RETURN(const std::vector<Compared> runs, networks_->Compare(built, Options(false)));
    const double with = runs[0].RunSeconds();
    in_network->runs = static_cast<int64_t>(runs[0].runs.size());
    in_network->alone_seconds = in_network->confirmed_seconds = with;
    in_network->kept = changed;
    std::vector<size_t> better;  // variants
    size_t best = 0;
    for (size_t i = 0; i < variants.size(); ++i) {
      const double without = runs[i + 1].RunSeconds();
      const std::string& what = variants[i].what;
      // Sharing memory costs nothing else, so that it has to be in the way by more than the runs scatter.
      if (without < (what == "slices" || what == "in_place" ? kWorthwhile : 1) * with) {
        if (better.empty() || without < runs[best + 1].RunSeconds()) best = i;
        better.push_back(i);
      }
      if (what == "finalists") {
        in_network->alone_seconds = without;
      } else {
        in_network->compared.push_back({what, with, without, static_cast<int64_t>(runs[i + 1].runs.size()), true});
      }
    }
    if (better.empty()) return Status();
    BestFile together = best_;
    for (const size_t i : better) Apply(variants[i], &together);
    if (better.size() > 1) {
      HONE_ASSIGN_OR_RETURN(TrialNetwork network, networks_->Build(together));
      HONE_ASSIGN_OR_RETURN(const std::vector<Compared> last,
                            networks_->Compare({built[best + 1], network}, Options(false)));
      if (!(last[1].RunSeconds() < last[0].RunSeconds())) {
        better = {best};
        together = best_;
        Apply(variants[best], &together);
      }
    }
    for (const size_t i : better) {
      if (variants[i].what == "finalists") in_network->kept = false;
      for (pipeline::ComparedChoice& c : in_network->compared) c.kept = c.kept && c.what != variants[i].what;
    }
    best_ = std::move(together);
    return Status();
  }

  static void Apply(const Variant& variant, BestFile* choice) {
    if (variant.what == "finalists") *choice = Alone(std::move(*choice));
    if (variant.what == "alternatives") choice->alternatives.clear();
    if (variant.what == "slices") choice->share.slices = false;
    if (variant.what == "in_place") choice->share.in_place = false;
  }

  const ConfirmOptions& options_;
  Target target_;
  graph::Graph graph_;
  BestFile best_;
  std::set<std::string> asked_;  // tasks of the network with and without alternatives
  size_t most_ = 0;              // finalists of a task
  TrialNetworks* networks_ = nullptr;
};

}  // namespace

std::string ConfirmAbi() {
  return fmt::format("confirm 4\nlibrary {}\ncodegen {}", HONE_NET_ABI_VERSION, compile::CodegenVersion());
}

int RunConfirm(const ConfirmOptions& options) {
  for (const auto& [flag, value] :
       {std::pair("--graph", &options.graph), std::pair("--target", &options.target),
        std::pair("--best", &options.best), std::pair("--out", &options.out), std::pair("--choice", &options.choice)}) {
    if (!value->empty()) continue;
    LogError(std::string(flag) + " is required");
    return kMisused;
  }
  const Status status = Confirmer(options).Run();
  ShowLiveLine("");
  return ExitCodeOf(status);
}

}  // namespace hone::command
