// Tests of what XGBoost does are skipped only in a build that was asked to leave it out.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "search/cost/xgb_model.h"

namespace hone {

// Why: empty where they run.
inline std::string NoXgb() {
  const Status status = search::CheckXgb();
#ifndef HONE_WITHOUT_XGBOOST  // cmake -DHONE_XGBOOST=OFF
  EXPECT_TRUE(status.ok()) << status.message();
#endif
  return status.message();
}

}  // namespace hone
