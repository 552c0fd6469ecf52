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
#include "compile/compile.h"
#include "graph/graph_json.h"
#include "library/build.h"
#include "library/compare.h"
#include "library/reference_cache.h"
#include "library/runtime/net_runtime.h"
#include "measure/protocol.h"
#include "op/operator.h"
#include "pipeline/best_file.h"
#include "session/fingerprint.h"
#include "session/machine.h"

namespace hone::command {
namespace {

using library::Compared;
using pipeline::BestEntry;
using pipeline::BestFile;
using pipeline::Finalist;

constexpr double kWorthwhile = 0.99;
// As hone-bench's.
constexpr double kTolerance = 1e-3;
// Of all libraries together: they lie in a temporary folder.
constexpr int64_t kMostBytes = int64_t{3} << 30;

class Confirmer {
 public:
  explicit Confirmer(const ConfirmOptions& options) : options_(options) {}

  Status Run() {
    HONE_ASSIGN_OR_RETURN(target_, ReadTargetFile(options_.target));
    HONE_RETURN_IF_ERROR(CheckBackend(target_));
    HONE_ASSIGN_OR_RETURN(graph_, graph::ReadGraph(options_.graph));
    HONE_RETURN_IF_ERROR(CheckMemory(graph_).WithContext(options_.graph));
    HONE_ASSIGN_OR_RETURN(best_, pipeline::ReadBestFile(options_.best));
    for (const BestEntry& task : best_.tasks) most_ = std::max(most_, task.finalists.size());
    if (most_ > 1 && !TakeEarlier()) HONE_RETURN_IF_ERROR(Confirm());
    for (const std::string* path : {&options_.out, &options_.choice}) {
      HONE_RETURN_IF_ERROR(MakeDirs(DirName(*path)));
    }
    HONE_RETURN_IF_ERROR(WriteFileIfChanged(options_.choice, pipeline::ChoiceText(best_)).status());
    return WriteFileIfChanged(options_.out, pipeline::BestFileText(best_)).status();
  }

 private:
  // Of everything that the answer depends on. Not of the figures alone, nor of the order that they put the finalists
  // in: measuring them again asks nothing new.
  std::string Key() const {
    std::string text = ConfirmAbi() + "\n" + target_.Text() + "\n" + Digest128(graph::GraphText(graph_)).Hex() + "\n" +
                       session::HostFingerprint(compile::CodegenVersion(), measure::kProtocolVersion) + "\n";
    for (const BestEntry& task : best_.tasks) {
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
    for (BestEntry& task : best.tasks) {
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
    if (parameters) parameters_ = &*parameters;
    HONE_ASSIGN_OR_RETURN(MachineLock machine, session::OpenMachine());
    machine_ = &machine;
    HONE_ASSIGN_OR_RETURN(TempDir dir, TempDir::Create());
    dir_ = &dir;

    const BestFile alone = best_;
    HONE_ASSIGN_OR_RETURN(const std::vector<Compared> rounds, TimeFinalists());
    for (BestEntry& task : best_.tasks) Choose(rounds, &task);

    pipeline::InNetwork in_network;
    in_network.key = Key();
    in_network.host = Hostname();
    in_network.recorded = FormatIso8601(RealClock()->WallSeconds());
    in_network.runs = static_cast<int64_t>(rounds[0].runs.size());
    in_network.alone_seconds = in_network.confirmed_seconds = rounds[0].RunSeconds();
    int changed = 0;
    for (size_t i = 0; i < best_.tasks.size(); ++i) changed += best_.tasks[i].config != alone.tasks[i].config;
    if (changed > 0) HONE_RETURN_IF_ERROR(Verify(rounds[0], &in_network));
    if (!in_network.kept) {
      for (BestEntry& task : best_.tasks) {
        if (!task.finalists.empty()) task.Choose(task.finalists[0]);
      }
    }
    best_.in_network = in_network;
    LogInfo(fmt::format(
        "{}: {} of {} tasks have another finalist that is faster in the network; {:.3f} ms with them, "
        "{:.3f} ms without: {}; in {}",
        best_.network, changed, best_.tasks.size(), in_network.confirmed_seconds * 1e3, in_network.alone_seconds * 1e3,
        in_network.kept ? "taken" : "left as it is", FormatSeconds(RealClock()->NowSeconds() - start)));
    return Status();
  }

  Result<library::LibraryFolder> Build(const BestFile& choice, const std::string& name, int64_t* bytes) {
    if (Interrupted()) return Status::Interrupted("interrupted; nothing was written, the same command starts again");
    HONE_RETURN_IF_ERROR(session::TakeMachine(machine_, session::Use::kShared));
    library::BuildInput input;
    input.graph = graph_;
    input.target = target_;
    input.file = parameters_;
    input.best = &choice;
    input.name = "confirm";
    input.threads = options_.jobs > 0 ? options_.jobs : DetectCpu().logical_cores;
    const Result<library::BuiltLibrary> built = library::BuildLibrary(std::move(input));
    if (!built.ok()) return built.status().WithContext(options_.best);
    const std::string folder = dir_->Join(name);
    HONE_RETURN_IF_ERROR(library::WriteLibrary(*built, folder));
    *bytes = built->params_bytes;
    for (const library::NetworkKernel& kernel : built->kernels) tasks_[kernel.workload.Text()] = kernel.task;
    machine_->Unlock();
    return library::ReadLibraryFolder(folder);
  }

  // The network with the first, second, .. finalists; a task that has fewer stays with its first.
  Result<std::vector<Compared>> TimeFinalists() {
    size_t count = most_;
    for (size_t k = 0; k < count; ++k) {
      ShowLiveLine(fmt::format("{}: building with finalist {} of {}", best_.network, k + 1, count));
      BestFile choice = best_;
      for (BestEntry& task : choice.tasks) {
        if (!task.finalists.empty()) task.Choose(task.finalists[k < task.finalists.size() ? k : 0]);
      }
      int64_t bytes = 0;
      HONE_ASSIGN_OR_RETURN(library::LibraryFolder folder, Build(choice, fmt::format("finalist{}", k), &bytes));
      folders_.push_back(std::move(folder));
      if (k == 0) count = std::clamp<size_t>(static_cast<size_t>(kMostBytes / std::max<int64_t>(bytes, 1)), 2, most_);
    }
    ShowLiveLine(fmt::format("{}: timing {} finalists in the network", best_.network, count));
    library::CompareOptions compare;
    compare.layers = true;
    compare.seconds = options_.seconds;
    HONE_RETURN_IF_ERROR(session::TakeMachine(machine_, session::Use::kExclusive));
    auto compared = library::CompareLibraries(folders_, compare);
    machine_->Unlock();
    return compared;
  }

  void Choose(const std::vector<Compared>& rounds, BestEntry* task) const {
    const Finalist* chosen = nullptr;
    for (size_t k = 0; k < std::min(task->finalists.size(), rounds.size()); ++k) {
      const Compared& with = rounds[k];
      Finalist* finalist = &task->finalists[k];
      finalist->in_network = 0;
      for (size_t layer = 0; layer < with.workloads.size(); ++layer) {
        auto of = tasks_.find(with.workloads[layer]);
        if (of != tasks_.end() && of->second == task->id) finalist->in_network += with.LayerSeconds(layer);
      }
      if (chosen == nullptr || finalist->in_network < chosen->in_network) chosen = finalist;
    }
    if (chosen == nullptr || !(chosen->in_network < kWorthwhile * task->finalists[0].in_network)) return;
    task->Choose(*chosen);
  }

  // The chosen combination against what is best alone, in whole runs: layers that are fast beside the neighbours that
  // they were timed with may be slower beside others.
  Status Verify(const Compared& first, pipeline::InNetwork* in_network) {
    int64_t bytes = 0;
    HONE_ASSIGN_OR_RETURN(const library::LibraryFolder folder, Build(best_, "confirmed", &bytes));
    ShowLiveLine(fmt::format("{}: timing the combination", best_.network));
    library::CompareOptions compare;
    compare.seconds = options_.seconds;
    HONE_RETURN_IF_ERROR(session::TakeMachine(machine_, session::Use::kExclusive));
    const auto compared = library::CompareLibraries({folders_[0], folder}, compare);
    machine_->Unlock();
    if (!compared.ok()) return compared.status();
    const std::vector<Compared>& both = *compared;
    for (size_t i = 0; i < first.outputs.size(); ++i) {
      const std::vector<double> expected(first.outputs[i].begin(), first.outputs[i].end());
      const double error = library::RelativeError(both[1].outputs[i], expected);
      if (error <= kTolerance) continue;
      return Status::Corrupt(fmt::format(
          "{}: with other finalists the network's output {} differs by {:.2g} standard deviations (tolerance {:g}); a "
          "kernel is wrong: hone-bench says of a library whether it has one",
          options_.best, i, error, kTolerance));
    }
    in_network->runs = static_cast<int64_t>(both[0].runs.size());
    in_network->alone_seconds = both[0].RunSeconds();
    in_network->confirmed_seconds = both[1].RunSeconds();
    in_network->kept = in_network->confirmed_seconds < in_network->alone_seconds;
    return Status();
  }

  const ConfirmOptions& options_;
  Target target_;
  graph::Graph graph_;
  BestFile best_;
  size_t most_ = 0;  // finalists of a task
  const graph::ParameterValues* parameters_ = nullptr;
  MachineLock* machine_ = nullptr;
  TempDir* dir_ = nullptr;
  std::vector<library::LibraryFolder> folders_;
  std::map<std::string, std::string> tasks_;  // of a layer's workload
};

}  // namespace

std::string ConfirmAbi() {
  return fmt::format("confirm 1\nlibrary {}\ncodegen {}\nspace {}", HONE_NET_ABI_VERSION, compile::CodegenVersion(),
                     op::SpaceVersionText());
}

int RunConfirm(const ConfirmOptions& options) {
  const Status status = Confirmer(options).Run();
  ShowLiveLine("");
  return ExitCodeOf(status);
}

}  // namespace hone::command
