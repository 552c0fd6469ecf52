#include "measure/machine.h"

#include "base/cpu.h"
#include "base/sandbox.h"
#include "measure/runner.h"
#include "target/architecture.h"

namespace hone::measure {
namespace {

class HostMachine final : public Machine {
 public:
  const TargetKind& kind() const override { return CpuKind(); }

  Result<runtime::DeviceInfo> Describe() const override {
    runtime::DeviceInfo info;
    HONE_ASSIGN_OR_RETURN(const CpuInfo cpu, DetectCpu());
    info.name = cpu.model;
    info.driver = KernelRelease();
    info.lock_name = "cpu";
    return info;
  }
  Status CheckRuns(const Target& target, const runtime::DeviceInfo&) const override { return CheckRunsHere(target); }
  Result<std::string> Environment(const runtime::DeviceInfo&) const override { return HostEnvironment(); }
  Result<std::string> LockWithout(const Status& why) const override { return why; }
  Result<std::unique_ptr<runtime::Device>> Open() const override {
    return Status::Unsupported("no device runs targets of kind `cpu`");
  }

  Result<std::unique_ptr<CandidateRunner>> MakeRunner(const TaskSetup& setup, const Target&) const override {
    SandboxOptions options;
    options.max_memory_bytes = MemoryBytes() / 2;  // others need some
    // The reference and the load meter's files, which are opened below; then kernels.
    options.readable = {setup.reference_path, "/proc/self/task", "/proc/stat"};
    options.readable.insert(options.readable.end(), setup.kernel_folders.begin(), setup.kernel_folders.end());
    EnterSandbox(options);
    HONE_ASSIGN_OR_RETURN(auto runner, Runner::Create(setup));
    LockCalls(options);
    return std::unique_ptr<CandidateRunner>(std::move(runner));
  }
};

}  // namespace

Result<std::string> HostEnvironment() {
  HONE_ASSIGN_OR_RETURN(const CpuInfo cpu, DetectCpu());
  return fmt::format("cpu={}; cores={}; governor={}; kernel={}", cpu.model, cpu.logical_cores, cpu.governor,
                     KernelRelease());
}

const Machine& CpuMachine() {
  static const HostMachine machine;
  return machine;
}

}  // namespace hone::measure
