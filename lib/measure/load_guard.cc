#include "measure/load_guard.h"

#include <algorithm>
#include <utility>

namespace hone::measure {

constexpr double kStolenEvery = 0.01;  // a tick: shorter intervals show nothing
constexpr double kShortPause = 0.0005;
constexpr double kLongPause = 0.02;

LoadGuard::LoadGuard(LoadLimits limits, LoadSenses senses, Clock* clock)
    : limits_(limits),
      senses_(std::move(senses)),
      clock_(clock),
      credit_(limits.patience_seconds),
      earned_at_(clock->NowSeconds()),
      stolen_at_(earned_at_),
      pulse_at_(earned_at_ - limits.pulse_every) {}

void LoadGuard::BeginCandidate() {
  retaken_ = 0;
  pause_ = 0;
  again_ = false;
}

void LoadGuard::BeginRun() {
  run_began_ = clock_->NowSeconds();
  if (senses_.start) senses_.start();
}

bool LoadGuard::Disturbed(double seconds) {
  const double lost = senses_.lost ? senses_.lost() : 0;
  if (lost > std::max(limits_.lost_seconds, limits_.lost_share * seconds)) return true;
  if (senses_.slowed && senses_.slowed()) return true;
  const double now = clock_->NowSeconds();
  if (senses_.stolen && now - stolen_at_ >= kStolenEvery) {
    stolen_at_ = now;
    if (senses_.stolen() > 0) return true;
  }
  if (senses_.pulse && now - pulse_at_ >= limits_.pulse_every) {
    if (senses_.pulse() < limits_.pulse_share) return true;  // repeated at once as long as it is true
    pulse_at_ = clock_->NowSeconds();
  }
  return false;
}

LoadGuard::Verdict LoadGuard::EndRun(double seconds) {
  // The time since a run was discarded (checking, preparing again) counts against its credit.
  const double between = run_began_ - earned_at_;
  credit_ = std::exchange(again_, false) ? credit_ - between : std::min(limits_.patience_seconds, credit_ + between);
  earned_at_ = run_began_;
  if (!Disturbed(seconds)) {
    pause_ = 0;
    return Verdict::kClean;
  }
  const double spent = clock_->NowSeconds() - run_began_;
  if (credit_ < spent) {
    earned_at_ = clock_->NowSeconds();
    return Verdict::kDisturbed;
  }
  // Retry at once first, as a neighbour's time slices are short; then with pauses, to let it finish.
  if (pause_ > 0) clock_->SleepSeconds(std::min(pause_, credit_ - spent));
  pause_ = std::clamp(2 * pause_, kShortPause, kLongPause);
  earned_at_ = clock_->NowSeconds();
  credit_ -= earned_at_ - run_began_;
  ++retaken_;
  again_ = true;
  return Verdict::kAgain;
}

}  // namespace hone::measure
