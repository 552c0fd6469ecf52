#include "target/artifact.h"

#include <algorithm>

#include "base/fields.h"

namespace hone {

const EntryPoint* Artifact::Find(const std::string& symbol) const {
  const auto found = std::ranges::find(entries, symbol, &EntryPoint::symbol);
  return found == entries.end() ? nullptr : &*found;
}

static void ListFields(Fields* f, ArtifactArg* arg) {
  f->Value("name", &arg->name);
  f->As(
      "type", &arg->type, [](DType type) { return ToString(type); }, ParseDType);
  f->Value("elements", &arg->elements).AtLeast(0);
  f->Value("written", &arg->written);
}

static void ListExtents(Fields* f, const char* key, int64_t* extents) {
  std::vector<int64_t> values(extents, extents + 3);
  f->Value(key, &values);
  const bool good = values.size() == 3 && std::all_of(values.begin(), values.end(), [](int64_t n) { return n > 0; });
  f->Check(good, "must be three numbers above 0");
  if (good && f->reading()) std::copy(values.begin(), values.end(), extents);
}

static void ListFields(Fields* f, Launch* launch) {
  f->Value("symbol", &launch->symbol);
  ListExtents(f, "grid", launch->grid);
  ListExtents(f, "block", launch->block);
  HONE_VALUES(f, launch->shared_bytes, launch->dynamic_shared_bytes);
  f->Check(launch->dynamic_shared_bytes >= 0 && launch->dynamic_shared_bytes <= launch->shared_bytes,
           "must be from 0 to shared_bytes");
  f->As(
      "args", &launch->args,
      [](const std::vector<int>& args) { return std::vector<int64_t>(args.begin(), args.end()); },
      [](const std::vector<int64_t>& args) {
        std::vector<int> out;
        for (const int64_t arg : args) out.push_back(static_cast<int>(std::clamp<int64_t>(arg, INT32_MIN, INT32_MAX)));
        return out;
      });
}

static void ListFields(Fields* f, EntryPoint* entry) {
  HONE_VALUES(f, entry->symbol, entry->args);
  f->Value("workspace_bytes", &entry->workspace_bytes).AtLeast(0);
  f->Value("scratch_bytes", &entry->scratch_bytes).AtLeast(0);
  // Omitted if empty, so that the text of a host's entries never changes, as digests include it.
  f->Maybe("launches", &entry->launches, !entry->launches.empty());
  f->Maybe("workspace_buffers", &entry->workspace_buffers, !entry->workspace_buffers.empty());
  for (const int64_t bytes : entry->workspace_buffers) f->Check(bytes >= 0, "must not be negative");
  const auto args = static_cast<int64_t>(entry->args.size());
  const auto buffers = static_cast<int64_t>(entry->workspace_buffers.size());
  for (const Launch& launch : entry->launches) {
    for (const int arg : launch.args) {
      if (arg >= args || ~arg >= buffers) f->Fail("launches", fmt::format("argument {} refers to nothing", arg));
    }
  }
}

std::string EntriesText(const std::vector<EntryPoint>& entries) {
  Json list = Json::array();
  for (const EntryPoint& entry : entries) list.push_back(FieldsJson(entry));
  return DumpJson({{"entries", std::move(list)}}, -1);
}

Result<std::vector<EntryPoint>> ParseEntries(const std::string& text) {
  HONE_ASSIGN_OR_RETURN(const Json json, ParseJson(text, "entries"));
  JsonReader reader(json, "entries");
  Fields fields(&reader);
  std::vector<EntryPoint> entries;
  fields.Value("entries", &entries);
  HONE_RETURN_IF_ERROR(fields.Finish());
  return entries;
}

}  // namespace hone
