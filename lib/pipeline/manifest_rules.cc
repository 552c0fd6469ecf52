#include <algorithm>

#include "pipeline/manifest_writer.h"

namespace hone::pipeline {

std::string PoolName(const TargetFile& target) { return "device-" + target.name; }

// Edges that write into the same records never run at the same time: if a target has several devices, one of them is
// reserved for such edges.
std::string PoolName(const TuneJob& task) {
  return PoolName(*task.target) + (task.shared && task.target->devices > 1 ? "-shared" : "");
}

std::string ManifestWriter::Command(const std::string& tool, const std::string& arguments, bool launched) const {
  return fmt::format("exec {}{} {}", launched ? "$$HONE_LAUNCHER " : "", EscapeValue(ShellQuote(Tool(tool))),
                     arguments);
}

void ManifestWriter::Rule(const std::string& name, const std::string& command, const std::string& description,
                          NinjaBindings more) {
  NinjaBindings bindings = {{"command", command}, {"description", description}};
  bindings.insert(bindings.end(), more.begin(), more.end());
  writer_.Rule(name, bindings);
  writer_.Blank();
}

void ManifestWriter::Head() {
  writer_.Comment(
      "Written by hone-plan from the pipeline files and the task lists; edit those, not this. "
      "doc/internals/manifest.md explains it.");
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

void ManifestWriter::Rules() {
  Section("rules; every tool leaves an output alone whose bytes would not change, hence restat");
  Rule("plan",
       Command("hone-plan", fmt::format("--pipelines {} --work . --tools {}", EscapeValue(ShellQuote(input_.pipelines)),
                                        EscapeValue(ShellQuote(input_.tools)))),
       "plan", {{"generator", "1"}, {"restat", "1"}});
  writer_.Comment(
      "generator: the task files become outputs of an extract edge only when its list is known, which must not run it "
      "again. What would change the command also changes settings/*.extract.json.");
  Rule("extract",
       Command("hone-extract",
               "--network $network --batch $batch --target $target --graph $graph --tasks $tasks --task-dir tasks "
               "$parameters $alone --keep-going",
               true),
       "extract $job", {{"generator", "1"}, {"restat", "1"}});
  if (std::ranges::any_of(input_.jobs, [](const NetworkJob& j) { return j.pipeline->quantise.has_value(); })) {
    Rule("quantise",
         Command("hone-quantise",
                 "--network $network --batch $batch --target $target --settings $in --parameters $out --report $report "
                 "$parameters",
                 true),
         "quantise $job", {{"restat", "1"}});
  }
  if (std::any_of(input_.jobs.begin(), input_.jobs.end(), [](const NetworkJob& j) { return j.failed; })) {
    Rule("cannot_extract", Command("hone-extract", "--failed $tasks"), "$job cannot be extracted");
  }
  if (std::any_of(input_.targets.begin(), input_.targets.end(), [](const TargetFile* t) { return t->device; })) {
    Rule("find_device", Command("hone-tune", "--find-device $in --out $out", true), "find device $in",
         {{"restat", "1"}});
  }
  if (!input_.rounds.empty()) {
    WriteTuneRule("tune", "$settings", {});
    Rule(
        "allocate",
        Command("hone-allocate", "--tasks $in --settings $settings $others --round $round --stamps $stamps --out $dir"),
        "allocate $job, round $round", {{"restat", "1"}});
  }
  Rule("pick_best",
       Command("hone-pick-best", "--tasks $in --graph $graph --records $records --out $out $choice $numerics $flags"),
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
  writer_.Comment("Stands for all stamps of a job, so that they are listed once. A file: an alias will not do.");
  Rule("tuned", "exec touch $out", "tuned $job");
  writer_.Rule("clean_stamps", {{"command", "exec rm -rf stamps"}, {"description", "remove stamps"}});
}

}  // namespace hone::pipeline
