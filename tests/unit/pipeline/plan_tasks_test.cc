// Plans: budgets, records that edges share, donors, numerics, and the files that edges read.
#include "base/file.h"
#include "plan_case.h"

namespace hone::pipeline {
namespace {

TEST(Plan, ATotalIsSharedOutInRoundsThatWaitForEachOther) {
  PlanInput input = Input({Network("a", {"cpu"}), Network("b", {"cpu"})});
  input.folder.pipelines[0].tune.trials_total = 100;
  for (const char* job : {"a.cpu", "b.cpu"}) input.lists[job] = List({"x", "y"});
  const std::string manifest = Manifest(input);
  const std::string first = Statement(manifest, "settings/a.cpu.r1/x.tune.json");
  EXPECT_EQ(first.find("settings/a.cpu.r1/x.tune.json settings/a.cpu.r1/y.tune.json: allocate tasks/a.cpu.tasks.json | "
                       "settings/a.tune.json abi/hone-allocate.txt ||"),
            6u)
      << first;
  for (int r = 2; r <= TuneSettings().rounds; ++r) {
    const std::string now = "a.cpu.r" + std::to_string(r), before = "stamps/a.cpu.r" + std::to_string(r - 1);
    const std::string allocate = Statement(manifest, "settings/" + now + "/x.tune.json");
    EXPECT_THAT(allocate, HasSubstr(before + "/x.done " + before + "/y.done ||"));
    EXPECT_THAT(allocate, HasSubstr("stamps = " + before + "\n"));
    const std::string tune = Statement(manifest, "stamps/" + now + "/y.done");
    EXPECT_THAT(tune, HasSubstr("| settings/" + now + "/y.tune.json abi/hone-tune.txt\n"));
    EXPECT_THAT(tune, HasSubstr("settings = settings/" + now + "/y.tune.json\n"));
    EXPECT_THAT(tune, HasSubstr("db = records/cpu/y.db"));
  }
  const std::string last = "stamps/a.cpu.r" + std::to_string(TuneSettings().rounds) + "/x.done";
  EXPECT_THAT(Statement(manifest, "stamps/a.cpu.tuned"), HasSubstr(last));
  for (const char* output : {"best/a", "report/a", "records-a-cpu"}) {
    EXPECT_THAT(Statement(manifest, output), HasSubstr("stamps/a.cpu.tuned")) << output;
  }
  // The other network is unaffected.
  EXPECT_THAT(Statement(manifest, "stamps/x.cpu.done"), HasSubstr("settings/b.tune.json"));
}

TEST(Plan, AnotherPipelineTakesFromATotal) {
  PlanInput input = Input({Network("a", {"cpu"}), Network("b", {"cpu"})});
  input.folder.pipelines[0].tune.trials_total = 100;
  input.folder.pipelines[1].total_of = "a";
  input.lists["a.cpu"] = List({"x", "y"});
  input.lists["b.cpu"] = List({"y", "z"});
  const std::string manifest = Manifest(input);
  const std::string allocate = Statement(manifest, "settings/a.cpu.r2/x.tune.json");
  EXPECT_THAT(allocate, HasSubstr("settings/a.cpu.r2/y.tune.json settings/a.cpu.r2/z.tune.json: allocate"));
  EXPECT_THAT(allocate, HasSubstr("others = --tasks tasks/b.cpu.tasks.json --settings settings/b.tune.json"));
  EXPECT_THAT(allocate, HasSubstr("stamps/a.cpu.r1/z.done"));
  const std::string tuned = Statement(manifest, "stamps/b.cpu.tuned");
  EXPECT_THAT(tuned, HasSubstr("stamps/a.cpu.r4/y.done stamps/a.cpu.r4/z.done"));
  EXPECT_THAT(tuned, Not(HasSubstr("x.done")));
  EXPECT_THAT(manifest, Not(HasSubstr("stamps/y.cpu.done"))) << "it has no budget of its own";
}

// A library must not be built untuned because the pipeline with the total is missing.
TEST(Plan, APipelineFailsWithTheOneThatHasItsTotal) {
  PlanInput input = Input({Network("a", {"cpu"}), Network("b", {"cpu"})});
  input.folder.pipelines[0].tune.trials_total = 100;
  input.folder.pipelines[1].total_of = "a";
  input.lists["b.cpu"] = List({"y", "z"});
  EXPECT_THAT(Manifest(input), Not(HasSubstr("build stamps/b.cpu.tuned"))) << "a is not extracted yet";
  input.failed = {"a.cpu"};
  const std::string manifest = Manifest(input);
  EXPECT_THAT(manifest, Not(HasSubstr("build stamps/b.cpu.tuned")));
  EXPECT_THAT(Statement(manifest, "failed/b.cpu"), HasSubstr("tasks = tasks/a.cpu.tasks.json"));
}

// hone-tune rejects records that another process is writing.
TEST(Plan, EdgesThatWriteTheSameRecordsHaveOnePoolOfDepthOne) {
  PlanInput input = Input({Network("a", {"cpu"}), Network("b", {"cpu"})});
  input.folder.targets[0].devices = 8;
  input.folder.pipelines[0].tune.trials_total = 100;
  input.lists["a.cpu"] = List({"x", "y"});
  input.lists["b.cpu"] = List({"y", "z"});
  const std::string manifest = Manifest(input);
  EXPECT_THAT(manifest, HasSubstr("pool device-cpu\n  depth = 7\npool device-cpu-shared\n  depth = 1\n"));
  for (const char* stamp : {"stamps/y.cpu.done", "stamps/a.cpu.r1/y.done", "stamps/a.cpu.r4/y.done"}) {
    EXPECT_THAT(Edge(manifest, stamp), HasSubstr("pool = device-cpu-shared")) << stamp;
  }
  for (const char* stamp : {"stamps/z.cpu.done", "stamps/a.cpu.r1/x.done"}) {
    EXPECT_THAT((Edge(manifest, stamp) + "\n"), HasSubstr("pool = device-cpu\n")) << stamp;
  }
}

// Callers that examine edges need not know how the manifest expresses shared settings.
TEST(Plan, StatementsThatTuneHaveTheirSettingsWhateverTheirRule) {
  PlanInput input = Input({Network("a", {"cpu"}), Network("b", {"cpu"})});
  input.folder.pipelines[0].tune.trials_total = 100;
  for (const char* job : {"a.cpu", "b.cpu"}) input.lists[job] = List({"x", "y"});
  const Result<Plan> plan = MakePlan(input);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(Count(plan->manifest, ": tune-1 "), 2) << "both of b";
  int tunes = 0;
  for (const NinjaBuild& build : plan->builds) {
    const bool stamp = build.outputs[0].find("stamps/") == 0 && build.rule != "tuned";
    EXPECT_EQ(build.rule == "tune", stamp) << build.outputs[0];
    if (!stamp) continue;
    ++tunes;
    EXPECT_EQ(build.Binding("settings"), build.implicit_inputs[0]);
  }
  EXPECT_EQ(tunes, 2 + 2 * TuneSettings().rounds);
}

TEST(Plan, ADonorsStampIsAnInputAndItsRecordsAreNamed) {
  PlanInput input = Input({Network("a", {"cpu"})});
  TaskList list{"resnet-18", "cpu -threads=2", "cpu", {}};
  list.tasks.push_back({"y", "dense(f32[1,64], f32[64,64])", 1, 1});
  list.tasks.push_back({"x", "dense(f32[1,64], f32[32,64])", 1, 1});
  input.lists["a.cpu"] = list;
  const std::string before = Manifest(input);
  EXPECT_THAT(before, Not(HasSubstr("--donor")));
  input.folder.pipelines[0].transfer.any = true;
  std::string manifest = Manifest(input);
  EXPECT_EQ(Statement(manifest, "stamps/x"), Statement(before, "stamps/x")) << "the first has nobody to learn from";
  const std::string second = Statement(manifest, "stamps/y");
  EXPECT_THAT(second, HasSubstr("| settings/a.tune.json abi/hone-tune.txt stamps/x.cpu.done\n"));
  EXPECT_THAT(second, HasSubstr("flags = --donor records/cpu/x.db"));
  input.folder.pipelines[0].tune.trials_total = 64;
  manifest = Manifest(input);
  EXPECT_THAT(Statement(manifest, "stamps/a.cpu.r3/y"), HasSubstr("stamps/a.cpu.r3/x.done"));
}

TEST(Plan, WhatAPipelineAsksOfTasksThatItDoesNotHaveIsRefused) {
  TempDir dir = Must(TempDir::Create());
  const std::string path = dir.Join("a.toml");
  const std::string text =
      "network = \"n\"\ntargets = [\"cpu\"]\n[tune]\ntrials_total = 1\ntransfer = [\"x\", \"conv2d-12\"]\n";
  ASSERT_TRUE(WriteFileAtomic(path, text).ok());
  PipelineFile file = Must(ParsePipelineFile(text, path));
  PlanInput input = Input({file});
  EXPECT_TRUE(CheckPipelines(input).ok()) << "nothing is known yet";
  input.lists["a.cpu"] = List({"x", "conv2d-13"});
  EXPECT_EQ(
      CheckPipelines(input).message(),
      path + ":4: `trials_total` is 1, fewer than the tasks (2): each needs one trial at least; raise it (a on cpu)");
  input.folder.pipelines[0].tune.trials_total = 2;
  EXPECT_EQ(CheckPipelines(input).message(), path +
                                                 ":5: `transfer`: no task `conv2d-12`; did you mean `conv2d-13`?; "
                                                 "tasks/*.tasks.json in the work folder list them");
  input.lists["b.cpu"] = List({"conv2d-12"});
  EXPECT_TRUE(CheckPipelines(input).ok());
}

TEST(Plan, Tf32HasStampsOfItsOwnAndReachesWhoPicksAndBuilds) {
  TargetFile gpu = Cpu("gpu");
  gpu.tf32 = true;
  PlanInput input = Input({Network("a", {"gpu"}), Network("b", {"gpu"})}, {gpu});
  for (const char* job : {"a.gpu", "b.gpu"}) input.lists[job] = List({"x"});
  const std::string before = Manifest(input);
  EXPECT_THAT(before, Not(HasSubstr("tf32")));
  input.folder.pipelines[1].tune.tf32 = true;
  EXPECT_TRUE(CheckPipelines(input).ok());
  std::string manifest = Manifest(input);
  EXPECT_EQ(Statement(manifest, "stamps/x.gpu.done"), Statement(before, "stamps/x.gpu.done"));
  EXPECT_THAT(Statement(manifest, "stamps/x.gpu.tf32.done"), HasSubstr("db = records/gpu/x.db"));
  EXPECT_THAT(Statement(manifest, "best/b"), HasSubstr("numerics = --tf32"));
  EXPECT_THAT(Statement(manifest, "out/b.gpu/"), HasSubstr("numerics = --tf32"));
  EXPECT_EQ(Statement(manifest, "out/b.gpu.untuned"), Statement(before, "out/b.gpu.untuned"));
  input.folder.pipelines[1].tune.winograd = 4;
  manifest = Manifest(input);
  EXPECT_THAT(manifest, HasSubstr("stamps/x.gpu.winograd-4.tf32.done"));
  EXPECT_THAT(Statement(manifest, "best/b"), HasSubstr("numerics = --winograd 4 --tf32"));
}

TEST(Plan, Tf32IsRefusedForATargetWithoutIt) {
  TempDir dir = Must(TempDir::Create());
  const std::string path = dir.Join("a.toml");
  const auto check = [&](const std::string& rest) {
    const std::string text = "network = \"n\"\ntargets = [\"cpu\"]\non_request = [\"gpu\"]\n" + rest;
    EXPECT_TRUE(WriteFileAtomic(path, text).ok());
    const PipelineFile file = Must(ParsePipelineFile(text, path));
    TargetFile gpu = Cpu("gpu");
    gpu.tf32 = true;
    return CheckPipelines(Input({file}, {Cpu(), gpu})).message();
  };
  EXPECT_EQ(check("[numerics.gpu]\ntf32 = true\n"), "");
  const std::string why =
      ": `tf32`: the target `cpu` has no TF32 (CUDA from sm_80 on has); set `tf32` in [numerics.TARGET] of targets "
      "that do";
  EXPECT_EQ(check("[numerics]\ntf32 = true\n"), path + ":5" + why);
  EXPECT_EQ(check("[numerics]\nwinograd = 4\n[numerics.cpu]\ntf32 = true\n"), path + ":7" + why);
  EXPECT_EQ(check("[numerics]\ntf32 = true\n[numerics.cpu]\ntf32 = false\n"), "");
}

TEST(Plan, WritesTheFilesThatTheEdgesRead) {
  PlanInput input = OneTask();
  const Plan plan = Must(MakePlan(input));
  std::vector<std::string> paths;
  for (const PlannedFile& file : plan.files) paths.push_back(file.path);
  std::sort(paths.begin(), paths.end());
  const std::vector<std::string> expected = {
      "abi/hone-allocate.txt", "abi/hone-bench.txt",      "abi/hone-build.txt",   "abi/hone-confirm.txt",
      "abi/hone-extract.txt",  "abi/hone-pick-best.txt",  "abi/hone-report.txt",  "abi/hone-tune.txt",
      "settings/a.bench.json", "settings/a.extract.json", "settings/a.tune.json", "targets/cpu.json"};
  EXPECT_EQ(paths, expected);
}

}  // namespace
}  // namespace hone::pipeline
