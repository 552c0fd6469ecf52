#include <fmt/format.h>

#include <algorithm>

#include "base/fields.h"
#include "base/file.h"
#include "base/text.h"
#include "graph/graph.h"

namespace hone::graph {

static bool IsFold(InitKind kind) {
  return kind == InitKind::kFoldWeight || kind == InitKind::kFoldBias || kind == InitKind::kFoldTransposed;
}

static void ListType(Fields* f, TensorType* type) {
  f->As(
      "type", &type->type, [](DType of) { return ToString(of); }, ParseDType, /*must=*/false,
      type->type != DType::Float(32));
  f->Value("shape", &type->shape);
  for (const int64_t extent : type->shape) f->Check(extent >= 1, "every extent must be at least 1");
}

static void ListFields(Fields* f, GraphPlugin* plugin) {
  f->Value("file", &plugin->file);
  f->Value("digest", &plugin->digest);
}

static void ListFields(Fields* f, GraphInput* input) {
  f->Value("name", &input->name);
  ListType(f, &input->type);
}

static void ListFields(Fields* f, Parameter* p) {
  f->Value("name", &p->name);
  ListType(f, &p->type);
  f->Choice("init", &p->init.kind, kInitKindNames);
  if (p->init.kind == InitKind::kHe) f->Value("fan_in", &p->init.fan_in);
  if (p->init.kind == InitKind::kUniform) f->Value("low", &p->init.low), f->Value("high", &p->init.high);
  if (p->init.kind == InitKind::kConstant) f->Value("value", &p->init.low);
  if (IsFold(p->init.kind)) f->Value("from", &p->init.from), f->Value("epsilon", &p->init.epsilon);
  if (p->init.kind == InitKind::kValues) f->Value("values", &p->init.values);
  if (p->init.kind == InitKind::kSlice) f->Value("from", &p->init.from), f->Value("begin", &p->init.begin);
}

static void ListFields(Fields* f, Node* node) {
  f->Value("name", &node->name);
  f->Value("workload", &node->workload);
  f->Value("inputs", &node->inputs);
}

// One line per item: a graph of hundreds of nodes stays readable, and changes show up line by line.
template <typename T>
static std::string List(const std::vector<T>& items) {
  if (items.empty()) return "[]";
  std::string text = "[";
  for (size_t i = 0; i < items.size(); ++i) text += (i ? ",\n  " : "\n  ") + FieldsJson(items[i]).dump();
  return text + "\n ]";
}

static int VersionOf(const Graph& graph) {
  const auto of_floats = [](const auto& item) { return item.type.type == DType::Float(32); };
  const bool first = std::ranges::all_of(graph.inputs, of_floats) && std::ranges::all_of(graph.parameters, of_floats) &&
                     std::ranges::none_of(graph.parameters, [](auto& p) { return p.init.kind == InitKind::kValues; });
  return first ? 1 : kGraphVersion;
}

std::string GraphText(const Graph& graph) {
  std::string plugins;
  for (const GraphPlugin& p : graph.plugins) {
    plugins += (plugins.empty() ? " \"plugins\": [" : ", ") + FieldsJson(p).dump();
  }
  if (!plugins.empty()) plugins += "],\n";
  std::string layout;
  if (graph.layout != Layout::kBlocked) {
    layout = fmt::format(" \"layout\": \"{}\",\n", LayoutName(graph.layout));
  }
  return fmt::format(
      "{{\"version\": {},\n \"name\": {},\n \"seed\": {},\n{}{} \"inputs\": {},\n \"outputs\": {},\n \"parameters\": "
      "{},\n \"nodes\": {}\n}}\n",
      VersionOf(graph), Json(graph.name).dump(), graph.seed, plugins, layout, List(graph.inputs),
      Json(graph.outputs).dump(), List(graph.parameters), List(graph.nodes));
}

Result<Graph> ParseGraph(std::string_view text, const std::string& path, LoadPlugin load) {
  HONE_ASSIGN_OR_RETURN(Json json, ParseJson(text, path));
  JsonReader reader(json, path);
  Fields f(&reader);
  Graph graph;
  f.Version(kGraphVersion);
  f.Value("name", &graph.name);
  f.Check(IsPlainName(graph.name), "`" + graph.name + "` is not made of [A-Za-z0-9_.-]");
  f.Value("seed", &graph.seed);
  f.Maybe("plugins", &graph.plugins);
  f.As("layout", &graph.layout, LayoutName, LayoutNamed, false);
  f.Value("inputs", &graph.inputs);
  f.Value("outputs", &graph.outputs);
  f.Value("parameters", &graph.parameters);
  f.Value("nodes", &graph.nodes);
  HONE_RETURN_IF_ERROR(f.Finish());
  for (const GraphPlugin& plugin : graph.plugins) {
    if (load == nullptr) return Status::Unsupported(path + ": names a plugin, and plugins are not loaded here");
    if (Status s = load(plugin.file, plugin.digest); !s.ok()) return s.WithContext(path);
  }
  if (Status s = SortNodes(&graph); !s.ok()) return s.WithContext(path);
  if (Status s = CheckGraph(&graph); !s.ok()) return s.WithContext(path);
  return graph;
}

Result<Graph> ReadGraph(const std::string& path, LoadPlugin load) {
  HONE_ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  return ParseGraph(text, path, load);
}

}  // namespace hone::graph
