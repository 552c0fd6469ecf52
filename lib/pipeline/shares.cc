#include "pipeline/shares.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/json.h"
#include "pipeline/share_needs.h"

namespace hone::pipeline {
namespace {

// The smallest share of a total in seconds.
constexpr double kSecond = 1e-3;

// A number for each task, in their order.
using Numbers = std::vector<double>;

// Distributes `pot` in proportion to `needs`, in whole numbers: the remainders go to the largest fractions, the first
// of equals.
std::vector<int64_t> InProportion(int64_t pot, const Numbers& needs) {
  const double sum = std::accumulate(needs.begin(), needs.end(), 0.0);
  std::vector<int64_t> shares(needs.size(), 0);
  if (!(sum > 0)) return shares;
  Numbers fractions(needs.size(), 0);
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

}  // namespace

bool Ended(const SearchState& search) { return search.ended || (search.seconds == 0 && search.trials >= kHopeless); }

double SearchState::BestAt(int64_t count) const {
  double best = 0;
  for (const Improvement& improvement : improvements) {
    if (improvement.trials <= count) best = improvement.seconds;
  }
  return best;
}

double EstimatedTotal(const std::vector<ShareTask>& tasks, int64_t* unknown) {
  double total = 0;
  if (unknown != nullptr) *unknown = 0;
  for (const ShareTask& task : tasks) {
    if (task.optional) continue;
    total += static_cast<double>(task.uses) * task.search.seconds;
    if (unknown != nullptr && task.search.seconds <= 0) ++*unknown;
  }
  return total;
}

std::string OperatorOf(const std::string& task) { return task.substr(0, task.rfind('-')); }

double WeightOf(const TuneSettings& settings, const std::string& task) {
  for (const std::string& name : {task, OperatorOf(task)}) {
    const auto found = std::ranges::find(settings.weights, name, &TaskWeight::name);
    if (found != settings.weights.end()) return found->weight;
  }
  return 1;
}

std::string BudgetProblem(const TuneSettings& settings, size_t tasks) {
  const auto problem = [&](const char* key, double total, const char* unit) {
    if (total >= static_cast<double>(tasks)) return std::string();
    return fmt::format("{} is {}, fewer than the tasks ({}): each needs one {} at least; raise it", key, total, tasks,
                       unit);
  };
  return settings.seconds_total > 0 ? problem("seconds_total", settings.seconds_total, "second")
                                    : problem("trials_total", static_cast<double>(settings.trials_total), "trial");
}

std::vector<double> ShareOut(const std::vector<ShareTask>& tasks, const TuneSettings& settings, int64_t round) {
  const bool by_time = settings.seconds_total > 0;
  const double unit = by_time ? kSecond : 1;
  const double total = by_time ? settings.seconds_total : static_cast<double>(settings.trials_total);
  const double count = static_cast<double>(tasks.size());
  double pot = std::max(count, total / static_cast<double>(settings.rounds));  // a trial or a second a task
  Numbers needs(tasks.size(), 1), budgets(tasks.size(), 0);
  if (round > 1) {
    double left = total;
    for (size_t i = 0; i < tasks.size(); ++i) {
      left -= tasks[i].search.spent;
      const SearchState& search = tasks[i].search;
      budgets[i] = Ended(search) ? search.given : std::max(search.given, search.spent);
    }
    pot = std::max(left, 0.0) / static_cast<double>(std::max<int64_t>(settings.rounds - round + 1, 1));
    needs = ShareNeeds(tasks, settings, pot);
  }
  const std::vector<int64_t> shares = InProportion(static_cast<int64_t>(std::floor(pot / unit + 1e-9)), needs);
  for (size_t i = 0; i < tasks.size(); ++i) budgets[i] += unit * static_cast<double>(shares[i]);
  return budgets;
}

Result<SearchState> ParseStamp(std::string_view text, const std::string& path, bool by_time) {
  HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(text, path));
  JsonReader reader(json, path), budget, search;
  SearchState state;
  HONE_RETURN_IF_ERROR(reader.Read("budget", &budget));
  HONE_RETURN_IF_ERROR(budget.Read(by_time ? "seconds" : "trials", &state.given));
  HONE_RETURN_IF_ERROR(reader.Read("search", &search));
  HONE_RETURN_IF_ERROR(search.Read("trials", &state.trials));
  HONE_RETURN_IF_ERROR(search.Read("seconds", &state.seconds));
  double tuning_seconds = 0;
  HONE_RETURN_IF_ERROR(search.ReadOptional("tuning_seconds", &tuning_seconds));
  HONE_RETURN_IF_ERROR(search.ReadOptional("trial_seconds", &state.trial_seconds));
  HONE_RETURN_IF_ERROR(search.ReadOptional("tuner_gain", &state.tuner_gain));
  if (state.trials < 0 || state.trials > kMostTrials) return search.Error("trials", "not a number of trials");
  state.spent = by_time ? tuning_seconds : static_cast<double>(state.trials);
  std::string met_by;
  HONE_RETURN_IF_ERROR(reader.ReadOptional("met_by", &met_by));
  state.ended = by_time ? !met_by.empty() && met_by != "seconds" : state.spent < state.given;
  std::vector<std::vector<double>> pairs;
  HONE_RETURN_IF_ERROR(search.ReadOptional("improvements", &pairs));
  for (const std::vector<double>& pair : pairs) {
    const bool good = pair.size() == 2 && pair[0] >= 1 && pair[0] <= static_cast<double>(kMostTrials) && pair[1] > 0;
    if (!good) return search.Error("improvements", "expected pairs of trials and seconds");
    state.improvements.push_back({static_cast<int64_t>(pair[0]), pair[1]});
  }
  return state;
}

}  // namespace hone::pipeline
