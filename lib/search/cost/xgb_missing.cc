// Replaces xgb_model.cc in builds without XGBoost.
#include "search/cost/xgb_model.h"

namespace hone::search {

Status CheckXgb() {
  return Status::Unsupported(
      "the tuners `xgb` and `ansor` need XGBoost, which this build was configured without: install libxgboost-dev, then "
      "configure (cmake -DHONE_XGBOOST=ON) and build again; or use another tuner (auto, ga, annealing, random, grid)");
}

Result<std::unique_ptr<CostModel>> MakeXgbModel(const XgbOptions&) { return CheckXgb(); }

}  // namespace hone::search
