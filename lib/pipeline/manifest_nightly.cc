#include "nightly/accepted.h"
#include "nightly/night_file.h"
#include "pipeline/manifest_writer.h"

namespace hone::pipeline {

void ManifestWriter::NightlyEdges() {
  Section("nights: accepted libraries against their references; nothing else waits for these, and they always run");
  Rule("nightly", Command("hone-bench", "nightly --job $job --lib $dir --series $series $parameters", true),
       "nightly $series $job");
  Rule("verdict", Command("hone-report", "nightly --series $series --close --out $dir"), "verdict $series");
  std::vector<std::string> main, replay;
  for (const NetworkJob& job : input_.jobs) {
    const auto accepted = input_.accepted.find(job.Name());
    if (accepted == input_.accepted.end()) continue;
    if (job.tasks == nullptr) {
      // Only the extract edge is known yet: once the list exists, the manifest is made again.
      for (auto* all : {&main, &replay}) all->push_back(job.TaskListPath());
      continue;
    }
    main.push_back(NightEdge(job, "main", "out/" + accepted->first));
    if (accepted->second.choice) replay.push_back(ReplayEdges(job, accepted->second));
  }
  VerdictEdge("nightly", "main", main);
  VerdictEdge("nightly-replay", "replay", replay);
}

std::string ManifestWriter::NightEdge(const NetworkJob& job, const std::string& series, const std::string& dir) {
  const std::string name = job.Name(), output = nightly::TonightPath("nights", series, name);
  NinjaBuild build{.outputs = {output},
                   .rule = "nightly",
                   .inputs = {fmt::format("{}/lib{}.so", dir, job.pipeline->name)},
                   .implicit_inputs = {dir + "/manifest.json"},
                   .order_only_inputs = {Tool("hone-bench")},
                   .bindings = {{"job", name}, {"dir", dir}, {"series", series}, {"pool", PoolName(*job.target)}}};
  AddParameters(job, &build);
  Build(build);
  return output;
}

// The reference's own choices, built by today's tools: only the code generator differs.
std::string ManifestWriter::ReplayEdges(const NetworkJob& job, const AcceptedJob& accepted) {
  const std::string &net = job.pipeline->name, name = job.Name(), dir = "nights/replay/out/" + name;
  const std::string from = nightly::AcceptedDir("accepted", name, accepted.digest);
  NinjaBuild build = BuildEdge(job, dir, from + "/" + nightly::kChoiceFile, true);
  build.inputs = {fmt::format("{}/{}.graph.json", from, net)};
  // The choice was made under earlier numerics, whatever they are now.
  if (job.target->tf32) build.bindings.push_back({"numerics", NumericsFlags(TuneSettings().winograd, true)});
  for (auto& [key, value] : build.bindings) {
    if (key == "job") value = name + ", replayed";
  }
  Build(build);
  return NightEdge(job, "replay", dir);
}

void ManifestWriter::VerdictEdge(const std::string& alias, const std::string& series,
                                 const std::vector<std::string>& jobs) {
  const std::string output = nightly::TonightPath("nights", series, "verdict");
  NinjaBuild build{.outputs = {output},
                   .rule = "verdict",
                   .order_only_inputs = jobs,
                   .bindings = {{"series", series}, {"dir", "report/" + alias}}};
  build.order_only_inputs.push_back(Tool("hone-report"));
  Build(build);
  Alias(alias, {output});
}

}  // namespace hone::pipeline
