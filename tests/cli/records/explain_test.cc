// hone-records explain and merge.
#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "base/version.h"
#include "pipeline/best_file.h"
#include "records_folder.h"

namespace hone {
namespace {

class ExplainTool : public RecordsFolder {
 protected:
  std::string Explain(const std::string& records = "records", const Words& more = {}) {
    return RecordsOk(Words{"explain", "best/net.cpu.json", "--records", records} + more);
  }
  Json ExplainJson() { return Must(ParseJson(Explain("records", {"--json"}), "out")); }
  // Task a: trial 1 is the machine's fastest, 2 is nearly as fast, and another machine was faster.
  void SetUp() override {
    Record("a", kWorkloadA, {Ok(9, 1e-5)}, "machine-0", 500);
    Record("a", kWorkloadA, {Ok(1, 2e-3), Ok(2, 2.1e-3), Failed(3, TrialError::kWrong, "element 0"), Ok(4, 40e-3)});
    Record("b", kWorkloadB, {Ok(5, 1e-3)});
    WriteTaskList({{"a", kWorkloadA}, {"b", kWorkloadB}, {"c", kWorkloadC}});
    ExpectOk(PickBest({"--allow-missing"}));
  }
};

TEST_F(ExplainTool, SaysWhereAChoiceComesFromAndWhatItWonAgainst) {
  const std::string out = Explain();
  ExpectHas(out, {"net on cpu -features=avx2", "the fastest of its own records",
                  "trial 1 of 4 on this machine, 3 of them correct and timed in full",
                  "measured on the-host in the session of 1970-01-01T00:16:40Z, fingerprint machine-1",
                  "rival: trial 2, 2.10 ms", "5.0 % slower, in doubt", "rival: trial 4, 40.0 ms",
                  "1900.0 % slower:", "no records with a correct trial: the template's default schedule", "no rival",
                  "no alternatives", "sums over their residual"});
  ExpectHasNot(out, {"rival: trial 0"});  // it is from another machine

  Json json = ExplainJson(), a = json["tasks"][0];
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(a["source"], "tuned");
  EXPECT_EQ(a["chosen"]["trial"], 1);
  EXPECT_EQ(a["chosen"]["median_seconds"], 2e-3);
  EXPECT_EQ(a["trials"], 4);
  ASSERT_EQ(a["rivals"].size(), 2u);
  EXPECT_EQ(a["rivals"][0]["trial"], 2);
  EXPECT_NEAR(a["rivals"][0]["slower_by"].get<double>(), 0.05, 1e-9);
  EXPECT_EQ(a["rivals"][0]["in_doubt"], true);
  EXPECT_EQ(a["rivals"][1]["in_doubt"], false);
  EXPECT_EQ(json["tasks"][2]["source"], "default");
  EXPECT_TRUE(json["alternatives"].is_array());
  EXPECT_EQ(json["share"]["slices"], true);

  // Task b, which differs only in its epilogue, has no records now. By default, the records are those of the work
  // folder.
  Delete("records/b.db");
  ExpectOk(PickBest({"--allow-missing"}));
  Write("records/cpu/a.db", Read("records/a.db"));
  const std::string anchor = RecordsOk({"explain", "best/net.cpu.json"});
  ExpectHas(anchor.substr(anchor.find("\nb  ")),
            {"the fastest of the same computation with another epilogue", "trial 1 of task a of 4 on this machine"});
}

TEST_F(ExplainTool, SaysWhatEachProposerBrought) {
  ExpectHasNot(Explain(), {"proposed by"});
  Sql("records/a.db",
      "INSERT INTO template VALUES ('mine', 1); INSERT INTO template VALUES ('none', 1);"
      "UPDATE trial SET template = 'mine', config = replace(config, 'dense', 'mine') WHERE ordinal = 4;"
      "UPDATE trial SET template = 'none', config = replace(config, 'dense', 'none') WHERE ordinal = 3");
  ExpectHas(Explain(),
            {"  proposed by: dense 2 trials, best 2.00 ms; mine 1 trial, best 40.0 ms; none 1 trial, none timed in full\n"});
  const Json proposers = ExplainJson()["tasks"][0]["proposers"];
  EXPECT_EQ(proposers["dense"]["correct"], 2);
  EXPECT_EQ(proposers["mine"]["median_seconds"], 40e-3);
  EXPECT_FALSE(proposers["none"].contains("median_seconds"));
}

TEST_F(ExplainTool, SaysWhatIsBuiltOfTheNetworkAndItsTimes) {
  pipeline::BestFile best = Must(pipeline::ReadBestFile(Path("best/net.cpu.json")));
  best.alternatives = {{.replaces = {"r1", "r2"}, .by = {{.name = "both", .workload = kWorkloadC, .inputs = {"x"}}}}};
  best.share.in_place = false;
  best.in_network = {.key = "00", .kept = true, .alone_seconds = 2e-3, .confirmed_seconds = 1e-3, .runs = 9};
  best.in_network->host = best.in_network->recorded = "x";
  Write("best/net.cpu.json", pipeline::BestFileText(best));
  ExpectHas(Explain(),
            {std::string("alternative: r1, r2 by ") + kWorkloadC + "\n",
             "shared memory: concatenations written in place, sums in separate memory\n",
             "in the network: 2.00 ms with the best alone, 1.00 ms with the best there; the latter is built"});
}

TEST_F(ExplainTool, WithoutRecordsOrTheTrialTheBestFileSpeaks) {
  ExpectHas(Explain("nowhere"), {"rival: trial 2", "nowhere/a.db: no such record file"});
  Write("best/bad.json", "{\"version\": 1, \"network\": \"n\", \"target\": \"t\", \"task\": []}");
  ExpectRefused(Records({"explain", "best/bad.json"}), 2, {"best/bad.json: /tasks: missing"});
  ExpectRefused(Records({"explain", "best/none.json"}), 1, {"best/none.json: "});

  ASSERT_TRUE(Rename(Path("records/a.db"), Path("records/a.db.dense=1")).ok());
  ExpectHas(Explain(),
            {"  only what the best file knows: records/a.db: no such record file; has its task been tuned?\n",
             "fingerprint machine-1", "rival: trial 2"});
  // Tuned again since: the trial number exists, with another configuration.
  Record("a", kWorkloadA, {Ok(7, 3e-3), Ok(8, 4e-3)});
  ExpectHas(Explain(), {"records/a.db no longer has this trial", "fingerprint machine-1", "rival: trial 2"});
}

TEST_F(ExplainTool, RecordsOfAnotherVersionAreNamedAsThat) {
  ExpectHas(Explain(),
            {std::string("by hone-tune 1.2.3, code generator , measuring protocol ; this is Hone ") + kVersion + "\n"});
  Sql("records/a.db", fmt::format("UPDATE session SET tool_version = '{}', codegen_version = '4'", kVersion));
  ExpectHas(Explain(), {fmt::format("by hone-tune {}, code generator 4, measuring protocol \n", kVersion)});
  // A file from a newer Hone is not read: the best file's data remain. The other task's records are read.
  Sql("records/a.db", "PRAGMA user_version = 7");
  ExpectHas(Explain(),
            {"  only what the best file knows: ", "records/a.db: record format 7 is newer than this program's 3",
             "rival: trial 2, 2.10 ms", "trial 0 of 1 on this machine"});
  Json a = ExplainJson()["tasks"][0];
  ExpectHas(a["note"], {"record format 7"});
  EXPECT_FALSE(a.contains("tool"));
  // Nor is a newer best file.
  Write("best/newer.json", ReplaceAll(Read("best/net.cpu.json"), "\"version\": 4", "\"version\": 5"));
  ExpectRefused(Records({"explain", "best/newer.json", "--records", "records"}), 2, {"best/newer.json", "newer"});
}

TEST_F(ExplainTool, MergesFoldersAndLeavesOutWhatDoesNotFit) {
  ExpectHas(ExpectOk(Records({"merge", "records", "--out", "merged"})).err, {"a: 1 file: 5 trials added"});
  EXPECT_EQ(RecordsOk({"export", "merged"}), RecordsOk({"export", "records"}));
  // As an older Hone renamed it, when a template had changed.
  ASSERT_TRUE(Rename(Path("records/a.db"), Path("records/a.db.dense=1")).ok());
  ExpectHas(ExpectOk(Records({"merge", "records/a.db.dense=1", "--out", "back"})).err, {"a: 1 file: 5 trials added"});
  EXPECT_TRUE(Has("back/a.db"));
  // Another task in place of this one: rejected, and the others are merged.
  Record("a", kWorkloadB, {});
  const CommandResult refused = Records({"merge", "records", "--out", "merged"});
  EXPECT_EQ(refused.status.code, 2);
  ExpectHas(refused.err, {"records/a.db: its workload is", "b: 1 file"});
}

}  // namespace
}  // namespace hone
