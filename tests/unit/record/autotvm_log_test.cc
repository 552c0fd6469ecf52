// The lines have the form in AutoTVM's documentation; indices are worked out by hand (see the comments).
#include "record/foreign_formats.h"

#include "base/json.h"
#include "base/text.h"
#include "sample.h"

namespace hone::record {
namespace {

// tile_k of K = 4: 1 2 4, so [-1, 2] is index 1.
std::string Dense(const std::string& index, const std::string& sizes, const std::string& costs,
                  const std::string& error = "0") {
  return R"({"input": ["cuda -model=x", "dense_small_batch.gpu", [["TENSOR", [1, 4], "float32"], ["TENSOR", [8, 4], )"
         R"("float32"], null, "float32"], {}], "config": {"index": )" +
         index + R"(, "code_hash": null, "entity": [["tile_k", "sp", )" + sizes + R"(]]}, "result": [)" + costs + ", " +
         error + R"(, 1.5, 1600000000.0], "version": 0.2, "tvm_version": "0.14.0"})";
}

ForeignRecord Read(const std::string& line) { return Must(AutoTvmReader().Read(line)); }

TEST(AutoTvmReader, ReadsALine) {
  const std::string line = Dense("1", "[-1, 2]", "[0.002, 0.004]");
  const ForeignRecord r = Read(line);
  EXPECT_EQ(r.target, "cuda -model=x");
  EXPECT_EQ(r.task, "dense_small_batch.gpu");
  EXPECT_EQ(r.workload, R"([["TENSOR",[1,4],"float32"],["TENSOR",[8,4],"float32"],null,"float32"])");
  EXPECT_TRUE(r.ok);
  EXPECT_DOUBLE_EQ(r.seconds, 0.003);  // the mean
  EXPECT_EQ(r.index, 1);
  EXPECT_EQ(r.fit, Fit::kYes);
  EXPECT_EQ(r.text, line);
}

TEST(AutoTvmReader, SaysWhetherTheEntityStandsAtItsIndex) {
  EXPECT_EQ(Read(Dense("1", "[2, 2]", "[1]")).fit, Fit::kYes);  // older logs hold the outermost part
  EXPECT_EQ(Read(Dense("2", "[-1, 2]", "[1]")).fit, Fit::kMoved);
  EXPECT_EQ(Read(Dense("1", "[-1, 3]", "[1]")).fit, Fit::kNo);
  EXPECT_EQ(Read(Dense("1", "[]", "[1]")).fit, Fit::kNo);
  EXPECT_EQ(Read(ReplaceAll(Dense("1", "[-1, 2]", "[1]"), "dense_small_batch.gpu", "my.own")).fit, Fit::kUnknown);
}

// Strides, padding and dilation are read from the arguments. The index is worked out in autotvm_space_test.cc.
TEST(AutoTvmReader, ReadsAConvolutionsArguments) {
  const std::string line =
      R"({"input": ["cuda -model=x", "conv2d_nchw.cuda", [["TENSOR", [1, 6, 4, 2], "float32"], )"
      R"(["TENSOR", [4, 6, 3, 1], "float32"], [1, 1], [0, 0], [1, 1], "float32"], {}], )"
      R"("config": {"index": 7427, "code_hash": null, "entity": [["tile_f", "sp", [-1, 2, 1, 2]], )"
      R"(["tile_y", "sp", [-1, 1, 2, 1]], ["tile_x", "sp", [-1, 2, 1, 1]], ["tile_rc", "sp", [-1, 3]], )"
      R"(["tile_ry", "sp", [-1, 3]], ["tile_rx", "sp", [-1, 1]], ["auto_unroll_max_step", "ot", 1500], )"
      R"(["unroll_explicit", "ot", 1]]}, "result": [[0.0001], 0, 1, 2], "version": 0.2})";
  EXPECT_EQ(Read(line).fit, Fit::kYes);
  EXPECT_EQ(Read(ReplaceAll(line, "7427", "3587")).fit, Fit::kMoved);
  EXPECT_EQ(Read(ReplaceAll(ReplaceAll(line, "7427", "3587"), R"("ot", 1])", R"("ot", 0])")).fit, Fit::kYes);
  EXPECT_EQ(Read(ReplaceAll(line, R"("ot", 1])", R"("ot", true])")).fit, Fit::kNo);
  EXPECT_EQ(Read(ReplaceAll(line, "[0, 0], [1, 1]", "[1, 1], [1, 1]")).fit, Fit::kMoved) << "OH is 4 then";
}

TEST(AutoTvmReader, FailuresAndTimesThatAreNone) {
  const auto error = [](const std::string& costs, const std::string& number) {
    const ForeignRecord r = Read(Dense("1", "[-1, 2]", costs, number));
    EXPECT_FALSE(r.ok) << costs;
    return r.error;
  };
  EXPECT_EQ(error("[1000000000.0]", "1"), "instantiation");
  EXPECT_EQ(error("[1000000000.0]", "4"), "runtime");
  EXPECT_EQ(error("[1000000000.0]", "7"), "run-timeout");
  EXPECT_EQ(error("[1000000000.0]", "99"), "unknown");
  for (const char* costs : {"[NaN]", "[Infinity]", "[-Infinity]", "[0.001, NaN]", "[1e999]", "[0.0]", "[-0.001]", "[]",
                            "[1000000000.0]", "[\"fast\"]", "[null]"}) {
    EXPECT_EQ(error(costs, "0"), "no-time") << costs;
  }
  // A word in a string is not a number, and quotes may be escaped.
  const std::string line = ReplaceAll(Dense("1", "[-1, 2]", "[NaN]"), "-model=x", "-model=NaN\\\" Infinity");
  EXPECT_EQ(Read(line).target, "cuda -model=NaN\" Infinity");
  EXPECT_EQ(Read(line).text, line);
}

TEST(AutoTvmReader, RefusesOtherVersionsAndOtherThings) {
  AutoTvmReader reader;
  const auto status = [&](const std::string& line) { return reader.Read(line).status(); };
  const std::string line = Dense("1", "[-1, 2]", "[1]");
  EXPECT_EQ(status(ReplaceAll(line, "0.2,", "0.3,")).kind(), StatusKind::kUnsupported);
  EXPECT_EQ(status(ReplaceAll(line, "0.2,", "0.3,")).message(), "version 0.3 of AutoTVM's format; only 0.2 is read");
  EXPECT_EQ(status(R"({"v": 0.1, "i": []})").message(), "version 0.1 of AutoTVM's format; only 0.2 is read");
  EXPECT_EQ(status("{}").message(), "version none of AutoTVM's format; only 0.2 is read");
  for (const char* bad : {"[]", "7", "", "{", "nonsense", R"({"version": 0.2})",
                          R"({"version": 0.2, "input": ["a", "b"], "config": {"entity": []}, "result": [[1], 0]})",
                          R"({"version": 0.2, "input": ["a", "b", []], "config": {}, "result": [[1], 0]})",
                          R"({"version": 0.2, "input": ["a", "b", []], "config": {"entity": []}, "result": [1, 0]})",
                          R"({"version": 0.2, "input": ["a", 1, []], "config": {"entity": []}, "result": [[1], 0]})"}) {
    EXPECT_EQ(status(bad).kind(), StatusKind::kInvalid) << bad;
    EXPECT_THAT(status(bad).message(), Not(HasSubstr("\n"))) << bad;
  }
  EXPECT_EQ(status(line.substr(0, line.size() / 2)).kind(), StatusKind::kInvalid);
}

class AutoTvmImport : public RecordTest {
 protected:
  Result<ImportCounts> Import(const std::string& text) {
    EXPECT_TRUE(WriteFileAtomic(Path("log"), text).ok());
    reports_.clear();
    return ImportAutoTvm(Path("log"), Path("f.db"), [&](int64_t line, const std::string& what) {
      reports_.push_back(std::to_string(line) + " " + what);
    });
  }

  std::string Texts() const {
    std::string all;
    auto store = Must(ForeignStore::OpenForReading(Path("f.db")));
    Must(store->ForEach("autotvm", [&](int64_t, const ForeignRecord& r) {
      all += r.text + "\n";
      return true;
    }));
    return all;
  }

  std::vector<std::string> reports_;
};

TEST_F(AutoTvmImport, KeepsEveryRecordByteByByte) {
  const std::string a = Dense("1", "[-1, 2]", "[0.002]"), b = Dense("2", "[-1, 4]", "[1000000000.0]", "4"),
                    c = ReplaceAll(a, "dense_small_batch.gpu", "my.own") + "  \r";
  const ImportCounts counts = Must(Import("# best\n" + a + "\n\n" + b + "\n" + c + "\n" + a));
  EXPECT_EQ(counts.lines, 6);
  EXPECT_EQ(counts.comments, 2);
  EXPECT_EQ(counts.added, 4);  // a twice: both are kept
  EXPECT_EQ(counts.ok, 3);
  EXPECT_EQ(counts.failed, 1);
  EXPECT_EQ(counts.fits, 3);
  EXPECT_EQ(counts.no_space, 1);
  EXPECT_TRUE(reports_.empty());
  EXPECT_EQ(Texts(), a + "\n" + b + "\n" + c + "\n" + a + "\n");
  const auto tasks = *(*ForeignStore::OpenForReading(Path("f.db")))->Tasks();
  ASSERT_EQ(tasks.size(), 2u);
  EXPECT_EQ(tasks[0].ok, 2);
  EXPECT_EQ(tasks[0].failed, 1);
  EXPECT_EQ(tasks[0].best_index, 1);
  EXPECT_EQ(tasks[1].task, "my.own");
}

// More tasks than the cache of spaces holds (256), each twice: evicted spaces are made again. The tasks are sums of
// length i * 4, i = 1 .. 300, whose second split is [-1, 2].
TEST_F(AutoTvmImport, ThreeHundredTasksInOneLog) {
  std::string log;
  for (int round = 0; round < 2; ++round) {
    for (int i = 1; i <= 300; ++i) {
      const std::string k = std::to_string(4 * i);
      std::string line = Dense(i % 3 == 0 ? "0" : "1", "[-1, 2]", round == 0 ? "[0.002]" : "[0.001]");
      line = ReplaceAll(ReplaceAll(line, "[1, 4]", "[1, " + k + "]"), "[8, 4]", "[8, " + k + "]");
      log += line + "\n";
    }
  }
  const ImportCounts counts = Must(Import(log));
  EXPECT_EQ(counts.added, 600);
  EXPECT_EQ(counts.fits, 400);
  EXPECT_EQ(counts.moved, 200);  // every third line names another index
  EXPECT_EQ(counts.no_space, 0);
  EXPECT_EQ(Texts(), log);
  const auto tasks = *(*ForeignStore::OpenForReading(Path("f.db")))->Tasks();
  EXPECT_EQ(tasks.size(), 300u);
  for (const auto& task : tasks) EXPECT_EQ(task.ok, 2);
}

TEST_F(AutoTvmImport, AgainOrGrownAddsOnlyWhatIsNew) {
  const std::string a = Dense("1", "[-1, 2]", "[0.002]"), b = Dense("2", "[-1, 4]", "[0.001]");
  ASSERT_TRUE(Import(a + "\n" + a + "\n").ok());
  EXPECT_EQ(Import(a + "\n" + a + "\n")->added, 0);
  const std::string all = a + "\n" + a + "\n" + b + "\n" + a + "\n";
  const ImportCounts grown = Must(Import(all));
  EXPECT_EQ(grown.added, 2);
  EXPECT_EQ(grown.known, 2);
  EXPECT_EQ(Texts(), all);
}

TEST_F(AutoTvmImport, BrokenLinesAreNamedAndTheOthersKept) {
  const std::string a = Dense("1", "[-1, 2]", "[0.002]"), b = Dense("2", "[-1, 4]", "[0.001]");
  const ImportCounts counts = Must(
      Import(a + "\n" + a.substr(0, 80) + "\n" + ReplaceAll(a, "0.2,", "0.1,") + "\n" + b + "\n" + b.substr(0, 200)));
  EXPECT_EQ(counts.added, 2);
  EXPECT_EQ(counts.skipped, 2);
  EXPECT_TRUE(counts.torn);
  ASSERT_EQ(reports_.size(), 3u);
  EXPECT_EQ(reports_[0].rfind("2 broken JSON at column 81: ", 0), 0u) << reports_[0];
  EXPECT_EQ(reports_[1], "3 version 0.1 of AutoTVM's format; only 0.2 is read");
  EXPECT_EQ(reports_[2], "5 the last line is cut off; import again once it is whole");
  EXPECT_EQ(Texts(), a + "\n" + b + "\n");
  // With complete lines again, only the last one is new.
  EXPECT_EQ(Import(a + "\n" + b + "\n" + ReplaceAll(b, "0.001", "0.003") + "\n")->added, 1);
}

TEST_F(AutoTvmImport, AFileWithoutARecordMakesNoFile) {
  EXPECT_EQ(Import("").status().kind(), StatusKind::kInvalid);
  EXPECT_EQ(Import("hello\nworld\n").status().kind(), StatusKind::kInvalid);
  EXPECT_EQ(Import(ReplaceAll(Dense("1", "[-1, 2]", "[1]"), "0.2,", "0.5,")).status().kind(), StatusKind::kUnsupported);
  EXPECT_FALSE(Exists(Path("f.db")));
  const auto nothing = [](int64_t, const std::string&) {};
  EXPECT_EQ(ImportAutoTvm(Path("none"), Path("f.db"), nothing).status().kind(), StatusKind::kNotFound);
  EXPECT_EQ(ImportAutoTvm(Path(""), Path("f.db"), nothing).status().kind(), StatusKind::kIo);
}

TEST_F(AutoTvmImport, HonesOwnTrialsBecomeLinesThatCanBeRead) {
  Outcome pruned = Good(3, {0.5});
  pruned.state = TrialState::kPruned;
  Append({Good(1, {0.2, 0.1, 0.3}), Bad(2, TrialError::kWrong, "element 0"), pruned});
  const std::string text = Must(ExportAutoTvm(*OpenToRead()));
  const std::vector<std::string> lines = Split(Trim(text), '\n');
  ASSERT_EQ(lines.size(), 3u);
  const ForeignRecord good = Read(lines[0]), bad = Read(lines[1]), cut = Read(lines[2]);
  EXPECT_EQ(good.task, "dense");
  EXPECT_EQ(good.index, 1);
  EXPECT_DOUBLE_EQ(good.seconds, 0.2);
  EXPECT_EQ(bad.error, "wrong");
  EXPECT_EQ(cut.error, "run-timeout");
  EXPECT_EQ(Json::parse(lines[0])["config"]["entity"], Json::parse(R"([["unroll", "ot", 1]])"));
  EXPECT_EQ(Json::parse(lines[0])["input"][2][0], Json::parse(R"(["TENSOR", [1, 4], "float32"])"));
}

}  // namespace
}  // namespace hone::record
