#include "sketch/user_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/guarded.h"
#include "base/text.h"
#include "search/space/rules.h"

namespace hone::sketch {
namespace {

constexpr size_t kMostLines = 10000;
constexpr double kWorst = 700;  // the cost of a point whose estimate failed: e^700 cycles

std::string Who(const DerivationRule& rule) { return fmt::format("plugin {}: rule `{}`", rule.plugin, rule.name); }

Status Check(const std::string& who, const Sketch& sketch) {
  if (sketch.lines.size() > kMostLines) {
    return Status::Invalid("{} makes {} steps, at most {} are allowed", who, sketch.lines.size(), kMostLines);
  }
  const std::string text = SketchText(sketch);
  const auto parsed = ParseSketch(text, who);
  if (!parsed.ok()) return parsed.status();
  return SketchText(*parsed) == text ? Status()
                                     : Status::Invalid("{}: a decision, value or step has a line break", who);
}

}  // namespace

Status CheckRules(const std::string& file, const std::vector<UserRule>& given) {
  std::vector<std::string> names;
  for (const DerivationRule& rule : Rules()) names.push_back(rule.name);
  for (const UserRule& rule : given) {
    if (rule.derive == nullptr) {
      return Status::Invalid("{}: rule `{}` has no derive; see lib/sketch/user_rule.h", file, rule.name);
    }
    if (std::ranges::count(names, rule.name) != 0) {
      return Status::Invalid("{}: there is a rule `{}` already; choose another name", file, rule.name);
    }
    names.push_back(rule.name);
  }
  return Status();
}

void RegisterRules(const std::string& file, const std::vector<UserRule>& given) {
  for (const UserRule& rule : given) AddRule({rule.name, rule.version, rule.family, rule.derive, file});
}

Result<std::optional<Sketch>> DeriveUser(const DerivationRule& rule, const te::Tensor& output,
                                         const std::vector<std::string>& constants, const Target& target) {
  const std::string who = Who(rule);
  HONE_ASSIGN_OR_RETURN(std::optional<Sketch> sketch,
                        Guarded<std::optional<Sketch>>(who, [&] { return rule.derive(output, constants, target); }));
  if (!sketch) return sketch;
  sketch->name = rule.name;
  sketch->cores.clear(), sketch->use = nullptr;  // of Hone's own rules
  HONE_RETURN_IF_ERROR(Check(who, *sketch));
  for (search::Rule& each : sketch->rules) {
    each.reject = [who, reject = std::move(each.reject)](const Config& config) -> search::Rejection {
      const auto verdict = Guarded<search::Rejection>(who, [&] { return reject(config); });
      return verdict.ok() ? *verdict : search::Rejection(verdict.status().message());
    };
  }
  if (sketch->cost) {
    sketch->cost = [cost = std::move(sketch->cost)](const Config& config) {
      const auto costs = Guarded<std::vector<double>>("", [&] { return cost(config); });
      const bool known = costs.ok() && !costs->empty() && std::isfinite(costs->front());
      return std::vector<double>{known ? std::min(costs->front(), kWorst) : kWorst};
    };
  }
  return sketch;
}

}  // namespace hone::sketch
