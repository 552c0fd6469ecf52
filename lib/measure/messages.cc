#include "measure/messages.h"

#include <algorithm>
#include <cmath>

#include "base/fields.h"
#include "base/statistics.h"

namespace hone::measure {

constexpr size_t kMostText = 4096;

// A text of the child, which may be as long as a frame.
static void ListText(Fields* f, const char* name, std::string* text) {
  f->Value(name, text);
  if (f->reading() && text->size() > kMostText) *text = text->substr(0, kMostText) + " ...";
}

static void ListVerdict(Fields* f, Outcome* o) {
  f->As("state", &o->state, TrialStateName, ParseTrialState);
  f->As("error", &o->error, TrialErrorName, ParseTrialError);
  ListText(f, "error_text", &o->error_text);
  HONE_VALUES(f, o->samples, o->median, o->disturbed, o->retaken);
  f->Value("seconds", &o->measure_seconds);
}

static Status CheckSamples(const std::vector<double>& samples, int64_t most, int64_t disturbed, int64_t retaken) {
  const auto count = static_cast<int64_t>(samples.size());
  const bool times = std::ranges::all_of(samples, [](double s) { return std::isfinite(s) && s > 0; });
  if (count <= most && times && disturbed >= 0 && disturbed <= count && retaken >= 0) return Status();
  return Status::Corrupt("sent implausible times");
}

void ListFields(Fields* f, TaskSetup* s) {
  std::string verb = "setup";
  f->Value("do", &verb);
  f->Value("operands", &s->operands).Check(!s->operands.empty(), "must hold the output at least");
  HONE_VALUES(f, s->reference_path, s->reference_key, s->flop);
  f->Value("products", &s->products).AtLeast(1);
  f->Value("threads", &s->threads).AtLeast(1);
  HONE_VALUES(f, s->target, s->device, s->kernel_folders, s->protocol);
}

void ListFields(Fields* f, BuildResult* r) {
  f->Value("ok", &r->ok);
  if (r->ok) {
    f->Value("kernel", &r->kernel);
    if (f->reading()) r->compile_seconds = r->kernel.compile_seconds;
    return;
  }
  bool verdict = r->error != TrialError::kDevice;
  ListText(f, "error", &r->error_text);
  f->Value("verdict", &verdict);
  f->Value("seconds", &r->compile_seconds);
  if (f->reading()) r->error = verdict ? TrialError::kCompile : TrialError::kDevice;
}

void ListFields(Fields* f, Series* s) {
  HONE_VALUES(f, s->seconds, s->disturbed, s->retaken);
  f->As("error", &s->error, TrialErrorName, ParseTrialError);
  ListText(f, "error_text", &s->error_text);
}

Json VerdictToJson(const Outcome& outcome) {
  Json json;
  Fields fields(&json);
  ListVerdict(&fields, const_cast<Outcome*>(&outcome));
  return json;
}

Status VerdictFromJson(const Json& json, Outcome* outcome) {
  JsonReader reader(json, "outcome message");
  Fields fields(&reader);
  ListVerdict(&fields, outcome);
  return fields.Finish();
}

Status CheckVerdict(const Outcome& outcome, const Protocol& protocol) {
  const bool blocks = protocol.number > 0;
  HONE_RETURN_IF_ERROR(CheckSamples(outcome.samples, blocks ? protocol.repeat : protocol.max_samples, outcome.disturbed,
                                    outcome.retaken));
  const bool failed = outcome.state == TrialState::kFailed;
  if (failed != outcome.samples.empty() || failed != (outcome.error != TrialError::kNone)) {
    return Status::Corrupt("sent an implausible verdict");
  }
  double median = 0;
  if (outcome.state == TrialState::kPruned) median = *std::ranges::min_element(outcome.samples);
  if (outcome.state == TrialState::kOk) median = blocks ? TrimmedMean(outcome.samples) : Median(outcome.samples);
  const bool follows = std::abs(outcome.median - median) <= 1e-9 * median;
  const bool timed = std::isfinite(outcome.measure_seconds) && outcome.measure_seconds >= 0;
  return follows && timed ? Status() : Status::Corrupt("sent a median that does not follow from its samples");
}

Status CheckSeries(const Series& series, int rounds) {
  HONE_RETURN_IF_ERROR(CheckSamples(series.seconds, rounds, series.disturbed, series.retaken));
  const bool both = series.error != TrialError::kNone && !series.seconds.empty();
  return both ? Status::Corrupt("sent an implausible verdict") : Status();
}

}  // namespace hone::measure
