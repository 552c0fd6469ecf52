// The cost of storing trials durably: time of Store::Append, a transaction each with everything synced to disk, for
// batches of 1, 4 and 16 trials, as a tuner commits them (with its batch, or once a second).
//
//   durability [--dir=FOLDER] [--trials=256]     FOLDER: on the disk in question; default: that of temporary files
//
// Goal: at most 2 ms per trial in batches of 4, as tuner `auto` proposes them.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/statistics.h"
#include "base/text.h"
#include "perf/flags.h"
#include "record/store.h"

namespace {

using namespace hone;  // NOLINT: a program, not a header

// As large as a convolution's: about 20 samples, 20 steps of 40 bytes, six knobs.
Outcome Trial(int i) {
  Outcome o;
  std::vector<KnobValue> knobs;
  for (int k = 0; k < 6; ++k) {
    knobs.push_back({fmt::format("tile_{}", k), KnobKind::kOther, {i, k}, {}});
  }
  o.config = {"conv2d_direct", static_cast<uint64_t>(i), knobs};
  o.state = TrialState::kOk;
  for (int s = 0; s < 20; ++s) o.samples.push_back(1e-3 + 1e-6 * s);
  o.median = Median(o.samples);
  o.artifact_digest = fmt::format("{:032x}", i);
  o.proposer = "auto";
  for (int s = 0; s < 20; ++s) o.steps += "split conv oc 16 conv.oc.outer conv.oc.inner\n";
  return o;
}

Result<double> SecondsATrial(const std::string& path, int batch, int trials) {
  const record::Meta meta{
      "conv2d-0", "conv2d(f32[1,64,56,56], f32[64,64,3,3], pad=1,1,1,1)", "cpu", {{"conv2d_direct", 1}}};
  HONE_ASSIGN_OR_RETURN(const auto store, record::Store::OpenForWriting(path, meta));
  record::Session session;
  session.started = 1;
  session.settings = "{}";
  HONE_ASSIGN_OR_RETURN(const int64_t id, store->BeginSession(session));
  const double start = RealClock()->NowSeconds();
  for (int i = 0; i < trials; i += batch) {
    std::vector<Outcome> outcomes;
    for (int k = i; k < std::min(trials, i + batch); ++k) outcomes.push_back(Trial(k));
    HONE_RETURN_IF_ERROR(store->Append(id, outcomes, 1e-3 * i));
  }
  return (RealClock()->NowSeconds() - start) / trials;
}

}  // namespace

int main(int argc, char** argv) {
  perf::Flags flags("durability [--dir=FOLDER] [--trials=256]", argc, argv);
  const std::string folder = flags.Text("--dir");
  const int trials = static_cast<int>(flags.Number("--trials", 256, 16));
  flags.Words();
  if (!folder.empty()) setenv("TMPDIR", folder.c_str(), 1);
  auto dir = TempDir::Create("hone-durability");
  if (!dir.ok()) return ExitCodeOf(dir.status());
  for (const int batch : {1, 4, 16}) {
    std::vector<double> rounds;
    for (int round = 0; round < 5; ++round) {
      auto seconds = SecondsATrial(dir->Join(fmt::format("{}-{}.db", batch, round)), batch, trials);
      if (!seconds.ok()) return ExitCodeOf(seconds.status());
      rounds.push_back(*seconds);
    }
    std::printf("batches of %2d: %s a trial (minimum of %zu rounds of %d; median %s)\n", batch,
                FormatSeconds(*std::min_element(rounds.begin(), rounds.end())).c_str(), rounds.size(), trials,
                FormatSeconds(Median(rounds)).c_str());
  }
}
