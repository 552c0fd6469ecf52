#include "command/plan/ninja_view.h"

#include <unordered_map>

#include "base/file.h"
#include "base/json.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "pipeline/manifest.h"

namespace hone::command {

using pipeline::NinjaBuild;

// Ninja's output for a copy of WORK/build.ninja: given the original name, Ninja would first try to update the manifest,
// and stop there without running anything.
static Result<std::string> AskNinja(const std::string& work, const std::vector<std::string>& arguments) {
  HONE_ASSIGN_OR_RETURN(const std::string manifest, ReadFile(JoinPath(work, "build.ninja")));
  // Ninja would wait for a pipe.
  for (const char* name : {".ninja_log", ".ninja_deps"}) HONE_RETURN_IF_ERROR(CheckRegular(JoinPath(work, name)));
  HONE_ASSIGN_OR_RETURN(const TempDir dir, TempDir::Create("hone-plan"));
  const std::string copy = dir.Join("manifest.ninja");
  HONE_RETURN_IF_ERROR(WriteFileAtomic(copy, manifest));
  CommandOptions options{.env = {{"NINJA_STATUS", ""}}, .cwd = work, .timeout_seconds = 600};
  std::vector<std::string> argv = {"ninja", "-f", copy};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  auto result = RunCommand(argv, options);
  if (!result.ok() && result.status().kind() == StatusKind::kNotFound) {
    return Status::NotFound("ninja is not in PATH: install it (packaging/apt-packages.txt)");
  }
  if (!result.ok()) return result.status();
  if (result->status.ok()) return std::move(result->out);
  std::string said = std::string(Trim(result->err + result->out));
  for (const std::string& line : Split(said, '\n')) {
    if (StartsWith(line, "ninja: error: ")) said = line.substr(std::string("ninja: error: ").size());
  }
  const bool alone = StartsWith(said, "unknown target") && said.find("did you mean") == std::string::npos;
  const std::string advice = alone ? fmt::format("; `ninja -C {} -t targets all` lists them", work) : "";
  return Status::Invalid("{}: {}{}", work, Printable(said), advice);
}

// Lines "START END MTIME OUTPUT HASH" with tabs: START and END in ms, MTIME in ns. The last line of an output counts.
static std::map<std::string, LoggedRun> ReadNinjaLog(const std::string& work) {
  std::map<std::string, LoggedRun> logged;
  const Result<std::string> text = ReadFile(JoinPath(work, ".ninja_log"));
  if (!text.ok()) return logged;
  constexpr int64_t kSecond = 1'000'000'000;
  for (const std::string& line : Split(*text, '\n')) {
    const std::vector<std::string> fields = Split(line, '\t');
    if (fields.size() < 5) continue;
    const auto start = ParseInt(fields[0]), end = ParseInt(fields[1]), read = ParseInt(fields[2]);
    if (!start.ok() || !end.ok() || !read.ok() || *end < *start) continue;
    // Rounded like ModifiedSeconds, so that equal times stay equal.
    const int64_t seconds = *read / kSecond, rest = *read % kSecond;
    logged[fields[3]] = {1e-3 * static_cast<double>(*end - *start),
                         static_cast<double>(seconds) + 1e-9 * static_cast<double>(rest)};
  }
  return logged;
}

static std::string TextOf(const std::string& work, const std::string& path) {
  const Result<std::string> text = ReadFile(JoinPath(work, path));
  return text.ok() ? *text : "";
}

const NinjaBuild* NinjaView::Maker(const std::string& path) const {
  const auto found = makers.find(path);
  return found == makers.end() ? nullptr : &builds[found->second];
}

Result<std::map<std::string, std::string>> ReadCommands(const std::string& work) {
  HONE_ASSIGN_OR_RETURN(const std::string text, AskNinja(work, {"-t", "compdb"}));
  HONE_ASSIGN_OR_RETURN(const Json list, ParseJson(text, work + "/build.ninja, by `ninja -t compdb`"));
  std::map<std::string, std::string> commands;
  for (const Json& item : list) {
    if (!item.is_object() || !item.contains("output") || !item.contains("command")) continue;
    commands[item["output"].get<std::string>()] = item["command"].get<std::string>();
  }
  return commands;
}

Result<NinjaView> LookAtWork(const std::string& work, const std::vector<std::string>& targets,
                             std::vector<NinjaBuild> builds) {
  NinjaView view{.builds = std::move(builds)};
  for (size_t i = 0; i < view.builds.size(); ++i) {
    for (const auto* outputs : {&view.builds[i].outputs, &view.builds[i].implicit_outputs}) {
      for (const std::string& output : *outputs) view.makers[output] = i;
    }
  }
  HONE_ASSIGN_OR_RETURN(const auto commands, ReadCommands(work));
  view.logged = ReadNinjaLog(work);
  std::vector<std::string> arguments = {"-n", "-v"};
  arguments.insert(arguments.end(), targets.begin(), targets.end());
  HONE_ASSIGN_OR_RETURN(const std::string plan, AskNinja(work, arguments));
  std::unordered_map<std::string, std::string> outputs;  // by command
  for (const auto& [output, command] : commands) {
    if (!command.empty()) outputs[command] = output;  // aliases have none
  }
  for (const std::string& line : Split(plan, '\n')) {
    const auto output = outputs.find(line);
    if (output != outputs.end()) view.dirty.push_back({view.Maker(output->second), line});
  }
  return view;
}

std::string EdgeName(const NinjaBuild& build) {
  std::string about = build.Binding("job");
  if (build.rule == "tune") {
    about = BaseName(build.inputs.empty() ? build.outputs[0] : build.inputs[0]);
    if (EndsWith(about, ".task.json")) about.resize(about.size() - std::string(".task.json").size());
  }
  if (about.empty()) about = build.outputs[0];
  return ReplaceAll(build.rule, "_", " ") + " " + about;
}

pipeline::TuneInputs ReadTuneInputs(const std::string& work, const NinjaBuild& build) {
  pipeline::TuneInputs inputs;
  inputs.task = TextOf(work, build.inputs[0]);
  inputs.settings = TextOf(work, build.Binding("settings"));
  inputs.abi = TextOf(work, pipeline::AbiPath("hone-tune"));
  for (const std::string& word : SplitWords(build.Binding("flags"))) {
    const std::string name = BaseName(word);
    if (EndsWith(name, ".db")) inputs.donors.push_back(name.substr(0, name.size() - 3));
  }
  return inputs;
}

std::string ReadStamp(const std::string& work, const NinjaBuild& build) { return TextOf(work, build.outputs[0]); }

}  // namespace hone::command
