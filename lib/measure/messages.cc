#include "measure/messages.h"

#include "base/json.h"

namespace hone::measure {

Json SetupToJson(const TaskSetup& s) {
  return {{"do", "setup"},
          {"operands", OperandsToJson(s.operands)},
          {"reference_path", s.reference_path},
          {"reference_key", s.reference_key},
          {"flop", s.flop},
          {"threads", s.threads},
          {"target", s.target},
          {"protocol", ProtocolToJson(s.protocol)}};
}

Result<TaskSetup> SetupFromJson(const Json& json) {
  TaskSetup s;
  std::string verb;
  JsonReader reader(json, "setup message");
  HONE_RETURN_IF_ERROR(reader.Read("do", &verb));
  HONE_RETURN_IF_ERROR(reader.Read("reference_path", &s.reference_path));
  HONE_RETURN_IF_ERROR(reader.Read("reference_key", &s.reference_key));
  HONE_RETURN_IF_ERROR(reader.Read("flop", &s.flop));
  HONE_RETURN_IF_ERROR(reader.Read("threads", &s.threads));
  HONE_RETURN_IF_ERROR(reader.Read("target", &s.target));
  if (!reader.Has("operands") || !reader.Has("protocol")) return reader.Error("", "expected operands and protocol");
  HONE_ASSIGN_OR_RETURN(s.operands, OperandsFromJson(json["operands"]));
  HONE_ASSIGN_OR_RETURN(s.protocol, ProtocolFromJson(json["protocol"]));
  HONE_RETURN_IF_ERROR(reader.Finish());
  if (s.operands.empty() || s.threads < 1) return reader.Error("", "expected operands and at least one thread");
  return s;
}

Json SeriesToJson(const std::vector<Series>& series) {
  Json list = Json::array();
  for (const Series& one : series) {
    list.push_back({{"seconds", one.seconds},
                    {"disturbed", one.disturbed},
                    {"retaken", one.retaken},
                    {"error", TrialErrorName(one.error)},
                    {"error_text", one.error_text}});
  }
  return list;
}

Result<std::vector<Series>> SeriesFromJson(const Json& json) {
  JsonReader reader(json, "answer of hone-worker");
  std::vector<JsonReader> items;
  HONE_RETURN_IF_ERROR(reader.Read("series", &items));
  std::vector<Series> series(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    std::string error;
    HONE_RETURN_IF_ERROR(items[i].Read("seconds", &series[i].seconds));
    HONE_RETURN_IF_ERROR(items[i].Read("disturbed", &series[i].disturbed));
    HONE_RETURN_IF_ERROR(items[i].Read("retaken", &series[i].retaken));
    HONE_RETURN_IF_ERROR(items[i].Read("error", &error));
    HONE_RETURN_IF_ERROR(items[i].Read("error_text", &series[i].error_text));
    HONE_ASSIGN_OR_RETURN(series[i].error, ParseTrialError(error));
  }
  return series;
}

Json VerdictToJson(const Outcome& o) {
  return {{"state", TrialStateName(o.state)},
          {"error", TrialErrorName(o.error)},
          {"error_text", o.error_text},
          {"samples", o.samples},
          {"median", o.median},
          {"disturbed", o.disturbed},
          {"retaken", o.retaken},
          {"seconds", o.measure_seconds}};
}

Status VerdictFromJson(const Json& json, Outcome* outcome) {
  JsonReader reader(json, "outcome message");
  std::string state, error;
  HONE_RETURN_IF_ERROR(reader.Read("state", &state));
  HONE_RETURN_IF_ERROR(reader.Read("error", &error));
  HONE_RETURN_IF_ERROR(reader.Read("error_text", &outcome->error_text));
  HONE_RETURN_IF_ERROR(reader.Read("samples", &outcome->samples));
  HONE_RETURN_IF_ERROR(reader.Read("median", &outcome->median));
  HONE_RETURN_IF_ERROR(reader.Read("disturbed", &outcome->disturbed));
  HONE_RETURN_IF_ERROR(reader.Read("retaken", &outcome->retaken));
  HONE_RETURN_IF_ERROR(reader.Read("seconds", &outcome->measure_seconds));
  HONE_RETURN_IF_ERROR(reader.Finish());
  HONE_ASSIGN_OR_RETURN(outcome->state, ParseTrialState(state));
  HONE_ASSIGN_OR_RETURN(outcome->error, ParseTrialError(error));
  return Status();
}

}  // namespace hone::measure
