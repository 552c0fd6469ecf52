#include <fmt/format.h>

#include <utility>

#include "base/hash.h"
#include "base/text.h"
#include "pipeline/manifest_writer.h"
#include "pipeline/plan.h"

namespace hone::pipeline {
namespace {

constexpr const char* kTuneRulePrefix = "tune-";

std::string ShapeText(const std::vector<int64_t>& shape) {
  std::string text;
  for (const int64_t extent : shape) text += fmt::format("{}{}", text.empty() ? "" : ",", extent);
  return text;
}

}  // namespace

void AddParameters(const NetworkJob& job, NinjaBuild* build) {
  if (job.parameters.empty()) return;
  build->implicit_inputs.push_back(job.parameters);
  build->implicit_inputs.insert(build->implicit_inputs.end(), job.reads.begin(), job.reads.end());
  std::string flags = "--parameter-file " + EscapeValue(ShellQuote(job.parameters));
  for (const auto& [input, shape] : job.pipeline->inputs) {
    flags += " --input " + EscapeValue(ShellQuote(fmt::format("{}={}", input, ShapeText(shape))));
  }
  build->bindings.push_back({"parameters", flags});
}

void ManifestWriter::ExtractEdge(const NetworkJob& job) {
  const std::string& net = job.pipeline->name;
  const std::string graph = GraphPath(net);
  const bool first = graphs_.emplace(net, true).second;
  if (first) {
    // Others have their own batch, or no batch.
    const std::string batch = IsNetworkName(job.network) ? fmt::format(", batch {}", job.pipeline->batch) : "";
    Section(fmt::format("{}: {}{}", net, job.network, batch));
  }
  // Changes with what extract reads, so that Ninja reloads this file, and extracts before anything else, when that
  // does.
  writer_.Comment(fmt::format("extract reads {}", Digest128(job.extract_inputs).Hex()));
  // Known by the last extract alone: one that is gone must not be an error, but a reason to extract again.
  for (const std::string& path : job.reads) {
    if (made_.count(path) > 0) continue;
    NinjaBuild file;
    file.outputs = {path};
    file.rule = "phony";
    Build(file);
  }
  NinjaBuild build;
  build.outputs = {TaskListPath(net, job.target->name)};
  build.implicit_outputs = job.task_files;
  build.rule = "extract";
  build.inputs = {SettingsPath(net, "extract")};
  build.implicit_inputs = {TargetPath(job.target->name), AbiPath("hone-extract")};
  if (job.network_is_file) build.implicit_inputs.push_back(job.network);
  // The graph is the same on every target: the first target's edge makes it, the others come after.
  (first ? build.implicit_outputs : build.implicit_inputs).push_back(graph);
  // Never made, so the network is extracted again each time: only hone-extract knows which file it lacked.
  if (job.failed) build.implicit_outputs.push_back(build.outputs[0] + ".extracted");
  build.order_only_inputs = {Tool("hone-extract"), Tool("hone-tune")};  // of all edges behind it
  build.bindings = {{"job", fmt::format("{} for {}", net, job.target->name)},
                    {"network", EscapeValue(ShellQuote(job.network))},
                    {"batch", std::to_string(job.pipeline->batch)},
                    {"target", TargetPath(job.target->name)},
                    {"graph", graph},
                    {"tasks", build.outputs[0]}};
  if (!job.plugin.empty()) {
    // An input: a plugin that was built again may have other operators. The outputs show what it makes of them.
    build.implicit_inputs.push_back(job.plugin);
    build.bindings[1].second += " --plugin " + EscapeValue(ShellQuote(job.plugin));
  }
  AddParameters(job, &build);
  if (!job.pipeline->inputs.empty() && job.parameters.empty()) {
    std::string flags;
    for (const auto& [input, shape] : job.pipeline->inputs) {
      flags += fmt::format("{}--input {}", flags.empty() ? "" : " ",
                           EscapeValue(ShellQuote(fmt::format("{}={}", input, ShapeText(shape)))));
    }
    if (job.parameters.empty()) build.bindings.push_back({"parameters", ""});
    std::string& value = build.bindings.back().second;
    value += (value.empty() ? "" : " ") + flags;
  }
  if (!job.pipeline->alternatives) build.bindings.push_back({"alone", "--alone"});
  Build(build);
}

void ManifestWriter::DeviceEdges() {
  bool first = true;
  for (const TargetFile* target : input_.targets) {
    if (!target->device) continue;
    if (first) Section("GPUs: looked for once, so that a device that is missing is told once and before all else");
    first = false;
    NinjaBuild build;
    build.outputs = {DevicePath(target->name)};
    build.rule = "find_device";
    build.inputs = {TargetPath(target->name)};
    build.order_only_inputs = {Tool("hone-tune")};
    Build(build);
  }
}

void ManifestWriter::TuneEdges() {
  const TargetFile* target = nullptr;
  for (const TuneJob& task : input_.tasks) {
    const bool first = task.target != target;
    if (first) {
      target = task.target;
      Section(fmt::format("tasks on {}", target->name));
    }
    AddTuneRule(task, /*behind_edge=*/!first);
    std::string users;
    for (const TuneJob::User& user : task.users) {
      users += fmt::format("{}{} x{}", users.empty() ? "" : ", ", user.pipeline->name, user.weight);
    }
    // The larger budget covers the smaller ones, so one edge serves all networks.
    if (task.users.size() > 1) users += fmt::format("; largest budget: {}", task.budget->name);
    writer_.Comment(task.entry->workload + " : " + users);
    TuneEdge(task);
  }
}

void ManifestWriter::WriteTuneRule(const std::string& name, const std::string& settings, NinjaBindings more) {
  if (!std::exchange(says_why_stamps_, true)) {
    writer_.Comment(
        "The database is no output: Ninja deletes the outputs of an interrupted edge. The stamp, written last, says it "
        "is done.");
  }
  more.insert(more.begin(), {"restat", "1"});
  Rule(name, Command("hone-tune", "--task $in --settings " + settings + " --db $db --stamp $out $flags", true),
       "tune $in", std::move(more));
}

// Text in a rule is not repeated in each of its edges, of which there may be thousands: Ninja reads them all before it
// knows that there is nothing to do.
void ManifestWriter::AddTuneRule(const TuneJob& task, bool behind_edge) {
  const std::string pool = PoolName(task);
  const auto [rule, added] = tune_rules_.try_emplace({task.settings, pool});
  if (!added) return;
  rule->second = fmt::format("{}{}", kTuneRulePrefix, tune_rules_.size());
  if (behind_edge) writer_.Blank();
  WriteTuneRule(rule->second, EscapeValue(ShellQuote(task.settings)), {{"pool", pool}});
}

std::string ManifestWriter::TuneRule(const TuneJob& task) const {
  return task.own_settings ? "tune" : tune_rules_.at({task.settings, PoolName(task)});
}

void ManifestWriter::TuneEdge(const TuneJob& task) {
  NinjaBuild build;
  build.outputs = {task.stamp};
  build.rule = TuneRule(task);
  build.inputs = {TaskPath(task.entry->id)};
  build.implicit_inputs = {task.settings, AbiPath("hone-tune")};
  std::string flags = task.optional ? "--optional" : "";
  for (const TuneJob::Donor& donor : task.donors) {
    build.implicit_inputs.push_back(donor.stamp);
    flags += fmt::format("{}--donor {}", flags.empty() ? "" : " ", donor.db);
  }
  if (task.target->device) build.order_only_inputs.push_back(DevicePath(task.target->name));
  build.bindings = {{"db", task.db}};
  if (task.own_settings) build.bindings = {{"settings", task.settings}, {"db", task.db}, {"pool", PoolName(task)}};
  if (!flags.empty()) build.bindings.push_back({"flags", flags});
  Build(build);
}

void ManifestWriter::TunedEdge(const NetworkJob& job) {
  const std::string name = JobName(job.pipeline->name, job.target->name);
  NinjaBuild build;
  build.outputs = {TunedPath(name)};
  build.rule = "tuned";
  build.implicit_inputs = job.stamps;
  build.bindings = {{"job", name}};
  Build(build);
}

void ReadTuneRule(NinjaBuild* build) {
  if (!StartsWith(build->rule, kTuneRulePrefix) || build->implicit_inputs.empty()) return;
  build->rule = "tune";
  build->bindings.emplace_back("settings", build->implicit_inputs[0]);
}

void ManifestWriter::RoundEdges(const Round& round) {
  const std::string name = JobName(round.job->pipeline->name, round.job->target->name);
  if (round.round == 1) {
    Section(fmt::format("{}: {} trials shared out over {} tasks, in {} rounds", name,
                        round.job->pipeline->tune.trials_total, round.tasks.size(), kRounds));
  }
  NinjaBuild build;
  build.outputs = round.settings;
  build.rule = "allocate";
  build.inputs = {TaskListPath(round.job->pipeline->name, round.job->target->name)};
  build.implicit_inputs = {SettingsPath(round.job->pipeline->SettingsName(), "tune"), AbiPath("hone-allocate")};
  build.implicit_inputs.insert(build.implicit_inputs.end(), round.before.begin(), round.before.end());
  build.order_only_inputs = {Tool("hone-allocate")};
  build.bindings = {{"job", name},
                    {"settings", SettingsPath(round.job->pipeline->SettingsName(), "tune")},
                    {"round", std::to_string(round.round)},
                    {"stamps", round.before_dir},
                    {"dir", round.dir}};
  Build(build);
  for (const TuneJob& task : round.tasks) TuneEdge(task);
}

}  // namespace hone::pipeline
