#include <fmt/format.h>

#include "base/text.h"
#include "pipeline/manifest_writer.h"
#include "pipeline/plan.h"

namespace hone::pipeline {

void AddNumerics(const NetworkJob& job, NinjaBuild* build) {
  const TuneSettings& tune = job.pipeline->tune;
  const std::string flags = NumericsFlags(tune.winograd, tune.tf32);
  if (!flags.empty()) build->bindings.push_back({"numerics", flags});
}

NinjaBuild ManifestWriter::BuildEdge(const NetworkJob& job, bool tuned) const {
  const std::string& net = job.pipeline->name;
  const std::string name = JobName(net, job.target->name);
  const std::string dir = fmt::format("out/{}{}", name, tuned ? "" : ".untuned");
  NinjaBuild build;
  build.outputs = {fmt::format("{}/lib{}.so", dir, net)};
  build.implicit_outputs = {fmt::format("{}/{}.h", dir, net), fmt::format("{}/{}.params", dir, net),
                            fmt::format("{}/{}.graph.json", dir, net), dir + "/manifest.json"};
  build.rule = tuned ? "build" : "build_untuned";
  build.inputs = {GraphPath(net)};
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

void ManifestWriter::PickEdge(const NetworkJob& job) {
  const std::string& net = job.pipeline->name;
  const std::string name = JobName(net, job.target->name);
  NinjaBuild build;
  build.outputs = {fmt::format("best/{}.json", name)};
  build.rule = "pick_best";
  build.inputs = {TaskListPath(net, job.target->name)};
  build.implicit_inputs = {GraphPath(net), TunedPath(name), AbiPath("hone-pick-best")};
  build.order_only_inputs = {Tool("hone-pick-best")};
  build.bindings = {{"job", name}, {"graph", GraphPath(net)}, {"records", "records/" + job.target->name}};
  AddNumerics(job, &build);
  if (job.pipeline->memory > 0) build.bindings.push_back({"memory", "--memory " + FormatDouble(job.pipeline->memory)});
  if (!job.pipeline->in_network) {
    build.implicit_outputs = {ChoicePath(name)};
    build.bindings.push_back({"choice", "--choice " + ChoicePath(name)});
  }
  Build(build);
}

void ManifestWriter::ConfirmEdge(const NetworkJob& job) {
  const std::string& net = job.pipeline->name;
  const std::string name = JobName(net, job.target->name);
  NinjaBuild build;
  build.outputs = {FiguresPath(job)};
  build.implicit_outputs = {ChoicePath(name)};
  build.rule = "confirm";
  build.inputs = {fmt::format("best/{}.json", name)};
  build.implicit_inputs = {GraphPath(net), TargetPath(job.target->name), AbiPath("hone-confirm")};
  build.order_only_inputs = {Tool("hone-confirm")};
  build.bindings = {{"job", name},
                    {"graph", GraphPath(net)},
                    {"target", TargetPath(job.target->name)},
                    {"choice", ChoicePath(name)},
                    {"pool", PoolName(*job.target)}};
  AddParameters(job, &build);
  Build(build);
}

void ManifestWriter::BenchEdge(const NetworkJob& job, const NinjaBuild& tuned, const NinjaBuild& untuned) {
  const std::string& net = job.pipeline->name;
  const std::string name = JobName(net, job.target->name);
  const std::string best = FiguresPath(job);
  NinjaBuild build;
  build.outputs = {fmt::format("bench/{}.json", name)};
  build.rule = "bench";
  build.inputs = {tuned.outputs[0]};
  build.implicit_inputs = {tuned.implicit_outputs[1], untuned.outputs[0], untuned.implicit_outputs[1],
                           SettingsPath(job.pipeline->SettingsName(), "bench"), AbiPath("hone-bench")};
  // Only to say what tuning had promised: new figures of the same choice are no reason to time it again.
  build.order_only_inputs = {best, Tool("hone-bench")};
  build.bindings = {{"job", name},
                    {"dir", "out/" + name},
                    {"baseline", "out/" + name + ".untuned"},
                    {"best", best},
                    {"settings", SettingsPath(job.pipeline->SettingsName(), "bench")},
                    {"pool", PoolName(*job.target)}};
  AddParameters(job, &build);
  Build(build);
}

void ManifestWriter::ReportEdge(const NetworkJob& job) {
  const std::string& net = job.pipeline->name;
  const std::string name = JobName(net, job.target->name);
  const std::string list = TaskListPath(net, job.target->name), best = FiguresPath(job);
  const std::string dir = "report/" + name;
  NinjaBuild build;
  build.outputs = {dir + "/index.html"};
  build.implicit_outputs = {dir + "/report.json", dir + "/junit.xml", dir + "/report.md"};
  build.rule = "report";
  build.inputs = {fmt::format("bench/{}.json", name)};
  // The report also counts trials that found nothing better and changed no best. Not by the alias of the stamps: after
  // a restat Ninja logs the time of the newest input that is a file, an alias is not a file, and the edge would stay
  // dirty.
  build.implicit_inputs = {list, best, TunedPath(name), AbiPath("hone-report")};
  build.order_only_inputs = {Tool("hone-report")};
  build.bindings = {
      {"job", name}, {"tasks", list}, {"best", best}, {"records", "records/" + job.target->name}, {"dir", dir}};
  Build(build);
}

std::string ManifestWriter::FailedEdge(const NetworkJob& job, const std::string& suffix,
                                       const std::vector<std::string>& after) {
  const std::string& net = job.pipeline->name;
  NinjaBuild build;
  build.outputs = {fmt::format("failed/{}{}", JobName(net, job.target->name), suffix)};
  build.rule = "cannot_extract";
  // Without the task list as an input: Ninja has just made it for this manifest, and would extract a second time.
  build.order_only_inputs = after;
  build.bindings = {{"job", fmt::format("{} for {}", net, job.target->name)},
                    {"tasks", TaskListPath(net, job.target->name)}};
  Build(build);
  return build.outputs[0];
}

void ManifestWriter::NetworkEdges(const NetworkJob& job) {
  Section(fmt::format("{} on {}", job.pipeline->name, job.target->name));
  TunedEdge(job);
  PickEdge(job);
  if (job.pipeline->in_network) ConfirmEdge(job);
  const NinjaBuild tuned = BuildEdge(job, true), untuned = BuildEdge(job, false);
  Build(tuned);
  Build(untuned);
  BenchEdge(job, tuned, untuned);
  ReportEdge(job);
}

}  // namespace hone::pipeline
