#include "measure/protocol.h"

#include <algorithm>

#include "base/statistics.h"

namespace hone::measure {

int64_t NextNumber(int64_t number, double seconds, double wanted) {
  constexpr double kMost = 1e9;  // for a clock that stands still
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
