// Outcome: the result of one trial. A failed trial also has an outcome.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "task/config.h"

namespace hone {

// DO NOT CHANGE THE TEXTS: records hold them.
enum class TrialState {
  kOk,      // "ok": correct, and timed until its median was precise enough
  kPruned,  // "pruned": correct, but stopped early as hopeless: `median` is only a lower bound
  kFailed,  // "failed": see `error`
};
enum class TrialError {
  kNone,     // ""
  kInvalid,  // "invalid": rejected before compiling; the text names the rule
  kCompile,  // "compile"
  kTimeout,  // "timeout"
  kCrash,    // "crash"
  kWrong,    // "wrong": the text names the first differing element
  kDevice,   // "device": the device, its driver or this machine failed, not the candidate. No verdict: sessions do
             // not record it, and older records with it say nothing about the candidate
};
const char* TrialStateName(TrialState s);
const char* TrialErrorName(TrialError e);
Result<TrialState> ParseTrialState(const std::string& s);
Result<TrialError> ParseTrialError(const std::string& s);
std::vector<std::string> TrialErrorNames();  // of all errors but kNone

struct Outcome {
  Config config;
  TrialState state = TrialState::kFailed;
  TrialError error = TrialError::kNone;
  std::string error_text;
  std::vector<double> samples;  // seconds of all single runs, in order
  double median = 0;            // seconds; 0 if there are no samples
  std::string artifact_digest;  // hex; empty if nothing was compiled
  double compile_seconds = 0, measure_seconds = 0;
  std::string proposer;   // "random", "grid", "default", ...
  std::string steps;      // Candidate::Text of the built candidate, empty if none was built
  int64_t disturbed = 0;  // samples behind the median taken while other programs used the machine
  int64_t retaken = 0;    // samples repeated for that reason
};

}  // namespace hone
