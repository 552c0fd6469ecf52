#include "measure/builder.h"

#include <utility>

#include "base/check.h"

namespace hone::measure {

Status Builder::Begin(const std::vector<Config>& configs) {
  Abandon();
  HONE_ASSIGN_OR_RETURN(begun_, Build(configs));
  return Status();
}

Result<BuildResult> Builder::Next() {
  HONE_CHECK(given_ < begun_.size());
  return std::move(begun_[given_++]);
}

Result<bool> Builder::Advance() { return true; }

void Builder::Abandon() {
  begun_.clear();
  given_ = 0;
}

}  // namespace hone::measure
