#include "session/child_builder.h"

#include <unistd.h>

#include <algorithm>
#include <limits>

#include "base/channel.h"
#include "base/check.h"
#include "base/clock.h"
#include "base/fields.h"
#include "base/interrupt.h"
#include "measure/machine.h"
#include "plugin/plugin.h"

namespace hone::session {
namespace {

constexpr char kMemoryFolder[] = "/dev/shm";
constexpr char kPrefix[] = "hone-tune";
constexpr int64_t kMostKeptBytes = int64_t{8} << 20;  // hundreds of kernels; /dev/shm of a container is often small

}  // namespace

Result<std::unique_ptr<ChildBuilder>> ChildBuilder::Create(const std::string& program, const Workload& workload,
                                                           const Target& target, int jobs,
                                                           const std::vector<pipeline::SketchFile>& sketches,
                                                           double timeout_seconds) {
  const bool memory = access(kMemoryFolder, W_OK) == 0;
  HONE_ASSIGN_OR_RETURN(TempDir dir, TempDir::Create(memory ? JoinPath(kMemoryFolder, kPrefix) : kPrefix));
  std::unique_ptr<ChildBuilder> builder(new ChildBuilder(std::move(dir), timeout_seconds));
  // Children look for no driver.
  builder->setup_ = FieldsText(CompileSetup{workload, target, measure::NewestCode(target), sketches}, -1);
  std::vector<std::string> plugins;
  for (const std::string& file : plugin::LoadedFiles()) plugins.insert(plugins.end(), {"--plugin", file});
  for (int i = 0; i < std::max(1, jobs); ++i) {
    builder->slots_.push_back({measure::Worker({program, "compile", plugins}), std::nullopt, 0, 0});
  }
  return builder;
}

Status ChildBuilder::Give(Slot* slot) {
  slot->started = RealClock()->NowSeconds();
  ++slot->attempts;
  slot->sent = Status();
  if (!slot->worker.started()) {
    HONE_RETURN_IF_ERROR(slot->worker.Start());
    slot->sent = slot->worker.Send(setup_);
  }
  if (slot->sent.ok()) slot->sent = slot->worker.Send(FieldsText(batch_.jobs[*slot->job].request, -1));
  return Status();
}

// Collects the answer, or the end, of a slot's child.
Status ChildBuilder::Collect(Slot* slot) {
  measure::BuildResult result{.error = TrialError::kCompile};
  const double overtime = RealClock()->NowSeconds() - slot->started;
  result.compile_seconds = overtime;
  auto text = slot->sent.ok() ? slot->worker.Receive(0) : slot->sent;
  if (text.ok()) {
    HONE_ASSIGN_OR_RETURN(result, ParseFields<measure::BuildResult>(*text, "answer of hone-worker"));
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
  Job& job = batch_.jobs[*slot->job];
  slot->job.reset();
  result.kernel.config = job.request.config;
  if (result.ok) Keep(result);
  job.result = std::move(result);
  ++batch_.done;
  return Status();
}

void ChildBuilder::Keep(const measure::BuildResult& result) {
  const auto bytes = FileSize(result.kernel.path);
  const Digest digest = result.kernel.config.ValueDigest();
  if (!bytes.ok() || !kept_.emplace(digest, result).second) return;
  kept_order_.push_back(digest);
  kept_bytes_ += *bytes;
  std::erase(files_, result.kernel.path);
}

Status ChildBuilder::Tidy() {
  for (const std::string& file : files_) HONE_RETURN_IF_ERROR(Remove(file));
  files_.clear();
  while (kept_bytes_ > kMostKeptBytes) {
    const auto oldest = kept_.find(kept_order_.front());
    const std::string& file = oldest->second.kernel.path;
    HONE_ASSIGN_OR_RETURN(const int64_t bytes, FileSize(file));
    HONE_RETURN_IF_ERROR(Remove(file));
    kept_bytes_ -= bytes;
    kept_.erase(oldest);
    kept_order_.pop_front();
  }
  return Status();
}

Status ChildBuilder::OrAbandon(Status status) {
  if (!status.ok()) Abandon();
  return status;
}

Status ChildBuilder::GiveOut() {
  for (Slot& slot : slots_) {
    while (batch_.next < batch_.jobs.size() && batch_.jobs[batch_.next].result) ++batch_.next;
    if (slot.job || batch_.next == batch_.jobs.size()) continue;
    slot.job = batch_.next++;
    slot.attempts = 0;
    HONE_RETURN_IF_ERROR(OrAbandon(Give(&slot)));
  }
  return Status();
}

Status ChildBuilder::CollectAll() {
  for (Slot& slot : slots_) {
    if (slot.job) HONE_RETURN_IF_ERROR(OrAbandon(Collect(&slot)));
  }
  return Status();
}

Status ChildBuilder::WaitForAny(double seconds) {
  std::vector<int> fds;
  double deadline = RealClock()->NowSeconds() + std::min(seconds, timeout_seconds_);
  for (const Slot& slot : slots_) {
    fds.push_back(slot.job ? slot.worker.fd() : -1);
    if (slot.job) deadline = std::min(deadline, slot.sent.ok() ? slot.started + timeout_seconds_ : 0);
  }
  fds.push_back(InterruptFd());
  WaitReadable(fds, std::max(0.0, deadline - RealClock()->NowSeconds()));
  return Interrupted() ? OrAbandon(Status::Interrupted("interrupted while compiling")) : Status();
}

Status ChildBuilder::Begin(const std::vector<Config>& configs) {
  Abandon();
  HONE_RETURN_IF_ERROR(Tidy());
  for (const Config& config : configs) {
    const auto kept = kept_.find(config.ValueDigest());
    if (kept != kept_.end()) {
      batch_.jobs.push_back({{config, kept->second.kernel.path}, kept->second});
      batch_.jobs.back().result->kernel.config = config;
      ++batch_.done;
      continue;
    }
    files_.push_back(dir_.Join(fmt::format("k{}.so", serial_++)));
    batch_.jobs.push_back({{config, files_.back()}, std::nullopt});
  }
  return GiveOut();
}

Result<measure::BuildResult> ChildBuilder::Next() {
  HONE_RETURN_IF_ERROR(Ready(std::numeric_limits<double>::infinity()).status());
  HONE_RETURN_IF_ERROR(GiveOut());
  return std::move(*batch_.jobs[batch_.taken++].result);
}

Result<bool> ChildBuilder::Ready(double seconds) {
  HONE_CHECK(batch_.taken < batch_.jobs.size());
  const double end = RealClock()->NowSeconds() + seconds;
  while (!batch_.jobs[batch_.taken].result) {
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
  return batch_.done == batch_.jobs.size();
}

void ChildBuilder::Abandon() {
  for (Slot& slot : slots_) {
    if (slot.job) slot.worker.Stop();
    slot.job.reset();
  }
  batch_ = Batch();
}

}  // namespace hone::session
