// Pipelines, targets and task lists for tests of plans, and the statements of the resulting manifest.
#pragma once

#include "common/expect.h"
#include "pipeline/manifest.h"
#include "pipeline/plan.h"

namespace hone::pipeline {

inline PipelineFile Network(const std::string& name, std::vector<std::string> targets, int64_t trials = 64) {
  PipelineFile file;
  file.name = name;
  file.path = name + ".toml";
  file.network = "resnet-18";
  file.targets = std::move(targets);
  file.tune.trials = trials;
  return file;
}

inline TargetFile Cpu(const std::string& name = "cpu") { return {name, name + ".toml", "{\"kind\": \"cpu\"}\n"}; }

inline TaskList List(const std::vector<std::string>& ids) {
  TaskList list{"resnet-18", "cpu -threads=2", "cpu", {}};
  for (const std::string& id : ids) list.tasks.push_back({id, "conv2d(" + id + ")", 2, 100});
  return list;
}

inline PlanInput Input(std::vector<PipelineFile> pipelines, std::vector<TargetFile> targets = {Cpu()}) {
  PlanInput input;
  input.folder.pipelines = std::move(pipelines);
  input.folder.targets = std::move(targets);
  for (const char* tool : kTools) input.abi[tool] = "version 1\n";
  input.tools = "../bin";
  input.pipelines = "../pipelines";
  return input;
}

inline std::string Manifest(const PlanInput& input) { return Must(MakePlan(input)).manifest; }

// A network with one task on the host.
inline PlanInput OneTask() {
  PlanInput input = Input({Network("a", {"cpu"})});
  input.lists["a.cpu"] = List({"x"});
  return input;
}

// The first statement (with its bindings, unwrapped) that makes `output`; "" if no statement does.
inline std::string Statement(const std::string& manifest, const std::string& output) {
  const size_t at = manifest.find("\nbuild " + output);
  if (at == std::string::npos) return "";
  size_t end = at + 1;
  do {
    end = manifest.find('\n', end + 1);
  } while (end != std::string::npos && end + 1 < manifest.size() && manifest[end + 1] == ' ');
  std::string text = manifest.substr(at + 1, end - at - 1);
  for (size_t broken; (broken = text.find("$\n    ")) != std::string::npos;) text.erase(broken, 6);
  return text;
}

// A statement with its rule.
inline std::string Edge(const std::string& manifest, const std::string& output) {
  const std::string text = Statement(manifest, output);
  const size_t rule = text.find(": ") + 2;
  const size_t at = manifest.find("\nrule " + text.substr(rule, text.find(' ', rule) - rule) + "\n");
  if (text.empty() || at == std::string::npos) return text;
  return text + manifest.substr(at, manifest.find("\n\n", at) - at) + "\n";
}

inline int Count(const std::string& text, const std::string& part) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace hone::pipeline
