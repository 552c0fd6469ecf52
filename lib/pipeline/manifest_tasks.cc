#include <filesystem>
#include <utility>

#include "base/hash.h"
#include "base/text.h"
#include "pipeline/manifest_writer.h"

namespace hone::pipeline {

static std::string DevicePath(const std::string& target) { return fmt::format("devices/{}.json", target); }

// The shapes of a model's inputs as flags.
static std::string InputFlags(const NetworkJob& job) {
  std::vector<std::string> flags;
  for (const auto& [input, shape] : job.pipeline->inputs) {
    flags.push_back("--input " + EscapeValue(ShellQuote(fmt::format("{}={}", input, fmt::join(shape, ",")))));
  }
  return Join(flags, " ");
}

static std::string QuantisedPath(const NetworkJob& job) {
  return fmt::format("quantised/{}.params", job.pipeline->name);
}

// Those of the network that is read; of one with [quantise], before it is quantised.
static void AddOwnParameters(const NetworkJob& job, NinjaBuild* build) {
  if (job.parameters.empty()) {
    if (!job.pipeline->inputs.empty()) build->bindings.push_back({"parameters", InputFlags(job)});
    return;
  }
  build->implicit_inputs.push_back(job.parameters);
  build->implicit_inputs.insert(build->implicit_inputs.end(), job.reads.begin(), job.reads.end());
  const std::string file = "--parameter-file " + EscapeValue(ShellQuote(job.parameters)), inputs = InputFlags(job);
  build->bindings.push_back({"parameters", file + (inputs.empty() ? "" : " ") + inputs});
}

void AddParameters(const NetworkJob& job, NinjaBuild* build) {
  if (job.pipeline->quantise) {
    build->implicit_inputs.push_back(QuantisedPath(job));
    build->bindings.push_back({"parameters", "--parameter-file " + QuantisedPath(job)});
  } else if (!job.parameters.empty()) {
    AddOwnParameters(job, build);
  }
}

void ManifestWriter::MayBeMissing(const std::string& file) {
  // Ninja refuses two aliases of a file, however they are written.
  const std::string path = std::filesystem::path(file).lexically_normal();
  if (made_.count(path) == 0) Alias(path);
}

void ManifestWriter::QuantiseEdge(const NetworkJob& job) {
  const std::string &net = job.pipeline->name, target = TargetPath(job.target->name), params = QuantisedPath(job);
  for (const std::string& file : job.calibration) MayBeMissing(file);
  std::string more = job.plugin.empty() ? "" : " --plugin " + EscapeValue(ShellQuote(job.plugin));
  if (!job.calibration.empty()) more += " --data " + EscapeValue(ShellQuote(job.calibration.front()));
  NinjaBuild build{.outputs = {params},
                   .implicit_outputs = {fmt::format("quantised/{}.report.json", net)},
                   .rule = "quantise",
                   .inputs = {SettingsPath(net, "quantise")},
                   .implicit_inputs = {target, AbiPath("hone-quantise")},
                   .order_only_inputs = {Tool("hone-quantise")},
                   .bindings = {{"job", net},
                                {"network", EscapeValue(ShellQuote(job.network)) + more},
                                {"batch", std::to_string(job.pipeline->batch)},
                                {"target", target},
                                {"report", fmt::format("quantised/{}.report.json", net)}}};
  if (job.network_is_file) build.implicit_inputs.push_back(job.network);
  if (!job.plugin.empty()) build.implicit_inputs.push_back(job.plugin);
  for (const std::string& file : job.calibration) {
    build.implicit_inputs.push_back(std::filesystem::path(file).lexically_normal());
  }
  AddOwnParameters(job, &build);
  Build(build);
}

void ManifestWriter::ExtractEdge(const NetworkJob& job) {
  const std::string &net = job.pipeline->name, graph = GraphPath(net), list = job.TaskListPath();
  const bool first = graphs_.insert(net).second;
  if (first) {
    // Other networks have their own batch, or no batch.
    const std::string batch = IsNetworkName(job.network) ? fmt::format(", batch {}", job.pipeline->batch) : "";
    Section(fmt::format("{}: {}{}", net, job.network, batch));
  }
  // The comment changes with what extract reads. Then Ninja reloads this file, and extracts before anything else.
  writer_.Comment(fmt::format("extract reads {}", Digest128(job.extract_inputs).Hex()));
  // A missing one must not be an error that stops all networks, but a reason to extract again.
  std::vector<std::string> files = job.reads;
  if (job.network_is_file) files.push_back(job.network);
  if (!job.parameters.empty()) files.push_back(job.parameters);
  for (const std::string& file : files) MayBeMissing(file);
  if (first && job.pipeline->quantise) QuantiseEdge(job);
  std::string more = job.plugin.empty() ? "" : " --plugin " + EscapeValue(ShellQuote(job.plugin));
  if (!job.pipeline->layout.empty()) more += " --layout " + job.pipeline->layout;
  if (job.pipeline->quantise) more += " --quantise " + SettingsPath(net, "quantise");
  for (const std::string& file : job.sketches) more += " --sketch " + EscapeValue(ShellQuote(file));
  NinjaBuild build{.outputs = {list},
                   .implicit_outputs = job.task_files,
                   .rule = "extract",
                   .inputs = {SettingsPath(net, "extract")},
                   .implicit_inputs = {TargetPath(job.target->name), AbiPath("hone-extract")},
                   .order_only_inputs = {Tool("hone-extract"), Tool("hone-tune")},  // for all following edges
                   .bindings = {{"job", fmt::format("{} for {}", net, job.target->name)},
                                {"network", EscapeValue(ShellQuote(job.network)) + more},
                                {"batch", std::to_string(job.pipeline->batch)},
                                {"target", TargetPath(job.target->name)},
                                {"graph", graph},
                                {"tasks", list}}};
  if (job.network_is_file) build.implicit_inputs.push_back(job.network);
  // The graph is the same for every target: the first target's edge makes it, the others follow.
  (first ? build.implicit_outputs : build.implicit_inputs).push_back(graph);
  // Never created, so the network is extracted again each time: only hone-extract knows which file was missing.
  if (job.failed && job.reason.empty()) build.implicit_outputs.push_back(list + ".extracted");
  // An input, as a rebuilt plugin may have other operators. The outputs show the effect.
  if (!job.plugin.empty()) build.implicit_inputs.push_back(job.plugin);
  AddOwnParameters(job, &build);
  if (!job.pipeline->alternatives) build.bindings.push_back({"alone", "--alone"});
  Build(build);
}

void ManifestWriter::DeviceEdges() {
  bool first = true;
  for (const TargetFile* target : input_.targets) {
    if (!target->device) continue;
    if (first) Section("GPUs: looked for once, so that a device that is missing is told once and before all else");
    first = false;
    Build({.outputs = {DevicePath(target->name)},
           .rule = "find_device",
           .inputs = {TargetPath(target->name)},
           .order_only_inputs = {Tool("hone-tune")}});
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

// A rule's text is not repeated in each of its edges. There may be thousands, and Ninja reads them all before it knows
// that there is nothing to do.
void ManifestWriter::AddTuneRule(const TuneJob& task, bool behind_edge) {
  const std::string pool = PoolName(task);
  const auto [rule, added] = tune_rules_.try_emplace({task.settings, pool});
  if (!added) return;
  rule->second = fmt::format("tune-{}", tune_rules_.size());
  if (behind_edge) writer_.Blank();
  WriteTuneRule(rule->second, EscapeValue(ShellQuote(task.settings)), {{"pool", pool}});
}

std::string ManifestWriter::TuneRule(const TuneJob& task) const {
  return task.own_settings ? "tune" : tune_rules_.at({task.settings, PoolName(task)});
}

void ManifestWriter::TuneEdge(const TuneJob& task) {
  NinjaBuild build{.outputs = {task.stamp},
                   .rule = TuneRule(task),
                   .inputs = {TaskPath(task.entry->id)},
                   .implicit_inputs = {task.settings, AbiPath("hone-tune")},
                   .bindings = {{"db", task.db}}};
  std::string flags = task.optional ? "--optional" : "";
  for (const TuneJob::Donor& donor : task.donors) {
    build.implicit_inputs.push_back(donor.stamp);
    flags += fmt::format("{}--donor {}", flags.empty() ? "" : " ", donor.db);
  }
  if (task.target->device) build.order_only_inputs.push_back(DevicePath(task.target->name));
  if (task.own_settings) build.bindings = {{"settings", task.settings}, {"db", task.db}, {"pool", PoolName(task)}};
  if (!flags.empty()) build.bindings.push_back({"flags", flags});
  Build(build);
  if (task.own_settings) return;
  builds_.back().rule = "tune";
  builds_.back().bindings.push_back({"settings", task.settings});
}

void ManifestWriter::RoundEdges(const Round& round) {
  const NetworkJob& first = *round.jobs[0];
  const std::string name = first.Name();
  if (round.round == 1) {
    const TuneSettings& tune = first.pipeline->tune;
    std::vector<std::string> names;
    for (const NetworkJob* job : round.jobs) names.push_back(job->Name());
    Section(fmt::format("{}: {} {} shared out over {} tasks, in {} rounds", Join(names, ", "),
                        FormatDouble(tune.seconds_total > 0 ? tune.seconds_total : double(tune.trials_total)),
                        tune.seconds_total > 0 ? "seconds" : "trials", round.tasks.size(), tune.rounds));
  }
  const auto settings = [](const NetworkJob& job) { return SettingsPath(job.pipeline->SettingsName(), "tune"); };
  NinjaBuild build{.outputs = round.settings,
                   .rule = "allocate",
                   .inputs = {first.TaskListPath()},
                   .implicit_inputs = {settings(first), AbiPath("hone-allocate")},
                   .order_only_inputs = {Tool("hone-allocate")},
                   .bindings = {{"job", name},
                                {"settings", settings(first)},
                                {"round", std::to_string(round.round)},
                                {"stamps", round.before_dir},
                                {"dir", round.dir}}};
  std::vector<std::string> others;
  for (size_t i = 1; i < round.jobs.size(); ++i) {
    const NetworkJob& job = *round.jobs[i];
    others.push_back(fmt::format("--tasks {} --settings {}", job.TaskListPath(), settings(job)));
    build.implicit_inputs.insert(build.implicit_inputs.end(), {job.TaskListPath(), settings(job)});
  }
  if (!others.empty()) build.bindings.push_back({"others", Join(others, " ")});
  build.implicit_inputs.insert(build.implicit_inputs.end(), round.before.begin(), round.before.end());
  Build(build);
  for (const TuneJob& task : round.tasks) TuneEdge(task);
}

}  // namespace hone::pipeline
