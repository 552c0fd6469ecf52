#include "session/child_builder.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/channel.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "base/text.h"
#include "op/plugin.h"

namespace hone::session {
namespace {

constexpr char kMemoryFolder[] = "/dev/shm";
constexpr char kPrefix[] = "hone-tune.";

// Folders are named hone-tune.PID.XXXXXX; those of processes that are gone were left by a SIGKILL.
void RemoveStale(const std::string& folder) {
  auto names = ListDir(folder);
  if (!names.ok()) return;
  for (const std::string& name : *names) {
    if (!StartsWith(name, kPrefix)) continue;
    const std::vector<std::string> parts = Split(name, '.');
    auto pid = parts.size() == 3 ? ParseInt(parts[1]) : Result<int64_t>(Status::Invalid("no pid"));
    if (!pid.ok() || *pid <= 0) continue;
    if (kill(static_cast<pid_t>(*pid), 0) == 0 || errno != ESRCH) continue;
    (void)RemoveTree(JoinPath(folder, name)).ok();  // somebody else's: it stays
  }
}

}  // namespace

struct ChildBuilder::Batch {
  const std::vector<Config>& configs;
  std::vector<measure::BuildResult> results;
  std::vector<std::string> paths;
  size_t next = 0;
  size_t done = 0;

  void Finish(size_t job, measure::BuildResult result) {
    result.kernel.config = configs[job];
    results[job] = std::move(result);
    ++done;
  }
};

Result<std::unique_ptr<ChildBuilder>> ChildBuilder::Create(const std::string& program, const Workload& workload,
                                                           const Target& target, int jobs, double timeout_seconds) {
  const bool memory = access(kMemoryFolder, W_OK) == 0;
  if (memory) RemoveStale(kMemoryFolder);
  const std::string name = fmt::format("{}{}", kPrefix, getpid());
  HONE_ASSIGN_OR_RETURN(TempDir dir, TempDir::Create(memory ? JoinPath(kMemoryFolder, name) : name));
  std::unique_ptr<ChildBuilder> builder(new ChildBuilder(std::move(dir), timeout_seconds));
  builder->workload_ = workload.Text();
  builder->target_ = target.Text();
  std::vector<std::string> plugins;
  for (const std::string& file : op::LoadedPlugins()) plugins.insert(plugins.end(), {"--plugin", file});
  for (int i = 0; i < std::max(1, jobs); ++i) {
    builder->slots_.push_back({measure::Worker({program, "compile", plugins}), std::nullopt, 0, 0});
  }
  return builder;
}

Status ChildBuilder::Give(Slot* slot, const Batch& batch) {
  const size_t job = *slot->job;
  const std::string message = DumpJson({{"workload", workload_},
                                        {"target", target_},
                                        {"config", batch.configs[job].ToJson()},
                                        {"path", batch.paths[job]}},
                                       -1);
  slot->started = RealClock()->NowSeconds();
  ++slot->attempts;
  if (!slot->worker.started()) HONE_RETURN_IF_ERROR(slot->worker.Start());
  // A failure to send shows as a crash when the answer is waited for.
  (void)slot->worker.Send(message).ok();
  return Status();
}

// The answer, or the end, of a slot's child.
Status ChildBuilder::Collect(Slot* slot, Batch* batch) {
  const size_t job = *slot->job;
  measure::BuildResult result;
  result.error = TrialError::kCompile;
  const double overtime = RealClock()->NowSeconds() - slot->started;
  result.compile_seconds = overtime;
  auto text = slot->worker.Receive(0);
  if (text.ok()) {
    HONE_ASSIGN_OR_RETURN(Json answer, ParseJson(*text, "answer of hone-worker"));
    JsonReader reader(answer, "answer of hone-worker");
    HONE_RETURN_IF_ERROR(reader.Read("ok", &result.ok));
    if (result.ok) {
      JsonReader kernel;
      HONE_RETURN_IF_ERROR(reader.Read("kernel", &kernel));
      HONE_ASSIGN_OR_RETURN(result.kernel, measure::KernelFromJson(kernel.value()));
      result.error = TrialError::kNone;
      result.compile_seconds = result.kernel.compile_seconds;
    } else {
      HONE_RETURN_IF_ERROR(reader.Read("error", &result.error_text));
      HONE_RETURN_IF_ERROR(reader.Read("seconds", &result.compile_seconds));
    }
  } else if (text.status().kind() == StatusKind::kInterrupted) {
    return text.status();
  } else if (text.status().kind() == StatusKind::kTimeout) {
    if (overtime < timeout_seconds_) return Status();  // still at it
    slot->worker.Stop();
    result.error = TrialError::kTimeout;
    result.error_text = fmt::format("not compiled within {:g} s; the compiling child was killed", timeout_seconds_);
  } else {
    const bool outside = slot->worker.killed_from_outside();
    slot->worker.Stop();
    if (outside && slot->attempts < 2) return Give(slot, *batch);
    result.error_text = "the compiling child " + text.status().message();
  }
  slot->job.reset();
  batch->Finish(job, std::move(result));
  return Status();
}

void ChildBuilder::StopAll() {
  for (Slot& slot : slots_) {
    if (slot.job) slot.worker.Stop();
    slot.job.reset();
  }
}

Result<std::vector<measure::BuildResult>> ChildBuilder::Build(const std::vector<Config>& configs) {
  for (const std::string& file : files_) HONE_RETURN_IF_ERROR(Remove(file));
  files_.clear();
  Batch batch{configs, std::vector<measure::BuildResult>(configs.size()), {}};
  for (size_t i = 0; i < configs.size(); ++i) batch.paths.push_back(dir_.Join(fmt::format("k{}.so", serial_++)));
  files_ = batch.paths;
  while (batch.done < configs.size()) {
    std::vector<int> fds;
    double deadline = RealClock()->NowSeconds() + timeout_seconds_;
    for (Slot& slot : slots_) {
      if (!slot.job && batch.next < configs.size()) {
        slot.job = batch.next++;
        slot.attempts = 0;
        const Status given = Give(&slot, batch);
        if (!given.ok()) {
          StopAll();
          return given;
        }
      }
      fds.push_back(slot.job ? slot.worker.fd() : -1);
      if (slot.job) deadline = std::min(deadline, slot.started + timeout_seconds_);
    }
    fds.push_back(InterruptFd());
    WaitReadable(fds, std::max(0.0, deadline - RealClock()->NowSeconds()));
    if (Interrupted()) {
      StopAll();
      return Status::Interrupted("interrupted while compiling");
    }
    for (Slot& slot : slots_) {
      if (!slot.job) continue;
      const Status collected = Collect(&slot, &batch);
      if (!collected.ok()) {
        StopAll();
        return collected;
      }
    }
  }
  return std::move(batch.results);
}

}  // namespace hone::session
