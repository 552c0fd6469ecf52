// The tuners of a build without XGBoost, whatever this one has: xgb_missing.cc is linked in the place of xgb_model.cc.
#include <gtest/gtest.h>

#include "search/cost/xgb_model.h"
#include "search/tuner/tuner.h"
#include "surface.h"

namespace hone::search {
namespace {

TEST(WithoutXgboost, AllTunersButXgbsAreThereAndThoseSayWhatToInstall) {
  const TaskSpace space = SurfaceSpace();
  int missing = 0;
  for (const std::string& name : TunerNames()) {
    EXPECT_TRUE(CheckTunerName(name).ok()) << name;
    const auto tuner = MakeTuner(name, space, 1);
    if (name.rfind("xgb", 0) == 0) {
      ++missing;
      ASSERT_FALSE(tuner.ok()) << name;
      EXPECT_EQ(tuner.status().kind(), StatusKind::kUnsupported) << name;
      EXPECT_NE(tuner.status().message().find("libxgboost-dev"), std::string::npos) << tuner.status().message();
      EXPECT_NE(tuner.status().message().find("-DHONE_XGBOOST=ON"), std::string::npos) << tuner.status().message();
      continue;
    }
    ASSERT_TRUE(tuner.ok()) << name << ": " << tuner.status().message();
    EXPECT_FALSE((*tuner)->NextBatch(4).empty()) << name;
  }
  EXPECT_EQ(missing, 12);
}

TEST(WithoutXgboost, TheModelSaysWhatToInstall) {
  const Status status = CheckXgb();
  EXPECT_EQ(status.kind(), StatusKind::kUnsupported);
  EXPECT_NE(status.message().find("libxgboost-dev"), std::string::npos) << status.message();
  auto model = MakeXgbModel({});
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.status().message(), status.message());
}

}  // namespace
}  // namespace hone::search
