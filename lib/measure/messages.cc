#include "measure/messages.h"

#include "base/fields.h"

namespace hone::measure {

static void ListVerdict(Fields* f, Outcome* o) {
  f->As("state", &o->state, TrialStateName, ParseTrialState);
  f->As("error", &o->error, TrialErrorName, ParseTrialError);
  f->Value("error_text", &o->error_text);
  f->Value("samples", &o->samples);
  f->Value("median", &o->median);
  f->Value("disturbed", &o->disturbed);
  f->Value("retaken", &o->retaken);
  f->Value("seconds", &o->measure_seconds);
}

void ListFields(Fields* f, TaskSetup* s) {
  std::string verb = "setup";
  f->Value("do", &verb);
  f->Value("operands", &s->operands).Check(!s->operands.empty(), "must hold the output at least");
  f->Value("reference_path", &s->reference_path);
  f->Value("reference_key", &s->reference_key);
  f->Value("flop", &s->flop);
  f->Value("threads", &s->threads).AtLeast(1);
  f->Value("target", &s->target);
  f->Value("kernel_folders", &s->kernel_folders);
  f->Value("protocol", &s->protocol);
}

void ListFields(Fields* f, BuildResult* r) {
  f->Value("ok", &r->ok);
  if (r->ok) {
    f->Value("kernel", &r->kernel);
    if (f->reading()) r->compile_seconds = r->kernel.compile_seconds;
    return;
  }
  bool verdict = r->error != TrialError::kDevice;
  f->Value("error", &r->error_text);
  f->Value("verdict", &verdict);
  f->Value("seconds", &r->compile_seconds);
  if (f->reading()) r->error = verdict ? TrialError::kCompile : TrialError::kDevice;
}

void ListFields(Fields* f, Series* s) {
  f->Value("seconds", &s->seconds);
  f->Value("disturbed", &s->disturbed);
  f->Value("retaken", &s->retaken);
  f->As("error", &s->error, TrialErrorName, ParseTrialError);
  f->Value("error_text", &s->error_text);
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

}  // namespace hone::measure
