// Candidate: what a kernel is built from, beside its workload and target: an algorithm and a schedule. Templates make
// candidates from configs; best files carry them, so that a library is built without the template.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "task/step.h"

namespace hone {

// One of the algorithms of an operator (op::Operator::Compute), with the numbers that change its te DAG.
struct Algorithm {
  std::string name = "direct";
  std::vector<std::pair<std::string, int64_t>> numbers;

  int64_t Number(std::string_view key, int64_t fallback) const;
  // "direct", "winograd(m=4, tiles=96)". Parse reads exactly what Text writes.
  std::string Text() const;
  static Result<Algorithm> Parse(const std::string& text);
  bool operator==(const Algorithm&) const = default;
};

struct Candidate {
  Algorithm algorithm;
  std::vector<Step> steps;

  // As records hold it: a step a line, and before them "algorithm winograd(m=4, tiles=96)" unless that is "direct".
  // Older records lack that line.
  std::string Text() const;
  static Result<Candidate> Parse(const std::string& text);
  bool operator==(const Candidate&) const = default;
};

}  // namespace hone
