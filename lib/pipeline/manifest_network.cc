#include "base/text.h"
#include "pipeline/manifest_writer.h"

namespace hone::pipeline {

// Binds the job's numerics for rules with `$numerics`, if they are not the default.
static void AddNumerics(const NetworkJob& job, NinjaBuild* build) {
  const TuneSettings& tune = job.pipeline->tune;
  const std::string flags = NumericsFlags(tune.winograd, tune.tf32);
  if (!flags.empty()) build->bindings.push_back({"numerics", flags});
}

NinjaBuild ManifestWriter::BuildEdge(const NetworkJob& job, const std::string& dir, const std::string& best,
                                     bool tuned) const {
  const std::string &net = job.pipeline->name, name = job.Name();
  const std::string target = TargetPath(job.target->name);
  NinjaBuild build{.outputs = {fmt::format("{}/lib{}.so", dir, net)},
                   .implicit_outputs = {fmt::format("{}/{}.h", dir, net), fmt::format("{}/{}.params", dir, net),
                                        fmt::format("{}/{}.graph.json", dir, net), dir + "/manifest.json"},
                   .rule = tuned ? "build" : "build_untuned",
                   .inputs = {GraphPath(net)},
                   .implicit_inputs = {target, AbiPath("hone-build")},
                   .order_only_inputs = {Tool("hone-build")},
                   .bindings = {{"job", name}, {"target", target}, {"name", net}, {"dir", dir}}};
  if (tuned) {
    build.implicit_inputs.insert(build.implicit_inputs.begin(), best);
    build.bindings.push_back({"best", best});
  } else {
    // It needs no choice, but compiling it at the same time as tuning would only delay the tuning.
    build.order_only_inputs.push_back(best);
  }
  AddParameters(job, &build);
  return build;
}

void ManifestWriter::PickEdge(const NetworkJob& job) {
  const std::string name = job.Name(), graph = GraphPath(job.pipeline->name);
  NinjaBuild build{.outputs = {fmt::format("best/{}.json", name)},
                   .rule = "pick_best",
                   .inputs = {job.TaskListPath()},
                   .implicit_inputs = {graph, TunedPath(name), AbiPath("hone-pick-best")},
                   .order_only_inputs = {Tool("hone-pick-best")},
                   .bindings = {{"job", name}, {"graph", graph}, {"records", "records/" + job.target->name}}};
  AddNumerics(job, &build);
  std::vector<std::string> flags;
  if (job.pipeline->memory > 0) flags.push_back("--memory " + FormatDouble(job.pipeline->memory));
  if (job.pipeline->InRounds()) flags.push_back("--or-default");
  if (!flags.empty()) build.bindings.push_back({"flags", Join(flags, " ")});
  if (!job.pipeline->in_network) {
    build.implicit_outputs = {ChoicePath(name)};
    build.bindings.push_back({"choice", "--choice " + ChoicePath(name)});
  }
  Build(build);
}

void ManifestWriter::ConfirmEdge(const NetworkJob& job) {
  const std::string name = job.Name(), graph = GraphPath(job.pipeline->name), target = TargetPath(job.target->name);
  NinjaBuild build{.outputs = {FiguresPath(job)},
                   .implicit_outputs = {ChoicePath(name)},
                   .rule = "confirm",
                   .inputs = {fmt::format("best/{}.json", name)},
                   .implicit_inputs = {graph, target, AbiPath("hone-confirm")},
                   .order_only_inputs = {Tool("hone-confirm")},
                   .bindings = {{"job", name},
                                {"graph", graph},
                                {"target", target},
                                {"choice", ChoicePath(name)},
                                {"pool", PoolName(*job.target)}}};
  AddParameters(job, &build);
  Build(build);
}

void ManifestWriter::BenchEdge(const NetworkJob& job) {
  const std::string &net = job.pipeline->name, name = job.Name(), best = FiguresPath(job), tuned = "out/" + name;
  const std::string settings = SettingsPath(job.pipeline->SettingsName(), "bench");
  const auto library = [&](const std::string& dir) { return fmt::format("{}/lib{}.so", dir, net); };
  const auto params = [&](const std::string& dir) { return fmt::format("{}/{}.params", dir, net); };
  NinjaBuild build{.outputs = {fmt::format("bench/{}.json", name)},
                   .rule = "bench",
                   .inputs = {library(tuned)},
                   .implicit_inputs = {params(tuned), library(tuned + ".untuned"), params(tuned + ".untuned"), settings,
                                       AbiPath("hone-bench")},
                   // `best` only has the figures of tuning: new figures for the same choice are no reason to time it
                   // again.
                   .order_only_inputs = {best, Tool("hone-bench")},
                   .bindings = {{"job", name},
                                {"dir", tuned},
                                {"baseline", tuned + ".untuned"},
                                {"best", best},
                                {"settings", settings},
                                {"pool", PoolName(*job.target)}}};
  AddParameters(job, &build);
  Build(build);
}

void ManifestWriter::ReportEdge(const NetworkJob& job) {
  const std::string name = job.Name(), list = job.TaskListPath(), best = FiguresPath(job), dir = "report/" + name;
  // The report also counts trials that found nothing better and changed no best file. It does not depend on the alias
  // of the stamps: after a restat, Ninja logs the time of the newest input that is a file; an alias is not a file, and
  // the edge would stay dirty.
  Build(
      {.outputs = {dir + "/index.html"},
       .implicit_outputs = {dir + "/report.json", dir + "/junit.xml", dir + "/report.md"},
       .rule = "report",
       .inputs = {fmt::format("bench/{}.json", name)},
       .implicit_inputs = {list, best, TunedPath(name), AbiPath("hone-report")},
       .order_only_inputs = {Tool("hone-report")},
       .bindings = {
           {"job", name}, {"tasks", list}, {"best", best}, {"records", "records/" + job.target->name}, {"dir", dir}}});
}

std::string ManifestWriter::FailedEdge(const NetworkJob& job, const std::string& suffix,
                                       const std::vector<std::string>& after) {
  const std::string output = fmt::format("failed/{}{}", job.Name(), suffix);
  // Without the task list as an input: Ninja has just made it for this manifest, and would extract again.
  Build({.outputs = {output},
         .rule = "cannot_extract",
         .order_only_inputs = after,
         .bindings = {{"job", fmt::format("{} for {}", job.pipeline->name, job.target->name)},
                      {"tasks", job.reason.empty() ? job.TaskListPath() : job.reason}}});
  return output;
}

void ManifestWriter::NetworkEdges(const NetworkJob& job) {
  Section(fmt::format("{} on {}", job.pipeline->name, job.target->name));
  const std::string name = job.Name();
  Build({.outputs = {TunedPath(name)}, .rule = "tuned", .implicit_inputs = job.stamps, .bindings = {{"job", name}}});
  PickEdge(job);
  if (job.pipeline->in_network) ConfirmEdge(job);
  const std::string dir = "out/" + name, choice = ChoicePath(name);
  NinjaBuild tuned = BuildEdge(job, dir, choice, true);
  AddNumerics(job, &tuned);
  Build(tuned);
  Build(BuildEdge(job, dir + ".untuned", choice, false));
  BenchEdge(job);
  ReportEdge(job);
}

}  // namespace hone::pipeline
