// A temporary project for tests of the manifest: pipelines/, bin/ with hone-plan, hone-allocate and stand-ins for the
// other tools (fake_tool.sh), and work/.
#pragma once

#include <fmt/format.h>
#include <unistd.h>

#include "base/text.h"
#include "test_folder.h"

namespace hone {

class WorkFolder : public TestFolder {
 protected:
  explicit WorkFolder(const std::string& name = "project") : TestFolder(name) {}

  // Networks resnet-18 (tasks a, b) and resnet-34 (b, c); pipelines alpha (the first network) and beta on target cpu, 4
  // trials per task. Not planned yet.
  void SetUp() override {
    const std::string script = Must(ReadFile("tests/cli/manifest/fake_tool.sh"));
    for (const char* tool :
         {"hone-extract", "hone-tune", "hone-pick-best", "hone-confirm", "hone-build", "hone-bench", "hone-report"}) {
      const std::string name = std::string("bin/") + tool;
      WriteProgram(name, script);
      Write(name + ".abi", "version 1\n");
    }
    // These two are the real ones.
    ASSERT_EQ(symlink(HONE_PLAN, Path("bin/hone-plan").c_str()), 0);
    ASSERT_EQ(symlink(HONE_ALLOCATE, Path("bin/hone-allocate").c_str()), 0);
    Write("bin/networks/resnet-18", "a b\n");
    Write("bin/networks/resnet-34", "b c\n");
    Write("bin/speed", "10\n");
    Write("pipelines/targets/cpu.toml", "kind = \"cpu\"\n");
    WritePipeline("alpha", "resnet-18", 4);
    WritePipeline("beta", "resnet-34", 4);
  }

  // pipelines/NAME.toml: `tune` is the table's text, `more` what follows it.
  void WritePipeline(const std::string& name, const std::string& network, const std::string& tune,
                     const std::string& more = "") {
    Write("pipelines/" + name + ".toml",
          fmt::format("network = \"{}\"\ntargets = [\"cpu\"]\n[tune]\n{}\n{}", network, tune, more));
  }
  void WritePipeline(const std::string& name, const std::string& network, int trials) {
    WritePipeline(name, network, fmt::format("trials = {}", trials));
  }

  CommandResult Plan(const Words& arguments = {}) {
    return Run(Words{Path("bin/hone-plan"), "--tools", Path("bin")} + arguments);
  }
  // Without any output on stderr.
  void PlanOk() { EXPECT_EQ(ExpectOk(Plan()).err, ""); }

  // The calls of the tools since the last call of this function, sorted: "tune a 4" is task a, 4 trials measured.
  Words Calls() {
    if (!Has("bin/calls")) return {};
    Words lines = Split(Trim(Read("bin/calls")), '\n');
    Delete("bin/calls");
    std::sort(lines.begin(), lines.end());
    return lines;
  }
  // Runs Ninja and expects these calls.
  void ExpectCalls(const Words& goals, const Words& calls) {
    NinjaOk(goals);
    EXPECT_EQ(Calls(), calls);
  }
  // Expects that Ninja has nothing to do.
  void ExpectNoWork(const Words& goals = {}) {
    ExpectHas(NinjaOk(goals), {"ninja: no work to do.\n"});
    EXPECT_EQ(Calls(), Words());
  }
  // Measured so far; 0 without records.
  int64_t Trials(const std::string& task) const {
    const std::string db = "work/records/cpu/" + task + ".db";
    const std::string text = Has(db) ? Read(db) : "";
    return std::count(text.begin(), text.end(), '\n');
  }
};

}  // namespace hone
