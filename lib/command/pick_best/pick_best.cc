#include "command/pick_best/pick_best.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/file.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/text.h"
#include "command/pick_best/finalists.h"
#include "command/pick_best/network_memory.h"
#include "graph/alternatives.h"
#include "graph/graph.h"
#include "library/network_plan.h"
#include "op/numerics.h"
#include "op/operator.h"
#include "pipeline/best_file.h"
#include "pipeline/settings.h"
#include "pipeline/task_list.h"
#include "plugin/plugin.h"
#include "propose/propose.h"
#include "propose/versions.h"
#include "record/store.h"
#include "task/workload.h"

namespace hone::command {
namespace {

using pipeline::BestEntry;
using pipeline::BestSource;
using pipeline::TaskEntry;

constexpr size_t kMostWarnings = 3;  // of one task's impossible trials

std::string AnchorOf(const std::string& workload) {
  Result<Workload> w = Workload::Parse(workload);
  return w.ok() ? w->AnchorText() : workload;
}

class Picker {
 public:
  explicit Picker(const PickBestOptions& options) : options_(options) {}

  Status Run() {
    HONE_ASSIGN_OR_RETURN(const int winograd, pipeline::ParseWinograd(options_.winograd));
    numerics_ = {winograd, options_.tf32};
    HONE_ASSIGN_OR_RETURN(const pipeline::TaskList list, pipeline::ReadTaskList(options_.tasks));
    pipeline::BestFile best{list.network, list.target, {}};
    HONE_RETURN_IF_ERROR(ReadNetwork(list));
    if (options_.memory > 0) HONE_RETURN_IF_ERROR(Bound(list));
    for (const TaskEntry& task : list.tasks) {
      HONE_ASSIGN_OR_RETURN(best.tasks.emplace_back(), Pick(task, list.target));
    }
    std::set<std::string> built;
    HONE_RETURN_IF_ERROR(ChooseAlternatives(list, &best, &built));
    HONE_RETURN_IF_ERROR(MakeDirs(DirName(options_.out)));
    if (!options_.choice.empty()) {
      HONE_RETURN_IF_ERROR(MakeDirs(DirName(options_.choice)));
      HONE_RETURN_IF_ERROR(
          WriteFileIfChanged(options_.choice, pipeline::ChoiceText(best, built.empty() ? nullptr : &built)).status());
    }
    return WriteFileIfChanged(options_.out, pipeline::BestFileText(best)).status();
  }

 private:
  // Reads the graph of the alternatives.
  Status ReadNetwork(const pipeline::TaskList& list) {
    // Without alternatives, all tasks belong to the network.
    if (options_.graph.empty() || (list.alternatives.empty() && !(options_.memory > 0))) return Status();
    HONE_ASSIGN_OR_RETURN(graph::Graph graph, graph::ReadGraph(options_.graph, plugin::LoadNamed));
    if (graph.name != list.network) {
      return Status::Invalid("{}: is of the network {}, {} of {}", options_.graph, graph.name, options_.tasks,
                             list.network);
    }
    graph_ = std::move(graph);
    return Status();
  }

  bool CanGoWithout(const TaskEntry& task) const { return graph_ && task.optional; }

  // Computes the memory that the constants of each task may take.
  Status Bound(const pipeline::TaskList& list) {
    HONE_ASSIGN_OR_RETURN(target_, Target::Parse(list.target));
    HONE_ASSIGN_OR_RETURN(
        memory_, BoundMemory(*graph_, list, options_.memory, [&](const std::string& id, const Workload& workload) {
          return Costs(id, workload, list.target);
        }));
    TellMemory(list.network);
    return Status();
  }

  void TellMemory(const std::string& network) const {
    const auto bytes = [](int64_t count) { return FormatSi(static_cast<double>(count), "B"); };
    const MemoryLimit& chosen = memory_.chosen;
    if (!chosen.reached) {
      LogWarning("{}: parameters: {} with the smallest kernels that were measured; the limit of {} times {} is {}",
                 network, bytes(memory_.bytes), FormatDouble(options_.memory), bytes(memory_.own), bytes(memory_.most));
      return;
    }
    const std::string changed = fmt::format("; {} of {} tasks have another kernel for it, {} more in all",
                                            chosen.changed, memory_.tasks, FormatSeconds(chosen.seconds));
    LogInfo("{}: parameters: {} of at most {}{}", network, bytes(memory_.bytes), bytes(memory_.most),
            chosen.changed > 0 ? changed : "");
  }

  // The kernels that a task may be built with, regardless of memory.
  Result<std::vector<KernelCost>> Costs(const std::string& id, const Workload& workload, const std::string& target) {
    std::vector<KernelCost> costs;
    if (Exists(DbPath(id))) {
      HONE_ASSIGN_OR_RETURN(const auto store, Open(id, workload.Text(), target));
      HONE_ASSIGN_OR_RETURN(const CorrectTrials found, FindCorrectTrials(*store, [&](const Outcome& outcome) {
                              return !op::Forbidden(workload, target_, numerics_, outcome);
                            }));
      for (const record::Trial& trial : found.trials) {
        const std::optional<int64_t> bytes = BytesOf(
            id, workload, trial.outcome, [&] { return propose::CandidateOf(workload, target_, trial.outcome); });
        if (bytes) costs.push_back({trial.outcome.median, *bytes});
      }
    }
    if (!costs.empty()) {
      timed_.insert(id);
    } else {
      HONE_ASSIGN_OR_RETURN(const Config config, propose::DefaultConfig(workload, target_));
      HONE_ASSIGN_OR_RETURN(const Candidate candidate, propose::Instantiate(workload, target_, config));
      HONE_ASSIGN_OR_RETURN(const int64_t bytes, propose::ConstantBytes(workload, target_, candidate));
      costs.push_back({0, bytes});
    }
    return costs;
  }

  using MakeCandidate = std::function<Result<Candidate>()>;

  // Returns nothing if the task cannot be built from the trial.
  std::optional<int64_t> BytesOf(const std::string& id, const Workload& workload, const Outcome& outcome,
                                 const MakeCandidate& make) {
    const auto [known, added] = bytes_.try_emplace({id, Digest128(outcome.config.Text() + "\n" + outcome.steps)});
    if (!added) return known->second;
    const Result<Candidate> candidate = make();
    if (!candidate.ok()) return std::nullopt;
    const Result<int64_t> bytes = propose::ConstantBytes(workload, target_, *candidate);
    if (bytes.ok()) known->second = *bytes;
    return known->second;
  }

  bool HasMemoryFor(const BestEntry& entry, const Result<Workload>& workload, const Outcome& outcome,
                    const MakeCandidate& make) {
    const auto bound = memory_.bounds.find(entry.id);
    if (bound == memory_.bounds.end()) return true;
    if (!workload.ok()) return false;
    const std::optional<int64_t> bytes = BytesOf(entry.id, *workload, outcome, make);
    return bytes && *bytes <= bound->second;
  }

  // Chooses by the times of the tasks. Sets `built` to the tasks of the resulting network; empty without a graph.
  Status ChooseAlternatives(const pipeline::TaskList& list, pipeline::BestFile* best, std::set<std::string>* built) {
    if (!graph_ || list.alternatives.empty()) return Status();
    HONE_ASSIGN_OR_RETURN(const Target target, Target::Parse(list.target));
    std::vector<pipeline::Alternative> candidates;
    for (size_t i = 0; i < list.alternatives.size(); ++i) {
      if (memory_.left_out.count(i) == 0) candidates.push_back(list.alternatives[i]);
    }
    HONE_ASSIGN_OR_RETURN(const auto alternatives, library::FromFile(candidates));
    const auto seconds = [&](const Workload& workload) -> std::optional<double> {
      const BestEntry* entry = best->Find(TaskId(workload, list.target));
      if (entry == nullptr || entry->source != BestSource::kTuned || !(entry->median > 0)) return std::nullopt;
      return entry->median;
    };
    std::vector<graph::Alternative> taken;
    HONE_ASSIGN_OR_RETURN(const graph::ChosenAlternatives chosen,
                          graph::ChooseAlternatives(*graph_, alternatives, seconds));
    for (const size_t i : chosen.taken) {
      taken.push_back(alternatives[i]);
      best->alternatives.push_back(candidates[i]);
    }
    if (chosen.alone_seconds > 0 && chosen.chosen_seconds > 0) {
      best->partition = {chosen.alone_seconds, chosen.chosen_seconds, static_cast<int64_t>(taken.size()), chosen.exact};
    }
    HONE_ASSIGN_OR_RETURN(const graph::Graph network, graph::WithAlternatives(*graph_, taken));
    *built = library::TaskIds(network, target);
    return Status();
  }

  std::string DbPath(const std::string& id) const { return JoinPath(options_.records, id + ".db"); }

  Result<std::unique_ptr<record::Store>> Open(const std::string& id, const std::string& workload,
                                              const std::string& target) const {
    HONE_ASSIGN_OR_RETURN(std::unique_ptr<record::Store> store, record::Store::OpenForReading(DbPath(id)));
    if (store->meta().workload != workload || store->meta().target != target) {
      return Status::Invalid(
          "{}: its records are of `{}` on `{}`, not of `{}` on `{}`; move the file away and tune again", DbPath(id),
          store->meta().workload, store->meta().target, workload, target);
    }
    return store;
  }

  // An entry for the default: nothing was found, and nothing is required.
  Result<BestEntry> Pick(const TaskEntry& task, const std::string& target) {
    BestEntry entry{{}, task.id, task.workload};
    if (Exists(DbPath(task.id))) {
      HONE_ASSIGN_OR_RETURN(const auto store, Open(task.id, task.workload, target));
      HONE_ASSIGN_OR_RETURN(bool found, Take(*store, BestSource::kTuned, &entry));
      if (!found && CanGoWithout(task)) {
        const bool bound = timed_.count(task.id) > 0;  // the timed kernels are too large
        Log(bound ? LogLevel::kInfo : LogLevel::kWarning,
            fmt::format("{} ({}): no trial was correct and timed{}; alternatives that need it are skipped", task.id,
                        task.workload, bound ? " within the limit on memory" : ""));
        return entry;
      }
      if (!found && options_.or_default) {
        LogWarning(
            "{} ({}): no trial was correct and timed; using the default schedule; `hone-records list {}` shows "
            "what failed",
            task.id, task.workload, DbPath(task.id));
        return entry;
      }
      if (!found) {
        const std::string flags = pipeline::NumericsFlags(numerics_.winograd, numerics_.tf32);
        return Status::NotFound("{}: no trial was correct and timed{}{}; `hone-records list {}` shows what failed",
                                DbPath(task.id), flags.empty() ? "" : " with ", flags, DbPath(task.id));
      }
      return entry;
    }
    if (!options_.allow_missing) {
      return Status::NotFound(
          "{}: no records of task {}; run `ninja clean-stamps` in the work folder, then Ninja again (this measures "
          "only what is missing)",
          DbPath(task.id), task.id);
    }
    if (CanGoWithout(task)) return entry;
    HONE_ASSIGN_OR_RETURN(bool found, TakeSameAnchor(task, target, &entry));
    if (!found) LogWarning("{} ({}): no records; using the default schedule", task.id, task.workload);
    return entry;
  }

  // Takes the best of a store's newest fingerprint within the numerics and the memory of the entry's task. Returns
  // false if there is none.
  Result<bool> Take(const record::Store& store, BestSource source, BestEntry* entry) {
    const Result<Workload> workload = op::ParseChecked(store.meta().workload), own = op::ParseChecked(entry->workload);
    const Result<Target> target = Target::Parse(store.meta().target);
    const auto candidate = [&](const Outcome& outcome) -> Result<Candidate> {
      HONE_RETURN_IF_ERROR(target.status());
      if (source == BestSource::kTuned) {
        return own.ok() ? propose::CandidateOf(*own, *target, outcome) : Candidate::Parse(outcome.steps);
      }
      HONE_RETURN_IF_ERROR(own.status());
      return propose::Instantiate(*own, *target, outcome.config);  // the recorded steps are for another epilogue
    };
    const auto allows = [&](const Outcome& outcome) {
      if (workload.ok() && target.ok() && op::Forbidden(*workload, *target, numerics_, outcome)) return false;
      return HasMemoryFor(*entry, own, outcome, [&] { return candidate(outcome); });
    };
    HONE_ASSIGN_OR_RETURN(FoundFinalists found,
                          FindFinalists(store, std::max(1, options_.finalists), allows, candidate));
    WarnOfImpossible(store.meta().task_id, found.impossible);
    if (found.finalists.empty()) return false;
    if (source != BestSource::kTuned) {
      for (pipeline::Finalist& f : found.finalists) f.artifact_digest.clear();
    }
    entry->source = source;
    entry->from = store.meta().task_id;
    entry->fingerprint = found.fingerprint;
    entry->Choose(found.finalists[0]);
    if (found.marked) {
      LogWarning(
          "{} ({}): trial {} was timed while other programs used the machine, so its time may be too long; "
          "a larger budget measures the fastest again",
          entry->id, entry->workload, entry->trial);
    }
    if (options_.finalists > 0) entry->finalists = std::move(found.finalists);
    return true;
  }

  static void WarnOfImpossible(const std::string& task, const std::vector<std::string>& impossible) {
    for (size_t i = 0; i < impossible.size() && i < kMostWarnings; ++i) {
      LogWarning("{}: {}: that is impossible; the trial is skipped", task, impossible[i]);
    }
    if (impossible.size() <= kMostWarnings) return;
    LogWarning("{}: further trials with impossible times, also skipped: {}", task, impossible.size() - kMostWarnings);
  }

  Result<bool> TakeSameAnchor(const TaskEntry& task, const std::string& target, BestEntry* entry) {
    Result<std::vector<std::string>> names = ListDir(options_.records);
    if (!names.ok()) return false;
    const std::string anchor = AnchorOf(task.workload);
    for (const std::string& name : *names) {
      if (!EndsWith(name, ".db")) continue;
      Result<std::unique_ptr<record::Store>> store = record::Store::OpenForReading(JoinPath(options_.records, name));
      if (!store.ok() || (*store)->meta().target != target || AnchorOf((*store)->meta().workload) != anchor) continue;
      HONE_ASSIGN_OR_RETURN(bool found, Take(**store, BestSource::kAnchor, entry));
      if (!found) continue;
      LogWarning("{} ({}): no records; using those of `{}`", task.id, task.workload, (*store)->meta().workload);
      return true;
    }
    return false;
  }

  const PickBestOptions& options_;
  op::Numerics numerics_;
  std::optional<graph::Graph> graph_;
  // Used with a memory limit.
  Target target_;
  NetworkMemory memory_;
  std::set<std::string> timed_;  // tasks with correct trials, regardless of memory
  std::map<std::pair<std::string, Digest>, std::optional<int64_t>> bytes_;  // by task, configuration and steps
};

}  // namespace

int RunPickBest(const PickBestOptions& options) {
  if (options.memory != 0 && !(options.memory >= 1 && options.memory <= pipeline::kMostMemory)) {
    return ExitCodeOf(Status::Invalid("--memory: must be from 1 to {}, is {}", pipeline::kMostMemory, options.memory));
  }
  if (options.memory != 0 && options.graph.empty()) {
    return ExitCodeOf(Status::Invalid("--memory goes with --graph: the network's own parameters are counted there"));
  }
  return ExitCodeOf(Picker(options).Run());
}

}  // namespace hone::command
