#include "library/compare_messages.h"

#include "base/fields.h"
#include "library/tensor_fields.h"

namespace hone::library {

static void ListFields(Fields* f, CompareRequest* request) {
  CompareOptions& o = request->options;
  f->Value("dirs", &request->dirs);
  f->Value("seed", &o.seed);
  f->Value("layers", &o.layers);
  f->Value("warm", &o.warm);
  f->Value("timed", &o.timed);
  f->Value("min_rounds", &o.min_rounds);
  f->Value("max_rounds", &o.max_rounds);
  f->Value("seconds", &o.seconds);
  f->Value("patience_seconds", &o.patience_seconds);
}

static void ListFields(Fields* f, Compared* c) {
  f->Value("names", &c->names);
  f->Value("workloads", &c->workloads)
      .Check(c->workloads.size() == c->names.size(), "the layers do not fit each other");
  f->Value("layers", &c->layers).Check(c->layers.size() == c->names.size(), "the layers do not fit each other");
  f->Value("runs", &c->runs);
  f->Value("outputs", &c->outputs);
}

std::string CompareRequestText(const CompareRequest& request) { return FieldsText(request, -1); }

Result<CompareRequest> ParseCompareRequest(std::string_view text) {
  return ParseFields<CompareRequest>(text, "request");
}

std::string CompareReplyText(const std::vector<Compared>& compared) {
  Json list = Json::array();
  for (const Compared& c : compared) list.push_back(FieldsJson(c));
  return DumpJson(list, -1);
}

Result<std::vector<Compared>> ParseCompareReply(std::string_view text) {
  HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(text, "reply"));
  std::vector<Compared> compared;
  if (!json.is_array()) return Status::Invalid("reply: expected a list");
  for (const Json& item : json) {
    HONE_ASSIGN_OR_RETURN(Compared c, FieldsFrom<Compared>(item, "reply"));
    compared.push_back(std::move(c));
  }
  return compared;
}

}  // namespace hone::library
