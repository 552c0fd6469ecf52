#include "op/numerics.h"

namespace hone::op {

std::optional<std::string> Forbidden(const Workload& workload, const Target& target, const Numerics& numerics,
                                     const Config& config) {
  const auto op = FindOperator(workload);
  if (!op.ok()) return std::nullopt;
  for (const Template* t : (*op)->Templates(workload, target)) {
    if (config.template_name != t->name()) continue;
    search::Space limits(t->name());  // the rules alone: the config was a point of the whole space once
    t->Limit(numerics, &limits);
    return limits.Reject(config);
  }
  return std::nullopt;
}

bool NumericsMatter(const Workload& workload, const Target& target) {
  const auto op = FindOperator(workload);
  if (!op.ok()) return false;
  for (const Template* t : (*op)->Templates(workload, target)) {
    search::Space limits(t->name());
    t->Limit(Numerics{0}, &limits);
    if (!limits.rules().empty()) return true;
  }
  return false;
}

}  // namespace hone::op
