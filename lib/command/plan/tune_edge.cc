#include "command/plan/tune_edge.h"

#include "base/file.h"
#include "base/text.h"
#include "pipeline/manifest.h"

namespace hone::command {
namespace {

std::string TextOf(const std::string& work, const std::string& path) {
  const Result<std::string> text = ReadFile(JoinPath(work, path));
  return text.ok() ? *text : "";
}

}  // namespace

std::string Binding(const pipeline::NinjaBuild& build, const std::string& name) {
  for (const auto& [key, value] : build.bindings) {
    if (key == name) return value;
  }
  return "";
}

std::string EdgeName(const pipeline::NinjaBuild& build) {
  std::string about = Binding(build, "job");
  if (build.rule == "tune") {
    about = BaseName(build.inputs.empty() ? build.outputs[0] : build.inputs[0]);
    if (EndsWith(about, ".task.json")) about.resize(about.size() - std::string(".task.json").size());
  }
  if (about.empty()) about = build.outputs[0];
  return ReplaceAll(build.rule, "_", " ") + " " + about;
}

pipeline::TuneInputs ReadTuneInputs(const std::string& work, const pipeline::NinjaBuild& build) {
  pipeline::TuneInputs inputs;
  inputs.task = TextOf(work, build.inputs[0]);
  inputs.settings = TextOf(work, Binding(build, "settings"));
  inputs.abi = TextOf(work, pipeline::AbiPath("hone-tune"));
  for (const std::string& word : SplitWords(Binding(build, "flags"))) {
    const std::string name = BaseName(word);
    if (EndsWith(name, ".db")) inputs.donors.push_back(name.substr(0, name.size() - 3));
  }
  return inputs;
}

std::string ReadStamp(const std::string& work, const pipeline::NinjaBuild& build) {
  return TextOf(work, build.outputs[0]);
}

}  // namespace hone::command
