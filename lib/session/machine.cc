#include "session/machine.h"

#include "base/log.h"
#include "measure/machine.h"

namespace hone::session {

constexpr double kMomentSeconds = 2;
constexpr char kHost[] = "cpu";

Result<MachineLock> OpenMachine() { return MachineLock::Open(MachineLock::DefaultPath(kHost)); }

Result<MachineLock> OpenMachine(const Target& target) {
  HONE_ASSIGN_OR_RETURN(const std::string name, MachineName(target));
  return MachineLock::Open(MachineLock::DefaultPath(name));
}

Result<std::string> MachineName(const Target& target) {
  HONE_ASSIGN_OR_RETURN(const measure::Machine* machine, measure::FindMachine(target));
  const auto info = measure::DescribeMachine(target);
  return info.ok() ? info->lock_name : machine->LockWithout(info.status());
}

Status TakeMachine(MachineLock* machine, Use use) {
  const auto lock = [&](double timeout) {
    return use == Use::kShared ? machine->LockShared(timeout) : machine->LockExclusive(timeout);
  };
  const Status quick = lock(kMomentSeconds);
  if (quick.kind() != StatusKind::kTimeout) return quick;
  const std::string holders = machine->Holders();
  ShowLiveLine((use == Use::kShared ? "waiting: something is being timed on this machine"
                                    : "waiting for this machine to be free, to time on it") +
               (holders.empty() ? "" : ": " + holders));
  return lock(-1);
}

Result<Turns> Turns::Open(const Target& target) {
  HONE_ASSIGN_OR_RETURN(const std::string name, MachineName(target));
  HONE_ASSIGN_OR_RETURN(MachineLock host, OpenMachine());
  if (name == kHost) return Turns(std::move(host));
  HONE_ASSIGN_OR_RETURN(MachineLock device, MachineLock::Open(MachineLock::DefaultPath(name)));
  return Turns(std::move(host), std::move(device));
}

void Turns::Unlock() {
  host_.Unlock();
  if (device_) device_->Unlock();
}

Status TakeTurn(Turns* turns, Use use) {
  if (use == Use::kExclusive) turns->Computed();
  return TakeMachine(turns->LockOf(use), use);
}

std::string Fingerprint(const std::string& environment, const std::string& compiler, int codegen_version,
                        int protocol_version) {
  return fmt::format("{}{}{}; codegen={}; protocol={}", environment, compiler.empty() ? "" : "; compiler=", compiler,
                     codegen_version, protocol_version);
}

Result<std::string> HostFingerprint(int codegen_version, int protocol_version) {
  HONE_ASSIGN_OR_RETURN(const std::string environment, measure::HostEnvironment());
  return Fingerprint(environment, "", codegen_version, protocol_version);
}

}  // namespace hone::session
