#include "work_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"

namespace hone {

void WorkFolder::SetUp() {
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

void WorkFolder::WritePipeline(const std::string& name, const std::string& network, const std::string& tune,
                               const std::string& more) {
  Write("pipelines/" + name + ".toml",
        fmt::format("network = \"{}\"\ntargets = [\"cpu\"]\n[tune]\n{}\n{}", network, tune, more));
}

void WorkFolder::WritePipeline(const std::string& name, const std::string& network, int trials) {
  WritePipeline(name, network, fmt::format("trials = {}", trials));
}

CommandResult WorkFolder::Plan(const Words& arguments) {
  return Run(Words{Path("bin/hone-plan"), "--tools", Path("bin")} + arguments);
}

void WorkFolder::PlanOk() {
  const CommandResult plan = Plan();
  ExpectOk(plan);
  EXPECT_EQ(plan.err, "");
}

Words WorkFolder::Calls() {
  if (!Has("bin/calls")) return {};
  Words lines = Split(Trim(Read("bin/calls")), '\n');
  Delete("bin/calls");
  std::sort(lines.begin(), lines.end());
  return lines;
}

void WorkFolder::ExpectCalls(const Words& goals, const Words& calls) {
  NinjaOk(goals);
  EXPECT_EQ(Calls(), calls);
}

void WorkFolder::ExpectNoWork(const Words& goals) {
  ExpectHas(NinjaOk(goals), {"ninja: no work to do.\n"});
  EXPECT_EQ(Calls(), Words());
}

int64_t WorkFolder::Trials(const std::string& task) const {
  const std::string db = "work/records/cpu/" + task + ".db";
  const std::string text = Has(db) ? Read(db) : "";
  return std::count(text.begin(), text.end(), '\n');
}

}  // namespace hone
