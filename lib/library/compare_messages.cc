#include "library/compare_messages.h"

#include <cmath>
#include <utility>

#include "base/json.h"

namespace hone::library {

std::string CompareRequestText(const CompareRequest& request) {
  const CompareOptions& o = request.options;
  const Json json = {{"dirs", request.dirs},
                     {"seed", o.seed},
                     {"layers", o.layers},
                     {"warm", o.warm},
                     {"timed", o.timed},
                     {"min_rounds", o.min_rounds},
                     {"max_rounds", o.max_rounds},
                     {"seconds", o.seconds},
                     {"patience_seconds", o.patience_seconds}};
  return DumpJson(json, -1);
}

Result<CompareRequest> ParseCompareRequest(std::string_view text) {
  HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(text, "request"));
  JsonReader reader(json, "request");
  CompareRequest request;
  CompareOptions& o = request.options;
  int64_t seed = 0;
  HONE_RETURN_IF_ERROR(reader.Read("dirs", &request.dirs));
  HONE_RETURN_IF_ERROR(reader.Read("seed", &seed));
  HONE_RETURN_IF_ERROR(reader.Read("layers", &o.layers));
  HONE_RETURN_IF_ERROR(reader.Read("warm", &o.warm));
  HONE_RETURN_IF_ERROR(reader.Read("timed", &o.timed));
  HONE_RETURN_IF_ERROR(reader.Read("min_rounds", &o.min_rounds));
  HONE_RETURN_IF_ERROR(reader.Read("max_rounds", &o.max_rounds));
  HONE_RETURN_IF_ERROR(reader.Read("seconds", &o.seconds));
  HONE_RETURN_IF_ERROR(reader.Read("patience_seconds", &o.patience_seconds));
  o.seed = static_cast<uint64_t>(seed);
  return request;
}

std::string CompareReplyText(const std::vector<Compared>& compared) {
  Json list = Json::array();
  for (const Compared& c : compared) {
    list.push_back({{"names", c.names},
                    {"workloads", c.workloads},
                    {"layers", c.layers},
                    {"runs", c.runs},
                    {"outputs", c.outputs}});
  }
  return DumpJson(list, -1);
}

Result<std::vector<Compared>> ParseCompareReply(std::string_view text) {
  HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(text, "reply"));
  std::vector<Compared> compared;
  if (!json.is_array()) return Status::Invalid("reply: expected a list");
  for (const Json& item : json) {
    JsonReader reader(item, "reply");
    Compared c;
    std::vector<JsonReader> layers, outputs;
    HONE_RETURN_IF_ERROR(reader.Read("names", &c.names));
    HONE_RETURN_IF_ERROR(reader.Read("workloads", &c.workloads));
    HONE_RETURN_IF_ERROR(reader.Read("layers", &layers));
    HONE_RETURN_IF_ERROR(reader.Read("runs", &c.runs));
    HONE_RETURN_IF_ERROR(reader.Read("outputs", &outputs));
    for (const JsonReader& layer : layers) {
      std::vector<double>& samples = c.layers.emplace_back();
      for (const Json& v : layer.value()) samples.push_back(v.is_number() ? v.get<double>() : 0);
    }
    for (const JsonReader& output : outputs) {
      std::vector<float>& values = c.outputs.emplace_back();
      // A value that is not finite is null in JSON.
      for (const Json& v : output.value()) values.push_back(v.is_number() ? v.get<float>() : NAN);
    }
    if (c.names.size() != c.workloads.size() || c.layers.size() != c.names.size()) {
      return Status::Invalid("reply: the layers do not fit each other");
    }
    compared.push_back(std::move(c));
  }
  return compared;
}

}  // namespace hone::library
