#include "graph/graph_json.h"

#include <fmt/format.h>

#include "base/file.h"
#include "base/json.h"
#include "base/suggest.h"
#include "op/plugin.h"

namespace hone::graph {
namespace {

constexpr InitKind kInitKinds[] = {
    InitKind::kHe,         InitKind::kUniform,  InitKind::kConstant,      InitKind::kFile,
    InitKind::kFoldWeight, InitKind::kFoldBias, InitKind::kFoldTransposed};

bool IsFold(InitKind kind) {
  return kind == InitKind::kFoldWeight || kind == InitKind::kFoldBias || kind == InitKind::kFoldTransposed;
}

Json ParameterJson(const Parameter& p) {
  Json json;
  json["name"] = p.name;
  json["shape"] = p.type.shape;
  json["init"] = InitKindName(p.init.kind);
  if (p.init.kind == InitKind::kHe) json["fan_in"] = p.init.fan_in;
  if (p.init.kind == InitKind::kUniform) json["low"] = p.init.low, json["high"] = p.init.high;
  if (p.init.kind == InitKind::kConstant) json["value"] = p.init.low;
  if (IsFold(p.init.kind)) json["from"] = p.init.from, json["epsilon"] = p.init.epsilon;
  return json;
}

// One line an item: a graph of hundreds of nodes stays readable and its changes show up line by line.
std::string List(const std::vector<Json>& items) {
  if (items.empty()) return "[]";
  std::string text = "[";
  for (size_t i = 0; i < items.size(); ++i) text += (i ? ",\n  " : "\n  ") + items[i].dump();
  return text + "\n ]";
}

Status ReadShape(JsonReader* reader, TensorType* type) {
  HONE_RETURN_IF_ERROR(reader->Read("shape", &type->shape));
  for (int64_t extent : type->shape) {
    if (extent < 1) return reader->Error("shape", "every extent must be at least 1");
  }
  return Status();
}

Status ReadParameter(JsonReader* reader, Parameter* p) {
  std::string init;
  HONE_RETURN_IF_ERROR(reader->Read("name", &p->name));
  HONE_RETURN_IF_ERROR(ReadShape(reader, &p->type));
  HONE_RETURN_IF_ERROR(reader->Read("init", &init));
  bool found = false;
  std::vector<std::string> known;
  for (InitKind kind : kInitKinds) {
    known.emplace_back(InitKindName(kind));
    if (init == known.back()) p->init.kind = kind, found = true;
  }
  if (!found) return reader->Error("init", "unknown initialiser `" + init + "`" + SuggestionText(init, known));
  switch (p->init.kind) {
    case InitKind::kHe:
      HONE_RETURN_IF_ERROR(reader->Read("fan_in", &p->init.fan_in));
      break;
    case InitKind::kUniform:
      HONE_RETURN_IF_ERROR(reader->Read("low", &p->init.low));
      HONE_RETURN_IF_ERROR(reader->Read("high", &p->init.high));
      break;
    case InitKind::kConstant:
      HONE_RETURN_IF_ERROR(reader->Read("value", &p->init.low));
      break;
    case InitKind::kFoldWeight:
    case InitKind::kFoldBias:
    case InitKind::kFoldTransposed:
      HONE_RETURN_IF_ERROR(reader->Read("from", &p->init.from));
      HONE_RETURN_IF_ERROR(reader->Read("epsilon", &p->init.epsilon));
      break;
    case InitKind::kFile:
      break;
  }
  return reader->Finish();
}

Status ReadNode(JsonReader* reader, Node* node) {
  std::string workload;
  HONE_RETURN_IF_ERROR(reader->Read("name", &node->name));
  HONE_RETURN_IF_ERROR(reader->Read("workload", &workload));
  HONE_RETURN_IF_ERROR(reader->Read("inputs", &node->inputs));
  HONE_RETURN_IF_ERROR(reader->Finish());
  auto parsed = Workload::Parse(workload);
  if (!parsed.ok()) return reader->Error("workload", parsed.status().message());
  node->workload = std::move(*parsed);
  return Status();
}

template <typename T, typename Read>
Status ReadItems(JsonReader* reader, const std::string& key, std::vector<T>* out, Read read) {
  std::vector<JsonReader> items;
  HONE_RETURN_IF_ERROR(reader->Read(key, &items));
  out->resize(items.size());
  for (size_t i = 0; i < items.size(); ++i) HONE_RETURN_IF_ERROR(read(&items[i], &(*out)[i]));
  return Status();
}

bool IsPlain(const std::string& name) {
  if (name.empty() || name[0] == '.' || name[0] == '-') return false;
  for (char c : name) {
    if (!isalnum(static_cast<unsigned char>(c)) && c != '_' && c != '.' && c != '-') return false;
  }
  return true;
}

}  // namespace

std::string GraphText(const Graph& graph) {
  std::vector<Json> inputs, parameters, nodes;
  for (const GraphInput& input : graph.inputs) {
    Json json;
    json["name"] = input.name;
    json["shape"] = input.type.shape;
    inputs.push_back(std::move(json));
  }
  for (const Parameter& p : graph.parameters) parameters.push_back(ParameterJson(p));
  for (const Node& node : graph.nodes) {
    Json json;
    json["name"] = node.name;
    json["workload"] = node.workload.Text();
    json["inputs"] = node.inputs;
    nodes.push_back(std::move(json));
  }
  std::string plugins;
  for (const GraphPlugin& p : graph.plugins) {
    Json json;
    json["file"] = p.file, json["digest"] = p.digest;
    plugins += (plugins.empty() ? " \"plugins\": [" : ", ") + json.dump();
  }
  if (!plugins.empty()) plugins += "],\n";
  return fmt::format(
      "{{\"version\": {},\n \"name\": {},\n \"seed\": {},\n{} \"inputs\": {},\n \"outputs\": {},\n "
      "\"parameters\": {},\n "
      "\"nodes\": {}\n}}\n",
      kGraphVersion, Json(graph.name).dump(), graph.seed, plugins, List(inputs), Json(graph.outputs).dump(),
      List(parameters), List(nodes));
}

Result<Graph> ParseGraph(std::string_view text, const std::string& path) {
  HONE_ASSIGN_OR_RETURN(Json json, ParseJson(text, path));
  JsonReader reader(json, path);
  HONE_RETURN_IF_ERROR(reader.ReadVersion(kGraphVersion));
  Graph graph;
  int64_t seed = 1;
  HONE_RETURN_IF_ERROR(reader.Read("name", &graph.name));
  if (!IsPlain(graph.name)) return reader.Error("name", "`" + graph.name + "` is not made of [A-Za-z0-9_.-]");
  HONE_RETURN_IF_ERROR(reader.Read("seed", &seed));
  if (seed < 0) return reader.Error("seed", "must be 0 or more");
  graph.seed = static_cast<uint64_t>(seed);
  if (reader.Has("plugins")) {
    HONE_RETURN_IF_ERROR(ReadItems(&reader, "plugins", &graph.plugins, [](JsonReader* item, GraphPlugin* plugin) {
      HONE_RETURN_IF_ERROR(item->Read("file", &plugin->file));
      HONE_RETURN_IF_ERROR(item->Read("digest", &plugin->digest));
      HONE_RETURN_IF_ERROR(item->Finish());
      return op::LoadNamedPlugin(plugin->file, plugin->digest).WithContext(item->file());
    }));
  }
  HONE_RETURN_IF_ERROR(ReadItems(&reader, "inputs", &graph.inputs, [](JsonReader* item, GraphInput* input) {
    HONE_RETURN_IF_ERROR(item->Read("name", &input->name));
    HONE_RETURN_IF_ERROR(ReadShape(item, &input->type));
    return item->Finish();
  }));
  HONE_RETURN_IF_ERROR(reader.Read("outputs", &graph.outputs));
  HONE_RETURN_IF_ERROR(ReadItems(&reader, "parameters", &graph.parameters, ReadParameter));
  HONE_RETURN_IF_ERROR(ReadItems(&reader, "nodes", &graph.nodes, ReadNode));
  HONE_RETURN_IF_ERROR(reader.Finish());
  if (Status s = SortNodes(&graph); !s.ok()) return s.WithContext(path);
  if (Status s = CheckGraph(&graph); !s.ok()) return s.WithContext(path);
  return graph;
}

Result<Graph> ReadGraph(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  return ParseGraph(text, path);
}

}  // namespace hone::graph
