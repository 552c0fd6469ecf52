#include "command/plan/ninja_view.h"

#include <fmt/format.h>

#include <unordered_map>

#include "base/file.h"
#include "base/json.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "pipeline/manifest.h"
#include "pipeline/ninja_reader.h"

namespace hone::command {
namespace {

using pipeline::NinjaBuild;

Result<std::string> RunNinja(const std::string& work, const std::string& manifest,
                             const std::vector<std::string>& arguments, std::string* err) {
  CommandOptions options;
  options.cwd = work;
  options.env = {{"NINJA_STATUS", ""}};
  options.timeout_seconds = 600;
  std::vector<std::string> argv = {"ninja", "-f", manifest};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  auto result = RunCommand(argv, options);
  if (!result.ok() && result.status().kind() == StatusKind::kNotFound) {
    return Status::NotFound("ninja is not in PATH: install it (packaging/apt-packages.txt)");
  }
  if (!result.ok()) return result.status();
  *err = std::move(result->err);
  if (result->status.ok()) return std::move(result->out);
  std::string said = std::string(Trim(*err + result->out));
  for (const std::string& line : Split(said, '\n')) {
    if (StartsWith(line, "ninja: error: ")) said = line.substr(std::string("ninja: error: ").size());
  }
  return Status::Invalid(fmt::format("{}: {}", work, Printable(said)));
}

// The commands of all edges, expanded by Ninja itself.
Status ReadCommands(const std::string& text, const std::string& work, NinjaView* view) {
  HONE_ASSIGN_OR_RETURN(const Json list, ParseJson(text, work + "/build.ninja, by `ninja -t compdb`"));
  for (const Json& item : list) {
    if (!item.is_object() || !item.contains("output") || !item.contains("command")) continue;
    view->commands[item["output"].get<std::string>()] = item["command"].get<std::string>();
  }
  return Status::Ok();
}

}  // namespace

const NinjaBuild* NinjaView::Maker(const std::string& path) const {
  const auto found = makers.find(path);
  return found == makers.end() ? nullptr : &builds[found->second];
}

Result<NinjaView> LookAtWork(const std::string& work, const std::vector<std::string>& targets) {
  NinjaView view;
  const std::string path = JoinPath(work, "build.ninja");
  HONE_ASSIGN_OR_RETURN(const std::string manifest, ReadFile(path));
  HONE_ASSIGN_OR_RETURN(view.builds, pipeline::ReadBuilds(manifest));
  for (size_t i = 0; i < view.builds.size(); ++i) {
    pipeline::ReadTuneRule(&view.builds[i]);
    for (const auto* outputs : {&view.builds[i].outputs, &view.builds[i].implicit_outputs}) {
      for (const std::string& output : *outputs) view.makers[output] = i;
    }
  }
  // Under another name: of its own name Ninja would bring it up to date first, and stop there without running anything.
  HONE_ASSIGN_OR_RETURN(const TempDir dir, TempDir::Create("hone-plan"));
  const std::string copy = dir.Join("manifest.ninja");
  HONE_RETURN_IF_ERROR(WriteFileAtomic(copy, manifest));
  std::string err;
  HONE_ASSIGN_OR_RETURN(const std::string compdb, RunNinja(work, copy, {"-t", "compdb"}, &err));
  HONE_RETURN_IF_ERROR(ReadCommands(compdb, work, &view));
  if (targets.empty()) return view;
  std::vector<std::string> arguments = {"-n", "-v", "-d", "explain"};
  arguments.insert(arguments.end(), targets.begin(), targets.end());
  HONE_ASSIGN_OR_RETURN(const std::string out, RunNinja(work, copy, arguments, &err));
  std::unordered_map<std::string, std::string> outputs;  // by command
  for (const auto& [output, command] : view.commands) outputs[command] = output;
  std::map<const NinjaBuild*, std::vector<pipeline::Explanation>> reasons;
  for (pipeline::Explanation& reason : pipeline::ParseExplanations(err + "\n" + out)) {
    if (const NinjaBuild* build = view.Maker(reason.output)) reasons[build].push_back(std::move(reason));
  }
  for (const std::string& command : pipeline::ParseCommands(out)) {
    const auto output = outputs.find(command);
    if (output == outputs.end()) continue;
    const NinjaBuild* build = view.Maker(output->second);
    DirtyEdge edge{build, command, reasons[build]};
    // A file that may be missing is an alias of nothing in the manifest: its reason is this edge's.
    for (const auto* inputs : {&build->inputs, &build->implicit_inputs}) {
      for (const std::string& input : *inputs) {
        const NinjaBuild* maker = view.Maker(input);
        if (maker == nullptr || maker->rule != "phony" || !maker->inputs.empty()) continue;
        const auto found = reasons.find(maker);
        if (found != reasons.end()) edge.reasons.insert(edge.reasons.end(), found->second.begin(), found->second.end());
      }
    }
    view.dirty.push_back(std::move(edge));
  }
  return view;
}

}  // namespace hone::command
