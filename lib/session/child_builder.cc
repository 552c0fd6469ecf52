#include "session/child_builder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "base/channel.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/fields.h"
#include "base/text.h"
#include "measure/machine.h"
#include "op/plugin.h"
#include "session/compile_worker.h"

namespace hone::session {
namespace {

constexpr char kMemoryFolder[] = "/dev/shm";
constexpr char kPrefix[] = "hone-tune";

}  // namespace

Result<std::unique_ptr<ChildBuilder>> ChildBuilder::Create(const std::string& program, const Workload& workload,
                                                           const Target& target, int jobs, double timeout_seconds) {
  const bool memory = access(kMemoryFolder, W_OK) == 0;
  HONE_ASSIGN_OR_RETURN(TempDir dir, TempDir::Create(memory ? JoinPath(kMemoryFolder, kPrefix) : kPrefix));
  std::unique_ptr<ChildBuilder> builder(new ChildBuilder(std::move(dir), timeout_seconds));
  const CompileSetup setup{workload, target, measure::NewestCode(target)};  // children look for no driver
  builder->setup_ = DumpJson(setup.ToJson(), -1);
  std::vector<std::string> plugins;
  for (const std::string& file : op::LoadedPlugins()) plugins.insert(plugins.end(), {"--plugin", file});
  for (int i = 0; i < std::max(1, jobs); ++i) {
    builder->slots_.push_back({measure::Worker({program, "compile", plugins}), std::nullopt, 0, 0});
  }
  return builder;
}

Status ChildBuilder::Give(Slot* slot) {
  const size_t job = *slot->job;
  const std::string message =
      DumpJson({{"config", batch_.configs[job].ToJson()}, {"path", batch_.paths[job]}}, -1);
  slot->started = RealClock()->NowSeconds();
  ++slot->attempts;
  // A failed send shows as a crash when the answer is awaited.
  if (!slot->worker.started()) {
    HONE_RETURN_IF_ERROR(slot->worker.Start());
    (void)slot->worker.Send(setup_).ok();
  }
  (void)slot->worker.Send(message).ok();
  return Status();
}

// Collects the answer, or the end, of a slot's child.
Status ChildBuilder::Collect(Slot* slot) {
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
      Fields fields(&reader);
      fields.Value("kernel", &result.kernel);
      HONE_RETURN_IF_ERROR(fields.status());
      result.error = TrialError::kNone;
      result.compile_seconds = result.kernel.compile_seconds;
    } else {
      HONE_RETURN_IF_ERROR(reader.Read("error", &result.error_text));
      HONE_RETURN_IF_ERROR(reader.Read("seconds", &result.compile_seconds));
      bool verdict = true;
      HONE_RETURN_IF_ERROR(reader.Read("verdict", &verdict));
      if (!verdict) result.error = TrialError::kDevice;
    }
  } else if (text.status().kind() == StatusKind::kInterrupted) {
    return text.status();
  } else if (text.status().kind() == StatusKind::kTimeout) {
    if (overtime < timeout_seconds_) return Status();  // still running
    slot->worker.Stop();
    result.error = TrialError::kTimeout;
    result.error_text = fmt::format("not compiled within {:g} s; the compiling child was killed", timeout_seconds_);
  } else {
    if (text.status().kind() != StatusKind::kCrashed) result.error = TrialError::kDevice;
    slot->worker.Stop();
    result.error_text = "the compiling child " + text.status().message();
  }
  if (result.error == TrialError::kDevice) {  // retry in a new child
    slot->worker.Stop();
    if (slot->attempts < measure::kMostAttempts) return Give(slot);
  }
  slot->job.reset();
  result.kernel.config = batch_.configs[job];
  batch_.results[job] = std::move(result);
  batch_.finished[job] = true;
  ++batch_.done;
  return Status();
}

Status ChildBuilder::GiveOut() {
  for (Slot& slot : slots_) {
    if (slot.job || batch_.next == batch_.configs.size()) continue;
    slot.job = batch_.next++;
    slot.attempts = 0;
    const Status given = Give(&slot);
    if (!given.ok()) {
      Abandon();
      return given;
    }
  }
  return Status();
}

Status ChildBuilder::CollectAll() {
  for (Slot& slot : slots_) {
    if (!slot.job) continue;
    const Status collected = Collect(&slot);
    if (!collected.ok()) {
      Abandon();
      return collected;
    }
  }
  return Status();
}

Status ChildBuilder::WaitForAny(double seconds) {
  std::vector<int> fds;
  double deadline = RealClock()->NowSeconds() + std::min(seconds, timeout_seconds_);
  for (const Slot& slot : slots_) {
    fds.push_back(slot.job ? slot.worker.fd() : -1);
    if (slot.job) deadline = std::min(deadline, slot.started + timeout_seconds_);
  }
  fds.push_back(InterruptFd());
  WaitReadable(fds, std::max(0.0, deadline - RealClock()->NowSeconds()));
  if (!Interrupted()) return Status();
  Abandon();
  return Status::Interrupted("interrupted while compiling");
}

Result<std::vector<measure::BuildResult>> ChildBuilder::Build(const std::vector<Config>& configs) {
  HONE_RETURN_IF_ERROR(Begin(configs));
  std::vector<measure::BuildResult> results;
  for (size_t i = 0; i < configs.size(); ++i) {
    HONE_ASSIGN_OR_RETURN(measure::BuildResult result, Next());
    results.push_back(std::move(result));
  }
  return results;
}

Status ChildBuilder::Begin(const std::vector<Config>& configs) {
  Abandon();
  for (const std::string& file : files_) HONE_RETURN_IF_ERROR(Remove(file));
  files_.clear();
  batch_.configs = configs;
  batch_.results.resize(configs.size());
  batch_.finished.assign(configs.size(), false);
  for (size_t i = 0; i < configs.size(); ++i) batch_.paths.push_back(dir_.Join(fmt::format("k{}.so", serial_++)));
  files_ = batch_.paths;
  return GiveOut();
}

Result<measure::BuildResult> ChildBuilder::Next() {
  HONE_RETURN_IF_ERROR(Ready(std::numeric_limits<double>::infinity()).status());
  HONE_RETURN_IF_ERROR(GiveOut());
  return std::move(batch_.results[batch_.taken++]);
}

Result<bool> ChildBuilder::Ready(double seconds) {
  HONE_CHECK(batch_.taken < batch_.configs.size());
  const double end = RealClock()->NowSeconds() + seconds;
  while (!batch_.finished[batch_.taken]) {
    HONE_RETURN_IF_ERROR(GiveOut());
    const double left = end - RealClock()->NowSeconds();
    if (left <= 0) return false;
    HONE_RETURN_IF_ERROR(WaitForAny(left));
    HONE_RETURN_IF_ERROR(CollectAll());
  }
  return true;
}

Result<bool> ChildBuilder::Advance() {
  HONE_RETURN_IF_ERROR(CollectAll());
  HONE_RETURN_IF_ERROR(GiveOut());
  return batch_.done == batch_.configs.size();
}

void ChildBuilder::Abandon() {
  for (Slot& slot : slots_) {
    if (slot.job) slot.worker.Stop();
    slot.job.reset();
  }
  batch_ = Batch();
}

}  // namespace hone::session
