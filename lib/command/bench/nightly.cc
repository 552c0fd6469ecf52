#include "command/bench/nightly.h"

#include <stdio.h>

#include <map>
#include <optional>
#include <set>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/heartbeat.h"
#include "base/interrupt.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/rng.h"
#include "base/text.h"
#include "base/version.h"
#include "command/bench/library_process.h"
#include "compile/compile.h"
#include "library/reference.h"
#include "measure/machine.h"
#include "nightly/accepted.h"
#include "nightly/measure_night.h"
#include "nightly/night_file.h"
#include "nightly/report.h"
#include "session/machine.h"
#include "target/target.h"

namespace hone::command {
namespace {

using library::LibraryFolder;
using nightly::Acceptance;
using nightly::ProcessKey;
using nightly::ProcessTimes;
using nightly::Who;

static_assert(nightly::kRunsOfTurn == library::kRunsOfTurn);

constexpr int64_t kProfiled = 5;
constexpr int kNightlyProtocol = 3;  // raise it when regression runs measure differently

// Reads seconds by digest.
Result<std::map<std::string, double>> ReadFakeTimes(const std::string& path) {
  std::map<std::string, double> times;
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  for (const std::string& line : Split(text, '\n')) {
    const std::vector<std::string> words = SplitWords(line);
    if (words.empty()) continue;
    if (words.size() != 2) return Status::Invalid(path + ": expected lines `DIGEST SECONDS`");
    HONE_ASSIGN_OR_RETURN(times[words[0]], ParseDouble(words[1]));
  }
  return times;
}

class Nightly {
 public:
  explicit Nightly(const NightlyOptions& options)
      : options_(options), series_(nightly::SeriesDir(options.nights, options.series)) {}

  Status Run() {
    if (!IsPlainName(options_.job)) return Status::Invalid("--job: `{}` is not NET.TARGET", options_.job);
    HONE_ASSIGN_OR_RETURN(const auto accepted, nightly::ReadAcceptances(options_.accepted, options_.job));
    HONE_RETURN_IF_ERROR(MakeDirs(series_));
    HONE_ASSIGN_OR_RETURN(FileLock lock, FileLock::Acquire(JoinPath(series_, options_.job + ".lock")));
    Heartbeat heartbeat(&lock);
    heartbeat_ = &heartbeat;
    HONE_ASSIGN_OR_RETURN(input_.night, nightly::OpenNight(series_, RealClock()->WallSeconds()));
    const std::string path = nightly::HistoryPath(options_.nights, options_.series, options_.job);
    HONE_ASSIGN_OR_RETURN(const nightly::History history, nightly::ReadHistory(path));
    for (const std::string& damaged : history.damaged) LogWarning(damaged + "; skipping this night");
    for (const nightly::Night& night : history.nights) {
      if (night.night != input_.night) continue;
      LogInfo("{}: measured in this night ({}) already", options_.job, night.night);
      return Status();
    }
    input_.before = &history.nights;
    HONE_ASSIGN_OR_RETURN(const nightly::Night night, Measure(accepted.back(), accepted.front()));
    ShowLiveLine("");
    if (!night.no_canary.empty()) LogWarning(night.no_canary + " (this is the canary; the night continues without it)");
    HONE_RETURN_IF_ERROR(heartbeat.Check());
    HONE_RETURN_IF_ERROR(AppendLine(path, nightly::NightText(night)));
    const nightly::Verdict verdict = nightly::Judge({{options_.job, {night}}}, input_.night);
    fmt::print("{}: {}: {}\n", options_.job, nightly::JobStateName(verdict.jobs[0].state), verdict.jobs[0].words);
    return Status();
  }

 private:
  Result<nightly::Night> Measure(const Acceptance& reference, const Acceptance& canary) {
    input_.recorded = FormatIso8601(RealClock()->WallSeconds());
    input_.host = Hostname();
    input_.tools = fmt::format("hone {}; codegen={}", kVersion, compile::CodegenVersion());
    input_.reference = reference.digest;
    input_.canary = canary.digest;
    // If the library is damaged, no process can report that.
    const Status bad = Prepare(reference, canary);
    if (!bad.ok()) return nightly::MeasureNight(input_, [&](const ProcessKey&) -> Result<ProcessTimes> { return bad; });
    const std::string samples =
        fmt::format("{}/samples/{}/{}.jsonl", series_, options_.job, ReplaceAll(input_.night, ":", ""));
    const std::string key =
        fmt::format("{} {} {} {}", input_.library, input_.reference, input_.canary, input_.fingerprint);
    HONE_ASSIGN_OR_RETURN(nightly::NightSamples store, nightly::NightSamples::Open(samples, key));
    return nightly::MeasureNight(input_, [&](const ProcessKey& key) { return Once(key, &store); });
  }

  Status Prepare(const Acceptance& reference, const Acceptance& canary) {
    HONE_ASSIGN_OR_RETURN(const Target target, Target::Parse(reference.target));
    HONE_ASSIGN_OR_RETURN(input_.fingerprint, Fingerprint(target));
    if (!options_.fake_times.empty()) {
      HONE_ASSIGN_OR_RETURN(fake_, ReadFakeTimes(options_.fake_times));
    }
    HONE_ASSIGN_OR_RETURN(LibraryFolder against, AcceptedLibrary(reference));
    HONE_ASSIGN_OR_RETURN(LibraryFolder library, library::CheckedLibrary(options_.lib));
    HONE_ASSIGN_OR_RETURN(input_.library, nightly::FolderDigest(library.dir, library.name));
    DropCached(library.ParamsPath());  // reading it for the digest would place it on other pages than the reference
    if (library.graph_digest != against.graph_digest) {
      return Status::Invalid(
          "{}: computes another network than the accepted {}; accept it with hone-report accept, if that is meant",
          library.GraphPath(), against.GraphPath());
    }
    folders_ = {{Who::kLibrary, std::move(library)}, {Who::kReference, std::move(against)}};
    if (canary.digest != reference.digest) {
      Result<LibraryFolder> folder = AcceptedLibrary(canary);
      if (folder.ok()) {
        folders_[Who::kCanary] = std::move(*folder);
      } else if (nightly::OfTheArtifact(folder.status())) {
        input_.canary.clear();
        input_.no_canary = folder.status().message();
      } else {
        return folder.status();
      }
    }
    if (fake_) return Status();
    HONE_ASSIGN_OR_RETURN(machine_, session::OpenMachine(target));
    HONE_ASSIGN_OR_RETURN(expected_, ExpectedOutputs(folders_[Who::kLibrary], NightRequest().seed,
                                                     options_.parameter_file, options_.inputs));
    return Status();
  }

  // Identifies the machine or the target's device and the way of measuring, but not the libraries.
  static Result<std::string> Fingerprint(const Target& target) {
    if (target.kind->has_device()) KeepDeviceKernels();
    HONE_ASSIGN_OR_RETURN(const measure::Machine* machine, measure::FindMachine(target));
    HONE_ASSIGN_OR_RETURN(const runtime::DeviceInfo info, measure::DescribeMachine(target));
    HONE_ASSIGN_OR_RETURN(const std::string environment, machine->Environment(info));
    return fmt::format("{}; nightly={}", environment, kNightlyProtocol);
  }

  Result<LibraryFolder> AcceptedLibrary(const Acceptance& acceptance) const {
    HONE_RETURN_IF_ERROR(nightly::CheckAccepted(options_.accepted, options_.job, acceptance));
    return library::CheckedLibrary(nightly::AcceptedDir(options_.accepted, options_.job, acceptance.digest));
  }

  Result<ProcessTimes> Once(const ProcessKey& key, nightly::NightSamples* store) {
    if (Interrupted()) return Status::Interrupted("interrupted; the same command goes on where it stopped");
    HONE_RETURN_IF_ERROR(heartbeat_->Check());
    if (const ProcessTimes* known = store->Find(key)) return *known;
    ShowLiveLine("{}: {}, process {} of {}{}", options_.job, nightly::WhoName(key.who), key.round + 1, input_.processes,
                 key.phase > 0 ? " (repeat)" : "");
    HONE_ASSIGN_OR_RETURN(ProcessTimes times, fake_ ? Invent(key) : Process(key.who));
    HONE_RETURN_IF_ERROR(heartbeat_->Check());
    HONE_RETURN_IF_ERROR(store->Append(key, times));
    return times;
  }

  Result<ProcessTimes> Process(Who who) {
    const LibraryFolder& folder = folders_.at(who);
    library::TimeRequest request = NightRequest();
    request.dir = folder.dir;
    request.pace = folders_.at(Who::kReference).dir;
    request.profiled = kProfiled;
    request.outputs = verified_.insert(who).second;  // once per night is enough
    HONE_ASSIGN_OR_RETURN(const library::TimeReply reply, TimeInProcess(request, &*machine_));
    double error = 0;
    if (request.outputs) {
      HONE_RETURN_IF_ERROR(library::VerifyOutputs(folder.dir, folder.rounding, reply.outputs, expected_, &error));
    }
    ProcessTimes times{reply.samples, reply.pace, {}, reply.lost_seconds};
    for (size_t i = 0; i < reply.layers.size() && i < reply.described.size(); ++i)
      times.layers.push_back({reply.described[i].name, reply.layers[i]});
    return times;
  }

  // Simulated times for tests, with 0.3 % of noise that depends only on the process and the night. A digest without a
  // time stands for an artifact whose process died.
  Result<ProcessTimes> Invent(const ProcessKey& key) const {
    const std::string& digest = key.who == Who::kLibrary     ? input_.library
                                : key.who == Who::kReference ? input_.reference
                                                             : input_.canary;
    const auto found = fake_->find(digest);
    if (found == fake_->end()) return Status::Crashed(digest + ": no time is invented for it");
    const std::string process =
        fmt::format("{} {} {} {}", input_.night, nightly::WhoName(key.who), key.phase, key.round);
    Rng rng(Digest128(process).lo);
    ProcessTimes times;
    const double level = found->second * (1 + 0.003 * rng.Normal());
    for (int64_t i = 0; i < NightRequest().iterations; ++i) times.samples.push_back(level * (1 + 0.001 * rng.Normal()));
    return times;
  }

  const NightlyOptions& options_;
  const std::string series_;  // the folder of the series
  Heartbeat* heartbeat_ = nullptr;
  nightly::NightInput input_;
  std::map<Who, LibraryFolder> folders_;
  std::optional<MachineLock> machine_;
  std::vector<std::vector<double>> expected_;
  std::set<Who> verified_;
  std::optional<std::map<std::string, double>> fake_;
};

}  // namespace

library::TimeRequest NightRequest() { return {.warmup = 5, .iterations = 30, .min_seconds = 1.2, .max_seconds = 10}; }

int RunNightly(const NightlyOptions& options) {
  const Status status = Nightly(options).Run();
  ShowLiveLine("");
  return ExitCodeOf(status);
}

}  // namespace hone::command
