#include "target/artifact.h"

#include <fmt/format.h>

#include "base/json.h"

namespace hone {

const EntryPoint* Artifact::Find(const std::string& symbol) const {
  for (const EntryPoint& entry : entries) {
    if (entry.symbol == symbol) return &entry;
  }
  return nullptr;
}

Digest Artifact::ContentDigest() const {
  Hasher hasher;
  hasher.AddField(format);
  hasher.AddField(bytes);
  hasher.AddField(EntriesText(entries));
  return hasher.Finish();
}

std::string EntriesText(const std::vector<EntryPoint>& entries) {
  Json list = Json::array();
  for (const EntryPoint& entry : entries) {
    Json args = Json::array();
    for (const ArtifactArg& arg : entry.args) {
      args.push_back(
          {{"name", arg.name}, {"type", ToString(arg.type)}, {"elements", arg.elements}, {"written", arg.written}});
    }
    list.push_back({{"symbol", entry.symbol},
                    {"args", std::move(args)},
                    {"workspace_bytes", entry.workspace_bytes},
                    {"scratch_bytes", entry.scratch_bytes}});
  }
  return DumpJson({{"entries", std::move(list)}}, -1);
}

namespace {

Status ParseArg(JsonReader* reader, ArtifactArg* arg) {
  std::string type;
  HONE_RETURN_IF_ERROR(reader->Read("name", &arg->name));
  HONE_RETURN_IF_ERROR(reader->Read("type", &type));
  HONE_RETURN_IF_ERROR(reader->Read("elements", &arg->elements));
  HONE_RETURN_IF_ERROR(reader->Read("written", &arg->written));
  Result<DType> parsed = ParseDType(type);
  if (!parsed.ok()) return reader->Error("type", parsed.status().message());
  if (arg->elements < 0) return reader->Error("elements", "must not be negative");
  arg->type = *parsed;
  return reader->Finish();
}

Status ParseEntry(JsonReader* reader, EntryPoint* entry) {
  HONE_RETURN_IF_ERROR(reader->Read("symbol", &entry->symbol));
  HONE_RETURN_IF_ERROR(reader->Read("workspace_bytes", &entry->workspace_bytes));
  HONE_RETURN_IF_ERROR(reader->Read("scratch_bytes", &entry->scratch_bytes));
  if (entry->workspace_bytes < 0) return reader->Error("workspace_bytes", "must not be negative");
  if (entry->scratch_bytes < 0) return reader->Error("scratch_bytes", "must not be negative");
  std::vector<JsonReader> args;
  HONE_RETURN_IF_ERROR(reader->Read("args", &args));
  for (JsonReader& arg : args) HONE_RETURN_IF_ERROR(ParseArg(&arg, &entry->args.emplace_back()));
  return reader->Finish();
}

}  // namespace

Result<std::vector<EntryPoint>> ParseEntries(const std::string& text) {
  HONE_ASSIGN_OR_RETURN(Json json, ParseJson(text, "entries"));
  JsonReader reader(json, "entries");
  std::vector<JsonReader> list;
  HONE_RETURN_IF_ERROR(reader.Read("entries", &list));
  HONE_RETURN_IF_ERROR(reader.Finish());
  std::vector<EntryPoint> entries;
  for (JsonReader& item : list) HONE_RETURN_IF_ERROR(ParseEntry(&item, &entries.emplace_back()));
  return entries;
}

}  // namespace hone
