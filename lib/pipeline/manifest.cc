#include "pipeline/manifest.h"

#include "pipeline/manifest_writer.h"
#include "pipeline/plan.h"

namespace hone::pipeline {

Result<Manifest> ManifestWriter::Write() {
  Head();
  Rules();
  ManifestEdge();
  for (const NetworkJob& job : input_.jobs) ExtractEdge(job);
  DeviceEdges();
  TuneEdges();
  for (const Round& round : input_.rounds) RoundEdges(round);
  for (const NetworkJob& job : input_.jobs) {
    if (job.tasks != nullptr) NetworkEdges(job);
  }
  NightlyEdges();
  Aliases();
  if (!clash_.empty()) {
    return Status::Invalid("two jobs would make '{}'; rename a pipeline or a target", clash_);
  }
  return Manifest{writer_.Take(), std::move(builds_)};
}

void ManifestWriter::Build(NinjaBuild build) {
  for (const auto* outputs : {&build.outputs, &build.implicit_outputs}) {
    for (const std::string& path : *outputs) {
      if (!made_.insert(path).second && clash_.empty()) clash_ = path;
    }
  }
  writer_.Build(build);
  builds_.push_back(std::move(build));
}

void ManifestWriter::Alias(const std::string& name, std::vector<std::string> inputs) {
  Build({.outputs = {name}, .rule = "phony", .inputs = std::move(inputs)});
}

void ManifestWriter::Section(const std::string& title) {
  writer_.Blank();
  writer_.Comment("---- " + title);
}

void ManifestWriter::ManifestEdge() {
  Section("this file: made again when a task list, a pipeline or a tool changes");
  writer_.Comment(
      "Not by a depfile: Ninja deletes the outputs of an interrupted edge that has one. An alias of nothing may be "
      "gone: that is a reason to plan again, and no error.");
  NinjaBuild build{.outputs = {"build.ninja"}, .rule = "plan", .implicit_inputs = input_.reads};
  for (const NetworkJob& job : input_.jobs) build.inputs.push_back(job.TaskListPath());
  for (const std::string& path : input_.reads) Alias(path);
  Build(build);
}

void ManifestWriter::Aliases() {
  Section("targets to ask for; tune- is the whole chain, the others are its parts");
  std::vector<std::string> tunes, reports, failed;
  std::map<std::string, std::vector<std::string>> of_target;
  bool requested = false;
  for (const NetworkJob& job : input_.jobs) {
    const std::string& net = job.pipeline->name;
    const std::string name = job.Name();
    const std::string suffix = net + "-" + job.target->name;
    // Without its task list, a job has only its extract edge; the list is made before anything else.
    const std::string list = job.failed ? FailedEdge(job) : job.TaskListPath();
    const auto part = [&](const std::string& verb, std::vector<std::string> inputs) {
      Alias(verb + "-" + suffix, job.tasks == nullptr ? std::vector<std::string>{list} : std::move(inputs));
    };
    part("records", {list, TunedPath(name)});
    part("best", {FiguresPath(job), ChoicePath(name)});
    part("build", {fmt::format("out/{}/lib{}.so", name, net)});
    part("bench", {fmt::format("bench/{}.json", name)});
    part("report", {fmt::format("report/{}/index.html", name)});
    part("tune", {"report-" + suffix});
    requested = requested || job.on_request;
    if (!job.failed) of_target[job.target->name].push_back("tune-" + suffix);
    if (job.on_request || job.failed) continue;
    tunes.push_back("tune-" + suffix);
    reports.push_back("report-" + suffix);
  }
  // Edges that fail come last, so that Ninja builds all other networks first.
  std::map<std::string, std::vector<std::string>> failed_of_target;
  for (const NetworkJob& job : input_.jobs) {
    if (!job.failed) continue;
    if (!job.on_request) failed.push_back(FailedEdge(job, ".all", tunes));
    if (!requested) continue;
    const std::string& target = job.target->name;
    failed_of_target[target].push_back(FailedEdge(job, ".all-" + target, of_target[target]));
  }
  tunes.insert(tunes.end(), failed.begin(), failed.end());
  reports.insert(reports.end(), failed.begin(), failed.end());
  for (const auto& [target, names] : failed_of_target) {
    of_target[target].insert(of_target[target].end(), names.begin(), names.end());
  }
  // If some jobs run only on request: one alias for all jobs of a target.
  if (requested) {
    for (auto& [target, names] : of_target) Alias("tune-all-" + target, std::move(names));
  }
  Alias("report", reports);
  Alias("tune-all", tunes);
  writer_.Blank();
  writer_.Comment(
      "Removes the stamps: every task then looks into its records, finds its budget met, and is stamped again.");
  Build({.outputs = {"clean-stamps"}, .rule = "clean_stamps"});
  writer_.Blank();
  writer_.Default({"tune-all"});
}

std::string TaskPath(const std::string& id) { return fmt::format("tasks/{}.task.json", id); }
std::string TargetPath(const std::string& target) { return fmt::format("targets/{}.json", target); }
std::string RecordsPath(const std::string& target, const std::string& id) {
  return fmt::format("records/{}/{}.db", target, id);
}
std::string GraphPath(const std::string& pipeline) { return fmt::format("nets/{}.graph.json", pipeline); }
std::string ChoicePath(const std::string& job) { return fmt::format("best/{}.choice.json", job); }
std::string FiguresPath(const NetworkJob& job) {
  return fmt::format("best/{}{}.json", job.Name(), job.pipeline->in_network ? ".confirmed" : "");
}
std::string AbiPath(const std::string& tool) { return fmt::format("abi/{}.txt", tool); }
std::string SettingsPath(const std::string& pipeline, const std::string& part) {
  return fmt::format("settings/{}.{}.json", pipeline, part);
}

std::string NetworkJob::Name() const { return JobName(pipeline->name, target->name); }
std::string NetworkJob::TaskListPath() const { return hone::pipeline::TaskListPath(pipeline->name, target->name); }

Result<Manifest> MakeManifest(const ManifestInput& input) { return ManifestWriter(input).Write(); }

}  // namespace hone::pipeline
