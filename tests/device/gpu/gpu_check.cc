// Checks every template and every rule of sketches for GPUs on a real device against the reference:
//   gpu_check --target FILE [--points N] [--seconds N] [--here] [--out FILE.json] [--small | --workload TEXT..]
// FILE is as hone-plan writes it (targets/cuda.json). Checks N points of each of them and workload: all workloads of
// agree/gpu_workloads.h, only the small ones, or the given ones. Prints a line with the verdict for each; exits with 1
// if any candidate was wrong, or if not all workloads were begun within --seconds. Part of run-gpu-checks
// (packaging/cuda). Candidates that tuning would try are compiled and run in children, as there; with --here in this
// process, for tools that watch it (compute-sanitizer).
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>

#include "agree/gpu_workloads.h"
#include "agree/on_device.h"
#include "base/clock.h"
#include "base/cpu.h"
#include "base/json.h"
#include "measure/child_measurer.h"
#include "measure/machine.h"
#include "perf/flags.h"
#include "propose/propose.h"
#include "semantics/semantics.h"
#include "session/child_builder.h"
#include "session/tune_job.h"
#include "unit/op/gpu_case.h"

namespace {

using namespace hone;  // a separate program

struct Count {
  int64_t points = 0, right = 0, untried = 0;
  std::map<std::string, int64_t> failed;  // by error kind
  std::string first;                      // the first failure: workload, config, problem

  bool Wrong() const { return right < points || !failed.empty(); }
  bool Holds() const { return !Wrong() && untried == 0; }
  // Without points, the device lacks something that it needs.
  std::string Verdict(const std::string& lost_by) const {
    if (Wrong()) return "WRONG";
    const char* how_far = points > 0 ? " to the end" : "";
    if (untried > 0) return fmt::format("not tried{}: the device was lost by {}", how_far, lost_by);
    return points == 0 ? "not for this device" : "holds";
  }
};

class Checker {
 public:
  // `seconds`: 0 means no limit.
  Checker(Target target, int points, double seconds, bool here, std::vector<std::string> workloads)
      : target_(std::move(target)), points_(points), seconds_(seconds), here_(here), workloads_(std::move(workloads)) {}

  Status Run() {
    HONE_RETURN_IF_ERROR(measure::DescribeMachine(target_).status());
    HONE_ASSIGN_OR_RETURN(worker_, measure::DefaultWorkerProgram());
    for (const std::string& name : agree::GpuSourceNames()) counts_[name];
    const double until = RealClock()->NowSeconds() + seconds_;
    const auto each = [&](Status (Checker::*check)(const std::string&)) {
      for (const std::string& text : workloads_) {
        if (seconds_ > 0 && RealClock()->NowSeconds() > until) {
          ++not_begun_;
        } else {
          Say(text, (this->*check)(text));
        }
      }
    };
    // One after the other, as some devices serve only one process.
    HONE_ASSIGN_OR_RETURN(device_, measure::OpenDevice(target_));
    each(&Checker::CheckHere);
    device_.reset();
    if (!here_) each(&Checker::CheckTuned);
    return Status();
  }

  // Prints the report and returns the exit code.
  int Report(const std::string& out) const {
    Json rows = Json::array();
    bool all_hold = true;
    int64_t tried = 0;
    for (const auto& [name, c] : counts_) {
      std::string failed;
      for (const auto& [kind, count] : c.failed) failed += fmt::format(", {} {}", count, kind);
      fmt::print("{}: {}: {} of {} right{}{}\n", name, c.Verdict(lost_by_), c.right, c.points, failed,
                 c.first.empty() ? "" : "; " + c.first);
      rows.push_back({{"template", name},
                      {"verdict", c.Verdict(lost_by_)},
                      {"points", c.points},
                      {"right", c.right},
                      {"failed", c.failed},
                      {"first", c.first}});
      all_hold = all_hold && c.Holds();
      tried += c.points > 0;
    }
    fmt::print("{} of {} templates and rules tried, {}{}\n", tried, agree::GpuSourceNames().size(),
               all_hold ? "all right" : "not all right",
               not_begun_ > 0 ? fmt::format("; {} workloads not begun after {:g} s", not_begun_, seconds_) : "");
    if (!out.empty()) {
      const Json json = {{"version", 1}, {"target", target_.Text()}, {"templates", rows}};
      if (const Status status = WriteFileAtomic(out, DumpJson(json)); !status.ok()) {
        fmt::print(stderr, "{}\n", status.message());
        return 1;
      }
    }
    return all_hold && not_begun_ == 0 ? 0 : 1;
  }

 private:
  void Fail(const std::string& name, const std::string& what, const std::string& kind, const std::string& text) {
    Count& count = counts_[name];
    ++count.failed[kind];
    if (count.first.empty()) count.first = what + ": " + text;
  }

  void Say(const std::string& text, const Status& status) {
    fmt::print(stderr, "{}\n", text);
    if (status.ok()) return;
    Fail(text, text, "refused", status.message());
    fmt::print(stderr, "  {}\n", status.message());
  }

  // Untuned kernels are in every library, so they run in this process; with `here_`, so do all others. A kernel that
  // loses the device is wrong, and later ones cannot be tried here.
  Status CheckHere(const std::string& text) {
    HONE_ASSIGN_OR_RETURN(const Workload workload, op::ParseChecked(text));
    HONE_ASSIGN_OR_RETURN(const propose::Proposers proposers, propose::AllProposers(workload, target_));
    const auto tuned = [&](const std::string& name) {
      return std::ranges::any_of(proposers, [&](const auto& p) { return p.name() == name && p.tuned(); });
    };
    Rng rng(1);
    for (const agree::GpuSource& source : agree::GpuSourcesOf(workload, target_)) {
      if (!here_ && tuned(source.name)) continue;
      Count& count = counts_[source.name];
      for (int i = 0; i < points_; ++i) {
        if (!lost_by_.empty()) {
          ++count.untried;
          continue;
        }
        Result<Config> config = source.preferred();
        if (i > 0 || (!config.ok() && tuned(source.name))) {
          const auto index = source.space.SampleLegal(rng);
          if (!index && !config.ok()) break;  // the device lacks something that it needs
          if (index) config = source.space.At(*index);
        }
        HONE_RETURN_IF_ERROR(config.status());
        HONE_ASSIGN_OR_RETURN(const Candidate candidate, source.candidate(*config));
        ++count.points;
        const Status status = RunHere(workload, candidate);
        if (device_->lost()) lost_by_ = source.name;
        if (status.ok()) {
          ++count.right;
        } else {
          const bool wrong = status.kind() == StatusKind::kCorrupt;
          Fail(source.name, fmt::format("{} {}", text, config->Text()), wrong ? "wrong" : "run", status.message());
        }
      }
    }
    return Status();
  }

  // kCorrupt means that it ran, but its output is wrong.
  Status RunHere(const Workload& workload, const Candidate& candidate) {
    compile::CompileOptions options;
    options.newest_cuda = measure::NewestCode(target_);
    HONE_ASSIGN_OR_RETURN(const compile::CompiledKernel kernel,
                          compile::CompileKernel(workload, target_, candidate, options));
    Artifact artifact{kernel.format, kernel.object, {kernel.kernel}};
    if (kernel.has_prepare) artifact.entries.push_back(kernel.prepare);
    HONE_ASSIGN_OR_RETURN(const auto module, device_->Load(artifact));
    std::vector<std::vector<float>> operands = testing::MakeGpuOperands(workload, target_, 1);
    HONE_RETURN_IF_ERROR(agree::RunOnDevice(device_.get(), module.get(), kernel, options.symbol, &operands));
    const std::string differs = testing::DiffersFromReference(workload, target_, operands);
    return differs.empty() ? Status() : Status::Corrupt(differs);
  }

  // Points that tuning would try are compiled and run in children.
  Status CheckTuned(const std::string& text) {
    HONE_ASSIGN_OR_RETURN(const Workload workload, op::ParseChecked(text));
    HONE_ASSIGN_OR_RETURN(const propose::Proposers proposers, propose::AllProposers(workload, target_));
    std::map<std::string, std::vector<Config>> configs;
    Rng rng(1);
    for (const propose::Proposer& p : proposers) {
      HONE_ASSIGN_OR_RETURN(const search::Space space, p.MakeSpace());
      for (int i = 0; i < points_ && p.tuned(); ++i) {
        if (const auto index = space.SampleLegal(rng)) configs[p.name()].push_back(space.At(*index));
      }
    }
    if (configs.empty()) return Status();
    HONE_ASSIGN_OR_RETURN(TempDir dir, TempDir::Create("hone-gpu-check"));
    measure::TaskSetup setup;
    setup.flop = semantics::Flop(workload);
    HONE_RETURN_IF_ERROR(measure::NameDevice(target_, &setup));
    setup.protocol.candidate_seconds = 0.01;  // only the values matter
    setup.protocol.timeout_seconds = 120;     // includes compiling by an OpenCL driver
    HONE_RETURN_IF_ERROR(session::EnsureReference(workload, target_, dir.Join("reference"), &setup).status());
    measure::ChildMeasurer measurer(worker_, setup);
    HONE_ASSIGN_OR_RETURN(
        auto builder, session::ChildBuilder::Create(worker_, workload, target_, static_cast<int>(UsableCpus().size())));
    for (const auto& [name, points] : configs) {
      HONE_ASSIGN_OR_RETURN(const auto built, builder->Build(points));
      for (const measure::BuildResult& result : built) {
        Count& count = counts_[name];
        ++count.points;
        const std::string what = fmt::format("{} {}", text, result.kernel.config.Text());
        if (!result.ok) {
          Fail(name, what, "compile", result.error_text);
          continue;
        }
        HONE_ASSIGN_OR_RETURN(const Outcome outcome, measurer.Measure(result.kernel, 0));
        if (outcome.error == TrialError::kNone) {
          ++count.right;
        } else {
          Fail(name, what, std::string(TrialErrorName(outcome.error)), outcome.error_text);
        }
      }
    }
    return Status();
  }

  Target target_;
  int points_;
  double seconds_;
  bool here_;
  int64_t not_begun_ = 0;  // workloads, of each of the two rounds
  std::vector<std::string> workloads_;
  std::string worker_;
  std::unique_ptr<runtime::Device> device_;
  std::string lost_by_;  // the one that lost the device in this process
  std::map<std::string, Count> counts_;
};

}  // namespace

int main(int argc, char** argv) {
  hone::perf::Flags flags(
      "gpu_check --target FILE.json [--points N] [--seconds N] [--here] [--out FILE.json] [--small | --workload "
      "TEXT..]",
      argc, argv);
  const auto target = hone::ReadTargetFile(flags.Text("--target"));
  const int points = static_cast<int>(flags.Number("--points", 3));
  const std::string out = flags.Text("--out");
  const double seconds = flags.Real("--seconds", 0);
  const bool here = flags.Has("--here"), small = flags.Has("--small");
  std::vector<std::string> workloads = flags.All("--workload");
  if (workloads.empty()) {
    if (!small) workloads = hone::agree::LargeGpuWorkloads();
    for (std::string& text : hone::agree::SmallGpuWorkloads()) workloads.push_back(std::move(text));
  }
  if (!target.ok()) flags.Misused("--target: " + target.status().message());
  flags.Words();
  Checker checker(*target, points, seconds, here, std::move(workloads));
  if (const hone::Status status = checker.Run(); !status.ok()) {
    fmt::print(stderr, "gpu_check: error: {}\n", status.message());
    return 1;
  }
  return checker.Report(out);
}
