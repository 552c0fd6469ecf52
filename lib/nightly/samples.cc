#include "nightly/samples.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/fields.h"
#include "base/file.h"
#include "base/statistics.h"
#include "nightly/lines.h"

namespace hone::nightly {

constexpr int64_t kSamplesVersion = 2;

const ChoiceNames<Who> kWho = {{Who::kLibrary, "library"}, {Who::kReference, "reference"}, {Who::kCanary, "canary"}};

static void ListFields(Fields* f, ProcessRun* run) {
  ProcessTimes* times = &run->times;
  f->Choice("who", &run->key.who, kWho);
  HONE_VALUES(f, run->key.phase, run->key.round, times->samples);
  f->Maybe("pace", &times->pace, !times->pace.empty());
  ListLayers(f, &times->layers);
  f->Maybe("lost", &times->lost, times->lost > 0);
}

const char* WhoName(Who who) { return ChoiceName(kWho, who); }

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
  std::vector<std::string> damaged;  // their processes run again
  const std::string_view lines = std::string_view(text).substr(head.size());
  HONE_ASSIGN_OR_RETURN(samples.runs_, ParseLines<ProcessRun>(lines, path, &damaged));
  return samples;
}

const ProcessTimes* NightSamples::Find(const ProcessKey& key) const {
  const auto found = std::ranges::find(runs_, key, &ProcessRun::key);
  return found == runs_.end() ? nullptr : &found->times;
}

Status NightSamples::Append(const ProcessKey& key, ProcessTimes times) {
  ProcessRun run{key, std::move(times)};
  HONE_RETURN_IF_ERROR(AppendLine(path_, FieldsText(run, -1)));
  runs_.push_back(std::move(run));
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
