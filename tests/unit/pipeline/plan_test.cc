// Plans: aliases, edges and their inputs, and what each command receives.
#include "plan_case.h"

namespace hone::pipeline {
namespace {

// A bare `ninja` does not include it; requesting it by name gives all of it, with that target's settings.
TEST(Plan, ATargetOnRequestIsTunedByName) {
  TargetFile gpu = Cpu("cuda");
  gpu.device = true;
  PipelineFile a = Network("a", {"cpu"});
  a.on_request = {"cuda"};
  PipelineFile on = a;
  on.on_target = "cuda";
  on.tune.trials = 99;
  a.on = {on};
  PlanInput input = Input({a}, {Cpu(), gpu});
  input.lists["a.cpu"] = List({"x"});
  input.lists["a.cuda"] = List({"y"});
  const Plan plan = Must(MakePlan(input));
  EXPECT_EQ(Statement(plan.manifest, "tune-all:"), "build tune-all: phony tune-a-cpu");
  EXPECT_EQ(Statement(plan.manifest, "report:"), "build report: phony report-a-cpu");
  EXPECT_EQ(Statement(plan.manifest, "tune-all-cuda:"), "build tune-all-cuda: phony tune-a-cuda");
  EXPECT_EQ(Statement(plan.manifest, "tune-a-cuda:"), "build tune-a-cuda: phony report-a-cuda");
  EXPECT_EQ(Statement(plan.manifest, "devices/cuda.json"),
            "build devices/cuda.json: find_device targets/cuda.json || ../bin/hone-tune");
  const std::string tune = Statement(plan.manifest, "stamps/y.cuda.done");
  EXPECT_THAT(tune, HasSubstr("settings/a@cuda.tune.json abi/hone-tune.txt || devices/cuda.json\n"));
  EXPECT_THAT(Statement(plan.manifest, "stamps/x.cpu.done"), HasSubstr("settings/a.tune.json"));
  EXPECT_EQ(Count(plan.manifest, "devices/cpu.json"), 0);
  int settings = 0;
  for (const PlannedFile& file : plan.files) {
    if (file.path != "settings/a@cuda.tune.json") continue;
    ++settings;
    EXPECT_EQ(file.text, TuneSettingsText(on.tune));
  }
  EXPECT_EQ(settings, 1);
}

TEST(Plan, BeforeExtractTheAliasesExistAndWaitForTheList) {
  const std::string manifest = Manifest(Input({Network("a", {"cpu"})}));
  EXPECT_EQ(Statement(manifest, "build.ninja"), "build build.ninja: plan tasks/a.cpu.tasks.json");
  for (const char* verb : {"records", "best", "build", "bench", "report", "tune"}) {
    EXPECT_EQ(Statement(manifest, std::string(verb) + "-a-cpu:"),
              std::string("build ") + verb + "-a-cpu: phony tasks/a.cpu.tasks.json");
  }
  EXPECT_THAT(manifest, Not(HasSubstr("stamps/")));
}

// Its own targets fail at once; an alias of many jobs reaches it after the others are built.
TEST(Plan, ANetworkThatFailedComesBehindAllOthers) {
  PipelineFile a = Network("a", {"cpu"}), b = Network("b", {"cpu"});
  b.on_request = {"cuda"};
  PlanInput input = Input({a, b}, {Cpu(), Cpu("cuda")});
  input.lists["a.cpu"] = List({"x"});
  input.failed = {"b.cpu", "b.cuda"};
  const std::string manifest = Manifest(input);
  EXPECT_EQ(Statement(manifest, "tune-b-cpu:"), "build tune-b-cpu: phony failed/b.cpu");
  EXPECT_EQ(Statement(manifest, "failed/b.cpu:").find("build failed/b.cpu: cannot_extract\n"), 0u);
  EXPECT_EQ(Statement(manifest, "tune-all:"), "build tune-all: phony tune-a-cpu failed/b.cpu.all");
  EXPECT_EQ(Statement(manifest, "report:"), "build report: phony report-a-cpu failed/b.cpu.all");
  EXPECT_EQ(Statement(manifest, "failed/b.cpu.all:").find("build failed/b.cpu.all: cannot_extract || tune-a-cpu\n"),
            0u);
  EXPECT_EQ(Statement(manifest, "tune-all-cpu:"), "build tune-all-cpu: phony tune-a-cpu failed/b.cpu.all-cpu");
  EXPECT_EQ(Statement(manifest, "tune-all-cuda:"), "build tune-all-cuda: phony failed/b.cuda.all-cuda");
  EXPECT_THAT(Statement(manifest, "tasks/b.cpu.tasks.json"), HasSubstr("tasks/b.cpu.tasks.json.extracted"))
      << "tried again each time";
  EXPECT_THAT(Statement(manifest, "tasks/a.cpu.tasks.json"), Not(HasSubstr(".extracted")));
}

TEST(Plan, RulesThatTuneStandWhereTheyAreUsedAndCanBeRead) {
  PlanInput input = Input({Network("a", {"cpu"}, 32), Network("b", {"cpu"}, 128)});
  EXPECT_EQ(Count(Manifest(input), "rule tune\n"), 0) << "no task is known";
  EXPECT_EQ(Count(Manifest(input), "The database is no output"), 0);
  input.lists["a.cpu"] = List({"x", "y"});
  input.lists["b.cpu"] = List({"y", "z"});
  const std::string manifest = Manifest(input);
  EXPECT_EQ(Count(manifest, "rule tune\n"), 0) << "no task has settings of its own";
  EXPECT_EQ(Count(manifest, "rule tune-1\n"), 1);
  EXPECT_EQ(Count(manifest, "\n\nrule tune-2\n"), 1) << "behind the edge of x";
  EXPECT_EQ(Count(manifest, "The database is no output"), 1);
  input.folder.pipelines[0].tune.trials_total = 64;
  const std::string rounds = Manifest(input);
  EXPECT_EQ(Count(rounds, "\n\n# The database is no output"), 1);
  EXPECT_EQ(Count(rounds, "is done.\nrule tune\n"), 1);
  EXPECT_EQ(Count(rounds, "rule tune-1\n"), 1) << "of the other pipeline";
  EXPECT_EQ(Count(rounds, "rule tune-2\n"), 0);
}

TEST(Plan, ATaskOfTwoNetworksIsTunedOnceWithTheLargerBudget) {
  PlanInput input = Input({Network("a", {"cpu"}, 32), Network("b", {"cpu"}, 128)});
  input.lists["a.cpu"] = List({"x", "y"});
  input.lists["b.cpu"] = List({"y", "z"});
  const std::string manifest = Manifest(input);
  EXPECT_EQ(Count(manifest, "\nbuild stamps/"), 3 + 2) << "three tasks, and what stands for those of a job";
  EXPECT_THAT(Statement(manifest, "stamps/x.cpu.done"), HasSubstr("settings/a.tune.json"));
  EXPECT_THAT(Statement(manifest, "stamps/y.cpu.done"), HasSubstr("settings/b.tune.json"));
  EXPECT_THAT(Statement(manifest, "stamps/y.cpu.done"), Not(HasSubstr("settings/a.tune.json")));
  EXPECT_THAT(manifest, HasSubstr("# conv2d(y) : a x2, b x2; largest budget: b\n"));
  // Its file has a single maker, or Ninja would reject the manifest.
  EXPECT_THAT(Statement(manifest, "tasks/a.cpu.tasks.json"), HasSubstr("tasks/y.task.json"));
  EXPECT_THAT(Statement(manifest, "tasks/b.cpu.tasks.json"), Not(HasSubstr("tasks/y.task.json")));
  // Both wait for it.
  for (const char* net : {"a", "b"}) {
    const std::string tuned = std::string("stamps/") + net + ".cpu.tuned";
    EXPECT_THAT(Statement(manifest, tuned), HasSubstr("stamps/y.cpu.done"));
    EXPECT_THAT(Statement(manifest, std::string("best/") + net), HasSubstr(tuned));
  }
}

TEST(Plan, TheSameTaskOnTwoTargetsIsTunedOnEachWithRecordsOfItsOwn) {
  PlanInput input = Input({Network("a", {"cpu", "old"})}, {Cpu(), Cpu("old")});
  input.lists["a.cpu"] = List({"x"});
  input.lists["a.old"] = List({"x"});
  const std::string manifest = Manifest(input);
  EXPECT_THAT(Statement(manifest, "stamps/x.cpu.done"), HasSubstr("db = records/cpu/x.db"));
  EXPECT_THAT(Statement(manifest, "stamps/x.old.done"), HasSubstr("db = records/old/x.db"));
  EXPECT_THAT(Edge(manifest, "stamps/x.old.done"), HasSubstr("pool = device-old"));
  // One edge makes the graph, the other waits for it.
  EXPECT_THAT(Statement(manifest, "tasks/a.cpu.tasks.json"), HasSubstr("| tasks/x.task.json nets/a.graph.json:"));
  EXPECT_THAT(Statement(manifest, "tasks/a.old.tasks.json"), HasSubstr("abi/hone-extract.txt nets/a.graph.json ||"));
}

// It competed with the first tuning edges for the cores and the machine lock.
TEST(Plan, TheUntunedLibraryIsBuiltAfterTuning) {
  PlanInput input = OneTask();
  const std::string untuned = Statement(Manifest(input), "out/a.cpu.untuned/");
  // Ordered, but no reason to build again.
  EXPECT_LT(untuned.find("||"), untuned.find("best/a.cpu.choice.json")) << untuned;
  EXPECT_THAT(untuned, HasSubstr("best/a.cpu.choice.json"));
}

// hone-confirm makes the choice or, if the pipeline asks for that, hone-pick-best. New figures for the same choice
// build and time nothing.
TEST(Plan, TheChoiceIsConfirmedInTheNetworkUnlessNotWanted) {
  PlanInput input = OneTask();
  for (const bool in_network : {true, false}) {
    input.folder.pipelines[0].in_network = in_network;
    const std::string manifest = Manifest(input);
    const std::string figures = in_network ? "best/a.cpu.confirmed.json" : "best/a.cpu.json";
    const std::string maker = Statement(manifest, figures + " | best/a.cpu.choice.json: ");
    EXPECT_THAT(maker, HasSubstr(in_network ? ": confirm best/a.cpu.json" : ": pick_best tasks/a.cpu.tasks.json"));
    EXPECT_EQ(Count(manifest, "hone-confirm "), in_network ? 1 : 0);
    const std::string build = Statement(manifest, "out/a.cpu/");
    EXPECT_LT(build.find("best/a.cpu.choice.json"), build.find("||")) << build;
    EXPECT_THAT(build, Not(HasSubstr(figures)));
    const std::string bench = Statement(manifest, "bench/a.cpu.json");
    EXPECT_LT(bench.find("||"), bench.find(figures)) << bench;
    EXPECT_LT(Statement(manifest, "report/a.cpu/").find(figures), Statement(manifest, "report/a.cpu/").find("||"));
  }
}

// Only hone-pick-best gets it, and no settings file: a changed limit picks again and tunes nothing.
TEST(Plan, ALimitOnMemoryIsAFlagOfPickingAlone) {
  PlanInput input = OneTask();
  EXPECT_EQ(Count(Manifest(input), "--memory"), 0);
  const Plan before = Must(MakePlan(input));
  PipelineFile on = input.folder.pipelines[0];
  on.on_target = "cpu";
  on.shares_settings = true;
  on.memory = 1.25;
  input.folder.pipelines[0].on = {on};
  const Plan after = Must(MakePlan(input));
  EXPECT_EQ(Count(after.manifest, "--memory"), 1);
  EXPECT_THAT(Statement(after.manifest, "best/a.cpu.json"), HasSubstr("\n  flags = --memory 1.25"));
  ASSERT_EQ(before.files.size(), after.files.size());
  for (size_t i = 0; i < before.files.size(); ++i) {
    EXPECT_EQ(before.files[i].path, after.files[i].path);
    EXPECT_EQ(before.files[i].text, after.files[i].text);
  }
}

TEST(Plan, ParametersAreAnInputOfWhoeverReadsThem) {
  PlanInput input = Input({Network("a", {"cpu"})});
  input.folder.pipelines[0].network = "a.json";
  input.folder.pipelines[0].parameters = "a.params";
  input.lists["a.cpu"] = List({"x"});
  const std::string manifest = Manifest(input);
  for (const char* output : {"tasks/a.cpu.tasks.json", "out/a.cpu/", "out/a.cpu.untuned/", "bench/a.cpu.json"}) {
    const std::string statement = Statement(manifest, output);
    EXPECT_THAT(statement, HasSubstr("/a.params ||"));
    EXPECT_THAT(statement, HasSubstr("\n  parameters = --parameter-file "));
  }
  EXPECT_THAT(Statement(manifest, "stamps/x.cpu.done"), Not(HasSubstr("a.params")));
}

TEST(Plan, TheDatabaseIsNeverAnOutputAndTheToolsAreOrderOnly) {
  PlanInput input = OneTask();
  const std::string manifest = Manifest(input);
  size_t at = 0;
  while ((at = manifest.find("\nbuild ", at)) != std::string::npos) {
    const std::string statement = Statement(manifest.substr(at), "");
    const std::string outputs = statement.substr(0, statement.find(": "));
    EXPECT_THAT(outputs, Not(HasSubstr("records/"))) << statement;
    const size_t tool = statement.find("../bin/");
    const size_t order_only = statement.find("||");
    EXPECT_TRUE(tool == std::string::npos || order_only < tool) << statement;
    ++at;
  }
}

TEST(Plan, EveryCommandIsRunByExecWithNothingThatLeavesResultsAlone) {
  PlanInput input = OneTask();
  const std::string manifest = Manifest(input);
  EXPECT_EQ(Count(manifest, "\n  command = "), Count(manifest, "\n  command = exec "));
  EXPECT_GE(Count(manifest, "\n  command = "), 8);
  for (const char* word : {"--log", "--verbose", " -j", "console", "|@", "dyndep"}) {
    EXPECT_THAT(manifest, Not(HasSubstr(word))) << word;
  }
  EXPECT_THAT(manifest, HasSubstr("ninja_required_version = 1.10\n"));
}

TEST(Plan, DevicesOfATargetAreTheDepthOfItsPool) {
  PlanInput input = Input({Network("a", {"cpu"})});
  EXPECT_THAT(Manifest(input), HasSubstr("pool device-cpu\n  depth = 1\n"));
  input.folder.targets[0].devices = 64;
  EXPECT_THAT(Manifest(input), HasSubstr("pool device-cpu\n  depth = 64\n"));
}

TEST(Plan, ANetworkFileIsAnInputOfExtract) {
  PlanInput input = Input({Network("a", {"cpu"})});
  input.folder.pipelines[0].network = "models/net.onnx";
  const std::string statement = Statement(Manifest(input), "tasks/a.cpu.tasks.json");
  EXPECT_THAT(statement, HasSubstr("abi/hone-extract.txt ../pipelines/models/net.onnx "));
  EXPECT_THAT(statement, HasSubstr("network = ../pipelines/models/net.onnx\n"));
}

// An alias without inputs may be missing. Ninja refuses two aliases of a file, however its path is written.
TEST(Plan, FilesOfANetworkMayBeMissingAndHaveOneAliasEach) {
  PlanInput input = Input({Network("a", {"cpu"}), Network("b", {"cpu"})});
  input.folder.pipelines[0].network = "nets/net.json";
  input.folder.pipelines[0].parameters = "values.bin";
  input.folder.pipelines[1].network = "./nets/net.json";
  const std::string manifest = Manifest(input);
  EXPECT_EQ(Count(manifest, "build ../pipelines/nets/net.json: phony\n"), 1);
  EXPECT_EQ(Count(manifest, "build ../pipelines/values.bin: phony\n"), 1);
  EXPECT_EQ(Count(manifest, "net.json: phony"), 1);
}

TEST(Plan, JobsThatWouldMakeTheSameFileOrAliasAreRefused) {
  const Result<Plan> alias = MakePlan(Input({Network("a", {"b-c"}), Network("a-b", {"c"})}, {Cpu("b-c"), Cpu("c")}));
  EXPECT_THAT(alias.status().message(), HasSubstr("-a-b-c'"));
  const Result<Plan> file = MakePlan(Input({Network("a", {"b.c"}), Network("a.b", {"c"})}, {Cpu("b.c"), Cpu("c")}));
  EXPECT_THAT(file.status().message(), HasSubstr("tasks/a.b.c.tasks.json"));
}

// Ninja reloads its manifest only if the text changes; so it must contain extract's inputs.
TEST(Plan, TheManifestChangesWithWhatExtractReadsAndNotWithABudget) {
  const PlanInput input = Input({Network("a", {"cpu"})});
  PlanInput other = input;
  other.folder.targets[0].json = "{\"kind\": \"cpu\", \"threads\": 3}\n";
  EXPECT_NE(Manifest(input), Manifest(other));
  other = input;
  other.abi["hone-extract"] = "version 2\n";
  EXPECT_NE(Manifest(input), Manifest(other));
  other = input;
  other.folder.pipelines[0].tune.trials *= 2;
  other.abi["hone-tune"] = "version 2\n";
  EXPECT_EQ(Manifest(input), Manifest(other));
}

TEST(Plan, InputsOfAModelAreFlagsOfExtract) {
  PlanInput input = Input({Network("a", {"cpu"})});
  input.folder.pipelines[0].network = "a.onnx";
  const std::string before = Manifest(input);
  EXPECT_THAT(before, Not(HasSubstr("--input")));
  input.folder.pipelines[0].inputs = {{"my x", {1, 3, 8, 8}}, {"y", {}}};
  EXPECT_THAT(Statement(Manifest(input), "tasks/a.cpu.tasks.json"), HasSubstr("--input 'my x=1,3,8,8' --input y="));
  EXPECT_NE(Manifest(input).substr(0, before.size()), before);  // the digest of extract's inputs
}

TEST(Plan, AQuantisedNetworkIsCalibratedBesideTuning) {
  PlanInput input = Input({Network("a", {"cpu"}), Network("b", {"cpu"})});
  for (const char* job : {"a.cpu", "b.cpu"}) input.lists[job] = List({"x"});
  EXPECT_THAT(Manifest(input), Not(HasSubstr("quantise")));
  PipelineFile& b = input.folder.pipelines[1];
  b.network = "b.onnx";
  b.inputs = {{"x", {1, 3}}};
  b.quantise = QuantiseTable{.settings = {.samples = 9}, .data = "my data"};
  b.calibration = {"my data", "my data/1.npy"};
  const std::string manifest = Manifest(input);
  const std::string edge = Edge(manifest, "quantised/b.params");
  EXPECT_THAT(edge,
              HasSubstr("build quantised/b.params | quantised/b.report.json: quantise settings/b.quantise.json |"));
  EXPECT_THAT(edge, HasSubstr("../pipelines/b.onnx ../pipelines/my$ data ../pipelines/my$ data/1.npy"));
  EXPECT_THAT(edge, HasSubstr("network = ../pipelines/b.onnx --data '../pipelines/my data'"));
  EXPECT_THAT(edge, HasSubstr("parameters = --parameter-file ../pipelines/b.onnx --input x=1,3"));
  EXPECT_THAT(manifest, HasSubstr("build ../pipelines/my$ data/1.npy: phony\n"));
  // Tuning does not wait for it; whoever reads values does.
  const std::string extract = Statement(manifest, "tasks/b.cpu.tasks.json");
  EXPECT_THAT(extract, HasSubstr("--quantise settings/b.quantise.json"));
  EXPECT_THAT(extract, HasSubstr("--input x=1,3"));
  EXPECT_THAT(extract, Not(HasSubstr("quantised/")));
  EXPECT_THAT(Edge(manifest, "stamps/x.cpu.done"), Not(HasSubstr("quantised/")));
  for (const char* output : {"best/b.cpu.confirmed.json", "out/b.cpu/", "out/b.cpu.untuned", "bench/b"}) {
    const std::string reader = Statement(manifest, output);
    EXPECT_THAT(reader, HasSubstr(" quantised/b.params")) << output;
    EXPECT_THAT(reader, HasSubstr("parameters = --parameter-file quantised/b.params")) << output;
    EXPECT_THAT(reader, Not(HasSubstr("--input"))) << output;
  }
  EXPECT_THAT(Statement(manifest, "out/a.cpu/"), Not(HasSubstr("quantised/")));
  b.quantise->settings.samples = 8;
  EXPECT_TRUE(Manifest(input) == manifest);
  b.quantise->settings.keep = {"fc"};
  EXPECT_FALSE(Manifest(input) == manifest) << "the digest of what extract reads";
}

TEST(Plan, GpusTakeNoQuantisedNetworks) {
  PlanInput input = Input({Network("a", {"gpu"})}, {Cpu("gpu")});
  input.folder.targets[0].device = true;
  Must(CheckPipelines(input));
  input.folder.pipelines[0].quantise = QuantiseTable();
  EXPECT_FALSE(CheckPipelines(input).ok());
}

TEST(Plan, ACapOnNumericsReachesTheTasksAndWhoPicksAndBuilds) {
  PlanInput input = Input({Network("a", {"cpu"}), Network("b", {"cpu"})});
  for (const char* job : {"a.cpu", "b.cpu"}) input.lists[job] = List({"x"});
  const std::string before = Manifest(input);
  EXPECT_THAT(before, Not(HasSubstr("winograd")));
  input.folder.pipelines[1].tune.winograd = 0;
  const std::string manifest = Manifest(input);
  // Each has its own edge and stamp, but the records are the same.
  EXPECT_THAT(Edge(manifest, "stamps/x.cpu.done"), HasSubstr("--settings settings/a.tune.json"));
  const std::string capped = Edge(manifest, "stamps/x.cpu.winograd-off.done");
  EXPECT_THAT(capped, HasSubstr("--settings settings/b.tune.json"));
  EXPECT_THAT(capped, HasSubstr("db = records/cpu/x.db"));
  EXPECT_THAT(Statement(manifest, "stamps/b.cpu.tuned"), HasSubstr("stamps/x.cpu.winograd-off.done"));
  EXPECT_THAT(Statement(manifest, "best/b"), HasSubstr("numerics = --winograd off"));
  EXPECT_THAT(Statement(manifest, "out/b.cpu/"), HasSubstr("numerics = --winograd off"));
  // The other network's edges are unchanged.
  for (const char* output : {"best/a", "out/a.cpu/", "bench/a", "report/a", "bench/b", "out/b.cpu.untuned"}) {
    EXPECT_EQ(Statement(manifest, output), Statement(before, output));
  }
}

}  // namespace
}  // namespace hone::pipeline
