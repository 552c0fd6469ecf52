// Candidate: an algorithm and a schedule, from which, with its workload and target, a kernel is built. Templates make
// candidates from configs. Best files contain candidates, so that building a library needs no templates.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "task/step.h"

namespace hone {

// An algorithm of an operator (op::Operator::Compute), with the numbers that affect its te DAG.
struct Algorithm {
  std::string name = "direct";
  std::vector<std::pair<std::string, int64_t>> numbers;

  int64_t Number(std::string_view key, int64_t fallback) const;
  // "direct", "winograd(m=4, tiles=96)". Parse accepts exactly the output of Text.
  std::string Text() const;
  static Result<Algorithm> Parse(const std::string& text);
  bool operator==(const Algorithm&) const = default;
};

struct Candidate {
  Algorithm algorithm;
  std::vector<Step> steps;

  // The text in records: one step per line, preceded by "algorithm winograd(m=4, tiles=96)" unless that is "direct".
  // Older records lack that line.
  std::string Text() const;
  static Result<Candidate> Parse(const std::string& text);
  bool operator==(const Candidate&) const = default;
};

}  // namespace hone
