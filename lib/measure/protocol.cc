#include "measure/protocol.h"

#include <algorithm>

#include "base/json.h"
#include "base/statistics.h"

namespace hone::measure {

Json ProtocolToJson(const Protocol& p) {
  return {{"candidate_seconds", p.candidate_seconds},
          {"timeout_seconds", p.timeout_seconds},
          {"prune_factor", p.prune_factor},
          {"min_samples", p.min_samples},
          {"max_samples", p.max_samples},
          {"usual_seconds", p.usual_seconds},
          {"relative_width", p.relative_width},
          {"confidence", p.confidence},
          {"cold_bytes", p.cold_bytes},
          {"roofline_slack", p.roofline_slack},
          {"patience_seconds", p.patience_seconds},
          {"number", p.number},
          {"repeat", p.repeat},
          {"min_repeat_ms", p.min_repeat_ms},
          {"cooldown", p.cooldown}};
}

Result<Protocol> ProtocolFromJson(const Json& json) {
  JsonReader reader(json, "protocol message");
  Protocol p;
  HONE_RETURN_IF_ERROR(reader.Read("candidate_seconds", &p.candidate_seconds));
  HONE_RETURN_IF_ERROR(reader.Read("timeout_seconds", &p.timeout_seconds));
  HONE_RETURN_IF_ERROR(reader.Read("prune_factor", &p.prune_factor));
  HONE_RETURN_IF_ERROR(reader.Read("min_samples", &p.min_samples));
  HONE_RETURN_IF_ERROR(reader.Read("max_samples", &p.max_samples));
  HONE_RETURN_IF_ERROR(reader.Read("usual_seconds", &p.usual_seconds));
  HONE_RETURN_IF_ERROR(reader.Read("relative_width", &p.relative_width));
  HONE_RETURN_IF_ERROR(reader.Read("confidence", &p.confidence));
  HONE_RETURN_IF_ERROR(reader.Read("cold_bytes", &p.cold_bytes));
  HONE_RETURN_IF_ERROR(reader.Read("roofline_slack", &p.roofline_slack));
  HONE_RETURN_IF_ERROR(reader.Read("patience_seconds", &p.patience_seconds));
  HONE_RETURN_IF_ERROR(reader.Read("number", &p.number));
  HONE_RETURN_IF_ERROR(reader.Read("repeat", &p.repeat));
  HONE_RETURN_IF_ERROR(reader.Read("min_repeat_ms", &p.min_repeat_ms));
  HONE_RETURN_IF_ERROR(reader.Read("cooldown", &p.cooldown));
  HONE_RETURN_IF_ERROR(reader.Finish());
  return p;
}

int64_t NextNumber(int64_t number, double seconds, double wanted) {
  constexpr double kMost = 1e9;  // a clock that stands still
  const double runs = static_cast<double>(number);
  const double filling = seconds > 0 ? wanted / (seconds / runs) + 1 : kMost;
  return static_cast<int64_t>(std::min(std::max(filling, 1.618 * runs), kMost));
}

StoppingRule::Verdict StoppingRule::Add(double seconds, bool disturbed) {
  samples_.push_back(seconds);
  disturbed_ += disturbed;
  total_ += seconds;
  const int count = static_cast<int>(samples_.size());
  const double hopeless = protocol_.prune_factor * incumbent_;
  if (hopeless > 0 && count <= 2 && disturbed_ == 0) {
    if (*std::min_element(samples_.begin(), samples_.end()) > hopeless) {
      pruned_ = count == 2;
      return pruned_ ? Verdict::kPruned : Verdict::kMore;
    }
  }
  if (count >= protocol_.max_samples || total_ >= protocol_.candidate_seconds) return Verdict::kDone;
  if (count < protocol_.min_samples) return Verdict::kMore;
  if (total_ >= protocol_.usual_seconds) return Verdict::kDone;
  const Interval interval = MedianInterval(samples_, protocol_.confidence);
  if (incumbent_ > 0 && interval.low > incumbent_) return Verdict::kDone;
  const bool narrow = interval.high - interval.low <= protocol_.relative_width * Median(samples_);
  return narrow ? Verdict::kDone : Verdict::kMore;
}

double StoppingRule::median() const {
  if (pruned_) return *std::min_element(samples_.begin(), samples_.end());
  return Median(samples_);
}

}  // namespace hone::measure
