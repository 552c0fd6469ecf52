#include "nightly/history.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/fields.h"
#include "base/file.h"
#include "base/statistics.h"
#include "nightly/lines.h"

namespace hone::nightly {

constexpr int64_t kHistoryVersion = 1;
const ChoiceNames<Change> kChanges = {
    {Change::kNone, "none"}, {Change::kSlower, "slower"}, {Change::kFaster, "faster"}};

static void Seconds(Fields* f, const std::string& key, std::vector<double>* values) {
  f->Value(key, values);
  f->Check(std::all_of(values->begin(), values->end(), [](double s) { return s > 0; }), "seconds must be above 0");
}

void ListLayers(Fields* f, std::vector<Layer>* layers) {
  const auto pairs = [](const std::vector<Layer>& from) {
    Json json = Json::array();
    for (const Layer& layer : from) json.push_back({layer.node, layer.seconds});
    return json;
  };
  const auto read = [](const Json& json) -> Result<std::vector<Layer>> {
    std::vector<Layer> to;
    for (const Json& pair : json) {
      if (!pair.is_array() || pair.size() != 2 || !pair[0].is_string() || !pair[1].is_number())
        return Status::Invalid("expected a layer as [node, seconds]");
      to.push_back({pair[0].get<std::string>(), pair[1].get<double>()});
    }
    return to;
  };
  f->As("layers", layers, pairs, read, /*must=*/false, !layers->empty());
}

static void ListFields(Fields* f, Subject* s) {
  f->Value("digest", &s->digest);
  Seconds(f, "processes", &s->processes);
  double quantile = 0;  // older versions of Hone stored them here; now the sample files do
  for (const char* key : {"min", "p10", "median", "p90", "p99"}) f->Maybe(key, &quantile, /*write=*/false);
  ListLayers(f, &s->layers);
}

static void ListFields(Fields* f, Repeat* repeat) {
  Seconds(f, "library", &repeat->library);
  Seconds(f, "reference", &repeat->reference);
  f->Choice("change", &repeat->change, kChanges);
}

static void ListFields(Fields* f, Night* night) {
  Comparison& c = night->comparison;
  f->Version(kHistoryVersion);
  HONE_VALUES(f, night->recorded, night->host, night->fingerprint, night->library, night->reference);
  f->Value("ratio", &c.ratio).Above(0);
  HONE_VALUES(f, c.low, c.high, c.p, c.threshold);
  f->Choice("change", &c.change, kChanges);
  f->Value("why", &c.why);
  f->Maybe("canary", &night->canary);
  f->Maybe("repeat", &night->repeat);
  for (const auto& [key, value] : {std::pair{"environment", &night->environment},
                                   {"night", &night->night},
                                   {"tools", &night->tools},
                                   {"failure", &night->failure},
                                   {"no_canary", &night->no_canary}}) {
    f->Maybe(key, value, !value->empty());
  }
}

double Night::CanarySeconds() const { return canary ? Median(canary->processes) : 0; }

double Night::ShareOfCanary() const {
  const double seconds = CanarySeconds();
  return seconds > 0 ? Median(library.processes) / seconds : 0;
}

std::string NightText(const Night& night) { return FieldsText(night, -1); }

Result<History> ParseHistory(std::string_view text, const std::string& path) {
  History history;
  HONE_ASSIGN_OR_RETURN(history.nights, ParseLines<Night>(text, path, &history.damaged));
  if (!text.empty() && text.back() != '\n') history.damaged.push_back(path + ": the last line was cut off");
  return history;
}

Result<History> ReadHistory(const std::string& path) {
  if (!Exists(path)) return History();
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseHistory(text, path);
}

std::vector<double> NoiseRatios(const std::vector<Night>& nights, const std::string& fingerprint) {
  constexpr size_t kLeastOfPair = 5;  // fewer scatter too little around their own median
  std::vector<double> ratios;
  std::map<std::pair<std::string, std::string>, std::vector<double>> pairs;
  for (const Night& night : nights) {
    if (night.fingerprint != fingerprint || !night.Usable()) continue;
    const double ratio = night.comparison.ratio;
    if (night.library.digest == night.reference.digest) {
      ratios.push_back(ratio);
    } else {
      pairs[{night.library.digest, night.reference.digest}].push_back(ratio);
    }
  }
  for (const auto& [pair, found] : pairs) {
    if (found.size() < kLeastOfPair) continue;
    const double middle = Median(found);
    for (double ratio : found) ratios.push_back(ratio / middle);
  }
  return ratios;
}

}  // namespace hone::nightly
