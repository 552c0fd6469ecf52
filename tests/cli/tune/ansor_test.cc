// hone-tune --write-sketch on a log of Ansor: its schedule is translated for the task, and runs.
#include <filesystem>

#include "record/foreign_formats.h"
#include "tune_folder.h"

namespace hone {
namespace {

class AnsorSchedules : public TuneFolder {
 protected:
  void SetUp() override {
    WriteTask("matmul(f32[64,96], f32[96,48])");
    WriteSettings(20);
  }
  // Imports a log of one line with these steps, and returns what --write-sketch prints for it.
  CommandResult Translate(const std::string& steps) {
    Write("ansor.json", R"({"i": [["[\"mm\", 64, 48, 96]", "llvm"], [[], [)" + steps +
                            R"(]]], "r": [[0.002], 0, 0.1, 17], "v": "v0.6"})" + "\n");
    std::filesystem::remove(Path("ansor.db"));
    Must(record::ImportAnsor(Path("ansor.json"), Path("ansor.db"), [](int64_t, const std::string&) {}));
    return TuneTask({"--db", "ansor.db", "--write-sketch", "1"});
  }
};

// The structure that Ansor derives for a product on a CPU: a local copy, tiles of both, and the copy inside.
constexpr char kTiled[] =
    R"(["CHW", 2, "local"], ["SP", 2, 0, 64, [2, 4, 4], 1], ["SP", 2, 4, 48, [1, 2, 16], 1], )"
    R"(["SP", 2, 8, 96, [8], 1], ["RE", 2, [0, 4, 1, 5, 8, 2, 6, 9, 3, 7]], ["FSP", 3, 0, 1, 2], ["FSP", 3, 3, 2, 2], )"
    R"(["RE", 3, [0, 3, 1, 4, 2, 5]], ["CA", 2, 3, 3], ["FU", 3, [0, 1, 2, 3]], ["AN", 3, 0, 3], )"
    R"(["PR", 2, 0, "auto_unroll_max_step$64"], ["AN", 2, 9, 2], ["AN", 3, 2, 2])";

TEST_F(AnsorSchedules, OneIsTranslatedStepByStep) {
  EXPECT_EQ(ExpectOk(Translate(kTiled)).out,
            "sketch ansor.record1\n"
            "cache_write out register -> out.local\n"
            "split out.local i [2,4,4] -> i.0 i.1 i.2 i.3\n"
            "split out.local j [1,2,16] -> j.0 j.1 j.2 j.3\n"
            "split out.local k [8] -> k.0 k.1\n"
            "reorder out.local i.0 j.0 i.1 j.1 k.0 i.2 j.2 k.1 i.3 j.3\n"
            "split out i [2,16] -> i.0 i.1 i.2\n"
            "split out j [1,32] -> j.0 j.1 j.2\n"
            "reorder out i.0 j.0 i.1 j.1 i.2 j.2\n"
            "fuse out i.0 j.0 i.1 j.1 -> fused\n"
            "parallel out fused\n"
            "pragma out.local i.0 auto_unroll_max_step 64\n"
            "vectorize out.local j.3\n"
            "vectorize out j.2\n"
            "compute_at out.local out fused\n");
}

TEST_F(AnsorSchedules, ATranslatedOneIsBuiltCheckedAndTimed) {
  Write("ansor.sketch", ExpectOk(Translate(kTiled)).out);
  TuneOk({"--mode", "sketches", "--sketch", "ansor.sketch", "--tuner", "auto"});
  const std::vector<record::Trial> trials = Trials();
  const auto found = std::ranges::find_if(
      trials, [](const record::Trial& t) { return t.outcome.config.template_name == "ansor.record1"; });
  ASSERT_NE(found, trials.end());
  EXPECT_NE(found->outcome.state, TrialState::kFailed) << found->outcome.error_text;
  EXPECT_THAT(found->outcome.steps, HasSubstr("split out.local i [2,4,4]"));
}

TEST_F(AnsorSchedules, OuterPartsCopiesAndFollowersOfSeveralSplits) {
  ExpectHas(
      ExpectOk(Translate(R"(["SP", 2, 0, 64, [2, 4], 0], ["SP", 2, 3, 48, [6, 8], 1], ["CHR", 0, "shared", [2]], )"
                         R"(["FU", 1, [0, 1]], ["FFSP", 1, 0, [0, 1], 1, 1], ["CA", 1, 3, 2], ["CR", 3])"))
          .out,
      {"split out i [4,8] -> i.0 i.1 i.2\n", "split out j [6,8] -> j.0 j.1 j.2\n",
       "cache_read data shared out -> data.shared\n", "split data.shared fused [32] -> fused.0 fused.1\n",
       "compute_at data.shared out i.2\n"});
}

TEST_F(AnsorSchedules, WhatHasNoFormHereIsNamed) {
  const auto refuses = [&](const std::string& steps, const std::string& part) {
    ExpectRefused(Translate(steps), kMisused, {"ansor.db: record 1: Ansor's s", part});
  };
  refuses(R"(["RF", 2, 2, 2])",
          "step 0 (stage 2: partial results along loop 2, as axis 2) has no form in this task: "
          "Hone has no such step");
  refuses(R"(["XY", 1])", "step 0 ([\"XY\",1]) has no form");
  refuses(R"(["AN", 2, 0, 11])", "Hone has no such step");
  refuses(R"(["AN", 3, 0, 3])", "there are 3 stages here, inputs included");
  refuses(R"(["AN", 2, 4, 3])", "`out` has 3 loops here");
  refuses(R"(["AN", 1, 0, 3])", "`data1` is an input here");
  refuses(R"(["SP", 2, 0, 63, [3], 1])", "loop `i` of `out` has 64 iterations here");
  refuses(R"(["CI", 2])", "step 0 (stage 2: compute where it is read)");
  refuses(R"(["CI", 2], ["FSP", 2, 0, 0, 1])", "step 0");
  refuses(R"(["FSP", 2, 0, 0, 1])", "step 0 is not a split");
  refuses(R"(["FSP", 2, 0, 7, 1])", "step 7 is not a split");
  refuses(R"(["SP", 2, 0, 64, [0], 1])", "factor 0 is not positive");
  refuses(R"(["SP", 2, 0, 64, [0], 0])", "a part of 0 iterations");
  refuses(R"(["SP", 2, 0, 64, [4611686018427387904, 4], 1], ["FSP", 2, 1, 0, 1])", "step 0");
  refuses(R"(["SP", 2, 0, 64, [4, 4], 1], ["FSP", 2, 3, 0, 3])", "that split has 2 inner parts");
  refuses(R"(["CA", 2, 2, 0])", "schedule has no form in this task");
  refuses(R"(["PR", 2, 0, "unroll_explicit$1"])", "Hone has no such pragma");
  WriteTask("relu(f32[4096])");
  refuses(kTiled, "step 0");
}

TEST_F(AnsorSchedules, OtherRecordsHaveNone) {
  Translate("");
  ExpectRefused(TuneTask({"--db", "ansor.db", "--write-sketch", "2"}), 1, {"ansor.db: no record 2"});
  Write("t4.json", R"({"schema_version": "1.0.0", "results": [{"configuration": {}, "times": {}, )"
                   R"("invalidity": "compile", "correctness": 0}]})");
  Must(record::ImportT4(Path("t4.json"), Path("t4.db"), [](int64_t, const std::string&) {}));
  ExpectRefused(TuneTask({"--db", "t4.db", "--write-sketch", "1"}), kMisused,
                {"t4.db: record 1 is of the format t4; only Ansor's records have schedules"});
}

}  // namespace
}  // namespace hone
