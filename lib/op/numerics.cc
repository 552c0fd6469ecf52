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

NumericsMatter WhichNumericsMatter(const Workload& workload, const Target& target) {
  NumericsMatter matter;
  const auto op = FindOperator(workload);
  if (!op.ok()) return matter;
  for (const Template* t : (*op)->Templates(workload, target)) {
    const auto forbids = [&](const Numerics& numerics) {
      search::Space limits(t->name());
      t->Limit(numerics, &limits);
      return !limits.rules().empty();
    };
    matter.winograd = matter.winograd || forbids({.winograd = 0, .tf32 = true});
    matter.tf32 = matter.tf32 || forbids({.tf32 = false});
  }
  return matter;
}

}  // namespace hone::op
