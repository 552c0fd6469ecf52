// A project that has completed the whole chain, so that every tool has good inputs, which the tests damage one at a
// time.
#pragma once

#include "base/text.h"
#include "chain_folder.h"

namespace hone {

// All tests of a suite share one project, as the chain takes seconds.
class ErrorFolder : public ChainFolder {
 protected:
  // Runs the chain of network one with simulated times.
  void SetUp() override {
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
  static void TearDownTestSuite() { kept_.reset(); }

  // The command line of a tool with good inputs and all outputs below "new/"; paths are relative to the project.
  Words Good(const std::string& tool) const {
    const std::string task = Tasks("one").at(0);
    const std::map<std::string, Words> all = {
        {"hone-plan", {"--pipelines", "pipelines", "--work", "new", "--tools", "bin"}},
        {"hone-extract",
         {"--network", "pipelines/models/one.json", "--target", "work/targets/cpu.json", "--graph",
          "new/one.graph.json", "--tasks", "new/one.cpu.tasks.json", "--task-dir", "new"}},
        {"hone-quantise",
         {"--network", "pipelines/models/one.json", "--target", "work/targets/cpu.json", "--graph", "new/q.graph.json",
          "--parameters", "new/q.params"}},
        {"hone-tune",
         {"--task", "work/tasks/" + task + ".task.json", "--settings", "work/settings/one.tune.json", "--db",
          "new/t.db", "--stamp", "new/t.done"}},
        {"hone-pick-best",
         {"--tasks", "work/tasks/one.cpu.tasks.json", "--records", "work/records/cpu", "--out", "new/best.json"}},
        {"hone-build",
         {"--graph", "work/nets/one.graph.json", "--target", "work/targets/cpu.json", "--best",
          "work/best/one.cpu.json", "--out", "new/one"}},
        {"hone-confirm",
         {"--graph", "work/nets/one.graph.json", "--target", "work/targets/cpu.json", "--best",
          "work/best/one.cpu.json", "--out", "new/confirmed.json", "--choice", "new/choice.json"}},
        {"hone-bench",
         {"--lib", "work/out/one.cpu", "--settings", "work/settings/one.bench.json", "--out", "new/bench.json"}},
        {"hone-report",
         {"--bench", "work/bench/one.cpu.json", "--tasks", "work/tasks/one.cpu.tasks.json", "--best",
          "work/best/one.cpu.json", "--records", "work/records/cpu", "--out", "new/report"}}};
    return Words{tool} + all.at(tool);
  }
  // The same with another value for `flag`; adds the flag if it is missing.
  Words With(const std::string& tool, const std::string& flag, const std::string& value) const {
    Words argv = Good(tool);
    const auto found = std::find(argv.begin(), argv.end(), flag);
    if (found == argv.end()) return argv + Words{flag, value};
    *(found + 1) = value;
    return argv;
  }

  CommandResult RunTool(Words argv) {
    argv[0] = Path("bin/" + argv[0]);
    return Run(argv);
  }
  // Runs it and expects a clean error: exit code 1 or 2, nothing on stdout, one line on stderr that begins with the
  // tool's name and contains all `parts`, and no file of the project created, changed or removed.
  void ExpectRefused(const Words& argv, Words parts) {
    SCOPED_TRACE(Join(argv, " "));
    const Words aside = {".log", ".reference"};
    const std::string before = Snapshot("", aside);
    const CommandResult result = RunTool(argv);
    EXPECT_TRUE(result.status.code == 1 || result.status.code == 2);
    hone::ExpectRefused(result, result.status.code, parts + Words{argv[0] + ": "});
    EXPECT_EQ(Snapshot("", aside), before);
  }
  // Runs it and expects success or a clean error. Returns true for success. Removes its output.
  bool ExpectNoCrash(const Words& argv) {
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

 private:
  static inline std::shared_ptr<const TempDir> kept_;
};

}  // namespace hone
