#include "measure/kernel.h"

#include <fmt/format.h>

#include "base/json.h"

namespace hone::measure {
namespace {

Json ArgsToJson(const std::vector<ArgSource>& args) {
  Json list = Json::array();
  for (const ArgSource& arg : args) {
    list.push_back({{"prepared", arg.kind == ArgSource::Kind::kPrepared}, {"index", arg.index}});
  }
  return list;
}

Status ReadArgs(JsonReader* reader, const std::string& key, std::vector<ArgSource>* args) {
  std::vector<JsonReader> items;
  HONE_RETURN_IF_ERROR(reader->Read(key, &items));
  for (JsonReader& item : items) {
    ArgSource arg;
    bool prepared = false;
    HONE_RETURN_IF_ERROR(item.Read("prepared", &prepared));
    arg.kind = prepared ? ArgSource::Kind::kPrepared : ArgSource::Kind::kOperand;
    HONE_RETURN_IF_ERROR(item.Read("index", &arg.index));
    args->push_back(arg);
  }
  return Status();
}

Status ReadType(JsonReader* reader, DType* type) {
  std::string text;
  HONE_RETURN_IF_ERROR(reader->Read("type", &text));
  HONE_ASSIGN_OR_RETURN(*type, ParseDType(text));
  return Status();
}

// The entries travel in the text form that the artifact defines.
Status ReadEntry(JsonReader* reader, const std::string& key, EntryPoint* entry) {
  std::string text;
  HONE_RETURN_IF_ERROR(reader->Read(key, &text));
  HONE_ASSIGN_OR_RETURN(std::vector<EntryPoint> entries, ParseEntries(text));
  if (entries.size() != 1) return reader->Error(key, "expected one entry point");
  *entry = entries[0];
  return Status();
}

}  // namespace

Status CheckArgs(const EntryPoint& entry, const std::vector<ArgSource>& args, const BuiltKernel& kernel,
                 const std::vector<Operand>& operands) {
  if (entry.args.size() != args.size()) {
    return Status::Invalid(
        fmt::format("{} takes {} arguments, {} are described", entry.symbol, entry.args.size(), args.size()));
  }
  for (size_t i = 0; i < args.size(); ++i) {
    const bool prepared = args[i].kind == ArgSource::Kind::kPrepared;
    const size_t count = prepared ? kernel.prepared.size() : operands.size();
    if (args[i].index < 0 || static_cast<size_t>(args[i].index) >= count) {
      return Status::Invalid(fmt::format("{}: argument {} refers to nothing", entry.symbol, i));
    }
    const size_t index = static_cast<size_t>(args[i].index);
    const int64_t elements = prepared ? kernel.prepared[index].elements : operands[index].PhysicalElements();
    const DType type = prepared ? kernel.prepared[index].type : operands[index].logical.type;
    if (entry.args[i].elements != elements || entry.args[i].type != type) {
      return Status::Invalid(fmt::format("{}: argument {} ({}) is {} of {}, expected {} of {}", entry.symbol, i,
                                         entry.args[i].name, entry.args[i].elements, ToString(entry.args[i].type),
                                         elements, ToString(type)));
    }
  }
  return Status();
}

Json KernelToJson(const BuiltKernel& k) {
  Json prepared = Json::array();
  for (const PreparedConstant& p : k.prepared) {
    prepared.push_back({{"name", p.name}, {"type", ToString(p.type)}, {"elements", p.elements}});
  }
  return {{"config", k.config.ToJson()},
          {"format", k.format},
          {"path", k.path},
          {"artifact_digest", k.artifact_digest},
          {"kernel", EntriesText({k.kernel})},
          {"kernel_args", ArgsToJson(k.kernel_args)},
          {"has_prepare", k.has_prepare},
          {"prepare", EntriesText({k.prepare})},
          {"prepare_args", ArgsToJson(k.prepare_args)},
          {"prepared", prepared},
          {"steps", k.steps},
          {"arithmetic", k.arithmetic},
          {"rounding", k.rounding},
          {"compile_seconds", k.compile_seconds}};
}

Result<BuiltKernel> KernelFromJson(const Json& json) {
  JsonReader reader(json, "kernel message");
  BuiltKernel k;
  std::string config;
  HONE_RETURN_IF_ERROR(reader.Read("config", &config));
  HONE_ASSIGN_OR_RETURN(k.config, Config::FromJson(config));
  HONE_RETURN_IF_ERROR(reader.Read("format", &k.format));
  HONE_RETURN_IF_ERROR(reader.Read("path", &k.path));
  HONE_RETURN_IF_ERROR(reader.Read("artifact_digest", &k.artifact_digest));
  HONE_RETURN_IF_ERROR(ReadEntry(&reader, "kernel", &k.kernel));
  HONE_RETURN_IF_ERROR(ReadArgs(&reader, "kernel_args", &k.kernel_args));
  HONE_RETURN_IF_ERROR(reader.Read("has_prepare", &k.has_prepare));
  HONE_RETURN_IF_ERROR(ReadEntry(&reader, "prepare", &k.prepare));
  HONE_RETURN_IF_ERROR(ReadArgs(&reader, "prepare_args", &k.prepare_args));
  std::vector<JsonReader> items;
  HONE_RETURN_IF_ERROR(reader.Read("prepared", &items));
  for (JsonReader& item : items) {
    PreparedConstant p;
    HONE_RETURN_IF_ERROR(item.Read("name", &p.name));
    HONE_RETURN_IF_ERROR(ReadType(&item, &p.type));
    HONE_RETURN_IF_ERROR(item.Read("elements", &p.elements));
    k.prepared.push_back(p);
  }
  HONE_RETURN_IF_ERROR(reader.Read("steps", &k.steps));
  HONE_RETURN_IF_ERROR(reader.Read("arithmetic", &k.arithmetic));
  HONE_RETURN_IF_ERROR(reader.Read("rounding", &k.rounding));
  HONE_RETURN_IF_ERROR(reader.Read("compile_seconds", &k.compile_seconds));
  HONE_RETURN_IF_ERROR(reader.Finish());
  return k;
}

Json OperandsToJson(const std::vector<Operand>& operands) {
  Json list = Json::array();
  for (const Operand& o : operands) {
    list.push_back({{"name", o.name},
                    {"role", static_cast<int>(o.role)},
                    {"type", ToString(o.logical.type)},
                    {"logical", o.logical.shape},
                    {"physical", o.physical},
                    {"blocked", o.layout == Layout::kBlocked}});
  }
  return list;
}

Result<std::vector<Operand>> OperandsFromJson(const Json& json) {
  if (!json.is_array()) return Status::Corrupt("operands message: expected a list");
  std::vector<Operand> operands;
  for (const Json& item : json) {
    JsonReader reader(item, "operands message");
    Operand o;
    int role = 0;
    bool blocked = false;
    HONE_RETURN_IF_ERROR(reader.Read("name", &o.name));
    HONE_RETURN_IF_ERROR(reader.Read("role", &role));
    HONE_RETURN_IF_ERROR(ReadType(&reader, &o.logical.type));
    HONE_RETURN_IF_ERROR(reader.Read("logical", &o.logical.shape));
    HONE_RETURN_IF_ERROR(reader.Read("physical", &o.physical));
    HONE_RETURN_IF_ERROR(reader.Read("blocked", &blocked));
    HONE_RETURN_IF_ERROR(reader.Finish());
    if (role < 0 || role > 2) return reader.Error("role", "expected 0, 1 or 2");
    o.role = static_cast<OperandRole>(role);
    o.layout = blocked ? Layout::kBlocked : Layout::kPlain;
    operands.push_back(std::move(o));
  }
  return operands;
}

}  // namespace hone::measure
