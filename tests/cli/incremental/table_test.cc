// The table "What runs again" of doc/internals/manifest.md, row by row: each change is made in a real work folder, the
// real tools run under a real Ninja with simulated times, and edges and trials are counted. The table is read from the
// document: a row without a change here fails, and so does a change without a row.
#include <fmt/format.h>

#include "base/json.h"
#include "base/rng.h"
#include "base/text.h"
#include "chain_folder.h"
#include "graph/graph.h"
#include "record/sqlite.h"

namespace hone {
namespace {

constexpr int64_t kSmall = 3;  // trials of the first budget

// extract, tune, new trials, pick, build, bench: the cells of a row; and the output of --why.
struct Row {
  std::string extract, tune, trials, pick, build, bench, why;
};

// By their first cells, in lower case without markup.
std::map<std::string, Row> ReadTable() {
  std::map<std::string, Row> rows;
  const std::string text = Must(ReadFile("doc/internals/manifest.md"));
  const size_t at = text.find("\n## What runs again\n");
  const std::string section = text.substr(at, text.find("\n## ", at + 5) - at);
  for (const std::string& line : Split(section, '\n')) {
    if (!StartsWith(line, "|")) continue;
    Words cells;
    for (const std::string& cell : Split(line, '|')) cells.push_back(ReplaceAll(Trim(cell), "`", ""));
    if (cells.size() != 10 || cells[1] == "what changes" || StartsWith(cells[1], "---")) continue;
    rows[cells[1]] = {cells[2], cells[3], cells[4], cells[5], cells[6], cells[7], cells[8]};
  }
  return rows;
}

using Ids = std::function<std::set<std::string>()>;

class TableTest : public ChainFolder {
 protected:
  void SetUp() override {
    ChainFolder::SetUp();
    Delete("pipelines/two.toml");
    rows_ = ReadTable();
    ASSERT_GE(rows_.size(), 15u);
    InventTimes(7);
    WriteNetwork(24);
    WriteYuv();
    WriteFlat("16 8");
    ChainFolder::WriteNetwork("sum", 20, 8);
    WriteSum("trials_total = 90\nrounds = 2");
    ChainFolder::WriteNetwork("plain", 12, 8);
    WriteCalibration(1);
    WriteInt8("");
    Settings();
    ExpectOk(Plan());
    NinjaOk({"tune-all"});
    ExpectNoWork("tune-all");
    // Also checks the batch: a network of images has one; the height of a single image is not a batch.
    ExpectHas(Read("work/bench/one.cpu.json"), {"\"batch\": 1,"});
    ExpectHasNot(Read("work/bench/yuv.cpu.json"), {"\"batch\""});
  }

  // Rows without a change are an error of this test or of the document.
  void TearDown() override {
    for (const auto& [name, row] : rows_) ADD_FAILURE() << "no change was made for the row `" << name << "`";
    ChainFolder::TearDown();
  }

  void WriteNetwork(int classes) { ChainFolder::WriteNetwork("one", classes, 16); }

  // A network with a plugin's operator.
  void WriteYuv() {
    Write("bin/plugins/rgb_to_yuv.so", Must(ReadFile(std::string(HONE_PLUGINS) + "/rgb_to_yuv.so")));
    Write("pipelines/yuv.toml",
          "plugin = \"rgb_to_yuv.so\"\nnetwork = \"rgb_to_yuv(f32[8,16,3])\"\ntargets = [\"cpu\"]\n[tune]\ntrials = 2\n"
          "in_network = false\n[bench]\nprocesses = 1\niterations = 1\n");
  }

  // A network with a sketch of its own.
  void WriteFlat(const std::string& lanes) {
    Write("pipelines/mine.sketch",
          "sketch mine\ndecide lanes " + lanes + "\nsplit out a0 [{lanes}] -> o l\nvectorize out l\n");
    Write("pipelines/flat.toml",
          "network = \"relu(f32[4096])\"\ntargets = [\"cpu\"]\n[tune]\ntrials = 2\nmode = \"sketches\"\n"
          "sketch = \"mine.sketch\"\nin_network = false\n[bench]\nprocesses = 1\niterations = 1\n");
  }

  // A network whose total is shared in rounds.
  void WriteSum(const std::string& total) {
    Write("pipelines/sum.toml",
          "network = \"models/sum.json\"\ntargets = [\"cpu\"]\n[tune]\ntuner = \"random\"\nalternatives = false\n"
          "in_network = false\n" +
              total + "\n[measure]\nfinalists = 0\n[bench]\nprocesses = 1\niterations = 1\n");
  }

  // A network that hone-quantise makes.
  void WriteInt8(const std::string& keys) {
    Write("pipelines/int8.toml",
          "network = \"models/plain.json\"\ntargets = [\"cpu\"]\n[quantise]\ndata = \"images.bin\"\n" + keys +
              "[tune]\ntuner = \"random\"\ntrials = 3\nalternatives = false\nin_network = false\n[measure]\n"
              "finalists = 0\n[bench]\nprocesses = 1\niterations = 1\n");
  }
  void WriteCalibration(uint64_t seed) {
    Rng rng(seed);
    std::vector<float> values(3 * 14 * 14);
    for (float& v : values) v = static_cast<float>(rng.UniformDouble());
    Write("pipelines/images.bin", std::string(reinterpret_cast<const char*>(values.data()), values.size() * 4));
  }

  // The texts of the tasks' settings, by id.
  std::map<std::string, std::string> RoundsOf(const std::string& job, int rounds) const {
    std::map<std::string, std::string> texts;
    for (int round = 1; round <= rounds; ++round) {
      for (const std::string& id : Tasks(job)) {
        texts[id] += Read(fmt::format("work/settings/{}.cpu.r{}/{}.tune.json", job, round, id));
      }
    }
    return texts;
  }

  void Settings() {
    Write("pipelines/one.toml",
          fmt::format("# {}\nnetwork = \"models/one.json\"\nlayout = \"{}\"\ntargets = [\"cpu\"]\n[tune]\ntuner = "
                      "\"{}\"\ntrials = {}\nseed = {}\n"
                      "transfer = {}\nalternatives = false\nin_network = false\n[measure]\ncandidate_seconds = {}\n"
                      "finalists = 2\n[numerics]\nwinograd = {}\n[memory]\nparameters = {}\n[bench]\nprocesses = 1\n"
                      "iterations = {}\nwarmup = 1\n",
                      comment_, layout_, tuner_, trials_, seed_, transfer_, candidate_seconds_, winograd_, memory_,
                      iterations_));
  }

  std::set<std::string> TasksOf(const std::string& word, const std::string& job = "one") const {
    std::set<std::string> ids;
    for (const std::string& id : Tasks(job)) {
      if (StartsWith(id, word)) ids.insert(id);
    }
    return ids;
  }

  // A recorded trial becomes one that the system killed.
  void FailAndForget(const std::string& task) {
    Must(Must(record::Database::Open(Db(task), record::OpenMode::kWrite))
             ->Execute("UPDATE trial SET state = 'failed', median = NULL, error = 'crash', error_text = 'killed' WHERE "
                       "ordinal = 1"));
    const CommandResult result = Tool("hone-records", {"forget", Db(task), "--error", "crash", "--since", "1h"});
    ExpectOk(result);
    ExpectHas(result.out, {" removed, and 1 stamp\n"});
  }

  // Makes the change and compares everything that happens with the row. `its` returns the tasks that the change
  // affects, called afterwards. `job` is the network to examine.
  void Check(const std::string& name, const std::function<void()>& change, const Ids& its = {},
             const std::string& job = "one", const Words& front = {}) {
    SCOPED_TRACE("row `" + name + "` of doc/internals/manifest.md");
    const auto found = rows_.find(name);
    ASSERT_NE(found, rows_.end()) << "the document has no such row";
    const Row row = found->second;
    rows_.erase(found);
    for (const auto& [id, trials] : AllTrials(job)) known_[id] = trials;
    const auto before = known_;
    const std::string choice = Read("work/best/" + job + ".cpu.choice.json"), library = Library(job);
    change();
    const CommandResult why = Plan({"--why", "tune-" + job + "-cpu"});
    ExpectOk(why);
    ExpectHas(why.out, {row.why});
    const CommandResult ninja = Run(front + Words{"ninja", "-C", "work", "tune-" + job + "-cpu"});
    ASSERT_TRUE(ninja.status.ok()) << ninja.out << ninja.err;
    const Words lines = Split(ninja.out, '\n');
    const auto ran = [&](const std::string& line) { return std::count(lines.begin(), lines.end(), line) > 0; };
    const auto yes_or_no = [&](const std::string& cell, bool did, const char* what) {
      EXPECT_TRUE(cell == "yes" || cell == "no") << cell;
      EXPECT_EQ(did, cell == "yes") << what << "\n" << ninja.out << why.out;
    };
    yes_or_no(row.extract, ran("extract " + job + " for cpu"), "extract");
    yes_or_no(row.pick, ran("pick best " + job + ".cpu"), "pick");
    CheckTune(row, lines, before, its, job, ninja.out);
    if (row.build == "if the choice changes") {
      EXPECT_EQ(ran("build " + job + ".cpu"), Read("work/best/" + job + ".cpu.choice.json") != choice) << ninja.out;
    } else {
      yes_or_no(row.build, ran("build " + job + ".cpu"), "build");
    }
    if (row.bench == "if the library changes") {
      EXPECT_EQ(ran("bench " + job + ".cpu"), Library(job) != library) << ninja.out;
    } else {
      yes_or_no(row.bench, ran("bench " + job + ".cpu"), "bench");
    }
    ExpectNoWork("tune-" + job + "-cpu");
  }

 private:
  // The inputs of hone-bench.
  std::string Library(const std::string& job) const {
    std::string bytes;
    for (const char* folder : {"cpu", "cpu.untuned"}) {
      for (const std::string& file : {"lib" + job + ".so", job + ".params"}) {
        bytes += Read(fmt::format("work/out/{}.{}/{}", job, folder, file)) + "\n";
      }
    }
    return bytes;
  }

  void CheckTune(const Row& row, const std::vector<std::string>& lines,
                 const std::map<std::string, std::vector<uint64_t>>& before, const Ids& its, const std::string& job,
                 const std::string& out) {
    std::set<std::string> tuned, all;
    for (const std::string& id : Tasks(job)) all.insert(id);
    for (const std::string& line : lines) {
      const std::string head = "tune tasks/", tail = ".task.json";
      if (StartsWith(line, head)) tuned.insert(line.substr(head.size(), line.size() - head.size() - tail.size()));
    }
    std::set<std::string> expected;
    if (row.tune == "all") expected = all;
    if (row.tune == "its tasks" && its) expected = its();
    EXPECT_TRUE(row.tune == "no" || row.tune == "all" || row.tune == "its tasks") << row.tune;
    EXPECT_EQ(row.tune == "no", expected.empty());
    EXPECT_EQ(tuned, expected) << out;
    const auto now = AllTrials(job);
    for (const auto& [id, trials] : now) {
      const auto was = before.find(id);
      const bool kept = was != before.end() && trials.size() >= was->second.size() &&
                        std::equal(was->second.begin(), was->second.end(), trials.begin());
      const size_t added = trials.size() - (kept ? was->second.size() : 0);
      if (row.trials == "0" || tuned.count(id) == 0) {
        EXPECT_EQ(added, 0u) << id;
      } else if (row.trials == "the budget") {
        EXPECT_EQ(added, static_cast<size_t>(trials_)) << id;
      } else if (row.trials == "the difference") {
        EXPECT_EQ(added, static_cast<size_t>(trials_ - kSmall)) << id;
      } else {
        EXPECT_EQ(row.trials, "what is missing");
        EXPECT_LE(added, static_cast<size_t>(trials_)) << id;
      }
    }
  }

 protected:
  std::map<std::string, Row> rows_;
  std::map<std::string, std::vector<uint64_t>> known_;  // trials before a change, also of tasks that are gone
  std::string comment_ = "a network", layout_ = "blocked", tuner_ = "random", transfer_ = "false", winograd_ = "6",
              memory_ = "100";
  int64_t trials_ = kSmall, seed_ = 1, iterations_ = 1;
  double candidate_seconds_ = 0.01;
};

TEST_F(TableTest, EveryRowIsWhatHappens) {
  Check("the tools are built anew", [&] {
    for (const char* tool : {"hone-plan", "hone-extract", "hone-tune", "hone-pick-best", "hone-build", "hone-bench"}) {
      Touch(std::string("bin/") + tool);
    }
  });
  Check("the launcher", [] {}, {}, "one", {"env", "HONE_LAUNCHER=env HONE_TEST=1"});
  Check("a comment of a pipeline, devices of a target", [&] {
    comment_ = "the same network";
    Settings();
    Write("pipelines/targets/cpu.toml", "kind = \"cpu\"\ndevices = 2\n");
  });
  // The convolution that may learn from the other one is the last; the ids decide which.
  Check("how [quantise] calibrates", [&] { WriteInt8("method = \"kl\"\n"); }, {}, "int8");
  Check("calibration inputs", [&] { WriteCalibration(2); }, {}, "int8");
  Check(
      "layers that [quantise] keeps", [&] { WriteInt8("method = \"kl\"\nkeep = [\"fc\"]\n"); },
      [&] { return TasksOf("dense-", "int8"); }, "int8");
  Check("the scheme of [quantise]", [&] { WriteInt8("scheme = \"power2\"\n"); }, {}, "int8");
  const std::set<std::string> convs = TasksOf("conv2d-");
  ASSERT_EQ(convs.size(), 2u);
  Check(
      "failures, removed by hone-records forget", [&] { FailAndForget(*convs.begin()); },
      [&] { return std::set<std::string>{*convs.begin()}; });
  EXPECT_EQ(Trials(*convs.begin()).size(), static_cast<size_t>(kSmall));
  Check("the budget, raised", [&] { trials_ = 5, Settings(); });
  Check("the budget, lowered", [&] { trials_ = kSmall, Settings(); });
  Check("the seed", [&] { seed_ = 2, Settings(); });
  Check("the tuner", [&] { tuner_ = "grid", Settings(); });
  Check("[measure] but its way of timing", [&] { candidate_seconds_ = 0.02, Settings(); });
  Check(
      "transfer, donors", [&] { transfer_ = "true", Settings(); },
      [&] { return std::set<std::string>{*convs.rbegin()}; });
  Check("a cap on numerics", [&] { winograd_ = "\"off\"", Settings(); });
  Check("a cap on numerics, back again", [&] { winograd_ = "6", Settings(); });
  Check("a limit on memory", [&] { memory_ = "1.2", Settings(); });
  Check("a limit on memory, back again", [&] { memory_ = "100", Settings(); });
  Check(
      "the layout", [&] { layout_ = "nhwc", Settings(); }, [&] { return TasksOf("conv2d-"); });
  Check("the layout, back again", [&] { layout_ = "blocked", Settings(); });
  Check("[bench]", [&] { iterations_ = 2, Settings(); });
  trials_ = 5000;  // far more than any of these measures
  const auto before = RoundsOf("sum", 2);
  Check(
      "share of a total", [&] { WriteSum("trials_total = 90\nrounds = 2\nshare = \"equal\""); },
      [&] {
        std::set<std::string> changed;
        for (const auto& [id, text] : RoundsOf("sum", 2)) {
          if (text != before.at(id)) changed.insert(id);
        }
        return changed;
      },
      "sum");
  Check(
      "rounds of a total", [&] { WriteSum("trials_total = 90\nrounds = 3"); }, {}, "sum");
  Check(
      "a total, in seconds instead of trials",
      [&] {
        InventTimes(7, 0.02);
        WriteSum("seconds_total = 4\nrounds = 3");
      },
      {}, "sum");
  InventTimes(7);
  trials_ = kSmall;
  Check("the measuring protocol's version", [&] { Pretend("protocol=90"); });
  Check("a pass: the code generator's version", [&] { Pretend("protocol=90,codegen=91"); });
  Check(
      "a knob list: a template's version", [&] { Pretend("protocol=90,codegen=91,dense_packed=92"); },
      [&] { return TasksOf("dense-"); });
  Check(
      "one layer of the network", [&] { WriteNetwork(25); }, [&] { return TasksOf("dense-"); });
  Check("the target's features", [&] { Write("pipelines/targets/cpu.toml", "kind = \"cpu\"\nthreads = 1\n"); });
  NinjaOk({"tune-all"});  // the other network, which the earlier changes affect as well
  Check(
      "a plugin, built anew", [&] { Write("bin/plugins/rgb_to_yuv.so", Read("bin/plugins/rgb_to_yuv.so") + "more"); },
      {}, "yuv");
  Check(
      "a sketch of your own", [&] { WriteFlat("4 8"); }, {}, "flat");
}

}  // namespace
}  // namespace hone
