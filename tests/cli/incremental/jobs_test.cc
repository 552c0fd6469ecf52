// hone-plan --export-jobs and --run-job: what a cluster's arrays run, without a cluster (tests/device/slurm has one).
#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "chain_folder.h"

namespace hone {
namespace {

class JobsTest : public ChainFolder {
 protected:
  void SetUp() override {
    ChainFolder::SetUp();
    Delete("pipelines/two.toml");
    WritePipeline("one", 4, "random");
    InventTimes(5);
  }

  CommandResult Export(const Words& targets = {"records-one-cpu", "best-one-cpu"}) {
    Words flags = {"--export-jobs", "jobs.jsonl"};
    for (const std::string& target : targets) flags = flags + Words{"--target", target};
    return Plan(flags);
  }
  // The printed text for a list that can be made.
  std::string ExportOk(const Words& targets = {"records-one-cpu", "best-one-cpu"}) {
    return ExpectOk(Export(targets)).out;
  }
  CommandResult RunJob(const std::string& number) { return Plan({"--run-job", "jobs.jsonl", "--job", number}); }
  std::vector<Json> Jobs() const {
    std::vector<Json> jobs;
    for (const std::string& line : Split(Trim(Read("jobs.jsonl")), '\n')) jobs.push_back(Json::parse(line));
    return jobs;
  }
};

TEST_F(JobsTest, ArraysDoTheTuningAndNinjaTheRest) {
  ExpectRefused(Export(), 2, {"ninja -C work build.ninja"});
  NinjaOk({"build.ninja"});

  const std::string first = ExportOk();
  std::vector<Json> jobs = Jobs();
  ASSERT_EQ(jobs.size(), 6u) << first;  // three tasks, their alternatives, choosing, and confirming in the network
  EXPECT_THAT(first, StartsWith("1 1-3 3 jobs: tune; about "));
  ExpectHas(first, {"\nninja 4-6 3 jobs: confirm, pick best, tuned; about "});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(jobs[i]["job"], i + 1);
    EXPECT_EQ(jobs[i]["stage"], 1);
    EXPECT_TRUE(jobs[i]["after"].empty());
    EXPECT_GT(jobs[i]["seconds"], 0.0);
    EXPECT_EQ(jobs[i]["argv"][1], "--task");
  }
  EXPECT_EQ(jobs[3]["stage"], 0);
  EXPECT_EQ(jobs[3]["after"], Json({1, 2, 3}));

  for (const char* number : {"1", "3"}) ExpectOk(RunJob(number));
  // Work of an array counts although Ninja has not seen it: only the rest is listed.
  ExportOk();
  ASSERT_EQ(Jobs().size(), 4u);
  EXPECT_EQ(Jobs()[0]["outputs"], jobs[1]["outputs"]);
  ExpectOk(RunJob("1"));
  const auto trials = AllTrials("one");
  for (const auto& [task, indices] : trials) EXPECT_EQ(indices.size(), 4u) << task;
  NinjaOk({"best-one-cpu"});
  EXPECT_EQ(AllTrials("one"), trials);
  EXPECT_EQ(ExportOk(), "");
  ExpectHas(Export().err, {"up to date: no jobs"});

  // With a raised budget, only the missing trials are listed.
  WritePipeline("one", 6, "random");
  ExportOk();
  EXPECT_EQ(Jobs().size(), 6u);
}

// Two networks that each distribute a total tune their common tasks by separate edges, into the same records.
TEST_F(JobsTest, JobsThatWriteIntoTheSameRecordsFollowOneAnother) {
  for (const char* name : {"one", "two"}) {
    Write(fmt::format("pipelines/{}.toml", name),
          fmt::format("network = \"models/{}.json\"\ntargets = [\"cpu\"]\n[tune]\ntuner = \"random\"\n"
                      "alternatives = false\ntrials_total = 24\n",
                      name));
  }
  ExpectOk(Plan());
  NinjaOk({"build.ninja"});
  const Words targets = {"records-one-cpu", "records-two-cpu"};
  const CommandResult exported = Export(targets);
  ExpectOk(exported);
  ExpectHas(exported.err, {"sharing out round 1 of one.cpu"});
  std::map<std::string, std::vector<Json>> by_db;
  for (const Json& job : Jobs()) {
    if (job["stage"] == 0) continue;
    const Words argv = job["argv"];
    const auto flag = std::find(argv.begin(), argv.end(), "--db");
    ASSERT_NE(flag, argv.end());
    by_db[*(flag + 1)].push_back(job);
  }
  size_t shared = 0;
  for (const auto& [db, jobs] : by_db) {
    shared += jobs.size() > 1;
    for (size_t i = 1; i < jobs.size(); ++i) {
      EXPECT_EQ(jobs[i]["stage"].get<int>(), jobs[i - 1]["stage"].get<int>() + 1) << db;
      EXPECT_EQ(jobs[i]["after"], Json::array({jobs[i - 1]["job"]})) << db;
      EXPECT_GT(jobs[i]["job"].get<int>(), jobs[i - 1]["job"].get<int>()) << "an earlier array has it";
    }
  }
  EXPECT_EQ(shared, 2u) << "the convolutions\n" << exported.out;
  ExpectHas(exported.out, {"\n2 "});
  for (size_t job = 1; job <= 6; ++job) ExpectOk(RunJob(std::to_string(job)));
  // The stamps of the first round exist: the second round is distributed, and its jobs form the next array. The list is
  // made on another machine, where these trials do not count: Ninja does not know of them and would repeat them there.
  const auto first = AllTrials("one");
  InventTimes(6);
  EXPECT_THAT(ExportOk(targets), StartsWith("1 1-4 4 jobs: tune; about "));
  InventTimes(5);
  EXPECT_EQ(AllTrials("one"), first) << "nothing is tuned by listing it";
  for (const Json& job : Jobs()) {
    const std::string output = job["outputs"][0];
    EXPECT_TRUE(job["stage"] == 0 || output.find(".r2/") != std::string::npos) << output;
  }
  // Or only Ninja's work is left.
  NinjaOk(targets);
  EXPECT_EQ(ExportOk(targets), "");
  ExpectRecordsAreWhole();
}

TEST_F(JobsTest, AListNamesNoProgramsAndNoPathsOfItsOwn) {
  ExpectOk(Plan());
  NinjaOk({"build.ninja"});
  ExportOk();
  // The command in the list is not the one that runs.
  std::vector<Json> jobs = Jobs();
  jobs[0]["argv"] = {"touch", Path("harm")};
  jobs[1]["outputs"] = {"../../harm"};
  jobs[2]["outputs"] = {"build.ninja"};
  std::string text;
  for (const Json& job : jobs) text += DumpJson(job, -1);
  Write("jobs.jsonl", text + "{\"job\": 9}\nno JSON\n");
  ExpectOk(RunJob("1"));
  EXPECT_FALSE(Has("harm"));
  for (const auto& [number, words] :
       {std::pair("2", "no edge makes `../../harm`"), std::pair("3", "cannot be an array job"),
        std::pair("4", "cannot be an array job"), std::pair("5", "cannot be an array job"),
        std::pair("6", "cannot be an array job"), std::pair("7", "jobs.jsonl:7"), std::pair("8", "jobs.jsonl:8"),
        std::pair("9", "no job 9"), std::pair("0", "no job 0")}) {
    const CommandResult result = RunJob(number);
    EXPECT_NE(result.status.code, 0) << number;
    ExpectHas(result.err, {words});
  }
}

}  // namespace
}  // namespace hone
