// How the times of a task's trials depend on its knobs.
#pragma once

#include <string>
#include <vector>

#include "report/report_data.h"

namespace hone::report {

struct KnobFact {
  std::string template_name, knob;
  std::vector<std::string> values;  // values that were tried, at least two: numbers by size, then words by name
  struct Use {
    const TrialFact* trial = nullptr;  // one of the task's
    size_t value = 0;                  // index into `values`
  };
  std::vector<Use> uses;  // all trials of the template, including failed ones
  // Share of the variance of the times' logarithms that the values explain, corrected for the number of values
  // (Kelley's epsilon squared, "An unbiased correlation ratio measure", 1935), at least 0. A pruned trial counts with
  // its bound.
  double explained = 0;
};

inline constexpr size_t kKnobsTold = 5;  // per task, in pages and report.json

// For each template of the task's trials, the knobs with more than one value, at most kKnobsTold; those that explain
// most come first.
std::vector<KnobFact> KnobFacts(const TaskFact& task);

}  // namespace hone::report
