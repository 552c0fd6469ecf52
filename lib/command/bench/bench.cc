#include "command/bench/bench.h"

#include <algorithm>
#include <cmath>
#include <iostream>
#include <iterator>
#include <map>

#include "base/clock.h"
#include "base/counted.h"
#include "base/cpu.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/statistics.h"
#include "command/bench/bench_table.h"
#include "command/bench/library_process.h"
#include "command/common/tool.h"
#include "compile/compile.h"
#include "library/loaded_network.h"
#include "library/reference.h"
#include "library/time_network.h"
#include "measure/machine.h"
#include "measure/protocol.h"
#include "pipeline/best_file.h"
#include "pipeline/settings.h"
#include "report/bench_file.h"
#include "report/speedup.h"
#include "session/machine.h"
#include "target/architecture.h"

namespace hone::command {
namespace {

using library::LibraryFolder;
using library::TimeReply;
using library::TimeRequest;

constexpr double kPeakSeconds = 0.1;
constexpr double kPatienceSeconds = 2;  // per process, for repeating disturbed runs
constexpr double kTurnsSeconds = 4;     // per process, for timing both libraries in turns
// If a job asks for at least kUsualProcesses, the benchmark adds processes for up to kMoreSeconds while the comparison
// is open.
constexpr int64_t kUsualProcesses = 5;
constexpr double kMoreSeconds = 60;

class Bench {
 public:
  explicit Bench(const BenchOptions& options) : options_(options) {}

  Status Run() {
    if (!options_.settings.empty()) {
      HONE_ASSIGN_OR_RETURN(settings_, pipeline::ReadBenchSettings(options_.settings));
    }
    HONE_RETURN_IF_ERROR(CheckRegular(options_.out).WithContext("--out"));  // not after minutes of measuring
    HONE_RETURN_IF_ERROR(Add(report::BenchRole::kTuned, options_.lib));
    if (!options_.baseline.empty()) HONE_RETURN_IF_ERROR(Add(report::BenchRole::kUntuned, options_.baseline));
    HONE_ASSIGN_OR_RETURN(target_, Target::Parse(subjects_[0].folder.target));
    HONE_RETURN_IF_ERROR(ReadBest(subjects_[0].folder));
    if (target_.kind->has_device()) KeepDeviceKernels();
    HONE_ASSIGN_OR_RETURN(machine_info_, measure::DescribeMachine(target_));
    HONE_ASSIGN_OR_RETURN(const measure::Machine* host, measure::FindMachine(target_));
    HONE_ASSIGN_OR_RETURN(const std::string environment, host->Environment(machine_info_));
    bench_.fingerprint = session::Fingerprint(environment, "", compile::CodegenVersion(), measure::kProtocolVersion);
    HONE_ASSIGN_OR_RETURN(bench_.inputs, Inputs());
    if (!options_.again && Stays()) {  // leaves the file alone: then Ninja does not make the report again (restat)
      LogInfo("{}: nothing changed since {}: its samples stay; --again measures again", options_.out, bench_.recorded);
      return WriteOut(BenchTable(bench_));
    }
    HONE_ASSIGN_OR_RETURN(MachineLock machine, session::OpenMachine(target_));
    machine_ = &machine;
    // Takes seconds the first time, so it runs before the timing.
    HONE_ASSIGN_OR_RETURN(
        expected_, ExpectedOutputs(subjects_[0].folder, settings_.seed, options_.parameter_file, options_.inputs));
    HONE_RETURN_IF_ERROR(Time());
    machine.Unlock();
    HONE_RETURN_IF_ERROR(Summarise());
    const std::string table = BenchTable(bench_);
    if (!options_.out.empty()) {
      HONE_RETURN_IF_ERROR(MakeDirs(DirName(options_.out)));
      HONE_RETURN_IF_ERROR(WriteFileAtomic(options_.out, report::BenchFileText(bench_)));
    }
    ShowLiveLine("");
    if (!wrong_.ok()) return wrong_;  // no table: times of wrong kernels mean nothing
    HONE_RETURN_IF_ERROR(WriteOut(table));
    if (retaken_ > 0) LogInfo(Counted(retaken_, "run") + " repeated because other programs used the machine");
    return Status();
  }

 private:
  struct Subject {
    report::BenchRole role;
    LibraryFolder folder;
    std::vector<TimeReply> replies;
    double error = 0;
  };

  Status Add(report::BenchRole role, const std::string& dir) {
    HONE_ASSIGN_OR_RETURN(LibraryFolder folder, library::CheckedLibrary(dir));
    HONE_ASSIGN_OR_RETURN(const Target target, Target::Parse(folder.target));
    HONE_RETURN_IF_ERROR(CheckRunsHere(target).WithContext(dir));
    if (!subjects_.empty() && folder.graph_digest != subjects_[0].folder.graph_digest) {
      return Status::Invalid("{} and {} are libraries of different graphs", options_.lib, options_.baseline);
    }
    subjects_.push_back({role, std::move(folder), {}, 0});
    return Status();
  }

  // A digest of what is measured, how and where.
  Result<std::string> Inputs() const {
    Hasher hasher;
    hasher.AddField(BenchAbi());
    hasher.AddField(bench_.fingerprint);
    hasher.AddField(pipeline::BenchSettingsText(settings_));
    for (const Subject& subject : subjects_) {
      hasher.AddField(subject.folder.dir);
      // It has the digests of the other files, and what the result says about each layer.
      HONE_ASSIGN_OR_RETURN(const std::string manifest, ReadFile(JoinPath(subject.folder.dir, "manifest.json")));
      hasher.AddField(manifest);
    }
    for (const std::string& path : {options_.best, options_.parameter_file}) {
      if (path.empty()) continue;
      HONE_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
      hasher.AddField(bytes);
    }
    for (const std::string& input : options_.inputs) hasher.AddField(input);
    return hasher.Finish().Hex();
  }

  // Whether options.out already has the result. Results from a busy machine are measured again.
  bool Stays() {
    if (options_.out.empty() || !Exists(options_.out)) return false;
    Result<report::BenchFile> file = report::ReadBenchFile(options_.out);
    if (!file.ok() || file->inputs != bench_.inputs || !file->verification.ok) return false;
    const report::BenchLibrary* baseline = file->Find(report::BenchRole::kUntuned);
    const report::BenchLibrary* tuned = file->Find(report::BenchRole::kTuned);
    if (baseline && report::CompareLibraries(*tuned, *baseline).verdict == report::Speedup::Verdict::kBusy)
      return false;
    bench_ = *std::move(file);
    return true;
  }

  Status RunChild(Subject* subject) {
    const int64_t planned = settings_.processes * static_cast<int64_t>(subjects_.size());
    int64_t number = 0;
    for (const Subject& each : subjects_) number += static_cast<int64_t>(each.replies.size());
    ShowLiveLine("{}: process {}{}", subject->folder.network, number + 1,
                 number < planned ? fmt::format(" of {}", planned) : ", until the difference is clear");
    TimeRequest request{.dir = subject->folder.dir,
                        .seed = settings_.seed,
                        .warmup = settings_.warmup,
                        .iterations = settings_.iterations,
                        .profiled = std::clamp<int64_t>(settings_.iterations / 2, 3, 25)};
    const bool host = !target_.kind->has_device();
    if (host) request.patience_seconds = kPatienceSeconds;
    if (host && subjects_.size() > 1) {  // on a device a start takes too long to load both
      request.pace = subjects_[subject == &subjects_[0] ? 1 : 0].folder.dir;
      request.max_seconds = kTurnsSeconds;
    }
    request.outputs = true;
    request.peak_seconds = host ? kPeakSeconds : 0;
    HONE_ASSIGN_OR_RETURN(TimeReply reply, TimeInProcess(request, machine_));
    double error = 0;
    const Status verified =
        library::VerifyOutputs(subject->folder.dir, subject->folder.rounding, reply.outputs, expected_, &error);
    subject->error = std::max(subject->error, error);
    if (verified.kind() == StatusKind::kCorrupt && wrong_.ok()) wrong_ = verified;
    if (!verified.ok() && verified.kind() != StatusKind::kCorrupt) return verified;
    reply.outputs.clear();
    retaken_ += reply.retaken;
    subject->replies.push_back(std::move(reply));
    return Status();
  }

  // In the order A B B A, so that a drift of the machine affects both equally.
  Status Time() {
    HONE_RETURN_IF_ERROR(RunRounds(settings_.processes, INFINITY));
    if (subjects_.size() < 2 || settings_.processes < kUsualProcesses) return Status();
    const double until = RealClock()->NowSeconds() + kMoreSeconds;
    while (wrong_.ok() && RealClock()->NowSeconds() < until) {
      const int64_t next =
          static_cast<int64_t>(report::NextProcesses(LibraryOf(subjects_[0]), LibraryOf(subjects_[1])));
      if (next <= rounds_) break;
      HONE_RETURN_IF_ERROR(RunRounds(next, until));
    }
    return Status();
  }

  // Until there are `processes` of each library, or that time has come.
  Status RunRounds(int64_t processes, double until) {
    for (; rounds_ < processes && RealClock()->NowSeconds() < until; ++rounds_) {
      for (size_t i = 0; i < subjects_.size(); ++i) {
        const size_t at = rounds_ % 2 == 0 ? i : subjects_.size() - 1 - i;
        HONE_RETURN_IF_ERROR(RunChild(&subjects_[at]));
      }
    }
    return Status();
  }

  report::BenchLibrary LibraryOf(const Subject& subject) const {
    std::map<std::string, const LibraryFolder::Kernel*> kernels;
    for (const LibraryFolder::Kernel& kernel : subject.folder.kernels) kernels[kernel.workload] = &kernel;
    report::BenchLibrary out{.role = subject.role,
                             .dir = subject.folder.dir,
                             .name = subject.folder.name,
                             .digest = subject.folder.library_digest};
    std::vector<double> starts, resident;
    for (const TimeReply& reply : subject.replies) {
      out.processes.push_back(reply.samples);
      if (!reply.pace.empty()) out.pace.push_back(reply.pace);
      if (!reply.copies.empty()) out.copies.push_back(reply.copies);
      starts.push_back(reply.start_seconds);
      resident.push_back(static_cast<double>(reply.resident_bytes));
    }
    out.start_seconds = Median(starts);
    out.resident_bytes = std::llround(Median(resident));
    const TimeReply& first = subject.replies[0];
    for (size_t i = 0; i < first.described.size(); ++i) {
      std::vector<double> medians;
      for (const TimeReply& reply : subject.replies) medians.push_back(reply.layers[i]);
      auto kernel = kernels.find(first.described[i].workload);
      const bool known = kernel != kernels.end();
      const std::string source = known ? kernel->second->source : "fixed";
      out.layers.push_back({first.described[i].name, first.described[i].workload,
                            known && source != "fixed" ? kernel->second->task : "", source, Median(medians),
                            std::llround(first.described[i].flop)});
    }
    return out;
  }

  // Call it before timing.
  Status ReadBest(const LibraryFolder& folder) {
    if (options_.best.empty()) return Status();
    HONE_ASSIGN_OR_RETURN(best_, pipeline::ReadBestFile(options_.best));
    if (best_.network != folder.network || best_.target != folder.target) {
      return Status::Invalid("{}: it is about {} on `{}`, but the library {} about {} on `{}`", options_.best,
                             best_.network, best_.target, folder.dir, folder.network, folder.target);
    }
    return pipeline::CheckTaskIds(best_).WithContext(options_.best);
  }

  // The recorded time of each workload that the library uses, from the file with the figures of tuning.
  std::map<std::string, double> RecordedSeconds(const LibraryFolder& folder) const {
    std::map<std::string, double> seconds;
    for (const LibraryFolder::Kernel& kernel : folder.kernels) {
      const pipeline::BestEntry* entry = best_.Find(kernel.task);
      if (entry && kernel.source != "default") seconds[kernel.workload] = entry->median;
    }
    return seconds;
  }

  Status Summarise() {
    const Subject& tuned = subjects_[0];
    bench_.network = tuned.folder.network;
    bench_.target = tuned.folder.target;
    bench_.batch = tuned.folder.batch;
    bench_.layout = tuned.folder.layout;
    bench_.threads = tuned.replies[0].threads;
    bench_.host = Hostname();
    bench_.cpu = machine_info_.name;
    bench_.recorded = FormatIso8601(RealClock()->WallSeconds());
    std::vector<double> peaks, of_bytes;
    for (const Subject& subject : subjects_) {
      for (const TimeReply& reply : subject.replies) {
        peaks.push_back(reply.peak_flops), of_bytes.push_back(reply.peak_bytes);
      }
    }
    bench_.peak_flops = target_.kind->has_device() ? machine_info_.peak_flops : Median(peaks);
    bench_.peak_bytes = Median(of_bytes);
    double error = 0, tolerance = 0;
    for (const Subject& subject : subjects_) {
      error = std::max(error, subject.error);
      tolerance = std::max(tolerance, library::OutputTolerance(subject.folder.rounding));
    }
    bench_.verification = {error, tolerance, wrong_.ok()};
    for (const Subject& subject : subjects_) bench_.libraries.push_back(LibraryOf(subject));

    const std::map<std::string, double> recorded = RecordedSeconds(tuned.folder);
    report::KernelSum& sum = bench_.kernels;
    for (const report::BenchLayer& layer : bench_.libraries[0].layers) {
      auto found = recorded.find(layer.workload);
      if (found == recorded.end() || found->second <= 0) continue;
      sum.recorded_seconds += found->second;
      sum.layer_seconds += layer.seconds;
    }
    const double rest = bench_.libraries[0].LayerSeconds() - sum.layer_seconds;
    bench_.kernel_sum_seconds = sum.recorded_seconds > 0 ? sum.recorded_seconds + rest : 0;
    return Status();
  }

  const BenchOptions& options_;
  pipeline::BenchSettings settings_;
  Target target_;
  pipeline::BestFile best_;  // with the figures of tuning; empty if unknown
  runtime::DeviceInfo machine_info_;
  std::vector<Subject> subjects_;
  std::vector<std::vector<double>> expected_;
  MachineLock* machine_ = nullptr;
  int64_t rounds_ = 0;   // processes of each library so far
  int64_t retaken_ = 0;  // repeated runs, as others disturbed them
  report::BenchFile bench_;
  Status wrong_;  // the first wrong output
};

}  // namespace

std::string BenchAbi() { return fmt::format("bench 5\nlibrary {}", HONE_NET_ABI_VERSION); }

int RunBench(const BenchOptions& options) {
  const Status status = Bench(options).Run();
  ShowLiveLine("");
  return ExitCodeOf(status);
}

int RunBenchChild() {
  const std::string text((std::istreambuf_iterator<char>(std::cin)), std::istreambuf_iterator<char>());
  auto request = library::ParseRequest(text);
  if (!request.ok()) return ExitCodeOf(request.status());
  auto reply = library::TimeNetwork(*request);
  if (!reply.ok()) return ExitCodeOf(reply.status());
  return ExitCodeOf(WriteOut(library::ReplyText(*reply)));
}

}  // namespace hone::command
