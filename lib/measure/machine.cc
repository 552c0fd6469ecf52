#include "measure/machine.h"

#include "base/sandbox.h"
#include "measure/device_runner.h"
#include "target/backend_table.h"

namespace hone::measure {

static BackendTable<Machine>& MachineTable() {
#define HONE_BACKEND(folder, Name) &Name##Machine(),
  static BackendTable<Machine> table("device", {
#include "target/backends.def"
                                               });
#undef HONE_BACKEND
  return table;
}

Result<std::string> Machine::Environment(const runtime::DeviceInfo& info) const {
  std::string text = fmt::format("{}={}; id={}; driver={}", kind().name(), info.name, info.identity, info.driver);
  if (!info.release.empty()) text += "; release=" + info.release;
  if (info.power_watts > 0) text += fmt::format("; power={} W", info.power_watts);
  return text;
}

Result<std::unique_ptr<CandidateRunner>> Machine::MakeRunner(const TaskSetup& setup, const Target& target) const {
  // The parent has already asked the driver about the device, so everything that needs more rights is loaded by now.
  const SandboxOptions options = DeviceSandbox();
  EnterSandbox(options);
  current_phase = "opening the device";
  HONE_ASSIGN_OR_RETURN(auto device, OpenDevice(target));
  HONE_ASSIGN_OR_RETURN(const std::string found, Environment(device->info()));
  if (!setup.device.empty() && !SameMachine(found, setup.device)) {
    return Status::Io("a child finds another device ({}) than the process that started it ({})", found, setup.device);
  }
  HONE_ASSIGN_OR_RETURN(auto runner, DeviceRunner::Create(setup, std::move(device)));
  LockCalls(options);
  return std::unique_ptr<CandidateRunner>(std::move(runner));
}

const std::vector<const Machine*>& Machines() { return MachineTable().parts(); }

void AddMachine(const Machine* machine) { MachineTable().Add(machine); }

Result<const Machine*> FindMachine(const Target& target) { return MachineTable().Find(target); }

Result<runtime::DeviceInfo> DescribeMachine(const Target& target) {
  HONE_ASSIGN_OR_RETURN(const Machine* machine, FindMachine(target));
  HONE_ASSIGN_OR_RETURN(runtime::DeviceInfo info, machine->Describe());
  HONE_RETURN_IF_ERROR(machine->CheckRuns(target, info));
  return info;
}

Result<std::unique_ptr<runtime::Device>> OpenDevice(const Target& target) {
  HONE_ASSIGN_OR_RETURN(const Machine* machine, FindMachine(target));
  HONE_RETURN_IF_ERROR(DescribeMachine(target).status());
  return machine->Open();
}

Status NameDevice(const Target& target, TaskSetup* setup) {
  HONE_ASSIGN_OR_RETURN(const Machine* machine, FindMachine(target));
  HONE_ASSIGN_OR_RETURN(const runtime::DeviceInfo info, DescribeMachine(target));
  setup->target = target.Text();
  HONE_ASSIGN_OR_RETURN(setup->device, machine->Environment(info));
  return Status();
}

int NewestCode(const Target& target) {
  const auto machine = FindMachine(target);
  return machine.ok() ? (*machine)->NewestCode() : 0;
}

}  // namespace hone::measure
