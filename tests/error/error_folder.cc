#include "error_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "base/text.h"

namespace hone {
namespace {

void Collect(const std::string& folder, const std::string& name, std::map<std::string, std::string>* files) {
  auto entries = ListDir(JoinPath(folder, name));
  if (!entries.ok()) return;
  for (const std::string& entry : *entries) {
    const std::string path = name.empty() ? entry : name + "/" + entry;
    struct stat st{};
    if (lstat(JoinPath(folder, path).c_str(), &st) != 0) continue;
    if (S_ISDIR(st.st_mode)) {
      Collect(folder, path, files);
    } else if (!EndsWith(path, ".log") && !EndsWith(path, ".reference")) {
      (*files)[path] = fmt::format("{} bytes, {}.{:09d}", st.st_size, st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
    }
  }
}

}  // namespace

std::unique_ptr<Project> ErrorFolder::project_;

void Project::Make() {
  ChainFolder::SetUp();
  InventTimes(5);
  ASSERT_TRUE(Plan().status.ok());
  NinjaOk({"tune-one-cpu"});
}

void ErrorFolder::SetUpTestSuite() {
  project_ = std::make_unique<Project>();
  project_->Make();
}

void ErrorFolder::TearDownTestSuite() {
  if (project_) project_->Clear();
  project_.reset();
}

std::vector<std::string> ErrorFolder::Good(const std::string& tool) {
  const std::string task = project_->Tasks("one").at(0);
  const std::map<std::string, std::vector<std::string>> all = {
      {"hone-plan", {"--pipelines", "pipelines", "--work", "new", "--tools", "bin"}},
      {"hone-extract",
       {"--network", "pipelines/models/one.json", "--target", "work/targets/cpu.json", "--graph", "new/one.graph.json",
        "--tasks", "new/one.cpu.tasks.json", "--task-dir", "new"}},
      {"hone-tune",
       {"--task", "work/tasks/" + task + ".task.json", "--settings", "work/settings/one.tune.json", "--db", "new/t.db",
        "--stamp", "new/t.done"}},
      {"hone-pick-best",
       {"--tasks", "work/tasks/one.cpu.tasks.json", "--records", "work/records/cpu", "--out", "new/best.json"}},
      {"hone-build",
       {"--graph", "work/nets/one.graph.json", "--target", "work/targets/cpu.json", "--best", "work/best/one.cpu.json",
        "--out", "new/one"}},
      {"hone-bench",
       {"--lib", "work/out/one.cpu", "--settings", "work/settings/one.bench.json", "--out", "new/bench.json"}},
      {"hone-report",
       {"--bench", "work/bench/one.cpu.json", "--tasks", "work/tasks/one.cpu.tasks.json", "--best",
        "work/best/one.cpu.json", "--records", "work/records/cpu", "--out", "new/report"}},
      {"hone-records", {}}};
  std::vector<std::string> argv = {tool};
  const std::vector<std::string>& arguments = all.at(tool);
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  return argv;
}

std::vector<std::string> ErrorFolder::With(const std::string& tool, const std::string& flag, const std::string& value) {
  std::vector<std::string> argv = Good(tool);
  auto found = std::find(argv.begin(), argv.end(), flag);
  if (found == argv.end()) {
    argv.push_back(flag);
    argv.push_back(value);
  } else {
    *(found + 1) = value;
  }
  return argv;
}

std::string ErrorFolder::Text(const CommandResult& result) {
  return result.status.ToString() + "\n" + result.out + result.err;
}

CommandResult ErrorFolder::RunTool(std::vector<std::string> argv) {
  argv[0] = project_->Path("bin/" + argv[0]);
  return project_->Run(argv);
}

std::map<std::string, std::string> ErrorFolder::Snapshot() {
  std::map<std::string, std::string> files;
  Collect(project_->Path(""), "", &files);
  return files;
}

void ErrorFolder::ExpectRefused(const std::vector<std::string>& argv, const std::vector<std::string>& parts) {
  std::string shown;
  for (const std::string& word : argv) shown += word + " ";
  SCOPED_TRACE(shown);
  const auto before = Snapshot();
  const CommandResult result = RunTool(argv);
  auto after = Snapshot();
  EXPECT_EQ(result.status.signal, 0) << Text(result);
  EXPECT_TRUE(result.status.code == 1 || result.status.code == 2) << Text(result);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << Text(result);
  EXPECT_EQ(result.err.rfind(argv[0] + ": ", 0), 0u) << Text(result);
  for (const std::string& part : parts)
    EXPECT_NE(result.err.find(part), std::string::npos) << part << "\n" << Text(result);
  for (const auto& [path, state] : before) {
    EXPECT_EQ(after.count(path), 1u) << path << " is gone";
    EXPECT_EQ(after[path], state) << path << " was changed";
  }
  for (const auto& [path, state] : after) EXPECT_EQ(before.count(path), 1u) << path << " was left behind";
}

bool ErrorFolder::ExpectNoCrash(const std::vector<std::string>& argv) {
  std::string shown;
  for (const std::string& word : argv) shown += word + " ";
  SCOPED_TRACE(shown);
  const CommandResult result = RunTool(argv);
  EXPECT_EQ(result.status.signal, 0) << Text(result);
  EXPECT_LE(result.status.code, 2) << Text(result);
  if (!result.status.ok()) {
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << Text(result);
    EXPECT_EQ(result.err.rfind(argv[0] + ": ", 0), 0u) << Text(result);
  }
  EXPECT_TRUE(RemoveTree(project_->Path("new")).ok());
  return result.status.ok();
}

}  // namespace hone
