#include "nightly/lines.h"

#include <fmt/format.h>

#include "base/json.h"

namespace hone::nightly {

Json LayersJson(const std::vector<Layer>& layers) {
  Json json = Json::array();
  for (const Layer& layer : layers) json.push_back({layer.node, layer.seconds});
  return json;
}

Status ReadLayers(JsonReader* reader, std::vector<Layer>* out) {
  if (!reader->Has("layers")) return Status();
  std::vector<JsonReader> items;
  HONE_RETURN_IF_ERROR(reader->Read("layers", &items));
  for (const JsonReader& item : items) {
    const Json& pair = item.value();
    if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_number())
      return item.Error("", "expected a layer as [node, seconds]");
    out->push_back({pair[0].get<std::string>(), pair[1].get<double>()});
  }
  return Status();
}

Status ForEachLine(std::string_view text, const std::string& path, int* torn, std::vector<std::string>* damaged,
                   const std::function<Status(JsonReader*)>& read) {
  for (int line = 1; !text.empty(); ++line) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      *torn = 1;
      break;
    }
    const std::string where = fmt::format("{}, line {}", path, line);
    const Result<Json> json = ParseJson(text.substr(0, end), where);
    Status status = json.status();
    if (json.ok()) {
      JsonReader reader(*json, where);
      status = read(&reader);
    }
    if (status.kind() == StatusKind::kUnsupported) return status;
    if (!status.ok()) damaged->push_back(status.message());
    text.remove_prefix(end + 1);
  }
  return Status();
}

}  // namespace hone::nightly
