// Tests that need XGBoost are skipped only in a build that was configured without it.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "search/cost/xgb_model.h"

namespace hone {

// The reason; empty if they run.
inline std::string NoXgb() {
  const Status status = search::CheckXgb();
#ifndef HONE_WITHOUT_XGBOOST  // cmake -DHONE_XGBOOST=OFF
  EXPECT_TRUE(status.ok()) << status.message();
#endif
  return status.message();
}

}  // namespace hone
