#include <cmath>
#include <vector>

#include "base/dtype.h"
#include "base/json.h"
#include "base/text.h"
#include "record/foreign_formats.h"
#include "record/foreign_log.h"
#include "search/autotvm/autotvm_space.h"
#include "task/workload.h"

namespace hone::record {
namespace {

constexpr size_t kMaxSpaces = 256;  // cached: a log may have as many tasks as lines

int ErrorNumber(const Outcome& o) {
  constexpr int kNumbers[] = {8, 1, 2, 7, 4, 5, 4};  // by TrialError
  if (o.state == TrialState::kOk) return 0;
  return o.state == TrialState::kPruned ? 7 : kNumbers[static_cast<size_t>(o.error)];
}

std::vector<int64_t> Numbers(const Json& json) {
  std::vector<int64_t> out;
  if (json.is_number_integer()) return {json.get<int64_t>()};
  if (!json.is_array()) return {};
  for (const Json& n : json) {
    if (!n.is_number_integer()) return {};
    out.push_back(n.get<int64_t>());
  }
  return out;
}

// The arguments in AutoTVM's order: tensors, then for a convolution strides, padding, dilation.
search::AutoTvmShape ShapeOf(const std::string& target, const Json& args) {
  search::AutoTvmShape shape;
  size_t next = 0;
  for (; next < args.size(); ++next) {
    const Json& a = args[next];
    if (!a.is_array() || a.size() < 2 || a[0] != "TENSOR") break;
    shape.tensors.push_back(Numbers(a[1]));
  }
  for (std::vector<int64_t>* into : {&shape.strides, &shape.padding, &shape.dilation}) {
    if (next >= args.size()) break;
    std::vector<int64_t> numbers = Numbers(args[next++]);
    if (numbers.empty()) break;  // a log older than the argument
    *into = std::move(numbers);
  }
  const std::string kind = target.substr(0, target.find(' '));
  shape.unroll_always_explicit = kind == "rocm" || kind == "nvptx";
  return shape;
}

std::optional<search::Space> SpaceOf(const std::string& template_name, const search::AutoTvmShape& shape) {
  Result<search::Space> space = search::AutoTvmSpace(template_name, shape);
  return space.ok() ? std::optional(std::move(*space)) : std::nullopt;
}

// Nothing for values that no knob of Hone's can have.
std::optional<KnobValue> ValueOf(const Json& e) {
  if (!e.is_array() || e.size() != 3 || !e[0].is_string() || !e[1].is_string()) return std::nullopt;
  KnobValue v{.name = e[0].get<std::string>()};
  const std::string tag = e[1].get<std::string>();
  const Json& value = e[2];
  if (tag == "sp") {
    v.kind = KnobKind::kSplit;
    v.numbers = Numbers(value);
    if (v.numbers.empty()) return std::nullopt;
    v.numbers[0] = -1;  // older logs have the first part here, which nothing reads
  } else if (value.is_number_integer()) {
    v.numbers.push_back(value.get<int64_t>());
  } else {
    return std::nullopt;
  }
  return v;
}

Fit FitOf(const search::Space& space, const Json& entity, int64_t index) {
  Config config{.template_name = space.template_name()};
  for (const Json& e : entity) {
    std::optional<KnobValue> value = ValueOf(e);
    if (!value) return Fit::kNo;
    config.values.push_back(std::move(*value));
  }
  const Result<PointIndex> found = space.IndexOf(config);
  if (!found.ok()) return Fit::kNo;
  return index >= 0 && *found == static_cast<PointIndex>(index) ? Fit::kYes : Fit::kMoved;
}

// "" if the record is well formed, else its error.
std::string WhatLineMisses(const Json& j) {
  if (!j.contains("input") || !j["input"].is_array() || j["input"].size() < 3) return "`input` is not a list of three";
  if (!j["input"][0].is_string() || !j["input"][1].is_string() || !j["input"][2].is_array()) {
    return "`input` is not [target, task, arguments, ..]";
  }
  if (!j.contains("config") || !j["config"].is_object()) return "`config` is missing";
  if (!j["config"].contains("entity") || !j["config"]["entity"].is_array()) return "`config` has no `entity`";
  if (!j.contains("result") || !IsLogResult(j["result"])) return "`result` is not [times, error, ..]";
  return "";
}

// The type's name in AutoTVM and NumPy.
std::string TypeName(DType type) {
  if (type.is_bool()) return "bool";
  const char* const kind = type.is_float() ? "float" : type.is_uint() ? "uint" : "int";
  return fmt::format("{}{}", kind, static_cast<int>(type.bits));
}

// The indices of a workload's points within the spaces of AutoTVM's templates.
class OwnIndex {
 public:
  explicit OwnIndex(const Result<Workload>& workload) {
    if (!workload.ok()) return;
    const Result<search::AutoTvmShape> shape = search::AutoTvmShapeOf(*workload);
    if (shape.ok()) shape_ = *shape;
  }

  // The template's own index. Records hold indices of the union of the task's templates (search/space/space.h), which
  // AutoTVM does not know; for templates that it lacks they stay.
  PointIndex Of(const Config& config) {
    if (!shape_) return config.index;
    const auto [place, fresh] = spaces_.try_emplace(config.template_name);
    if (fresh) place->second = SpaceOf(config.template_name, *shape_);
    if (!place->second) return config.index;
    const Result<PointIndex> index = place->second->IndexOf(config);
    return index.ok() ? *index : config.index;
  }

 private:
  std::optional<search::AutoTvmShape> shape_;
  std::map<std::string, std::optional<search::Space>> spaces_;
};

}  // namespace

Result<ForeignRecord> AutoTvmReader::Read(std::string_view line) {
  HONE_ASSIGN_OR_RETURN(const Json j, ParseLogLine(line));
  if (!j.contains("version") || !j["version"].is_number() || std::abs(j["version"].get<double>() - 0.2) > 1e-9) {
    const std::string version = j.contains("version") ? j["version"].dump() : j.contains("v") ? "0.1" : "none";
    return Status::Unsupported("version " + version + " of AutoTVM's format; only 0.2 is read");
  }
  if (const std::string what = WhatLineMisses(j); !what.empty()) return Status::Invalid(what);

  ForeignRecord record{.format = "autotvm",
                       .target = j["input"][0].get<std::string>(),
                       .task = j["input"][1].get<std::string>(),
                       .workload = j["input"][2].dump(),
                       .text = std::string(line)};
  const Json& config = j["config"];
  if (config.contains("index") && config["index"].is_number_integer()) record.index = config["index"].get<int64_t>();
  ReadLogResult(j["result"], &record);

  const std::string key = record.task + " " + record.target.substr(0, record.target.find(' ')) + " " + record.workload;
  if (spaces_.size() >= kMaxSpaces && !spaces_.contains(key)) spaces_.clear();
  const auto [place, fresh] = spaces_.try_emplace(key);
  if (fresh) place->second = SpaceOf(record.task, ShapeOf(record.target, j["input"][2]));
  if (place->second) record.fit = FitOf(*place->second, config["entity"], record.index);
  return record;
}

Result<ImportCounts> ImportAutoTvm(const std::string& path, const std::string& db,
                                   const std::function<void(int64_t, const std::string&)>& report) {
  AutoTvmReader reader;
  return ImportLines(
      path, db, "AutoTVM's format 0.2", [&](std::string_view line) { return reader.Read(line); }, report);
}

Result<std::string> ExportAutoTvm(const Store& store) {
  HONE_ASSIGN_OR_RETURN(const std::vector<Trial> trials, store.Trials());
  HONE_ASSIGN_OR_RETURN(const std::vector<Session> sessions, store.Sessions());
  std::map<int64_t, double> started;
  for (const Session& s : sessions) started[s.id] = s.started;
  Json args = Json::array();
  const Result<Workload> workload = Workload::Parse(store.meta().workload);
  if (workload.ok()) {
    for (const TensorType& t : workload->inputs) args.push_back({"TENSOR", t.shape, TypeName(t.type)});
    if (workload->op == "conv2d" && !workload->chain()) {
      args.push_back(workload->Numbers("stride", {1, 1}));
      args.push_back(workload->Numbers("pad", {0, 0, 0, 0}));
      args.push_back(workload->Numbers("dilation", {1, 1}));
      args.push_back(TypeName(workload->inputs[0].type));
    }
  }
  args.push_back(store.meta().workload);
  OwnIndex own_index(workload);
  std::string out;
  for (const Trial& t : trials) {
    const Outcome& o = t.outcome;
    std::vector<double> costs = {kFailedCost};
    if (o.state == TrialState::kOk) costs = o.samples.empty() ? std::vector<double>{o.median} : t.LastRound();
    const PointIndex index = own_index.Of(o.config);
    Json line;
    line["input"] = {store.meta().target, o.config.template_name, args, Json::object()};
    line["config"] = {{"index", index <= INT64_MAX ? static_cast<int64_t>(index) : -1},
                      {"code_hash", nullptr},
                      {"entity", ConfigJson(o.config)["entity"]}};
    line["result"] = {costs, ErrorNumber(o), o.compile_seconds + o.measure_seconds, started[t.session]};
    line["version"] = 0.2;
    line["tvm_version"] = "hone";
    out += DumpAsciiJson(line, -1);
  }
  return out;
}

}  // namespace hone::record
