#include "nightly/samples.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/fields.h"
#include "base/file.h"
#include "base/keep.h"
#include "base/statistics.h"
#include "nightly/lines.h"

namespace hone::nightly {
namespace {

constexpr int64_t kSamplesVersion = 2;

const std::vector<std::pair<Who, const char*>> kWho = {
    {Who::kLibrary, "library"}, {Who::kReference, "reference"}, {Who::kCanary, "canary"}};

void ListProcess(Fields* f, ProcessKey* key, ProcessTimes* times) {
  f->Choice("who", &key->who, kWho);
  f->Value("phase", &key->phase);
  f->Value("round", &key->round);
  f->Value("samples", &times->samples);
  f->Maybe("pace", &times->pace, !times->pace.empty());
  ListLayers(f, &times->layers);
  f->Maybe("lost", &times->lost, times->lost > 0);
}

}  // namespace

const char* WhoName(Who who) {
  return who == Who::kLibrary ? "library" : who == Who::kReference ? "reference" : "canary";
}

Result<NightSamples> NightSamples::Open(const std::string& path, const std::string& key) {
  NightSamples samples(path);
  const std::string head = DumpJson({{"version", kSamplesVersion}, {"key", key}}, -1);
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
  HONE_RETURN_IF_ERROR(
      ForEachLine(std::string_view(text).substr(head.size()), path, &torn, &damaged, [&](JsonReader* reader) -> Status {
        Entry entry;
        Fields fields(reader);
        ListProcess(&fields, &entry.key, &entry.times);
        HONE_RETURN_IF_ERROR(fields.status());
        samples.entries_.push_back(std::move(entry));
        return Status();
      }));
  return samples;
}

const ProcessTimes* NightSamples::Find(const ProcessKey& key) const {
  for (const Entry& entry : entries_) {
    if (entry.key == key) return &entry.times;
  }
  return nullptr;
}

Status NightSamples::Append(const ProcessKey& key, ProcessTimes times) {
  Json json;
  Fields fields(&json);
  ListProcess(&fields, const_cast<ProcessKey*>(&key), &times);
  HONE_RETURN_IF_ERROR(AppendLine(path_, DumpJson(json, -1)));
  entries_.push_back({key, std::move(times)});
  return Status();
}

double ProcessTimes::Seconds() const { return LowerQuartile(samples); }
double ProcessTimes::PaceSeconds() const { return LowerQuartile(pace); }

double ProcessTimes::PaceRatio() const {
  std::vector<double> ratios;
  for (size_t begin = 0; begin < std::min(samples.size(), pace.size()); begin += kRunsOfTurn) {
    const auto fastest = [begin](const std::vector<double>& runs) {
      const size_t end = std::min(begin + kRunsOfTurn, runs.size());
      return *std::min_element(runs.begin() + static_cast<std::ptrdiff_t>(begin),
                               runs.begin() + static_cast<std::ptrdiff_t>(end));
    };
    if (fastest(pace) <= 0) return 0;
    ratios.push_back(fastest(samples) / fastest(pace));
  }
  return Median(ratios);
}

}  // namespace hone::nightly
