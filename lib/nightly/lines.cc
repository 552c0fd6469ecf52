#include "nightly/lines.h"

#include <fmt/format.h>

#include "base/fields.h"

namespace hone::nightly {

void ListLayers(Fields* f, std::vector<Layer>* layers) {
  const auto pairs = [](const std::vector<Layer>& from) {
    Json json = Json::array();
    for (const Layer& layer : from) json.push_back({layer.node, layer.seconds});
    return json;
  };
  const auto read = [](const Json& json) -> Result<std::vector<Layer>> {
    std::vector<Layer> to;
    for (const Json& pair : json) {
      if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_number())
        return Status::Invalid("expected a layer as [node, seconds]");
      to.push_back({pair[0].get<std::string>(), pair[1].get<double>()});
    }
    return to;
  };
  f->As("layers", layers, pairs, read, /*must=*/false, !layers->empty());
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
