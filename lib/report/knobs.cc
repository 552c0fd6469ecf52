#include <algorithm>
#include <cmath>
#include <map>

#include "report/report_data.h"

namespace hone::report {
namespace {

// The sort key of a value: its numbers, if it consists of numbers.
using Key = std::pair<std::vector<int64_t>, std::vector<std::string>>;

double Explained(const KnobFact& fact) {
  std::map<size_t, std::vector<double>> groups;
  double sum = 0, count = 0;
  for (const KnobFact::Use& use : fact.uses) {
    if (use.trial->state == TrialState::kFailed || use.trial->seconds <= 0) continue;
    const double log = std::log(use.trial->seconds);
    groups[use.value].push_back(log);
    sum += log;
    ++count;
  }
  const double k = static_cast<double>(groups.size());
  if (k < 2 || count <= k) return 0;
  double total = 0, within = 0;
  for (const auto& [value, logs] : groups) {
    double mean = 0;
    for (const double log : logs) mean += log / static_cast<double>(logs.size());
    for (const double log : logs) {
      within += (log - mean) * (log - mean);
      total += (log - sum / count) * (log - sum / count);
    }
  }
  if (!(total > 0)) return 0;
  return std::clamp(1 - within / (count - k) * (count - 1) / total, 0.0, 1.0);
}

}  // namespace

std::vector<KnobFact> KnobFacts(const TaskFact& task) {
  std::map<std::pair<std::string, std::string>, std::map<Key, std::vector<const TrialFact*>>> knobs;
  for (const TrialFact& trial : task.trials) {
    for (const KnobValue& value : trial.config.values) {
      knobs[{trial.config.template_name, value.name}][{value.numbers, value.words}].push_back(&trial);
    }
  }
  std::vector<KnobFact> facts;
  for (const auto& [name, by_value] : knobs) {
    if (by_value.size() < 2) continue;
    KnobFact fact;
    fact.template_name = name.first;
    fact.knob = name.second;
    for (const auto& [key, trials] : by_value) {
      KnobValue value;
      value.numbers = key.first;
      value.words = key.second;
      for (const TrialFact* trial : trials) fact.uses.push_back({trial, fact.values.size()});
      fact.values.push_back(value.Text());
    }
    fact.explained = Explained(fact);
    facts.push_back(std::move(fact));
  }
  std::stable_sort(facts.begin(), facts.end(),
                   [](const KnobFact& a, const KnobFact& b) { return a.explained > b.explained; });
  if (facts.size() > kKnobsTold) facts.resize(kKnobsTold);
  return facts;
}

}  // namespace hone::report
