// hone-plan and hone-allocate with bad input: one line that names the place, an exit code, and no partial files.
#include "work_folder.h"

namespace hone {
namespace {

class Refuse : public WorkFolder {};

TEST_F(Refuse, AMalformedPipelineAndLeavesAnEarlierManifestAlone) {
  const std::string place = "pipelines/beta.toml:4: unknown key `trails` in [tune]; did you mean `trials`?";
  WritePipeline("beta", "resnet-34", "trails = 3");
  ExpectRefused(Plan(), 2, {place});
  EXPECT_FALSE(Has("work"));
  WritePipeline("beta", "resnet-34", 4);
  PlanOk();
  const std::string before = Read("work/build.ninja"), settings = Read("work/settings/alpha.tune.json");
  WritePipeline("alpha", "resnet-18", 99);
  WritePipeline("beta", "resnet-34", "trails = 3");
  ExpectRefused(Plan(), 2, {place});
  EXPECT_EQ(Read("work/build.ninja"), before);
  EXPECT_EQ(Read("work/settings/alpha.tune.json"), settings);
  ExpectFails(Ninja({"tune-alpha-cpu"}), {place});
}

TEST_F(Refuse, WhatIsWrongInOrWithItsFolders) {
  Write("work/tasks/alpha.cpu.tasks.json", "{\"version\": 1, \"tasks\": [");
  ExpectRefused(Plan(), 2, {"tasks/alpha.cpu.tasks.json:1:"});
  ExpectRefused(Plan({"--pipeline", "x"}), 2, {"--pipelines"});
  Delete("work");
  Write("work", "a file");
  ExpectRefused(Plan(), 1, {"work"});
  EXPECT_EQ(Read("work"), "a file");
  for (const char* name : {"alpha", "beta"}) Delete("pipelines/" + std::string(name) + ".toml");
  ExpectRefused(Plan(), 1, {"pipelines: no pipeline"});
  Delete("pipelines");
  ExpectRefused(Plan(), 1, {"pipelines"});
}

TEST_F(Refuse, ATotalWithFewerTrialsThanTasksAndDonorsThatAreNoTasks) {
  WritePipeline("alpha", "resnet-18", "trials_total = 1");
  PlanOk();  // the tasks are not known yet
  ExpectFails(Ninja({"tune-alpha-cpu"}), {"alpha.toml:4: `trials_total` is 1, but alpha has 2 tasks on cpu"});
  EXPECT_EQ(Trials("a"), 0);
  WritePipeline("alpha", "resnet-18", "transfer = [\"bb\"]");
  ExpectRefused(Plan(), 2, {"pipelines/alpha.toml:4: `transfer`: no task `bb`"});
}

TEST_F(Refuse, ToShareOutWhatIsNotThere) {
  PlanOk();
  NinjaOk({"records-alpha-cpu"});
  const auto expect = [this](const std::string& settings, const std::string& round, int code, const std::string& part) {
    ExpectRefused(Run({HONE_ALLOCATE, "--tasks", "work/tasks/alpha.cpu.tasks.json", "--settings", settings, "--round",
                       round, "--stamps", "work/stamps/alpha.cpu.r1", "--out", "new"}),
                  code, {part});
    EXPECT_FALSE(Has("new"));
  };
  expect("work/settings/alpha.tune.json", "1", 2, "/trials_total is 0, fewer than the tasks (2)");
  expect("work/settings/alpha.tune.json", "5", 2, "--round 5: the rounds are 1 to 4");
  expect("work/settings/alpha.bench.json", "1", 2, "settings/alpha.bench.json");
  Write("total.json", "{\"version\": 1, \"trials_total\": 9}\n");
  expect("total.json", "2", 1, "stamps/alpha.cpu.r1/a.done");
  Write("work/stamps/alpha.cpu.r1/a.done", "a 4\n");
  expect("total.json", "2", 2, "a.done:1");
  Write("work/stamps/alpha.cpu.r1/a.done", "{\"version\": 1}\n");
  expect("total.json", "2", 2, "/budget");
}

TEST_F(Refuse, NothingForAToolThatIsMissingButSaysSo) {
  Delete("bin/hone-bench");
  Write("bin/hone-tune.abi", "");
  ExpectHas(ExpectOk(Plan()).err, {"hone-bench: not there", "hone-tune: does not answer --abi"});
  EXPECT_EQ(Read("work/abi/hone-tune.txt"), "unversioned\n");
  // The pipeline runs as far as the tools exist, and the missing one is named.
  NinjaOk({"best-alpha-cpu"});
  ExpectFails(Ninja({"bench-alpha-cpu"}), {"hone-bench"});
}

}  // namespace
}  // namespace hone
