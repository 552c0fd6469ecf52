// The tuners of a build without XGBoost, whatever this build has: xgb_missing.cc is linked in place of xgb_model.cc.
#include "search/cost/xgb_model.h"
#include "search/tuner/tuner.h"
#include "surface.h"

namespace hone::search {
namespace {

TEST(WithoutXgboost, AllTunersButTwoKindsAreThereAndThoseSayWhatToInstall) {
  const TaskSpace space = SurfaceSpace();
  int missing = 0;
  for (const std::string& name : TunerNames()) {
    EXPECT_TRUE(CheckTunerName(name).ok()) << name;
    const auto tuner = MakeTuner(name, space, 1);
    if (name.rfind("xgb", 0) == 0 || name == "ansor") {
      ++missing;
      ASSERT_FALSE(tuner.ok()) << name;
      EXPECT_EQ(tuner.status().kind(), StatusKind::kUnsupported) << name;
      EXPECT_THAT(tuner.status().message(), HasSubstr("libxgboost-dev"));
      EXPECT_THAT(tuner.status().message(), HasSubstr("-DHONE_XGBOOST=ON"));
      continue;
    }
    ASSERT_TRUE(tuner.ok()) << name << ": " << tuner.status().message();
    EXPECT_FALSE((*tuner)->NextBatch(4).empty()) << name;
  }
  EXPECT_EQ(missing, 13);
}

TEST(WithoutXgboost, TheModelSaysWhatToInstall) {
  const Status status = CheckXgb();
  EXPECT_EQ(status.kind(), StatusKind::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("libxgboost-dev"));
  auto model = MakeXgbModel({});
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.status().message(), status.message());
}

}  // namespace
}  // namespace hone::search
