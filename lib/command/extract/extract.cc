#include "command/extract/extract.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include "base/file.h"
#include "base/hash.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/text.h"
#include "command/common/load_graph.h"
#include "command/common/tool.h"
#include "graph/alternatives.h"
#include "graph/graph.h"
#include "graph/normalise.h"
#include "library/network_plan.h"
#include "onnx/import.h"
#include "op/operator.h"
#include "pipeline/pipeline_file.h"
#include "pipeline/task_list.h"
#include "plugin/plugin.h"
#include "propose/propose.h"
#include "propose/versions.h"
#include "quantise/network.h"
#include "semantics/semantics.h"

namespace hone::command {
namespace {

class TaskLister {
 public:
  TaskLister(const graph::Graph& graph, const Target& target, const std::string& target_name,
             const propose::OwnSketches& sketches)
      : graph_(graph),
        target_(target),
        sketches_(sketches),
        list_{graph.name, target.Text(), target_name, {}, {}, {}} {}

  Result<pipeline::TaskList> Run(bool with_alternatives) {
    for (const graph::Node& node : graph_.nodes) {
      HONE_RETURN_IF_ERROR(op::FindOperator(node.workload).status());
      if (node.workload.chain()) HONE_RETURN_IF_ERROR(propose::AllProposers(node.workload, target_).status());
      if (IsTask(node.workload)) Add(node.workload);
    }
    if (!with_alternatives) return std::move(list_);
    const size_t tuned = list_.tasks.size();
    std::map<std::string, Result<Workload>> seen;  // equal layers have equal groups
    std::vector<graph::Alternative> alternatives = graph::FindAlternatives(graph_, [&](const std::string& text) {
      const auto found = seen.find(text);
      return found != seen.end() ? found->second : seen.emplace(text, Legal(text)).first->second;
    });
    // Kernels that alternatives are compared with must be measured, even those with one schedule.
    for (const graph::Node* node : graph::NodesToTime(graph_, alternatives)) {
      HONE_RETURN_IF_ERROR(op::FindOperator(node->workload).status());
      if (!IsTask(node->workload)) Add(node->workload);
    }
    const size_t known = list_.tasks.size();
    std::set<std::string> transforms;  // each is created once
    for (const graph::Alternative& alternative : alternatives) {
      for (const graph::Node& node : alternative.by) {
        auto found = index_.find(TaskId(node.workload, list_.target));
        if (found != index_.end() && found->second < known) continue;
        if (graph::IsTransform(node.workload) && !transforms.insert(node.name).second) continue;
        Add(node.workload);
      }
      list_.alternatives.push_back(library::ToFile(alternative));
    }
    for (size_t i = tuned; i < list_.tasks.size(); ++i) list_.tasks[i].optional = true;
    if (!alternatives.empty()) {
      LogDebug("{}: {} tasks, and {} more to choose among {} alternatives", graph_.name, tuned,
               list_.tasks.size() - tuned, alternatives.size());
    }
    return std::move(list_);
  }

 private:
  bool IsTask(const Workload& workload) const {
    return propose::Tunable(workload, target_) || std::ranges::any_of(sketches_, [&](const sketch::Sketch& own) {
             return !propose::FindMisfit(own, workload, target_);
           });
  }

  // REQUIRES: its operator is known.
  void Add(const Workload& workload) {
    const std::string id = TaskId(workload, list_.target);
    auto [found, added] = index_.emplace(id, list_.tasks.size());
    if (added) {
      list_.tasks.push_back({id, workload.Text(), 1, std::llround(semantics::Flop(workload))});
    } else {
      ++list_.tasks[found->second].weight;
    }
  }

  // The canonical form of a workload that an alternative may contain.
  Result<Workload> Legal(const std::string& text) const {
    HONE_ASSIGN_OR_RETURN(Workload workload, op::ParseChecked(text));
    HONE_RETURN_IF_ERROR(propose::AllProposers(workload, target_).status());
    // Without blocks of channels, there is only one layout.
    if (target_.ChannelBlock() == 1 && !workload.chain()) return Status::Unsupported("another layout");
    return workload;
  }

  const graph::Graph& graph_;
  const Target& target_;
  const propose::OwnSketches& sketches_;
  pipeline::TaskList list_;
  std::map<std::string, size_t> index_;  // index of a task, by id
};

Status Write(const std::string& path, const std::string& bytes) { return WriteFileIfChanged(path, bytes).status(); }

// Checks before tuning that the values for building are available.
Status CheckParameterFile(const graph::Graph& graph, const std::optional<graph::ParameterValues>& file) {
  for (const graph::Parameter& p : graph.parameters) {
    if (p.init.kind != graph::InitKind::kFile) continue;
    if (!file) {
      LogWarning(
          "{}: `{}` and perhaps more parameters are in a file: building will need --parameter-file "
          "(`parameters` in a pipeline)",
          graph.name, p.name);
      return Status();
    }
    auto found = file->find(p.name);
    if (found == file->end()) return Status::NotFound("the parameter file has no values for `" + p.name + "`");
    if (found->second.type.type != p.type.type || found->second.Elements() != p.type.Elements()) {
      return Status::Invalid("the parameter file has {} for `{}`, but it is {}", found->second.type.Text(), p.name,
                             p.type.Text());
    }
  }
  return Status();
}

Result<propose::OwnSketches> ReadSketches(const std::vector<std::string>& files) {
  propose::OwnSketches sketches;
  for (const std::string& file : files) {
    HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
    HONE_ASSIGN_OR_RETURN(sketches.emplace_back(), sketch::ParseSketch(text, file));
  }
  return sketches;
}

// Returns kInvalid for a sketch that fits no kernel, or that has the name of another proposer of one it fits.
Status CheckSketches(const propose::OwnSketches& sketches, const graph::Graph& graph, const pipeline::TaskList& list,
                     const Target& target) {
  std::map<std::string, Workload> workloads;
  for (const graph::Node& node : graph.nodes) workloads.emplace(node.workload.Text(), node.workload);
  for (const pipeline::TaskEntry& task : list.tasks) workloads.emplace(task.workload, *Workload::Parse(task.workload));
  for (const sketch::Sketch& own : sketches) {
    std::optional<propose::Misfit> nearest;
    bool fits = false;
    for (const auto& [text, workload] : workloads) {
      HONE_RETURN_IF_ERROR(propose::AllProposers(workload, target, {own}).status());
      const auto misfit = propose::FindMisfit(own, workload, target);
      fits = fits || !misfit;
      if (misfit && (!nearest || nearest->applied < misfit->applied)) {
        nearest = {misfit->applied, fmt::format("{} (in {})", misfit->why, text)};
      }
    }
    if (fits) continue;
    return Status::Invalid("{}; sketch `{}` fits no task of {}", nearest ? nearest->why : own.place, own.name,
                           list.network);
  }
  return Status();
}

// The plugin that a task file names; empty if the task needs none.
Result<std::string> PluginOf(const Workload& workload, const Target& target) {
  if (plugin::LoadedFiles().empty()) return std::string();
  const std::set<std::string> files = propose::PluginsOf(workload, target);
  if (files.size() <= 1) return files.empty() ? "" : *files.begin();
  return Status::Unsupported("{}: its operator and a rule are in two plugins, {} and {}; build them into one",
                             workload.Text(), *files.begin(), *std::next(files.begin()));
}

// A plugin's rule that is wrong for some layers does not stop the others.
void WarnOfRules(const pipeline::TaskList& list, const graph::Graph& graph, const Target& target) {
  if (plugin::LoadedFiles().empty()) return;
  std::set<std::string> texts, told;
  for (const graph::Node& node : graph.nodes) texts.insert(node.workload.Text());
  for (const pipeline::TaskEntry& task : list.tasks) texts.insert(task.workload);
  for (const std::string& text : texts) {
    for (const Status& failure : propose::RuleFailures(*Workload::Parse(text), target)) {
      if (told.insert(failure.message()).second) {
        LogWarning("{}: {}; the task is tuned without this rule", text, failure.message());
      }
    }
  }
}

// Turns a network as read into one whose workloads can be built. --check uses it as well.
Status Prepare(graph::Graph* graph, std::optional<Layout> layout) {
  HONE_RETURN_IF_ERROR(graph::Normalise(graph, layout));
  return library::Canonicalise(graph);
}

// Adds the file's name to errors of its graph.
Status In(const ExtractOptions& options, const Status& status) {
  return pipeline::IsNetworkFile(options.network) ? status.WithContext(options.network) : status;
}

std::string TargetName(const ExtractOptions& options) {
  const std::string name = BaseName(options.target);
  return name.substr(0, name.find('.'));
}

// The values of the graph of integers depend on calibration inputs: they come later.
Status Quantise(const ExtractOptions& options, const Target& target, Network* network) {
  if (target.kind->has_device()) return Status::Unsupported("integers run on CPUs only; leave out [quantise]");
  if (!options.parameters.empty()) return Status::Invalid("--parameters: hone-quantise writes those of integers");
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(options.quantise));
  HONE_ASSIGN_OR_RETURN(const quantise::Settings settings, quantise::ParseSettings(text, options.quantise));
  HONE_RETURN_IF_ERROR(In(options, CheckMemory(network->graph)));  // it makes parameters of zeros
  const auto graph = quantise::IntegerGraph(std::move(network->graph), settings);
  HONE_RETURN_IF_ERROR(In(options, graph.status()));
  network->graph = *graph;
  return Status();
}

Status Extract(const ExtractOptions& options) {
  HONE_ASSIGN_OR_RETURN(const Target target, ReadTargetFile(options.target));
  for (const std::string& file : options.plugins) HONE_RETURN_IF_ERROR(plugin::Load(file));
  HONE_ASSIGN_OR_RETURN(const propose::OwnSketches sketches, ReadSketches(options.sketches));
  HONE_ASSIGN_OR_RETURN(Network network,
                        LoadNetwork({options.network, options.inputs, options.parameter_file, options.batch}));
  graph::Graph& graph = network.graph;
  if (!options.quantise.empty()) HONE_RETURN_IF_ERROR(Quantise(options, target, &network));
  const std::optional<graph::ParameterValues>& file = network.values;
  std::optional<Layout> layout;
  if (!options.layout.empty()) {
    HONE_ASSIGN_OR_RETURN(layout, LayoutNamed(options.layout));
  }
  HONE_RETURN_IF_ERROR(In(options, Prepare(&graph, layout)));
  HONE_ASSIGN_OR_RETURN(pipeline::TaskList list,
                        TaskLister(graph, target, TargetName(options), sketches).Run(!options.alone));
  HONE_RETURN_IF_ERROR(CheckSketches(sketches, graph, list, target));
  WarnOfRules(list, graph, target);
  list.reads = network.reads;
  std::string parameters;
  if (options.quantise.empty()) HONE_RETURN_IF_ERROR(CheckParameterFile(graph, file));
  if (!options.parameters.empty()) {
    HONE_RETURN_IF_ERROR(In(options, CheckMemory(graph)));
    HONE_ASSIGN_OR_RETURN(const auto values, graph::MakeParameters(graph, file ? &*file : nullptr));
    parameters = graph::ParameterFileBytes(graph, values);
  }
  HONE_RETURN_IF_ERROR(StoppedBeforeWriting());
  // Create all folders first: if one fails, nothing is written.
  HONE_RETURN_IF_ERROR(MakeDirs(options.task_dir));
  for (const std::string& file : {options.parameters, options.graph, options.tasks}) {
    if (!file.empty()) HONE_RETURN_IF_ERROR(MakeDirs(DirName(file)));
  }
  for (const pipeline::TaskEntry& task : list.tasks) {
    HONE_ASSIGN_OR_RETURN(const Workload workload, Workload::Parse(task.workload));
    HONE_ASSIGN_OR_RETURN(const std::string plugin, PluginOf(workload, target));
    HONE_ASSIGN_OR_RETURN(const std::string space, propose::TaskSpaceVersion(workload, target));
    const auto loaded = std::ranges::find(graph.plugins, plugin, &graph::GraphPlugin::file);
    const std::string digest = loaded == graph.plugins.end() ? "" : loaded->digest;
    HONE_RETURN_IF_ERROR(Write(JoinPath(options.task_dir, task.id + ".task.json"),
                               pipeline::TaskFileText({task.id, workload, target, task.flop, plugin,
                                                       digest, space})));
  }
  if (!options.parameters.empty()) HONE_RETURN_IF_ERROR(Write(options.parameters, parameters));
  HONE_RETURN_IF_ERROR(Write(options.graph, graph::GraphText(graph)));
  return Write(options.tasks, pipeline::TaskListText(list));
}

Status NoteFailure(const ExtractOptions& options, const Status& failure) {
  pipeline::TaskList list{.network = options.network, .target_name = TargetName(options), .failure = failure.message()};
  HONE_RETURN_IF_ERROR(MakeDirs(DirName(options.tasks)));
  return Write(options.tasks, pipeline::TaskListText(list));
}

}  // namespace

// Names of tasks depend only on canonical texts; this version stands for the passes and for what is tunable. Versions
// of templates are in the task files: raising one changes the files of its own tasks only.
std::string ExtractAbi() { return "extract 8\nspace " + propose::SpaceVersionText(); }

int RunExtract(const ExtractOptions& options) {
  const Status done = Extract(options);
  if (options.keep_going && IsNetworkFault(done)) return ExitCodeOf(NoteFailure(options, done));
  return ExitCodeOf(done);
}

int RunExtractFailed(const ExtractOptions& options) {
  const auto list = pipeline::ReadTaskList(options.failed);
  if (!list.ok()) return ExitCodeOf(list.status());
  return ExitCodeOf(list->failure.empty() ? Status() : Status::Invalid(list->failure));
}

int RunExtractCheck(const ExtractOptions& options) {
  const auto shapes = onnx::ParseInputShapes(options.inputs);
  if (!shapes.ok()) return ExitCodeOf(shapes.status());
  const auto report =
      onnx::CheckOnnx(options.check, *shapes, [](graph::Graph* graph) { return Prepare(graph, std::nullopt); });
  if (!report.ok()) {
    LogError(report.status().message());
    return kMisused;  // also for a missing file: 1 is a verdict on a model
  }
  const Status written = WriteOut(report->text);
  return !written.ok() ? ExitCodeOf(written) : report->usable ? kDone : kFailed;
}

}  // namespace hone::command
