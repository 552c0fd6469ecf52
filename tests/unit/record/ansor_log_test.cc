// Lines as TVM's auto_scheduler writes them (version v0.6).
#include "base/text.h"
#include "record/foreign_formats.h"
#include "sample.h"

namespace hone::record {
namespace {

// A product of 256 x 512 and 512 x 128 with a bias, on a CPU: the steps that Ansor's rules make.
std::string Line(const std::string& times = "[0.0012, 0.0014]", int error = 0) {
  return R"({"i": [["[\"matmul_add\", 256, 512, 128, \"float32\"]", "llvm -keys=cpu", [16, 64, 64, 0, 0, 0, 0, 0], )"
         R"("", 1, []], [[], [["CHW", 2, "local"], ["SP", 2, 0, 256, [1, 32, 4], 1], ["SP", 2, 8, 512, [8], 0], )"
         R"(["RE", 2, [0, 4, 1]], ["FSP", 3, 3, 2, 2], ["CA", 2, 3, 4], ["FU", 3, [0, 1, 2]], ["AN", 3, 0, 3], )"
         R"(["PR", 2, 0, "auto_unroll_max_step$64"], ["AN", 2, 9, 2]]]], "r": [)" +
         times + ", " + std::to_string(error) + R"(, 0.13, 1714270206], "v": "v0.6"})";
}

TEST(Ansor, ReadsALine) {
  const ForeignRecord r = Must(ReadAnsor(Line()));
  EXPECT_EQ(r.format, "ansor");
  EXPECT_EQ(r.target, "llvm -keys=cpu");
  EXPECT_EQ(r.task, "matmul_add");
  EXPECT_EQ(r.workload, R"([256,512,128,"float32"])");
  EXPECT_TRUE(r.ok);
  EXPECT_DOUBLE_EQ(r.seconds, 0.0013);  // the mean
  EXPECT_EQ(r.index, -1);
  EXPECT_EQ(r.fit, Fit::kUnknown);
  EXPECT_EQ(r.text, Line());
  // A key that is no list stays as it is.
  EXPECT_EQ(Must(ReadAnsor(ReplaceAll(Line(), R"([\"matmul_add\", 256)", R"(my [\"matmul_add\", 256)"))).task,
            R"(my ["matmul_add", 256, 512, 128, "float32"])");
}

TEST(Ansor, TellsTheScheduleInWords) {
  const std::vector<AnsorStep> steps = AnsorSteps(Must(ReadAnsor(Line())));
  std::vector<std::string> words;
  for (const AnsorStep& step : steps) words.push_back(step.words);
  EXPECT_EQ(steps.at(1).kind, "SP");
  EXPECT_EQ(steps[1].arguments, (std::vector<std::vector<int64_t>>{{2}, {0}, {256}, {1, 32, 4}, {1}}));
  EXPECT_EQ(steps[8].text, "auto_unroll_max_step$64");
  EXPECT_EQ(words, (std::vector<std::string>{
                       "stage 2: compute into a copy in local",
                       "stage 2: split loop 0 of 256 iterations, inner parts [1,32,4]",
                       "stage 2: split loop 8 of 512 iterations, outer parts [8]",
                       "stage 2: order of loops [0,4,1]",
                       "stage 3: split loop 3 as step 2 does, into 2 inner parts",
                       "stage 2: compute at loop 4 of stage 3",
                       "stage 3: fuse loops [0,1,2]",
                       "stage 3: loop 0 becomes parallel",
                       "stage 2: at loop 0, pragma auto_unroll_max_step 64",
                       "stage 2: loop 9 becomes vectorized",
                   }));
}

TEST(Ansor, TellsEveryKindOfStep) {
  const auto words = [](const std::string& step) {
    const std::string line = R"({"i": [["[\"f\"]", "cuda"], [[], [)" + step + R"(]]], "r": [[1], 0], "v": "v0.6"})";
    return AnsorSteps(Must(ReadAnsor(line))).at(0).words;
  };
  EXPECT_EQ(words(R"(["FFSP", 6, 0, [4, 3], 1, 1])"),
            "stage 6: split loop 0 by the product of part 1 of steps [4,3], as the inner part");
  EXPECT_EQ(words(R"(["CHR", 4, "shared", [5, 6]])"), "stage 4: stages [5,6] read a copy in shared");
  EXPECT_EQ(words(R"(["CI", 4])"), "stage 4: compute where it is read");
  EXPECT_EQ(words(R"(["CR", 1])"), "stage 1: compute by itself");
  EXPECT_EQ(words(R"(["RF", 3, 2, 1])"), "stage 3: partial results along loop 2, as axis 1");
  EXPECT_EQ(words(R"(["SA", 2, 0, 32, 1])"), "stage 2: align the storage at loop 0 to 32, offset 1");
  EXPECT_EQ(words(R"(["AN", 10, 2, 6])"), "stage 10: loop 2 becomes threadIdx.x");
  EXPECT_EQ(words(R"(["AN", 10, 2, 12])"), "stage 10: loop 2 becomes 12");
  // Unknown steps stay as in the log; braces have no meaning.
  EXPECT_EQ(words(R"(["XY", 1, {"a": [2]}])"), R"(["XY",1,{"a":[2]}])");
  EXPECT_EQ(words(R"(["SP", 2, 0])"), R"(["SP",2,0])");
  EXPECT_EQ(words(R"(["RE", 2, [0, "x"]])"), R"(["RE",2,[0,"x"]])");
  EXPECT_EQ(words(R"(["PR", 2, 0, "{0}{}"])"), "stage 2: at loop 0, pragma {0}{}");
}

TEST(Ansor, FailuresAndTimesThatAreNotTimes) {
  const auto error = [](const std::string& times, int number) {
    const ForeignRecord r = Must(ReadAnsor(Line(times, number)));
    EXPECT_FALSE(r.ok);
    return r.error;
  };
  EXPECT_EQ(error("[1e+10]", 1), "instantiation");
  EXPECT_EQ(error("[1e+10]", 6), "build-timeout");
  EXPECT_EQ(error("[1e+10]", 8), "unknown");
  for (const char* times : {"[1e+10]", "[NaN]", "[0.001, Infinity]", "[]", "[0]"})
    EXPECT_EQ(error(times, 0), "no-time");
}

TEST(Ansor, RefusesOtherVersionsAndOtherThings) {
  const auto status = [](const std::string& line) { return ReadAnsor(line).status(); };
  EXPECT_EQ(status(ReplaceAll(Line(), "v0.6", "v0.5")).kind(), StatusKind::kUnsupported);
  EXPECT_EQ(status(ReplaceAll(Line(), "v0.6", "v0.5")).message(),
            "version \"v0.5\" of Ansor's format; only v0.6 is read");
  EXPECT_EQ(status("{}").message(), "no version `v` of Ansor's format; only v0.6 is read");
  for (const auto& [from, to] : {std::pair<std::string, std::string>{R"("i": [[)", R"("i": [7, [)"},
                                 {R"("llvm -keys=cpu")", "7"},
                                 {R"([["CHW", 2, "local"])", R"([7)"},
                                 {R"(["AN", 3, 0, 3])", "[]"},
                                 {R"("r": [[0.0012, 0.0014], 0)", R"("r": [[0.0012, 0.0014], "0")"},
                                 {R"("r": [[0.0012, 0.0014])", R"("r": [0.0012)"}}) {
    const std::string line = ReplaceAll(Line(), from, to);
    EXPECT_NE(line, Line());
    EXPECT_EQ(status(line).kind(), StatusKind::kInvalid) << line;
    EXPECT_THAT(status(line).message(), Not(HasSubstr("\n")));
  }
  EXPECT_THAT(status(Line().substr(0, 200)).message(), HasSubstr("broken JSON at column 201"));
}

class AnsorImport : public RecordTest {
 protected:
  Result<ImportCounts> Import(const std::string& text) {
    Must(WriteFileAtomic(Path("log"), text));
    reports_.clear();
    return ImportAnsor(Path("log"), Path("f.db"), [&](int64_t line, const std::string& what) {
      reports_.push_back(std::to_string(line) + " " + what);
    });
  }
  std::vector<std::string> reports_;
};

TEST_F(AnsorImport, KeepsEveryLineByteByByteAndNamesTheOthers) {
  const std::string good = Line(), failed = Line("[1e+10]", 6) + "  ";
  const ImportCounts counts =
      Must(Import("# a comment\n" + good + "\n" + good.substr(0, 90) + "\n" + ReplaceAll(good, "v0.6", "v0.2") + "\n" +
                  failed + "\n" + good.substr(0, 300)));
  EXPECT_EQ(counts.lines, 6);
  EXPECT_EQ(counts.ok, 1);
  EXPECT_EQ(counts.failed, 1);
  EXPECT_EQ(counts.skipped, 2);
  EXPECT_TRUE(counts.torn);
  ASSERT_EQ(reports_.size(), 3u);
  EXPECT_THAT(reports_[0], HasSubstr("3 broken JSON at column 91"));
  EXPECT_EQ(reports_[1], "4 version \"v0.2\" of Ansor's format; only v0.6 is read");
  EXPECT_EQ(reports_[2], "6 the last line is cut off; import again once it is whole");
  std::string all;
  const auto store = Must(ForeignStore::OpenForReading(Path("f.db")));
  Must(store->ForEach("ansor", [&](int64_t, const ForeignRecord& r) {
    all += r.text + "\n";
    return true;
  }));
  EXPECT_EQ(all, good + "\n" + failed + "\n");
  EXPECT_EQ(Must(Import(good + "\n" + failed + "\n" + good + "\n")).added, 1);  // the log has grown
}

TEST_F(AnsorImport, ALogOfAnotherFormatMakesNoFile) {
  EXPECT_THAT(
      Import(R"({"input": [], "version": 0.2})").status().message(),
      HasSubstr("log: no record of Ansor's format v0.6 in 1 line; the first problem: no version `v`"));
  EXPECT_FALSE(Exists(Path("f.db")));
}

}  // namespace
}  // namespace hone::record
