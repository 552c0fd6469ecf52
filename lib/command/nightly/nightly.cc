#include "command/nightly/nightly.h"

#include <fmt/format.h>
#include <stdio.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/heartbeat.h"
#include "base/interrupt.h"
#include "base/keep.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/text.h"
#include "command/bench/library_process.h"
#include "command/nightly/nightly_common.h"
#include "library/verify_outputs.h"
#include "nightly/measure_night.h"
#include "nightly/verdict.h"
#include "session/machine.h"

namespace hone::command {
namespace {

using library::LibraryFolder;
using nightly::ProcessKey;
using nightly::ProcessTimes;
using nightly::Who;

constexpr int64_t kProfiled = 5;

class Nightly {
 public:
  explicit Nightly(const NightlyOptions& options) : options_(options) {}

  Status Run() {
    HONE_ASSIGN_OR_RETURN(SeriesJob series,
                          OpenSeries(options_.nights, options_.series, options_.accepted, options_.job));
    series_ = &series;
    Heartbeat heartbeat(&series.lock);
    heartbeat_ = &heartbeat;
    HONE_ASSIGN_OR_RETURN(const nightly::History history, nightly::ReadHistory(series.history));
    for (const std::string& damaged : history.damaged) LogWarning(damaged + "; skipping this night");
    if (HasItsLine(series, options_.job, history.nights)) return Status();
    input_.night = series.night;
    input_.before = &history.nights;
    HONE_ASSIGN_OR_RETURN(const nightly::Night night, Measure());
    ShowLiveLine("");
    if (!night.no_canary.empty() && !input_.canary.empty())
      LogWarning(night.no_canary + " (this is the canary; the night continues without it)");
    HONE_RETURN_IF_ERROR(heartbeat.Check());
    HONE_RETURN_IF_ERROR(AppendLine(series.history, nightly::NightText(night)));
    const nightly::Verdict verdict = nightly::Judge({{options_.job, {night}}}, input_.night);
    fmt::print("{}: {}: {}\n", options_.job, nightly::JobStateName(verdict.jobs[0].state), verdict.jobs[0].words);
    return Status();
  }

 private:
  Result<nightly::Night> Measure() {
    const nightly::Acceptance &reference = series_->accepted.back(), &canary = series_->accepted.front();
    input_.recorded = FormatIso8601(RealClock()->WallSeconds());
    input_.host = Hostname();
    input_.tools = NightTools();
    input_.reference = reference.digest;
    input_.canary = canary.digest;
    input_.processes = options_.processes;
    // The library may be damaged, and then there is no process to say so.
    Status bad = OpenDevice(reference.target);
    if (bad.ok()) bad = Prepare(reference, canary);
    if (!bad.ok()) return nightly::MeasureNight(input_, [&](const ProcessKey&) -> Result<ProcessTimes> { return bad; });
    const std::string samples =
        fmt::format("{}/samples/{}/{}.jsonl", series_->dir, options_.job, ReplaceAll(input_.night, ":", ""));
    const std::string key = fmt::format("{} {} {} {} {} {} {} {} {}", input_.library, input_.reference, input_.canary,
                                        options_.timing.seed, options_.processes, options_.timing.iterations,
                                        options_.timing.min_seconds, options_.timing.max_seconds, input_.fingerprint);
    HONE_ASSIGN_OR_RETURN(nightly::NightSamples store, nightly::NightSamples::Open(samples, key));
    store_ = &store;
    return nightly::MeasureNight(input_, [&](const ProcessKey& key) { return Once(key); });
  }

  Status OpenDevice(const std::string& target) {
    HONE_ASSIGN_OR_RETURN(target_, Target::Parse(target));
    HONE_ASSIGN_OR_RETURN(input_.fingerprint, NightFingerprint(target_));
    return Status();
  }

  Status Prepare(const nightly::Acceptance& reference, const nightly::Acceptance& canary) {
    if (!options_.fake_times.empty()) {
      HONE_ASSIGN_OR_RETURN(fake_, ReadFakeTimes(options_.fake_times));
    }
    HONE_RETURN_IF_ERROR(nightly::CheckAccepted(options_.accepted, options_.job, reference));
    if (canary.digest != reference.digest) {
      const Status whole = nightly::CheckAccepted(options_.accepted, options_.job, canary);
      if (!whole.ok()) HONE_RETURN_IF_ERROR(DropCanary(whole));
    }
    HONE_ASSIGN_OR_RETURN(LibraryFolder library, library::CheckedLibrary(options_.lib));
    HONE_ASSIGN_OR_RETURN(input_.library, nightly::FolderDigest(library.dir, library.name));
    DropCached(library.ParamsPath());  // the digest has read it: it would lie on other pages than the reference's
    HONE_ASSIGN_OR_RETURN(LibraryFolder against, library::CheckedLibrary(Dir(reference.digest)));
    if (library.graph_digest != against.graph_digest) {
      return Status::Invalid(
          fmt::format("{}: computes another network than the accepted {}; accept it with "
                      "hone-report accept, if that is meant",
                      library.GraphPath(), against.GraphPath()));
    }
    folders_ = {{Who::kLibrary, std::move(library)}, {Who::kReference, std::move(against)}};
    if (!input_.canary.empty() && canary.digest != reference.digest) {
      auto folder = library::CheckedLibrary(Dir(canary.digest));
      if (folder.ok()) {
        folders_[Who::kCanary] = std::move(*folder);
      } else {
        HONE_RETURN_IF_ERROR(DropCanary(folder.status()));
      }
    }
    if (fake_) return Status();
    HONE_ASSIGN_OR_RETURN(auto machine, session::OpenMachine(target_));
    machine_.emplace(std::move(machine));
    HONE_ASSIGN_OR_RETURN(expected_, ExpectedOutputs(folders_[Who::kLibrary], options_.timing.seed,
                                                     options_.parameter_file, options_.inputs));
    return Status();
  }

  // Continues the run without the canary, if the canary is the problem.
  Status DropCanary(const Status& why) {
    if (!nightly::OfTheArtifact(why)) return why;
    LogWarning(why.message() + " (this is the canary; the night continues without it)");
    input_.canary.clear();
    input_.no_canary = why.message();
    return Status();
  }

  std::string Dir(const std::string& digest) const {
    return nightly::AcceptedDir(options_.accepted, options_.job, digest);
  }

  Result<ProcessTimes> Once(const ProcessKey& key) {
    if (Interrupted()) return Status::Interrupted("interrupted; the same command goes on where it stopped");
    HONE_RETURN_IF_ERROR(heartbeat_->Check());
    if (const ProcessTimes* known = store_->Find(key)) return *known;
    ShowLiveLine(fmt::format("{}: {}, process {} of {}{}", options_.job, nightly::WhoName(key.who), key.round + 1,
                             options_.processes, key.phase > 0 ? " (repeat)" : ""));
    HONE_ASSIGN_OR_RETURN(ProcessTimes times, fake_ ? Invent(key) : Process(key.who));
    HONE_RETURN_IF_ERROR(heartbeat_->Check());
    HONE_RETURN_IF_ERROR(store_->Append(key, times));
    return times;
  }

  Result<ProcessTimes> Process(Who who) {
    const LibraryFolder& folder = folders_.at(who);
    library::TimeRequest request = options_.timing;
    request.dir = folder.dir;
    request.pace = folders_.at(Who::kReference).dir;
    request.profiled = kProfiled;
    request.outputs = verified_.insert(who).second;  // once a night is enough
    HONE_ASSIGN_OR_RETURN(const library::TimeReply reply, TimeInProcess(request, &*machine_));
    double error = 0;
    if (request.outputs) {
      HONE_RETURN_IF_ERROR(library::VerifyOutputs(folder.dir, folder.rounding, reply.outputs, expected_, &error));
    }
    ProcessTimes times;
    times.samples = reply.samples;
    times.pace = reply.pace;
    times.lost = reply.lost_seconds;
    for (size_t i = 0; i < reply.layers.size() && i < reply.described.size(); ++i)
      times.layers.push_back({reply.described[i].name, reply.layers[i]});
    return times;
  }

  // The times that a test wants, with 0.3 % of noise that is the same for the same process of the same night.
  Result<ProcessTimes> Invent(const ProcessKey& key) const {
    const std::string& digest = key.who == Who::kLibrary     ? input_.library
                                : key.who == Who::kReference ? input_.reference
                                                             : input_.canary;
    const auto found = fake_->find(digest);
    if (found == fake_->end()) return NoTimeInvented(digest);
    Rng rng(Digest128(
                fmt::format("{} {} {} {}", input_.night, nightly::WhoName(key.who), key.phase, key.round))
                .lo);
    ProcessTimes times;
    const double level = found->second * (1 + 0.003 * rng.Normal());
    for (int64_t i = 0; i < options_.timing.iterations; ++i)
      times.samples.push_back(level * (1 + 0.001 * rng.Normal()));
    return times;
  }

  const NightlyOptions& options_;
  Target target_;
  SeriesJob* series_ = nullptr;
  Heartbeat* heartbeat_ = nullptr;
  nightly::NightInput input_;
  nightly::NightSamples* store_ = nullptr;
  std::map<Who, LibraryFolder> folders_;
  std::optional<MachineLock> machine_;
  std::vector<std::vector<double>> expected_;
  std::set<Who> verified_;
  std::optional<std::map<std::string, double>> fake_;
};

}  // namespace

int RunNightly(const NightlyOptions& options) {
  const Status status = Nightly(options).Run();
  ShowLiveLine("");
  return ExitCodeOf(status);
}

}  // namespace hone::command
