#include "pipeline/shares.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/json.h"

namespace hone::pipeline {

// Occurrence x time. A task without a correct trial counts as slow, for its work, as the slowest one.
static std::vector<double> Needs(const std::vector<ShareTask>& tasks) {
  double slowest = 0;  // seconds per FLOP
  for (const ShareTask& task : tasks) {
    const double flop = static_cast<double>(std::max<int64_t>(task.flop, 1));
    slowest = std::max(slowest, task.seconds / flop);
  }
  std::vector<double> needs;
  for (const ShareTask& task : tasks) {
    const double flop = static_cast<double>(std::max<int64_t>(task.flop, 1));
    const double seconds = task.seconds > 0 ? task.seconds : flop * (slowest > 0 ? slowest : 1);
    needs.push_back(static_cast<double>(task.weight) * seconds);
  }
  return needs;
}

// Distributes `pot` in proportion to `needs`, in whole numbers: the remainders go to the largest fractions, the first
// of equals.
static std::vector<int64_t> InProportion(int64_t pot, const std::vector<double>& needs) {
  const double sum = std::accumulate(needs.begin(), needs.end(), 0.0);
  std::vector<int64_t> shares(needs.size(), 0);
  if (!(sum > 0)) return shares;
  std::vector<double> fractions(needs.size(), 0);
  int64_t left = pot;
  for (size_t i = 0; i < needs.size(); ++i) {
    const double exact = static_cast<double>(pot) * (needs[i] / sum);
    shares[i] = static_cast<int64_t>(std::floor(exact));
    fractions[i] = needs[i] > 0 ? exact - std::floor(exact) : -1;
    left -= shares[i];
  }
  std::vector<size_t> order(needs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return fractions[a] > fractions[b]; });
  for (size_t i = 0; left > 0; i = (i + 1) % order.size()) {
    if (fractions[order[i]] < 0) continue;
    ++shares[order[i]];
    --left;
  }
  return shares;
}

std::vector<int64_t> ShareOut(const std::vector<ShareTask>& tasks, int64_t total, int round, int rounds) {
  const int64_t count = static_cast<int64_t>(tasks.size());
  std::vector<int64_t> budgets;
  if (round <= 1) {
    const int64_t pot = rounds <= 1 ? total : std::max(count, total / rounds);
    for (int64_t i = 0; i < count; ++i) budgets.push_back(pot / count + (i < pot % count ? 1 : 0));
    return budgets;
  }
  int64_t left = total;
  std::vector<double> needs = Needs(tasks);
  for (size_t i = 0; i < tasks.size(); ++i) {
    left -= tasks[i].spent;
    if (tasks[i].spent < tasks[i].given) needs[i] = 0;  // it stopped early
    budgets.push_back(tasks[i].given);
  }
  const int64_t pot = std::max<int64_t>(left, 0) / std::max(rounds - round + 1, 1);
  const std::vector<int64_t> shares = InProportion(pot, needs);
  for (size_t i = 0; i < tasks.size(); ++i) budgets[i] += shares[i];
  return budgets;
}

Result<SearchState> ParseStamp(std::string_view text, const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(text, path));
  JsonReader reader(json, path), budget, search;
  SearchState state;
  HONE_RETURN_IF_ERROR(reader.Read("budget", &budget));
  HONE_RETURN_IF_ERROR(budget.Read("trials", &state.given));
  HONE_RETURN_IF_ERROR(reader.Read("search", &search));
  HONE_RETURN_IF_ERROR(search.Read("trials", &state.spent));
  HONE_RETURN_IF_ERROR(search.Read("seconds", &state.seconds));
  return state;
}

}  // namespace hone::pipeline
