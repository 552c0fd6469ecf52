#include "error_folder.h"

#include <algorithm>
#include <map>

namespace hone {

void ErrorFolder::SetUp() {
  if (kept_) {
    dir_ = kept_;
    return;
  }
  ChainFolder::SetUp();
  InventTimes(5);
  ExpectOk(Plan());
  NinjaOk({"tune-one-cpu"});
  kept_ = dir_;
}

Words ErrorFolder::Good(const std::string& tool) const {
  const std::string task = Tasks("one").at(0);
  const std::map<std::string, Words> all = {
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
        "work/best/one.cpu.json", "--records", "work/records/cpu", "--out", "new/report"}}};
  return Words{tool} + all.at(tool);
}

Words ErrorFolder::With(const std::string& tool, const std::string& flag, const std::string& value) const {
  Words argv = Good(tool);
  const auto found = std::find(argv.begin(), argv.end(), flag);
  if (found == argv.end()) return argv + Words{flag, value};
  *(found + 1) = value;
  return argv;
}

CommandResult ErrorFolder::RunTool(Words argv) {
  argv[0] = Path("bin/" + argv[0]);
  return Run(argv);
}

void ErrorFolder::ExpectRefused(const Words& argv, Words parts) {
  SCOPED_TRACE(Join(argv, " "));
  const Words aside = {".log", ".reference"};
  const std::string before = Snapshot("", aside);
  const CommandResult result = RunTool(argv);
  EXPECT_TRUE(result.status.code == 1 || result.status.code == 2);
  hone::ExpectRefused(result, result.status.code, parts + Words{argv[0] + ": "});
  EXPECT_EQ(Snapshot("", aside), before);
}

bool ErrorFolder::ExpectNoCrash(const Words& argv) {
  SCOPED_TRACE(Join(argv, " "));
  const CommandResult result = RunTool(argv);
  EXPECT_EQ(result.status.signal, 0) << result.out << result.err;
  EXPECT_LE(result.status.code, 2) << result.out << result.err;
  if (!result.status.ok()) {
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_EQ(result.err.rfind(argv[0] + ": ", 0), 0u) << result.err;
  }
  EXPECT_TRUE(RemoveTree(Path("new")).ok());
  return result.status.ok();
}

}  // namespace hone
