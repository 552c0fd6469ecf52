#include "nightly/samples.h"

#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "nightly/lines.h"

namespace hone::nightly {
namespace {

constexpr int64_t kVersion = 1;

Result<Who> ReadWho(JsonReader* reader) {
  std::string name;
  HONE_RETURN_IF_ERROR(reader->Read("who", &name));
  for (const Who who : {Who::kLibrary, Who::kReference, Who::kCanary}) {
    if (name == WhoName(who)) return who;
  }
  return reader->Error("who", "expected library, reference or canary");
}

}  // namespace

const char* WhoName(Who who) {
  return who == Who::kLibrary ? "library" : who == Who::kReference ? "reference" : "canary";
}

Result<NightSamples> NightSamples::Open(const std::string& path, const std::string& key) {
  NightSamples samples(path);
  const std::string head = DumpJson({{"version", kVersion}, {"key", key}}, -1);
  std::string text;
  if (Exists(path)) {
    HONE_ASSIGN_OR_RETURN(text, ReadFile(path));
  }
  if (text.rfind(head, 0) != 0) {
    HONE_RETURN_IF_ERROR(MakeDirs(DirName(path)));
    HONE_RETURN_IF_ERROR(WriteFileAtomic(path, head));
    return samples;
  }
  int torn = 0;
  std::vector<std::string> damaged;  // those processes run again
  HONE_RETURN_IF_ERROR(ForEachLine(std::string_view(text).substr(head.size()), path, &torn, &damaged,
                                   [&](JsonReader* reader) -> Status {
                                     Entry entry;
                                     HONE_ASSIGN_OR_RETURN(entry.who, ReadWho(reader));
                                     HONE_RETURN_IF_ERROR(reader->Read("phase", &entry.phase));
                                     HONE_RETURN_IF_ERROR(reader->Read("round", &entry.round));
                                     HONE_RETURN_IF_ERROR(reader->Read("samples", &entry.times.samples));
                                     HONE_RETURN_IF_ERROR(ReadLayers(reader, &entry.times.layers));
                                     HONE_RETURN_IF_ERROR(reader->ReadOptional("lost", &entry.times.lost));
                                     samples.entries_.push_back(std::move(entry));
                                     return Status();
                                   }));
  return samples;
}

const ProcessTimes* NightSamples::Find(Who who, int phase, int round) const {
  for (const Entry& entry : entries_) {
    if (entry.who == who && entry.phase == phase && entry.round == round) return &entry.times;
  }
  return nullptr;
}

Status NightSamples::Append(Who who, int phase, int round, ProcessTimes times) {
  Json json = {{"who", WhoName(who)}, {"phase", phase}, {"round", round}, {"samples", times.samples}};
  if (!times.layers.empty()) json["layers"] = LayersJson(times.layers);
  if (times.lost > 0) json["lost"] = times.lost;
  HONE_RETURN_IF_ERROR(AppendLine(path_, DumpJson(json, -1)));
  entries_.push_back({who, phase, round, std::move(times)});
  return Status();
}

}  // namespace hone::nightly
