#include "target/artifact.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"

namespace hone {

namespace {

Json LaunchesJson(const std::vector<Launch>& launches) {
  Json list = Json::array();
  for (const Launch& launch : launches) {
    list.push_back({{"symbol", launch.symbol},
                    {"grid", std::vector<int64_t>(launch.grid, launch.grid + 3)},
                    {"block", std::vector<int64_t>(launch.block, launch.block + 3)},
                    {"shared_bytes", launch.shared_bytes},
                    {"dynamic_shared_bytes", launch.dynamic_shared_bytes},
                    {"args", launch.args}});
  }
  return list;
}

}  // namespace

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
    Json item = {{"symbol", entry.symbol},
                 {"args", std::move(args)},
                 {"workspace_bytes", entry.workspace_bytes},
                 {"scratch_bytes", entry.scratch_bytes}};
    // Omitted if empty, so that the text of a host's entries never changes: it is part of digests.
    if (!entry.launches.empty()) item["launches"] = LaunchesJson(entry.launches);
    if (!entry.workspace_buffers.empty()) item["workspace_buffers"] = entry.workspace_buffers;
    list.push_back(std::move(item));
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

Status ParseExtents(JsonReader* reader, const char* key, int64_t* extents) {
  std::vector<int64_t> values;
  HONE_RETURN_IF_ERROR(reader->Read(key, &values));
  const bool good = values.size() == 3 && std::all_of(values.begin(), values.end(), [](int64_t n) { return n > 0; });
  if (!good) return reader->Error(key, "must be three numbers above 0");
  std::copy(values.begin(), values.end(), extents);
  return Status();
}

Status ParseLaunch(JsonReader* reader, const EntryPoint& entry, Launch* launch) {
  std::vector<int64_t> args;
  HONE_RETURN_IF_ERROR(reader->Read("symbol", &launch->symbol));
  HONE_RETURN_IF_ERROR(ParseExtents(reader, "grid", launch->grid));
  HONE_RETURN_IF_ERROR(ParseExtents(reader, "block", launch->block));
  HONE_RETURN_IF_ERROR(reader->Read("shared_bytes", &launch->shared_bytes));
  HONE_RETURN_IF_ERROR(reader->Read("dynamic_shared_bytes", &launch->dynamic_shared_bytes));
  HONE_RETURN_IF_ERROR(reader->Read("args", &args));
  if (launch->dynamic_shared_bytes < 0 || launch->dynamic_shared_bytes > launch->shared_bytes) {
    return reader->Error("dynamic_shared_bytes", "must be from 0 to shared_bytes");
  }
  for (const int64_t arg : args) {
    const int64_t count = static_cast<int64_t>(arg < 0 ? entry.workspace_buffers.size() : entry.args.size());
    if ((arg < 0 ? ~arg : arg) >= count) return reader->Error("args", fmt::format("{} refers to nothing", arg));
    launch->args.push_back(static_cast<int>(arg));
  }
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
  HONE_RETURN_IF_ERROR(reader->ReadOptional("workspace_buffers", &entry->workspace_buffers));
  for (const int64_t bytes : entry->workspace_buffers) {
    if (bytes < 0) return reader->Error("workspace_buffers", "must not be negative");
  }
  std::vector<JsonReader> launches;
  HONE_RETURN_IF_ERROR(reader->ReadOptional("launches", &launches));
  for (JsonReader& launch : launches) {
    HONE_RETURN_IF_ERROR(ParseLaunch(&launch, *entry, &entry->launches.emplace_back()));
  }
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
