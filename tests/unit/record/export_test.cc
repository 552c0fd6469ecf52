#include "base/json.h"
#include "base/text.h"
#include "record/foreign_formats.h"
#include "record/store.h"
#include "sample.h"
#include "search/autotvm/autotvm_space.h"
#include "task/workload.h"

namespace hone::record {
namespace {

using Export = RecordTest;

TEST_F(Export, OneLineATrialInBothForms) {
  Append({Good(1, {2e-3}), Bad(2, TrialError::kCompile, "a \"quoted\"\nreason")});
  const auto store = OpenToRead();
  const std::vector<std::string> lines = Split(*ExportJsonLines(*store), '\n');
  ASSERT_EQ(lines.size(), 3u);  // the last one is empty
  const Json first = *ParseJson(lines[0], "line");
  EXPECT_EQ(first["workload"], SampleMeta().workload);
  EXPECT_EQ(first["median"], 2e-3);
  EXPECT_EQ(first["config"]["entity"][0][2], 1);
  EXPECT_EQ(first["fingerprint"], "f1");
  const Json second = *ParseJson(lines[1], "line");
  EXPECT_TRUE(second["median"].is_null());
  EXPECT_EQ(second["error_text"], "a \"quoted\"\nreason");

  const std::vector<std::string> rows = Split(*ExportCsv(*store), '\n');
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[1], "dense-0123456789abcdef,0,ok,,0.002,1,0,0,random,\"dense unroll=1\"");
  EXPECT_EQ(rows[2], "dense-0123456789abcdef,1,failed,compile,,0,0,0,,\"dense unroll=2\"");
}

// Somebody may look at an export of a file from elsewhere.
TEST_F(Export, NoFormReachesTheTerminal) {
  Outcome good = Good(1, {2e-3}), bad = Bad(2, TrialError::kCompile, "\x1b[2J \u009b \u202e");
  good.proposer = "a,\"b\"\n\x1b[2J\u202e";
  Append({good, bad});
  const auto store = OpenToRead();
  for (const std::string& text : {*ExportJsonLines(*store), *ExportCsv(*store), *ExportAutoTvm(*store)}) {
    EXPECT_TRUE(std::ranges::all_of(text, [](char c) { return c == '\n' || (c >= ' ' && c < 0x7F); })) << text;
  }
  EXPECT_EQ(ParseJson(Split(*ExportJsonLines(*store), '\n')[1], "line")->at("error_text"), "\x1b[2J \u009b \u202e");
  EXPECT_THAT(*ExportCsv(*store), HasSubstr(R"(,"a,""b""\n\x1b[2J\xe2\x80\xae","dense)"));
}

// A task with two of AutoTVM's templates: in the records, the second one's points follow the first one's; in its own
// space, whose index AutoTVM knows, they begin at 0.
TEST_F(Export, IndicesOfAutotvmsTemplatesAreThoseOfTheirOwnSpaces) {
  const Workload workload = *Workload::Parse("conv2d(f32[1,64,56,56], f32[64,64,3,3], pad=1,1,1,1)");
  const search::AutoTvmShape shape = *search::AutoTvmShapeOf(workload);
  const search::Space direct = *search::AutoTvmSpace("conv2d_nchw.cuda", shape);
  const search::Space winograd = *search::AutoTvmSpace("conv2d_nchw_winograd.cuda", shape);
  std::vector<Outcome> outcomes = {Good(1, {2e-3}), Good(1, {1e-3}), Good(1, {3e-3})};
  outcomes[0].config = direct.At(77);
  outcomes[1].config = winograd.At(123);
  outcomes[1].config.index += direct.size();
  outcomes[2].config.index = 5;  // of a template that AutoTVM does not have
  Append(outcomes, SampleSession(), {"t", workload.Text(), "cuda", {}});
  const std::vector<std::string> lines = Split(*ExportAutoTvm(*OpenToRead()), '\n');
  ASSERT_EQ(lines.size(), 4u);  // the last one is empty
  AutoTvmReader reader;
  for (auto [line, index] : {std::pair(0, 77), {1, 123}}) {
    EXPECT_EQ(reader.Read(lines[line])->index, index);
    EXPECT_EQ(reader.Read(lines[line])->fit, Fit::kYes);
  }
  EXPECT_EQ(reader.Read(lines[2])->index, 5);
}

TEST_F(Export, AutotvmIsToldTheTypesOfTheTensors) {
  Append({Good(1, {2e-3})}, SampleSession(), {"t", "conv2d(f16[1,4,8,8], f16[8,4,3,3])", "cuda", {}});
  const Json line = *ParseJson(*ExportAutoTvm(*OpenToRead()), "line");
  EXPECT_EQ(line["input"][2][0][2], "float16");
  EXPECT_EQ(line["input"][2][1][2], "float16");
  EXPECT_EQ(line["input"][2][5], "float16");
}

}  // namespace
}  // namespace hone::record
