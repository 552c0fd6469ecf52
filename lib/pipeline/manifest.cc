#include "pipeline/manifest.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/hash.h"
#include "pipeline/ninja_writer.h"
#include "pipeline/plan.h"

namespace hone::pipeline {
namespace {

// One job at a time on a device; the name cannot be mistaken for Ninja's own pool `console`.
std::string PoolName(const TargetFile& target) { return "device-" + target.name; }

// Edges that write into the same records never run at the same time: where a target has several devices, one of them is
// left to such edges.
std::string PoolName(const TuneJob& task) {
  return PoolName(*task.target) + (task.shared && task.target->devices > 1 ? "-shared" : "");
}

// `--winograd 4`; empty for the default, which changes no command.
std::string NumericsFlags(const PipelineFile& pipeline) {
  const int64_t cap = pipeline.tune.winograd;
  return cap == TuneSettings().winograd ? "" : fmt::format("--winograd {}", cap == 0 ? "off" : std::to_string(cap));
}

std::string ShapeText(const std::vector<int64_t>& shape) {
  std::string text;
  for (const int64_t extent : shape) text += fmt::format("{}{}", text.empty() ? "" : ",", extent);
  return text;
}

// What is to be built, without figures.
std::string ChoicePath(const std::string& job) { return fmt::format("best/{}.choice.json", job); }

// The choice with all that was measured of it.
std::string FiguresPath(const NetworkJob& job) {
  return fmt::format("best/{}{}.json", JobName(job.pipeline->name, job.target->name),
                     job.pipeline->in_network ? ".confirmed" : "");
}

class Manifest {
 public:
  explicit Manifest(const ManifestInput& input) : input_(input) {}

  Result<std::string> Write() {
    Head();
    Rules();
    ManifestEdge();
    for (const NetworkJob& job : input_.jobs) ExtractEdge(job);
    TuneEdges();
    for (const Round& round : input_.rounds) RoundEdges(round);
    for (const NetworkJob& job : input_.jobs) {
      if (job.tasks != nullptr) NetworkEdges(job);
    }
    Aliases();
    if (!clash_.empty()) {
      return Status::Invalid(fmt::format("two jobs would make '{}'; rename a pipeline or a target", clash_));
    }
    return writer_.Take();
  }

 private:
  std::string Tool(const std::string& name) const { return input_.tools + "/" + name; }

  // A command: `exec`, so that Ninja waits for the tool itself when it is told to stop; the launcher where the work
  // wants the device's own machine, read by the shell at run time, so that another one changes no command.
  std::string Command(const std::string& tool, const std::string& arguments, bool launched = false) const {
    return fmt::format("exec {}{} {}", launched ? "$$HONE_LAUNCHER " : "", EscapeValue(ShellQuote(Tool(tool))),
                       arguments);
  }

  void Rule(const std::string& name, const std::string& command, const std::string& description,
            NinjaBindings more = {}) {
    NinjaBindings bindings = {{"command", command}, {"description", description}};
    bindings.insert(bindings.end(), more.begin(), more.end());
    writer_.Rule(name, bindings);
    writer_.Blank();
  }

  void Build(const NinjaBuild& build) {
    for (const auto* outputs : {&build.outputs, &build.implicit_outputs}) {
      for (const std::string& path : *outputs) {
        if (!made_.emplace(path, true).second && clash_.empty()) clash_ = path;
      }
    }
    writer_.Build(build);
  }

  // The cap on numerics, where it is not the default.
  static void AddNumerics(const NetworkJob& job, NinjaBuild* build) {
    const std::string flags = NumericsFlags(*job.pipeline);
    if (!flags.empty()) build->bindings.push_back({"numerics", flags});
  }

  // The file of the network's parameters, if the pipeline names one: a further input, and the flag for it.
  static void AddParameters(const NetworkJob& job, NinjaBuild* build) {
    if (job.parameters.empty()) return;
    build->implicit_inputs.push_back(job.parameters);
    std::string flags = "--parameter-file " + EscapeValue(ShellQuote(job.parameters));
    for (const auto& [input, shape] : job.pipeline->inputs) {
      flags += " --input " + EscapeValue(ShellQuote(fmt::format("{}={}", input, ShapeText(shape))));
    }
    build->bindings.push_back({"parameters", flags});
  }

  void Section(const std::string& title) {
    writer_.Blank();
    writer_.Comment("---- " + title);
  }

  void Head();
  void Rules();
  void ManifestEdge();
  void ExtractEdge(const NetworkJob& job);
  void TuneEdges();
  void TuneEdge(const TuneJob& task);
  void RoundEdges(const Round& round);
  void ConfirmEdge(const NetworkJob& job);
  void NetworkEdges(const NetworkJob& job);
  void Aliases();
  NinjaBuild BuildEdge(const NetworkJob& job, bool tuned) const;

  const ManifestInput& input_;
  NinjaWriter writer_;
  std::unordered_map<std::string, bool> made_;
  std::map<std::string, bool> graphs_;  // of networks whose graph has its edge
  std::string clash_;
};

void Manifest::Head() {
  writer_.Comment(
      "Written by hone-plan from the pipeline files and the task lists; edit those, not this. doc/manifest.md explains "
      "it.");
  writer_.Comment("All paths are relative to this folder. A job is a network on a target: resnet18 on cpu.");
  writer_.Blank();
  writer_.Variable("ninja_required_version", "1.10");
  Section("devices: what measures on one waits for its turn");
  for (const TargetFile* target : input_.targets) {
    bool shared = false;
    for (const TuneJob& task : input_.tasks) shared = shared || (task.shared && task.target == target);
    for (const Round& round : input_.rounds) {
      for (const TuneJob& task : round.tasks) shared = shared || (task.shared && task.target == target);
    }
    shared = shared && target->devices > 1;
    writer_.Pool(PoolName(*target), static_cast<int>(target->devices) - (shared ? 1 : 0));
    if (shared) writer_.Pool(PoolName(*target) + "-shared", 1);
  }
}

void Manifest::Rules() {
  Section("rules; every tool leaves an output alone whose bytes would not change, hence restat");
  Rule("plan",
       Command("hone-plan", fmt::format("--pipelines {} --work . --tools {}", EscapeValue(ShellQuote(input_.pipelines)),
                                        EscapeValue(ShellQuote(input_.tools)))),
       "plan", {{"depfile", "build.ninja.d"}, {"generator", "1"}, {"restat", "1"}});
  writer_.Comment(
      "generator: the task files become outputs of an extract edge only when its list is known, which must not run it "
      "again. "
      "What would change the command also changes settings/*.extract.json.");
  Rule("extract",
       Command("hone-extract",
               "--network $network --batch $batch --target $target --graph $graph --tasks $tasks --task-dir tasks "
               "$parameters",
               true),
       "extract $job", {{"generator", "1"}, {"restat", "1"}});
  writer_.Comment(
      "The database is no output: Ninja deletes the outputs of an interrupted edge. The stamp, written last, says it "
      "is done.");
  Rule("tune", Command("hone-tune", "--task $in --settings $settings --db $db --stamp $out $donors", true), "tune $in",
       {{"restat", "1"}});
  if (!input_.rounds.empty()) {
    Rule("allocate",
         Command("hone-allocate", "--tasks $in --settings $settings --round $round --stamps $stamps --out $dir"),
         "allocate $job, round $round", {{"restat", "1"}});
  }
  Rule("pick_best", Command("hone-pick-best", "--tasks $in --records $records --out $out $choice $numerics"),
       "pick best $job", {{"restat", "1"}});
  if (std::any_of(input_.jobs.begin(), input_.jobs.end(), [](const NetworkJob& j) { return j.pipeline->in_network; })) {
    writer_.Comment(
        "What is to be built stands in a file without figures: timing the same choice again builds nothing.");
    Rule("confirm",
         Command("hone-confirm", "--graph $graph --target $target --best $in --out $out --choice $choice $parameters",
                 true),
         "confirm $job", {{"restat", "1"}});
  }
  Rule("build",
       Command("hone-build", "--graph $in --target $target --best $best --name $name --out $dir $parameters $numerics",
               true),
       "build $job", {{"restat", "1"}});
  Rule("build_untuned",
       Command("hone-build", "--graph $in --target $target --untuned --name $name --out $dir $parameters", true),
       "build $job, untuned", {{"restat", "1"}});
  Rule("bench",
       Command("hone-bench", "--lib $dir --baseline $baseline --best $best --settings $settings --out $out $parameters",
               true),
       "bench $job", {{"restat", "1"}});
  Rule("report", Command("hone-report", "--bench $in --tasks $tasks --best $best --records $records --out $dir"),
       "report $job", {{"restat", "1"}});
  writer_.Rule("clean_stamps", {{"command", "exec rm -rf stamps"}, {"description", "remove stamps"}});
}

void Manifest::ManifestEdge() {
  Section("this file: made again when a task list, a pipeline or a tool changes (the last two: build.ninja.d)");
  NinjaBuild build;
  build.outputs = {"build.ninja"};
  build.rule = "plan";
  for (const NetworkJob& job : input_.jobs) {
    build.inputs.push_back(TaskListPath(job.pipeline->name, job.target->name));
  }
  Build(build);
}

void Manifest::ExtractEdge(const NetworkJob& job) {
  const std::string& net = job.pipeline->name;
  const std::string graph = fmt::format("nets/{}.graph.json", net);
  const bool first = graphs_.emplace(net, true).second;
  if (first) Section(fmt::format("{}: {}, batch {}", net, job.network, job.pipeline->batch));
  // Changes with what extract reads, so that Ninja reloads this file, and extracts before anything else, when that
  // does.
  writer_.Comment(fmt::format("extract reads {}", Digest128(job.extract_inputs).Hex()));
  NinjaBuild build;
  build.outputs = {TaskListPath(net, job.target->name)};
  build.implicit_outputs = job.task_files;
  build.rule = "extract";
  build.inputs = {SettingsPath(net, "extract")};
  build.implicit_inputs = {TargetPath(job.target->name), AbiPath("hone-extract")};
  if (job.network_is_file) build.implicit_inputs.push_back(job.network);
  // The graph is the same on every target: the first target's edge makes it, the others come after.
  (first ? build.implicit_outputs : build.implicit_inputs).push_back(graph);
  build.order_only_inputs = {Tool("hone-extract")};
  build.bindings = {{"job", fmt::format("{} for {}", net, job.target->name)},
                    {"network", EscapeValue(ShellQuote(job.network))},
                    {"batch", std::to_string(job.pipeline->batch)},
                    {"target", TargetPath(job.target->name)},
                    {"graph", graph},
                    {"tasks", build.outputs[0]}};
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
  Build(build);
}

void Manifest::TuneEdges() {
  const TargetFile* target = nullptr;
  for (const TuneJob& task : input_.tasks) {
    if (task.target != target) {
      target = task.target;
      Section(fmt::format("tasks on {}", target->name));
    }
    std::string users;
    for (const TuneJob::User& user : task.users) {
      users += fmt::format("{}{} x{}", users.empty() ? "" : ", ", user.pipeline->name, user.weight);
    }
    // The larger budget covers the smaller ones, so one edge serves all who ask.
    if (task.users.size() > 1) users += fmt::format("; largest budget: {}", task.budget->name);
    writer_.Comment(task.entry->workload + " : " + users);
    TuneEdge(task);
  }
}

void Manifest::TuneEdge(const TuneJob& task) {
  NinjaBuild build;
  build.outputs = {task.stamp};
  build.rule = "tune";
  build.inputs = {TaskPath(task.entry->id)};
  build.implicit_inputs = {task.settings, AbiPath("hone-tune")};
  std::string donors;
  for (const TuneJob::Donor& donor : task.donors) {
    build.implicit_inputs.push_back(donor.stamp);
    donors += fmt::format("{}--donor {}", donors.empty() ? "" : " ", donor.db);
  }
  build.order_only_inputs = {Tool("hone-tune")};
  build.bindings = {{"settings", task.settings}, {"db", task.db}, {"pool", PoolName(task)}};
  if (!donors.empty()) build.bindings.push_back({"donors", donors});
  Build(build);
}

void Manifest::RoundEdges(const Round& round) {
  const std::string name = JobName(round.job->pipeline->name, round.job->target->name);
  if (round.round == 1) {
    Section(fmt::format("{}: {} trials shared out over {} tasks, in {} rounds", name,
                        round.job->pipeline->tune.trials_total, round.tasks.size(), kRounds));
  }
  NinjaBuild build;
  build.outputs = round.settings;
  build.rule = "allocate";
  build.inputs = {TaskListPath(round.job->pipeline->name, round.job->target->name)};
  build.implicit_inputs = {SettingsPath(round.job->pipeline->name, "tune"), AbiPath("hone-allocate")};
  build.implicit_inputs.insert(build.implicit_inputs.end(), round.before.begin(), round.before.end());
  build.order_only_inputs = {Tool("hone-allocate")};
  build.bindings = {{"job", name},
                    {"settings", SettingsPath(round.job->pipeline->name, "tune")},
                    {"round", std::to_string(round.round)},
                    {"stamps", round.before_dir},
                    {"dir", round.dir}};
  Build(build);
  for (const TuneJob& task : round.tasks) TuneEdge(task);
}

NinjaBuild Manifest::BuildEdge(const NetworkJob& job, bool tuned) const {
  const std::string& net = job.pipeline->name;
  const std::string name = JobName(net, job.target->name);
  const std::string dir = fmt::format("out/{}{}", name, tuned ? "" : ".untuned");
  NinjaBuild build;
  build.outputs = {fmt::format("{}/lib{}.so", dir, net)};
  build.implicit_outputs = {fmt::format("{}/{}.h", dir, net), fmt::format("{}/{}.params", dir, net),
                            fmt::format("{}/{}.graph.json", dir, net), dir + "/manifest.json"};
  build.rule = tuned ? "build" : "build_untuned";
  build.inputs = {fmt::format("nets/{}.graph.json", net)};
  build.implicit_inputs = {TargetPath(job.target->name), AbiPath("hone-build")};
  build.order_only_inputs = {Tool("hone-build")};
  build.bindings = {{"job", name}, {"target", TargetPath(job.target->name)}, {"name", net}, {"dir", dir}};
  const std::string best = ChoicePath(name);
  if (tuned) {
    build.implicit_inputs.insert(build.implicit_inputs.begin(), best);
    build.bindings.push_back({"best", best});
  } else {
    // It needs no choice, but compiling it beside the tuning would only make that wait.
    build.order_only_inputs.push_back(best);
  }
  AddParameters(job, &build);
  if (tuned) AddNumerics(job, &build);
  return build;
}

void Manifest::ConfirmEdge(const NetworkJob& job) {
  const std::string& net = job.pipeline->name;
  const std::string name = JobName(net, job.target->name);
  NinjaBuild build;
  build.outputs = {FiguresPath(job)};
  build.implicit_outputs = {ChoicePath(name)};
  build.rule = "confirm";
  build.inputs = {fmt::format("best/{}.json", name)};
  build.implicit_inputs = {fmt::format("nets/{}.graph.json", net), TargetPath(job.target->name),
                           AbiPath("hone-confirm")};
  build.order_only_inputs = {Tool("hone-confirm")};
  build.bindings = {{"job", name},
                    {"graph", fmt::format("nets/{}.graph.json", net)},
                    {"target", TargetPath(job.target->name)},
                    {"choice", ChoicePath(name)},
                    {"pool", PoolName(*job.target)}};
  AddParameters(job, &build);
  Build(build);
}

void Manifest::NetworkEdges(const NetworkJob& job) {
  const std::string& net = job.pipeline->name;
  const std::string& target = job.target->name;
  const std::string name = JobName(net, target);
  const std::string list = TaskListPath(net, target);
  const std::string best = FiguresPath(job), choice = ChoicePath(name);
  const std::string records = "records/" + target;
  const std::string bench = fmt::format("bench/{}.json", name);
  Section(fmt::format("{} on {}", net, target));

  NinjaBuild pick;
  pick.outputs = {fmt::format("best/{}.json", name)};
  pick.rule = "pick_best";
  pick.inputs = {list};
  const std::vector<std::string>& stamps = job.stamps;
  pick.implicit_inputs = stamps;
  pick.implicit_inputs.push_back(AbiPath("hone-pick-best"));
  pick.order_only_inputs = {Tool("hone-pick-best")};
  pick.bindings = {{"job", name}, {"records", records}};
  AddNumerics(job, &pick);
  if (!job.pipeline->in_network) {
    pick.implicit_outputs = {choice};
    pick.bindings.push_back({"choice", "--choice " + choice});
  }
  Build(pick);
  if (job.pipeline->in_network) ConfirmEdge(job);

  const NinjaBuild tuned = BuildEdge(job, true);
  const NinjaBuild untuned = BuildEdge(job, false);
  Build(tuned);
  Build(untuned);

  NinjaBuild run;
  run.outputs = {bench};
  run.rule = "bench";
  run.inputs = {tuned.outputs[0]};
  run.implicit_inputs = {tuned.implicit_outputs[1], untuned.outputs[0], untuned.implicit_outputs[1],
                         SettingsPath(net, "bench"), AbiPath("hone-bench")};
  // Only to say what tuning had promised: new figures of the same choice are no reason to time it again.
  run.order_only_inputs = {best, Tool("hone-bench")};
  run.bindings = {{"job", name},
                  {"dir", "out/" + name},
                  {"baseline", "out/" + name + ".untuned"},
                  {"best", best},
                  {"settings", SettingsPath(net, "bench")},
                  {"pool", PoolName(*job.target)}};
  AddParameters(job, &run);
  Build(run);

  NinjaBuild report;
  const std::string dir = "report/" + name;
  report.outputs = {dir + "/index.html"};
  report.implicit_outputs = {dir + "/report.json", dir + "/junit.xml", dir + "/report.md"};
  report.rule = "report";
  report.inputs = {bench};
  report.implicit_inputs = {list, best, AbiPath("hone-report")};
  // The report tells of trials, too, that found nothing better and changed no best. Not by the alias of the stamps:
  // after a restat Ninja logs the time of the newest input that is a file, an alias is none, and the edge would stay
  // dirty.
  report.implicit_inputs.insert(report.implicit_inputs.end(), stamps.begin(), stamps.end());
  report.order_only_inputs = {Tool("hone-report")};
  report.bindings = {{"job", name}, {"tasks", list}, {"best", best}, {"records", records}, {"dir", dir}};
  Build(report);
}

void Manifest::Aliases() {
  Section("targets to ask for; tune- is the whole chain, the others are its parts");
  const auto alias = [this](const std::string& name, std::vector<std::string> inputs) {
    NinjaBuild build;
    build.outputs = {name};
    build.rule = "phony";
    build.inputs = std::move(inputs);
    Build(build);
  };
  std::vector<std::string> tunes, reports;
  for (const NetworkJob& job : input_.jobs) {
    const std::string& net = job.pipeline->name;
    const std::string name = JobName(net, job.target->name);
    const std::string suffix = net + "-" + job.target->name;
    // Without its task list a job is not known further than extract; the list is made before anything else is.
    const std::string list = TaskListPath(net, job.target->name);
    const auto part = [&](const std::string& verb, std::vector<std::string> inputs) {
      alias(verb + "-" + suffix, job.tasks == nullptr ? std::vector<std::string>{list} : std::move(inputs));
    };
    std::vector<std::string> records = job.stamps;
    records.insert(records.begin(), list);  // an alias of nothing would always be out of date
    part("records", records);
    part("best", {FiguresPath(job), ChoicePath(name)});
    part("build", {fmt::format("out/{}/lib{}.so", name, net)});
    part("bench", {fmt::format("bench/{}.json", name)});
    part("report", {fmt::format("report/{}/index.html", name)});
    part("tune", {"report-" + suffix});
    tunes.push_back("tune-" + suffix);
    reports.push_back("report-" + suffix);
  }
  alias("report", reports);
  alias("tune-all", tunes);
  alias("nightly", {"tune-all", "report"});
  writer_.Blank();
  writer_.Comment(
      "Removes the stamps: every task then looks into its records, finds its budget met, and is stamped again.");
  NinjaBuild clean;
  clean.outputs = {"clean-stamps"};
  clean.rule = "clean_stamps";
  Build(clean);
  writer_.Blank();
  writer_.Default({"tune-all"});
}

}  // namespace

std::string TaskPath(const std::string& id) { return fmt::format("tasks/{}.task.json", id); }
std::string TargetPath(const std::string& target) { return fmt::format("targets/{}.json", target); }
std::string RecordsPath(const std::string& target, const std::string& id) {
  return fmt::format("records/{}/{}.db", target, id);
}
std::string AbiPath(const std::string& tool) { return fmt::format("abi/{}.txt", tool); }
std::string SettingsPath(const std::string& pipeline, const std::string& part) {
  return fmt::format("settings/{}.{}.json", pipeline, part);
}

Result<std::string> ManifestText(const ManifestInput& input) { return Manifest(input).Write(); }

}  // namespace hone::pipeline
