#include "pipeline/alternative.h"

#include <utility>

#include "base/json.h"

namespace hone::pipeline {

Json AlternativesJson(const std::vector<Alternative>& alternatives) {
  Json list = Json::array();
  for (const Alternative& alternative : alternatives) {
    Json by = Json::array();
    for (const AlternativeNode& node : alternative.by) {
      by.push_back({{"name", node.name}, {"workload", node.workload}, {"inputs", node.inputs}});
    }
    list.push_back({{"replaces", alternative.replaces}, {"by", std::move(by)}});
  }
  return list;
}

Status ReadAlternatives(JsonReader* reader, const std::string& key, std::vector<Alternative>* out) {
  std::vector<JsonReader> items;
  HONE_RETURN_IF_ERROR(reader->ReadOptional(key, &items));
  for (JsonReader& item : items) {
    Alternative alternative;
    std::vector<JsonReader> nodes;
    HONE_RETURN_IF_ERROR(item.Read("replaces", &alternative.replaces));
    HONE_RETURN_IF_ERROR(item.Read("by", &nodes));
    HONE_RETURN_IF_ERROR(item.Finish());
    if (alternative.replaces.empty()) return item.Error("replaces", "names no node");
    if (nodes.empty()) return item.Error("by", "names no node");
    for (JsonReader& reader_of_node : nodes) {
      AlternativeNode node;
      HONE_RETURN_IF_ERROR(reader_of_node.Read("name", &node.name));
      HONE_RETURN_IF_ERROR(reader_of_node.Read("workload", &node.workload));
      HONE_RETURN_IF_ERROR(reader_of_node.Read("inputs", &node.inputs));
      HONE_RETURN_IF_ERROR(reader_of_node.Finish());
      alternative.by.push_back(std::move(node));
    }
    out->push_back(std::move(alternative));
  }
  return Status();
}

}  // namespace hone::pipeline
