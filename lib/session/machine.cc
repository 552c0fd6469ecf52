#include "session/machine.h"

#include "base/log.h"
#include "measure/open_device.h"

namespace hone::session {
namespace {

constexpr double kMomentSeconds = 2;
constexpr char kHost[] = "cpu";

Status Lock(MachineLock* machine, Use use, double timeout_seconds) {
  return use == Use::kShared ? machine->LockShared(timeout_seconds) : machine->LockExclusive(timeout_seconds);
}

}  // namespace

Result<MachineLock> OpenMachine() { return MachineLock::Open(MachineLock::DefaultPath(kHost)); }

Result<MachineLock> OpenMachine(const Target& target) {
  HONE_ASSIGN_OR_RETURN(const std::string name, MachineName(target));
  return MachineLock::Open(MachineLock::DefaultPath(name));
}

Result<std::string> MachineName(const Target& target) {
  if (!target.IsGpu()) return std::string(kHost);
  const auto device = measure::DescribeDevice(target);
  if (device.ok()) return device->lock_name;
  const bool cuda = target.kind == TargetKind::kCuda;
  const StatusKind kind = device.status().kind();
  // Whoever has no device finds out where he opens it. One that only does not answer now has a lock of its own, which
  // others hold: to take another would be to time beside them.
  if (cuda && kind != StatusKind::kNotFound && kind != StatusKind::kUnsupported) return device.status();
  return std::string(cuda ? "cuda" : kHost);
}

Status TakeMachine(MachineLock* machine, Use use) {
  const Status quick = Lock(machine, use, kMomentSeconds);
  if (quick.kind() != StatusKind::kTimeout) return quick;
  const std::string holders = machine->Holders();
  ShowLiveLine((use == Use::kShared ? "waiting: something is being timed on this machine"
                                    : "waiting for this machine to be free, to time on it") +
               (holders.empty() ? "" : ": " + holders));
  return Lock(machine, use, -1);
}

}  // namespace hone::session
