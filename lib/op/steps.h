// Helpers for lists of schedule steps.
#pragma once

#include <vector>

#include "task/step.h"

namespace hone::op {

inline void Append(std::vector<Step>* steps, const std::vector<Step>& more) {
  steps->insert(steps->end(), more.begin(), more.end());
}
// Appends a step that unrolls `stage`, for each of `axes`.
inline void AppendUnrolls(std::vector<Step>* steps, const std::string& stage, const std::vector<std::string>& axes) {
  for (const std::string& axis : axes) steps->push_back(Unroll(stage, axis));
}

}  // namespace hone::op
