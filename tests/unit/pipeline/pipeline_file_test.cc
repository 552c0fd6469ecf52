#include "pipeline/pipeline_file.h"

#include "refused.h"

namespace hone::pipeline {
namespace {

constexpr const char* kGood = R"(network = "resnet-18"
batch = 2
layout = "nhwc"
targets = ["cuda", "cpu"]
[tune]
tuner = "grid"
trials = 7
seconds = 1.5
early_stop = 3
seed = 9
[measure]
candidate_seconds = 1
timeout_seconds = 2
prune_factor = 0
finalists = 4
[bench]
processes = 2
iterations = 3
warmup = 0
seed = 5
)";

TEST(PipelineFile, ReadsEveryKey) {
  const PipelineFile file = Must(ParsePipelineFile(kGood, "pipelines/my-net.toml"));
  EXPECT_EQ(file.name, "my-net");
  EXPECT_EQ(file.network, "resnet-18");
  EXPECT_EQ(file.batch, 2);
  EXPECT_EQ(file.layout, "nhwc");
  EXPECT_EQ(file.targets, (std::vector<std::string>{"cpu", "cuda"}));
  const TuneSettings tune{"grid", 7, 1.5, 3, 9, {1, 2, 0}, 4};
  EXPECT_EQ(file.tune, tune);
  const BenchSettings bench{2, 3, 0, 5};
  EXPECT_EQ(file.bench, bench);
}

constexpr const char* kMore = R"(network = "m.onnx"
targets = ["cpu"]
[tune]
trials_total = 900
expected_gain = 0.01
like = "autotvm"
mode = "sketches"
transfer = ["t-2", "t-1"]
[measure]
repeat = 5
min_repeat_ms = 2
timeout = 4
cooldown = 0.5
[numerics]
winograd = "off"
[memory]
parameters = 1.25
[input]
"x:0" = [1, 3, 224, 224]
)";

TEST(PipelineFile, ReadsTheKeysForModelsNumericsAndOtherWaysToTune) {
  const PipelineFile file = Must(ParsePipelineFile(kMore, "n.toml"));
  EXPECT_EQ(file.tune.trials_total, 900);
  EXPECT_EQ(file.tune.expected_gain, 0.01);
  EXPECT_EQ(file.tune.like, "autotvm");
  EXPECT_EQ(file.tune.mode, "sketches");
  EXPECT_EQ(file.transfer, (Transfer{false, {"t-1", "t-2"}}));
  EXPECT_EQ(file.tune.measure.number, 4) << "AutoTVM's own";
  EXPECT_EQ(file.tune.measure.repeat, 5);
  EXPECT_EQ(file.tune.measure.min_repeat_ms, 2);
  EXPECT_EQ(file.tune.measure.timeout_seconds, 4);
  EXPECT_EQ(file.tune.measure.cooldown, 0.5);
  EXPECT_EQ(file.tune.winograd, 0);
  EXPECT_EQ(file.memory, 1.25);
  EXPECT_EQ(file.inputs, (InputShapes{{"x:0", {1, 3, 224, 224}}}));
}

TEST(PipelineFile, ReadsHowToQuantise) {
  EXPECT_FALSE(Must(ParsePipelineFile("network = \"n\"\n", "n.toml")).quantise);
  const auto plain = Must(ParsePipelineFile("network = \"n\"\n[quantise]\n", "n.toml")).quantise;
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->settings, quantise::Settings());
  EXPECT_EQ(plain->data, "");
  const auto all = Must(ParsePipelineFile("network = \"n\"\n[quantise]\ndata = \"images\"\nsamples = 9\n"
                                          "method = \"percentile\"\npercentile = 99\nscheme = \"power2\"\n"
                                          "per_channel = false\nbias_correction = false\nkeep = [\"fc\"]\n",
                                          "n.toml"))
                       .quantise;
  EXPECT_EQ(all->data, "images");
  EXPECT_EQ(all->settings, (quantise::Settings{.method = quantise::Method::kPercentile,
                                               .scheme = quantise::Scheme::kPower2,
                                               .percentile = 99,
                                               .samples = 9,
                                               .per_channel = false,
                                               .bias_correction = false,
                                               .keep = {"fc"}}));
}

TEST(PipelineFile, TransferIsATruthOrAList) {
  const auto transfer = [](const std::string& value) {
    return Must(ParsePipelineFile("network = \"n\"\n[tune]\ntransfer = " + value + "\n", "n.toml")).transfer;
  };
  EXPECT_EQ(transfer("true"), (Transfer{true, {}}));
  EXPECT_EQ(transfer("false"), Transfer());
  EXPECT_EQ(transfer("[\"a\"]"), (Transfer{false, {"a"}}));
}

TEST(PipelineFile, EverythingButTheNetworkHasADefault) {
  const PipelineFile file = Must(ParsePipelineFile("network = \"n\"\n", "n.toml"));
  EXPECT_EQ(file.targets, std::vector<std::string>{"cpu"});
  EXPECT_EQ(file.batch, 1);
  EXPECT_EQ(file.layout, "") << "that of the network";
  EXPECT_EQ(file.tune, TuneSettings());
  EXPECT_EQ(file.bench, BenchSettings());
  EXPECT_EQ(file.memory, 0) << "no limit";
}

// Each with the line of the mistake, counted by hand.
TEST(PipelineFile, NamesFileAndLineOfAMistake) {
  const Bad after_two_lines[] = {
      {"[tune]\ntrails = 3\n", "4: unknown key `trails` in [tune]; did you mean `trials`?"},
      {"bathc = 3\n", "3: unknown key `bathc`; did you mean `batch`?"},
      {"[measures]\n", "3: unknown key `measures`; did you mean `measure`?"},
      {"\n[tune]\ntrials = \"7\"\n", "5: `trials` must be a whole number"},
      {"[tune]\ntrials = 0\n", "4: `trials` must be at least 1, is 0"},
      {"[tune]\ntrials = 1e3\n", "4: `trials` must be a whole number"},
      {"[tune]\ntrials = 99999999999999999999\n", "4: "},
      {"[tune]\nseconds = -1\n", "4: `seconds` must be at least 0, is -1"},
      {"[tune]\nseconds = nan\n", "4: seconds: not a finite number"},
      {"[tune]\nseed = -1\n", "4: `seed` must be at least 0"},
      {"[measure]\nfinalists = -1\n", "4: `finalists` must be at least 0"},
      {"[measure]\ncandidate_seconds = 0\n", "4: `candidate_seconds` must be above 0"},
      {"[measure]\nprune_factor = 0.5\n", "4: `prune_factor` must be at least 1"},
      {"[bench]\niterations = nan\n", "4: iterations: not a finite number"},
      {"[bench]\n# a comment\nprocesses = 0\n", "5: `processes` must be at least 1"},
      {"[numerics]\nwinograd = 3\n", "4: `winograd` must be \"off\", 2, 4 or 6, is 3"},
      {"[numerics]\nwinograd = 0\n", "4: `winograd` must be \"off\", 2, 4 or 6, is 0"},
      {"[numerics]\nwinograd = \"of\"\n", "4: `winograd` must be \"off\", 2, 4 or 6, is 'of'"},
      {"[numerics]\nwinograd = false\n", "4: `winograd` must be \"off\", 2, 4 or 6"},
      {"[numerics]\nwinogard = 4\n", "4: unknown key `winogard` in [numerics]; did you mean `winograd`?"},
      {"[memory]\nparameters = 0.9\n", "4: `parameters` must be from 1 to 1000, is 0.9"},
      {"[memory]\nparameters = 0\n", "4: `parameters` must be from 1 to 1000, is 0"},
      {"[memory]\nparameters = 1e9\n", "4: `parameters` must be from 1 to 1000"},
      {"[memory]\nparameters = nan\n", "4: parameters: not a finite number"},
      {"[memory]\nparameters = \"1.25\"\n", "4: `parameters` must be a number"},
      {"[memory]\nparameter = 2\n", "4: unknown key `parameter` in [memory]; did you mean `parameters`?"},
      {"[quantise]\nmethod = \"percentle\"\n", "4: `method`: unknown method 'percentle'; did you mean `percentile`?"},
      {"[quantise]\nscheme = \"uniform\"\n", "4: `scheme`: unknown scheme 'uniform'; known: affine,"},
      {"[quantise]\nsampels = 3\n", "4: unknown key `sampels` in [quantise]; did you mean `samples`?"},
      {"[quantise]\nsamples = -3\n", "4: `samples` must be "},
      {"[quantise]\n\npercentile = 10\n", "5: `percentile` must be above 50"},
      {"[quantise]\ndata = \"\"\n", "4: `data` is not a path"},
      {"[tune]\nlike = \"autotmv\"\n", "4: `like` knows no `autotmv`; did you mean `autotvm`?"},
      {"[tune]\ntuner = \"ga\"\nlike = \"ansor\"\n", "5: `like` \"ansor\" names the tuner"},
      {"[tune]\nlike = \"\"\n", "4: `like` is empty; known: ansor, autotvm"},
      {"[tune]\nsketch = 3\n", "4: `sketch` must be a path or a list of paths"},
      {"[tune]\nsketch = \"\"\n", "4: `sketch` is not a path"},
      {"[tune]\nmodel = \"\"\n", "4: `model` is not a path"},
      {"[tune]\nmodel = [\"a\"]\n", "4: `model`"},
      {"[tune]\nsketch = [\"a\", \"a\"]\n", "4: `sketch` names 'a' twice"},
      {"[tune]\nmode = \"template\"\n", "4: `mode` knows no `template`; did you mean `templates`?"},
      {"[tune]\nexpected_gain = 1.5\n", "4: `expected_gain` must be at most 1"},
      {"[tune]\ntrials = 3\ntrials_total = 9\n", "5: `trials` and `trials_total` exclude each other"},
      {"[tune]\ntrials = 3\nseconds_total = 9\n", "5: `trials` and `seconds_total` exclude each other"},
      {"[tune]\ntrials_total = 3\nseconds_total = 9\n", "5: `trials_total` and `seconds_total` exclude each other"},
      {"[tune]\nseconds = 3\nseconds_total = 9\n", "5: `seconds` and `seconds_total` exclude each other"},
      {"[tune]\nseconds_total = 0\n", "4: `seconds_total` must be above 0, is 0"},
      {"[tune]\ntrials_total = 9\nrounds = 0\n", "5: `rounds` must be at least 1, is 0"},
      {"[tune]\ntrials_total = 9\nrounds = 65\n", "5: `rounds` must be at most 64, is 65"},
      {"[tune]\ntrials_total = 9\nround = 3\n", "5: unknown key `round` in [tune]; did you mean `rounds`?"},
      {"[tune]\ntrials_total = 9\nshare = \"gian\"\n", "5: `share` knows no `gian`; did you mean `gain`?"},
      {"[tune]\ntrials_total = 9\nshare = \"fair\"\n",
       "5: `share` knows no `fair`; known: gain, time, gradient, equal"},
      {"[tune]\nshare = \"gain\"\n", "4: `share` goes with `trials_total` or `seconds_total`; add one of them"},
      {"[tune]\ntarget_ms = 3\n", "4: `target_ms` goes with `trials_total` or `seconds_total`; add one of them"},
      {"[tune]\ntrials_total = 9\ntarget_ms = -1\n", "5: `target_ms` must be at least 0, is -1"},
      {"[tune]\ntrials_total = 9\n[weights]\nconv2d = -1\n", "6: `conv2d` must be from 0 to 1000, is -1"},
      {"[tune]\ntrials_total = 9\n[weights]\nconv2d = \"2\"\n", "6: `conv2d` must be a number"},
      {"[weights]\nconv2d = 2\n", "3: [weights] goes with `trials_total` or `seconds_total`; add one of them"},
      {"[tune]\ntrials_total = 9\nobjective = \"mean\"\n", "5: `objective` knows no `mean`"},
      {"[tune]\nobjective = \"geomean\"\n",
       "4: `objective` goes with `trials_total` or `seconds_total`; add one of them"},
      {"[tune]\ntotal_of = \"\"\n", "4: `total_of` must be the name of a pipeline"},
      {"[tune]\ntotal_of = \"a\"\ntrials = 3\n",
       "5: `trials` stands in the pipeline that `total_of` names; remove it here"},
      {"[tune]\nrounds = 3\n", "4: `rounds` goes with `trials_total` or `seconds_total`; add one of them"},
      {"[tune]\ntrials_total = 0\n", "4: `trials_total` must be at least 1, is 0"},
      {"[tune]\ntransfer = 1\n", "4: `transfer` must be true, false or a list"},
      {"[tune]\ntransfer = []\n", "4: `transfer` is empty"},
      {"[tune]\ntransfer = [\"a\", \"a\"]\n", "4: `transfer` names 'a' twice"},
      {"[tune]\ntransfer = [\"a b\"]\n", "4: `transfer`: 'a b' is not a task id"},
      {"[measure]\nnumber = 0\n", "4: `number` must be at least 1"},
      {"[measure]\nmin_repeat_ms = 3\n", "4: `min_repeat_ms` goes with `number`"},
      {"[measure]\nnumber = 3\ncooldown = -1\n", "5: `cooldown` must be at least 0"},
      {"[measure]\nrepeat = 3\nprune_factor = 2\n", "5: `repeat` and `prune_factor` exclude each other"},
      {"[measure]\ntimeout = 3\ntimeout_seconds = 2\n", "4: `timeout_seconds` and `timeout` exclude each other"},
      {"[measure]\ntimeout = 0\n", "4: `timeout` must be above 0"},
      {"[input]\nx = [1, 2]\n", "3: [input] belongs to a model file"},
      {"tune = 3\n", "3: `tune` must be a table: [tune]"},
  };
  ExpectRefused(ParsePipelineFile, "p/n.toml", "network = \"n\"\ntargets = [\"cpu\"]\n", after_two_lines);
  const Bad whole[] = {
      {"netwrok = \"n\"\ntargets = [\"cpu\"]\n", "1: unknown key `netwrok`; did you mean `network`?"},
      {"network = \"n.onnx\"\ntargets = [\"cpu\"]\n[input]\nx = 3\n", "4: `x` must be a shape"},
      {"network = \"n.onnx\"\ntargets = [\"cpu\"]\n[input]\nx = [1, -1]\n", "4: `x`: an extent must be from 1"},
      {"network = \"n.onnx\"\ntargets = [\"cpu\"]\n[input]\n\"a=b\" = [1]\n",
       "4: `a=b` cannot be the name of an input"},
      {"network = \"n\"\nparameters = \"p\"\ntargets = [\"cpu\"]\n", "2: `parameters` belong to a network file"},
      {"network = \"n.json\"\nparameters = \"\"\ntargets = [\"cpu\"]\n", "2: `parameters` is not a path"},
      {"network = 3\ntargets = [\"cpu\"]\n", "1: `network` must be a text"},
      {"targets = [\"cpu\"]\n", "1: `network` is missing"},
      {"network = \"n\"\ntargets = []\n", "2: `targets` must name at least one target"},
      {"network = \"n\"\ntargets = \"cpu\"\n", "2: `targets` must be a list of texts"},
      {"network = \"n\"\ntargets = [1]\n", "2: `targets` must be a list of texts"},
      {"network = \"n\"\ntargets = [\"cpu\",\n\"cpu\"]\n", "2: `targets` names 'cpu' twice"},
      {"network = \"n\"\ntargets = [\"../cpu\"]\n", "2: `targets`: '../cpu' is not a target name"},
      {"network = \"--help\"\ntargets = [\"cpu\"]\n", "1: `network` is neither"},
      {"network = \"m.onnx\"\nbatch = 4\n",
       "2: `batch` is for built-in networks; a model's stands in the shapes of [input]"},
      {"network = \"g.json\"\nbatch = 4\n", "2: `batch` is for built-in networks; this network has its own"},
      {"network = \"n\"\nbatch = 0\ntargets = [\"cpu\"]\n", "2: `batch` must be from 1 to"},
      {"network = \"n\"\nlayout = \"nwhc\"\n", "2: `nwhc` is no layout; did you mean `nhwc`?"},
      {"network = \"n\"\nlayout = \"\"\n", "2: `` is no layout; known: blocked, nchw, nhwc"},
      {"network = \"n\"\nlayout = 2\n", "2: `layout` must be"},
      {"network = \"n\"\nbatch = 1.0\ntargets = [\"cpu\"]\n", "2: `batch` must be a whole number"},
      {"network = \"n\"\nbatch = 1979-05-27\ntargets = [\"cpu\"]\n", "2: dates and times"},
      {"network = \"n\"\nbatch = 1\nbatch = 2\ntargets = [\"cpu\"]\n", "3: "},
      {"network = \"n\ntargets = [\"cpu\"]\n", "1: "},
      {"network = \n", "1: "},
  };
  ExpectRefused(ParsePipelineFile, "p/n.toml", "", whole);
}

// A target's own tables change only their keys; all others come from [tune].
TEST(PipelineFile, TablesOfATargetHoldThereAlone) {
  const char* text =
      "network = \"n\"\ntargets = [\"cpu\"]\non_request = [\"opencl\", \"cuda\"]\n"
      "[tune]\ntrials_total = 90\nseed = 4\n[tune.cuda]\ntrials = 7\n[bench.cuda]\niterations = 3\n"
      "[measure]\nnumber = 5\n[measure.cuda]\nprune_factor = 3\n[numerics.opencl]\nwinograd = \"off\"\n";
  const PipelineFile file = Must(ParsePipelineFile(text, "p/n.toml"));
  EXPECT_EQ(file.AllTargets(), (std::vector<std::string>{"cpu", "cuda", "opencl"}));
  EXPECT_FALSE(file.OnRequest("cpu"));
  EXPECT_TRUE(file.OnRequest("cuda"));
  EXPECT_EQ(&file.For("cpu"), &file);
  EXPECT_EQ(file.SettingsName(), "n");
  const PipelineFile& cuda = file.For("cuda");
  EXPECT_EQ(cuda.SettingsName(), "n@cuda");
  EXPECT_EQ(cuda.tune.trials, 7);
  EXPECT_EQ(cuda.tune.trials_total, 0);
  EXPECT_EQ(cuda.tune.seed, 4u);
  EXPECT_EQ(cuda.tune.winograd, 6);
  EXPECT_EQ(cuda.tune.measure.number, 0);
  EXPECT_EQ(cuda.tune.measure.prune_factor, 3);
  EXPECT_EQ(cuda.bench.iterations, 3);
  EXPECT_EQ(cuda.bench.processes, BenchSettings().processes);
  const PipelineFile& opencl = file.For("opencl");
  EXPECT_EQ(opencl.tune.trials_total, 90);
  EXPECT_EQ(opencl.tune.winograd, 0);
  EXPECT_EQ(opencl.tune.measure.number, 5);
  EXPECT_EQ(file.tune.winograd, 6);
  EXPECT_EQ(file.bench, BenchSettings());
}

// The budgets of one task, of all in trials and of all in seconds: a target's own replaces the general one.
TEST(PipelineFile, ABudgetOfATargetReplacesTheGeneralOne) {
  const std::string head = "network = \"n\"\ntargets = [\"cpu\"]\n[tune]\n";
  const auto cpu = [&](const std::string& general, const std::string& own) {
    return Must(ParsePipelineFile(head + general + "\n[tune.cpu]\n" + own + "\n", "p/n.toml")).For("cpu").tune;
  };
  const TuneSettings seconds = cpu("trials_total = 9\nrounds = 7", "seconds_total = 30");
  EXPECT_EQ(seconds.trials_total, 0);
  EXPECT_EQ(seconds.seconds_total, 30);
  EXPECT_EQ(seconds.trials, kMostTrials);
  EXPECT_EQ(seconds.rounds, 7);
  const TuneSettings trials = cpu("seconds_total = 30\nrounds = 7", "trials = 5");
  EXPECT_FALSE(trials.HasTotal());
  EXPECT_EQ(trials.trials, 5);
  const TuneSettings mean = cpu("trials_total = 9\nobjective = \"geomean\"", "trials_total = 8");
  EXPECT_EQ(mean.objective, "geomean");
  EXPECT_EQ(WithoutTotal(mean), WithoutTotal(cpu("trials_total = 9", "trials_total = 8"))) << "no task is tuned again";
  EXPECT_FALSE(cpu("trials_total = 9", "total_of = \"other\"").HasTotal()) << "the other's";
  EXPECT_EQ(cpu("total_of = \"other\"", "trials = 7").trials, 7);
  const TuneSettings total = cpu("seconds_total = 30", "trials_total = 50");
  EXPECT_EQ(total.seconds_total, 0);
  EXPECT_EQ(total.trials, TuneSettings().trials);
  EXPECT_EQ(Must(ParseTuneSettings(TuneSettingsText(seconds), "s")), seconds);
  EXPECT_EQ(WithoutTotal(seconds).rounds, TuneSettings().rounds);
  EXPECT_FALSE(WithoutTotal(seconds).HasTotal());
}

// It is not in a settings file, so a target with its own limit is tuned by the edges and settings of the others.
TEST(PipelineFile, AMemoryLimitOfOneTargetLeavesItsSettingsAlone) {
  const std::string head = "network = \"n\"\ntargets = [\"cpu\"]\non_request = [\"cuda\"]\n[memory]\nparameters = 3\n";
  const PipelineFile file = Must(ParsePipelineFile(head + "[memory.cpu]\nparameters = 1.5\n", "p/n.toml"));
  EXPECT_EQ(file.For("cpu").memory, 1.5);
  EXPECT_EQ(file.For("cpu").SettingsName(), "n");
  EXPECT_EQ(file.For("cuda").memory, 3);
  EXPECT_EQ(&file.For("cuda"), &file);
  const PipelineFile both =
      Must(ParsePipelineFile(head + "[memory.cpu]\nparameters = 1.5\n[tune.cpu]\ntrials = 3\n", "p/n.toml"));
  EXPECT_EQ(both.For("cpu").SettingsName(), "n@cpu");
  EXPECT_EQ(both.For("cpu").memory, 1.5);
}

TEST(PipelineFile, NamesTheLineOfAMistakeInATargetsTable) {
  const std::string head = "network = \"n\"\ntargets = [\"cpu\"]\non_request = [\"cuda\"]\n";
  const Bad cases[] = {
      {"[tune.cudda]\ntrials = 3\n", "4: unknown key `cudda` in [tune]; did you mean `cuda`?"},
      {"[tune.cuda]\ntrails = 3\n", "5: unknown key `trails` in [tune.cuda]; did you mean `trials`?"},
      {"[tune.cuda]\ntrials = 0\n", "5: `trials` must be at least 1, is 0"},
      {"[tune.cuda]\ntrials = 3\ntrials_total = 9\n", "6: `trials` and `trials_total` exclude each other"},
      {"[tune.cuda]\nalternatives = false\n", "5: `alternatives` holds for all targets: write it in [tune]"},
      {"[bench.cuda]\nprocesses = 0\n", "5: `processes` must be at least 1, is 0"},
      {"[numerics.cuda]\nwinograd = 3\n", "5: `winograd` must be"},
      {"[memory.cuda]\nparameters = 0.5\n", "5: `parameters` must be from 1 to 1000, is 0.5"},
      {"[tune]\ncuda = 3\n", "5: unknown key `cuda` in [tune]"},
  };
  ExpectRefused(ParsePipelineFile, "p/n.toml", head, cases);
  EXPECT_EQ(ParsePipelineFile("network = \"n\"\ntargets = [\"cpu\"]\non_request = [\"cpu\"]\n", "p/n.toml")
                .status()
                .message(),
            "p/n.toml:3: `targets` and `on_request` both name 'cpu'");
}

TEST(PipelineFile, RefusesNamesThatAreNoJobNames) {
  for (const char* path : {"p/my net.toml", "p/.toml", "p/-n.toml", "p/a$b.toml", "p/\xc3\xa4.toml"}) {
    EXPECT_THAT(ParsePipelineFile(kGood, path).status().message(), StartsWith(path));
  }
}

TEST(PipelineFile, AnyBytesAreHandled) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  EXPECT_FALSE(ParsePipelineFile(bytes, "n.toml").ok());
  EXPECT_FALSE(ParsePipelineFile("", "n.toml").ok());
  const std::string good = kGood;
  for (size_t n = 0; n < good.size(); ++n) {
    const Result<PipelineFile> file = ParsePipelineFile(good.substr(0, n), "n.toml");
    if (file.ok()) continue;
    EXPECT_EQ(file.status().message().find("n.toml:"), 0u);
  }
}

TEST(PipelineFile, TheEndingOfANetworkFileMayHaveCapitals) {
  const PipelineFile file = Must(ParsePipelineFile("network = \"My.ONNX\"\n[input]\nx = [1, 2]\n", "p/n.toml"));
  EXPECT_EQ(file.inputs.size(), 1u);
  for (const char* name : {"My.ONNX", "my (1).Onnx", "A.JSON"}) EXPECT_TRUE(IsNetworkFile(name)) << name;
  EXPECT_FALSE(IsNetworkFile("onnx"));
}

}  // namespace
}  // namespace hone::pipeline
