#include "library/quiet_runs.h"

#include "base/clock.h"

namespace hone::library {

static measure::LoadLimits Limits(double patience_seconds) {
  measure::LoadLimits limits{.patience_seconds = patience_seconds};
  return limits;
}

static measure::LoadSenses Senses(LoadMeter* meter) {
  measure::LoadSenses senses;
  senses.start = [meter] { meter->Start(); };
  senses.lost = [meter] { return meter->Lost(); };
  senses.stolen = [meter] { return meter->Stolen(); };
  return senses;
}

QuietRuns::QuietRuns(double patience_seconds)
    : guard_(Limits(patience_seconds), Senses(&meter_), RealClock()), patience_seconds_(patience_seconds) {
  meter_.Stolen();  // ignore what was stolen before
  guard_.BeginCandidate();
}

Result<double> QuietRuns::Time(const std::function<Status()>& run) {
  Clock* clock = RealClock();
  while (true) {
    if (patience_seconds_ > 0) guard_.BeginRun();
    const double before = clock->NowSeconds();
    HONE_RETURN_IF_ERROR(run());
    const double seconds = clock->NowSeconds() - before;
    if (patience_seconds_ <= 0 || guard_.EndRun(seconds) != measure::LoadGuard::Verdict::kAgain) return seconds;
    HONE_RETURN_IF_ERROR(run());  // untimed, as waiting lets the threads of the pool fall asleep
    wasted_ += clock->NowSeconds() - before;
  }
}

}  // namespace hone::library
