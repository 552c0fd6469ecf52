// hone-plan and hone-allocate with bad input: one line that names the place, an exit code, and no partial files.
#include "work_folder.h"

namespace hone {
namespace {

class Refuse : public WorkFolder {};

// unit/pipeline has the other mistakes of these files.
TEST_F(Refuse, AMalformedFileAndLeavesAnEarlierManifestAlone) {
  const std::string pipeline = "pipelines/beta.toml", target = "pipelines/targets/cpu.toml";
  const std::string trails = "network = \"resnet-34\"\ntargets = [\"cpu\"]\n[tune]\ntrails = 3\n";
  const struct {
    std::string file, text;
    Words parts;
  } rows[] = {
      {pipeline, std::string("\xff\xfe\0\0", 4), {":1:"}},
      {pipeline, trails, {":4: unknown key `trails` in [tune]; did you mean `trials`?"}},
      // Names that hone-plan looks up in other layers.
      {pipeline, "network = \"resnet-19\"\n", {":1: `network`: no built-in", "did you mean `resnet-18`?"}},
      {pipeline, "\n\nnetwork = \"lenet\"\n", {":3: `network`: no built-in", "known: resnet-18, "}},
      {pipeline, ReplaceAll(trails, "trails = 3", "tuner = \"autto\""), {":4: unknown tuner `autto`", "`auto`?"}},
      {target, "kind = \"cup\"\n", {":1: ", "did you mean `cpu`?"}},
  };
  for (const bool planned : {false, true}) {
    if (planned) PlanOk();
    const std::string before = planned ? Snapshot("work") : "";
    WritePipeline("alpha", "resnet-18", planned ? 99 : 4);
    for (const auto& row : rows) {
      SCOPED_TRACE(row.text);
      const std::string good = Read(row.file);
      Write(row.file, row.text);
      ExpectRefused(Plan(), 2, row.parts + Words{row.file + row.parts[0]});
      EXPECT_EQ(Has("work"), planned);
      if (planned) {
        EXPECT_EQ(Snapshot("work"), before);
      }
      Write(row.file, good);
    }
  }
  Write(pipeline, trails);
  ExpectFails(Ninja({"tune-alpha-cpu"}), {pipeline + rows[1].parts[0]});
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
  ExpectFails(
      Ninja({"tune-alpha-cpu"}),
      {"alpha.toml:4: `trials_total` is 1, fewer than the tasks (2): each needs one trial at least; raise it (alpha on "
       "cpu)"});
  WritePipeline("alpha", "resnet-18", "seconds_total = 1.5");
  ExpectRefused(Plan(), 2, {"alpha.toml:4: `seconds_total` is 1.5, fewer than the tasks (2): each needs one second"});
  EXPECT_EQ(Trials("a"), 0);
  WritePipeline("alpha", "resnet-18", "trials_total = 9", "[weights]\naa = 2\n");
  ExpectRefused(Plan(), 2,
                {"pipelines/alpha.toml:6: [weights]: alpha has no task and no operator `aa`; did you mean `a`?"});
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
  expect("work/settings/alpha.tune.json", "5", 2, "--round 5: the rounds are 1 to 4 (work/settings/alpha.tune.json)");
  expect("work/settings/alpha.bench.json", "1", 2, "settings/alpha.bench.json");
  Write("total.json", "{\"version\": 1, \"trials_total\": 9}\n");
  ExpectRefused(Run({HONE_ALLOCATE, "--tasks", "work/tasks/alpha.cpu.tasks.json", "--tasks",
                     "work/tasks/beta.cpu.tasks.json", "--settings", "total.json", "--round", "1", "--stamps", "s",
                     "--out", "new"}),
                2, {"2 of --tasks, but 1 of --settings: each network has one of both"});
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
