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
                             const std::vector<std::string>& arguments) {
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
  if (result->status.ok()) return std::move(result->out);
  std::string said = std::string(Trim(result->err + result->out));
  for (const std::string& line : Split(said, '\n')) {
    if (StartsWith(line, "ninja: error: ")) said = line.substr(std::string("ninja: error: ").size());
  }
  return Status::Invalid(fmt::format("{}: {}", work, Printable(said)));
}

// Lines "START END MTIME OUTPUT HASH" with tabs: START and END in ms, MTIME in ns. The last line of an output counts.
std::map<std::string, LoggedRun> ReadNinjaLog(const std::string& work) {
  std::map<std::string, LoggedRun> logged;
  const Result<std::string> text = ReadFile(JoinPath(work, ".ninja_log"));
  if (!text.ok()) return logged;
  constexpr int64_t kSecond = 1'000'000'000;
  for (const std::string& line : Split(*text, '\n')) {
    const std::vector<std::string> fields = Split(line, '\t');
    if (fields.size() < 5) continue;
    const auto start = ParseInt(fields[0]), end = ParseInt(fields[1]), read = ParseInt(fields[2]);
    if (!start.ok() || !end.ok() || !read.ok() || *end < *start) continue;
    // Rounded as ModifiedSeconds rounds, so that equal times stay equal.
    logged[fields[3]] = {1e-3 * static_cast<double>(*end - *start),
                         static_cast<double>(*read / kSecond) + 1e-9 * static_cast<double>(*read % kSecond)};
  }
  return logged;
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
  HONE_ASSIGN_OR_RETURN(const std::string compdb, RunNinja(work, copy, {"-t", "compdb"}));
  HONE_RETURN_IF_ERROR(ReadCommands(compdb, work, &view));
  if (targets.empty()) return view;
  view.logged = ReadNinjaLog(work);
  std::vector<std::string> arguments = {"-n", "-v"};
  arguments.insert(arguments.end(), targets.begin(), targets.end());
  HONE_ASSIGN_OR_RETURN(const std::string plan, RunNinja(work, copy, arguments));
  std::unordered_map<std::string, std::string> outputs;  // by command
  for (const auto& [output, command] : view.commands) {
    if (!command.empty()) outputs[command] = output;  // an alias has none
  }
  for (const std::string& line : Split(plan, '\n')) {
    const auto output = outputs.find(line);
    if (output != outputs.end()) view.dirty.push_back({view.Maker(output->second), line});
  }
  return view;
}

}  // namespace hone::command
