#include "pipeline/donors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>

namespace hone::pipeline {

constexpr double kFar = std::numeric_limits<double>::infinity();
constexpr double kEpilogue = 0.125;

static double Ratio(int64_t a, int64_t b) {
  return std::abs(
      std::log2(static_cast<double>(std::max<int64_t>(a, 1)) / static_cast<double>(std::max<int64_t>(b, 1))));
}

double ShapeDistance(const Workload& a, const Workload& b) {
  if (a.op != b.op || a.inputs.size() != b.inputs.size() || a.then.size() != b.then.size() || a.from != b.from) {
    return kFar;
  }
  double distance = 0;
  for (size_t i = 0; i < a.then.size(); ++i) distance += ShapeDistance(a.then[i], b.then[i]);
  for (size_t i = 0; i < a.inputs.size(); ++i) {
    const auto& x = a.inputs[i].shape;
    const auto& y = b.inputs[i].shape;
    if (x.size() != y.size() || !(a.inputs[i].type == b.inputs[i].type)) return kFar;
    for (size_t d = 0; d < x.size(); ++d) distance += Ratio(x[d], y[d]);
  }
  std::set<std::string> names;
  for (const Workload* w : {&a, &b}) {
    for (const Attribute& attribute : w->attributes) names.insert(attribute.name);
  }
  for (const std::string& name : names) {
    const Attribute* x = a.Find(name);
    const Attribute* y = b.Find(name);
    if (name == "groups") {
      distance += Ratio(a.Numbers(name, {1})[0], b.Numbers(name, {1})[0]);
    } else if (x == nullptr || y == nullptr || !(*x == *y)) {
      if (name == "layout") return kFar;  // other loops
      distance += 1;
    }
  }
  return distance + (a.epilogue == b.epilogue ? 0 : kEpilogue);
}

std::vector<std::vector<size_t>> ChooseDonors(const std::vector<DonorTask>& tasks) {
  std::vector<std::vector<size_t>> donors(tasks.size());
  std::set<std::string> listed;
  bool any = false;
  for (const DonorTask& task : tasks) {
    listed.insert(task.transfer.ids.begin(), task.transfer.ids.end());
    any = any || task.transfer.any || !task.transfer.ids.empty();
  }
  if (!any) return donors;  // nothing to parse
  std::vector<std::optional<Workload>> workloads;
  std::map<std::string, std::vector<size_t>> by_op;
  for (size_t i = 0; i < tasks.size(); ++i) {
    Result<Workload> workload = Workload::Parse(tasks[i].workload);
    workloads.push_back(workload.ok() ? std::optional<Workload>(std::move(*workload)) : std::nullopt);
    if (workloads.back()) by_op[workloads.back()->op].push_back(i);
  }
  const auto order = [&](size_t i) { return std::pair(listed.count(tasks[i].id) == 0, tasks[i].id); };
  for (size_t i = 0; i < tasks.size(); ++i) {
    const Transfer& transfer = tasks[i].transfer;
    if (!workloads[i] || (!transfer.any && transfer.ids.empty())) continue;
    std::vector<std::pair<double, size_t>> near;
    for (const size_t j : by_op[workloads[i]->op]) {
      if (!(order(j) < order(i))) continue;
      const bool wanted = transfer.any || std::binary_search(transfer.ids.begin(), transfer.ids.end(), tasks[j].id);
      const double distance = wanted ? ShapeDistance(*workloads[i], *workloads[j]) : kFar;
      if (std::isfinite(distance)) near.emplace_back(distance, j);
    }
    std::sort(near.begin(), near.end());
    if (near.size() > kMaxDonors) near.resize(kMaxDonors);
    for (const auto& [distance, j] : near) donors[i].push_back(j);
  }
  return donors;
}

}  // namespace hone::pipeline
