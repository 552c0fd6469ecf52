// One run of tuning one task: propose, reject, compile, measure, store, until the budget is met or the user interrupts.
//
// The trials already in the store are the tuner's history, so a run after a kill continues as if nothing had happened:
// the same measured values give the same trials in the same order, whenever the kill came. Trial 0 is the default
// config, in a batch of its own. A trial is stored when its batch is complete and the next one is being built, or at
// most a second after the last commit; a kill loses later trials. Before that, the measurer is checked: if a candidate
// corrupted it, the trials since the last check are dropped, and the session begins anew behind the stored ones, with a
// check after each candidate. That candidate then fails as a crash, so that the same trials do not come again for ever.
// After an interrupt, or if tuning cannot go on, the trials since the last check are stored without one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "measure/builder.h"
#include "record/store.h"
#include "search/space/space.h"
#include "search/tuner/context.h"
#include "session/history.h"
#include "session/machine.h"

namespace hone::search {
class Tuner;
}

namespace hone::session {

struct SessionOptions {
  const search::TaskSpace* space = nullptr;
  std::optional<Config> default_config;
  std::string tuner = "random";
  search::TunerContext context;  // the tuner's knowledge of the task, including donors
  uint64_t seed = 1;
  Budget budget;
  int64_t finalists = 8;    // measured again, interleaved, at the end; 0: none
  int batch = 16;           // candidates compiled before they are measured, or meanwhile if the device is not the host
  record::Session session;  // all fields but id and times; its fingerprint decides which trials count
};

// Builds and measures; opened when the first trial needs it.
struct Device {
  std::unique_ptr<measure::Builder> builder;
  std::unique_ptr<measure::Measurer> measurer;
};

struct SessionWorld {
  record::Store* store = nullptr;
  Clock* clock = nullptr;
  Turns* turns = nullptr;  // null: no other processes (fakes)
  // Called while the host is shared, and again after a candidate corrupted the measurer.
  std::function<Result<Device>()> open_device;
  // Makes the tuner; null: search::MakeTuner with the options.
  std::function<Result<std::unique_ptr<search::Tuner>>()> make_tuner;
  // Called before anything is stored; an error (another process has taken over the job) ends the run, and nothing more
  // is stored. Null: no check.
  std::function<Status()> check_owner;
  // Called after every trial and while waiting; an error ends the run at once.
  std::function<Status(const History&, double peak_flops)> on_progress;
};

struct SessionResult {
  StopReason reason = StopReason::kNone;  // kNone: interrupted
  bool interrupted = false;
  int64_t new_trials = 0;
  double seconds = 0;          // of this run
  double measuring_share = 0;  // share of `seconds` with a busy device (its own clock) or a measuring host
  double drift = 1;            // the anchor's, if finalists were measured
  int64_t finalists = 0;       // number measured again in this run
  double peak_flops = 0;       // 0 if nothing was measured
  double expected_gain = -1;   // the tuner's last expectation; below 0: unknown
};

// Load `history` from world.store first. Returns an error if tuning is not possible (storing fails, or no child process
// starts); earlier trials are kept.
Result<SessionResult> RunSession(const SessionOptions& options, const SessionWorld& world, History* history);

// The end of tuning measures the fastest trials again, interleaved, so that the winner is chosen from times that were
// taken under the same conditions.
struct FinalistWorld {
  record::Store* store = nullptr;
  measure::Builder* builder = nullptr;
  measure::Measurer* measurer = nullptr;
  // Locks the host to build on (shared), or instead the device to time on (exclusive); the second function releases
  // both.
  std::function<Status(bool exclusive)> lock;
  std::function<void()> unlock;
  std::function<Status()> check_owner;  // SessionWorld::check_owner, never null
};

struct FinalistResult {
  int64_t measured = 0;  // number of kernels measured again
  double drift = 1;      // the anchor's (trial 0's) time now relative to its time during tuning
};

// Measures the `count` fastest distinct kernels again. Each round begins with the default (trial 0) as the anchor. New
// samples and medians are stored one heat at a time (Store::Remeasure); later trials of the same artifact get the new
// median as well. If a trial outside the finalists is the fastest afterwards, it is measured too, until the fastest
// trial is one that was measured again.
Result<FinalistResult> MeasureFinalists(int64_t count, const FinalistWorld& world, History* history);

}  // namespace hone::session
