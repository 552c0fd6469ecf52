// Outcomes for the tests of lib/record.
#pragma once

#include <string>

#include "base/statistics.h"
#include "record/store.h"

namespace hone::record {

inline Meta SampleMeta() { return {"dense-0123456789abcdef", "dense(f32[1,4], f32[8,4])", "cpu", {{"dense", 1}}}; }

inline Session SampleSession(const std::string& fingerprint = "f1") {
  Session s;
  s.started = 1000;
  s.host = "host";
  s.device = "cpu";
  s.fingerprint = fingerprint;
  s.seed = 18446744073709551615ull;
  s.settings = "{}";
  return s;
}

inline Config SampleConfig(int64_t unroll) {
  return {"dense", static_cast<uint64_t>(unroll), {{"unroll", KnobKind::kOther, {unroll}, {}}}};
}

inline Outcome Good(int64_t unroll, std::vector<double> samples) {
  Outcome o;
  o.config = SampleConfig(unroll);
  o.state = TrialState::kOk;
  o.median = Median(samples);
  o.samples = std::move(samples);
  o.proposer = "random";
  o.artifact_digest = "abc";
  o.steps = "vectorize out m";
  return o;
}

inline Outcome Bad(int64_t unroll, TrialError error, std::string text) {
  Outcome o;
  o.config = SampleConfig(unroll);
  o.state = TrialState::kFailed;
  o.error = error;
  o.error_text = std::move(text);
  return o;
}

}  // namespace hone::record
