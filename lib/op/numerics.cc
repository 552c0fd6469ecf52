#include "op/numerics.h"

#include <fmt/format.h>

#include <utility>

namespace hone::op {

static std::optional<std::string> ForbidsWinograd(const Numerics& numerics, int64_t m) {
  if (m <= numerics.winograd) return std::nullopt;
  if (numerics.winograd < 2) return "winograd is off";
  return fmt::format("m={} is less exact than m={}", m, numerics.winograd);
}

static std::optional<std::string> ForbidsTf32(const Numerics& numerics) {
  return numerics.tf32 ? std::nullopt : std::optional<std::string>("tf32 is off");
}

// Those of a group's first member too.
static std::vector<const Template*> TemplatesOf(const Operator& op, const Workload& workload, const Target& target) {
  std::vector<const Template*> templates = op.Templates(workload, target);
  const std::vector<const Template*> of_first = FirstMemberTemplates(workload, target);
  templates.insert(templates.end(), of_first.begin(), of_first.end());
  return templates;
}

std::optional<std::string> Forbidden(const Numerics& numerics, const Algorithm& algorithm) {
  if (algorithm.name == "winograd") return ForbidsWinograd(numerics, algorithm.Number("m", INT64_MAX));
  return algorithm.name == kTf32Gemm ? ForbidsTf32(numerics) : std::nullopt;
}

void LimitWinograd(const Numerics& numerics, std::function<int64_t(const Config&)> m, Space* space) {
  if (numerics.winograd >= Numerics().winograd) return;
  space->AddRule({"numerics", [=, m = std::move(m)](const Config& c) { return ForbidsWinograd(numerics, m(c)); }});
}

void LimitTf32(const Numerics& numerics, Space* space) {
  if (!numerics.tf32) space->AddRule({"numerics", [=](const Config&) { return ForbidsTf32(numerics); }});
}

std::optional<std::string> Forbidden(const Workload& workload, const Target& target, const Numerics& numerics,
                                     const Config& config) {
  const auto op = FindOperator(workload);
  if (!op.ok()) return std::nullopt;
  for (const Template* t : TemplatesOf(**op, workload, target)) {
    if (config.template_name != t->name()) continue;
    Space limits(t->name());  // only the rule: the config was a point of the whole space before
    t->Limit(workload, numerics, &limits);
    return limits.Reject(config);
  }
  return std::nullopt;
}

std::optional<std::string> Forbidden(const Workload& workload, const Target& target, const Numerics& numerics,
                                     const Outcome& outcome) {
  if (const auto candidate = Candidate::Parse(outcome.steps); candidate.ok()) {
    if (auto why = Forbidden(numerics, candidate->algorithm)) return why;
  }
  return Forbidden(workload, target, numerics, outcome.config);
}

NumericsMatter WhichNumericsMatter(const Workload& workload, const Target& target) {
  NumericsMatter matter;
  const auto op = FindOperator(workload);
  if (!op.ok()) return matter;
  for (const Template* t : TemplatesOf(**op, workload, target)) {
    const auto forbids = [&](const Numerics& numerics) {
      Space limits(t->name());
      t->Limit(workload, numerics, &limits);
      return !limits.rules().empty();
    };
    matter.winograd = matter.winograd || forbids({.winograd = 0, .tf32 = true});
    matter.tf32 = matter.tf32 || forbids({.tf32 = false});
  }
  for (const OtherAlgorithm& other : (*op)->OtherAlgorithms(workload, target)) {
    matter.winograd = matter.winograd || Forbidden({.winograd = 0, .tf32 = true}, other.algorithm);
    matter.tf32 = matter.tf32 || Forbidden({.tf32 = false}, other.algorithm);
  }
  return matter;
}

}  // namespace hone::op
