#include "session/stamp.h"

#include <algorithm>
#include <cmath>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"

namespace hone::session {

// To milliseconds.
static double Rounded(double seconds) { return std::round(1e3 * seconds) / 1e3; }

std::string StampText(const StampInputs& inputs, const History& history, StopReason reason) {
  Json json = {{"version", 1},
               {"task", inputs.task_id},
               {"inputs",
                {{"task", Digest128(inputs.task_text).Hex()},
                 {"settings", Digest128(inputs.settings_text).Hex()},
                 {"abi", Digest128(inputs.abi).Hex()}}},
               {"abi", inputs.abi},
               {"fingerprint", inputs.fingerprint},
               {"budget",
                {{"trials", inputs.budget.trials},
                 {"seconds", inputs.budget.seconds},
                 {"early_stop", inputs.budget.early_stop},
                 {"expected_gain", inputs.budget.expected_gain}}},
               {"met_by", StopReasonName(reason)},
               {"trials", history.count()}};
  // The texts unchanged; one that is not JSON (only in tests) is represented by its digest.
  for (const auto& [key, text] :
       {std::pair("task_file", &inputs.task_text), std::pair("settings", &inputs.settings_text)}) {
    Result<Json> parsed = ParseJson(*text, key);
    if (parsed.ok()) json[key] = std::move(*parsed);
  }
  if (!inputs.donors.empty()) json["donors"] = inputs.donors;
  const int64_t searched =
      std::min({history.count(), inputs.budget.trials, history.CountWithin(inputs.budget.seconds)});
  double trial_seconds = 0;
  for (int64_t i = 0; i < searched; ++i) {
    const Outcome& outcome = history.outcomes()[static_cast<size_t>(i)];
    trial_seconds += outcome.compile_seconds + outcome.measure_seconds;
  }
  Json& search = json["search"];
  search = {{"trials", searched},
            {"seconds", history.SearchSeconds(searched)},
            {"trial_seconds", Rounded(trial_seconds)},
            {"improvements", Json::array()}};
  // Not without need: it differs between two runs with the same trials.
  if (inputs.budget.seconds > 0) search["tuning_seconds"] = Rounded(history.TuningSeconds(searched));
  for (const auto& [trials, seconds] : history.Improvements(searched))
    search["improvements"].push_back({trials, seconds});
  if (const double gain = history.TunerGain(searched); gain >= 0) search["tuner_gain"] = gain;
  if (const auto best = history.best()) {
    const Outcome& outcome = history.outcomes()[*best];
    json["best"] = {{"trial", history.ordinal(*best)},
                    {"median_seconds", outcome.median},
                    {"config", outcome.config.ValueDigest().Hex()}};
  } else {
    json["result"] = "none";
  }
  return DumpJson(json);
}

Result<bool> WriteStamp(const std::string& path, const std::string& text) {
  HONE_RETURN_IF_ERROR(MakeDirs(DirName(path)));
  return WriteFileIfChanged(path, text);
}

}  // namespace hone::session
