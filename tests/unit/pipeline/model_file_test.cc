#include "pipeline/model_file.h"

#include "base/json.h"
#include "base/text.h"
#include "common/expect.h"

namespace hone::pipeline {
namespace {

SavedModel SavedSample() {
  const Config config{"dense", 3, {{"unroll", KnobKind::kOther, {4}, {}}, {"order", KnobKind::kOther, {}, {"rows"}}}};
  SavedTask task{Must(Workload::Parse("dense(f32[1,16], f32[8,16])")), {{"dense", 2}, {"sums", 1}}, {}};
  task.trials = {{config, 1.25e-4}, {{"sums", kNoIndex, {{"rows", KnobKind::kOther, {7}, {}}}}, 1.0 / 3}};
  return {"cpu -x", "cpu=A", "0f", 128, {task}, ""};
}

TEST(ModelFile, ReadsWhatItWrites) {
  const std::string text = SavedModelText(SavedSample());
  SavedModel read = Must(ParseSavedModel(text, "m.model"));
  EXPECT_EQ(SavedModelText(read), text);
  EXPECT_EQ(read.check.size(), 32U);
  read.check = "";
  EXPECT_EQ(read, SavedSample());
}

// Each error is one line that says what to do.
TEST(ModelFile, RefusesDamageAndOtherVersions) {
  const std::string text = SavedModelText(SavedSample());
  const auto why = [](const std::string& wrong) {
    const Status status = ParseSavedModel(wrong, "m.model").status();
    EXPECT_FALSE(status.ok()) << wrong;
    EXPECT_THAT(status.message(), StartsWith("m.model"));
    EXPECT_THAT(status.message(), Not(HasSubstr("\n")));
    return status.message();
  };
  const auto replaced = [&](const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.substr(0, at) + to + text.substr(at + from.size());
  };
  for (size_t length = 0; length < text.size(); length += 7) {
    EXPECT_THAT(why(text.substr(0, length)), HasSubstr("make it again with `hone-records learn`"));
  }
  EXPECT_THAT(why(replaced("\"version\": 1", "\"version\": 2")), HasSubstr("use a newer Hone"));
  EXPECT_THAT(why(replaced("0.000125", "0.000126")), HasSubstr("was changed after it was written"));
  EXPECT_THAT(why(replaced("0.000125", "-1")), HasSubstr("seconds: must be above 0"));
  EXPECT_THAT(why(replaced("cpu=A", "cpu=B")), HasSubstr("was changed after it was written"));
  EXPECT_THAT(why(replaced("dense(f32[1,16]", "dense(f32[1,")), HasSubstr("workload"));
  EXPECT_THAT(why(text + " "), HasSubstr("was changed"));
  EXPECT_THAT(why("hone-replay 1\n"), HasSubstr("make it again"));
}

}  // namespace
}  // namespace hone::pipeline
