#include <gtest/gtest.h>

#include "search/cost/xgb_model.h"

namespace hone::search {
namespace {

TEST(WithoutXgboost, SaysWhatToInstall) {
  const Status status = CheckXgb();
  EXPECT_EQ(status.kind(), StatusKind::kUnsupported);
  EXPECT_NE(status.message().find("libxgboost-dev"), std::string::npos) << status.message();
  auto model = MakeXgbModel({});
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.status().message(), status.message());
}

}  // namespace
}  // namespace hone::search
