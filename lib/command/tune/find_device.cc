#include <algorithm>
#include <cstdio>

#include "base/fields.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/text.h"
#include "command/tune/tune.h"
#include "compile/backend.h"
#include "measure/machine.h"
#include "target/device_limits.h"
#include "target/target.h"

namespace hone::command {
namespace {

Result<runtime::DeviceInfo> Find(const Target& target) {
  HONE_ASSIGN_OR_RETURN(runtime::DeviceInfo info, measure::DescribeMachine(target));
  HONE_ASSIGN_OR_RETURN(const compile::Backend* backend, compile::FindBackend(target));
  HONE_RETURN_IF_ERROR(backend->CompilerVersion(target.cpu, measure::NewestCode(target)).status());
  return info;
}

Status FindDevice(const std::string& target_path, const std::string& out) {
  HONE_ASSIGN_OR_RETURN(const Target target, ReadTargetFile(target_path));
  Json json = {{"version", 1}, {"target", target.Text()}};
  if (target.kind->has_device()) {
    HONE_ASSIGN_OR_RETURN(const runtime::DeviceInfo info, Find(target));
    json.update(HONE_JSON(info.name, info.identity, info.driver, info.memory_bytes));
    if (!info.arch.empty()) json["arch"] = info.arch;
    if (info.peak_flops > 0) json["peak_flops"] = info.peak_flops;
  }
  HONE_RETURN_IF_ERROR(MakeDirs(DirName(out)));
  return WriteFileIfChanged(out, DumpJson(json)).status();
}

// Omits limits that equal the default.
std::string TargetFileText(const measure::Machine& machine, const runtime::DeviceInfo& info) {
  std::string text = fmt::format("# {}, driver {}\nkind = \"{}\"\n", info.name, info.driver, machine.kind().name());
  if (!info.arch.empty()) text += fmt::format("arch = \"{}\"\n", info.arch);
  DeviceLimits limits = machine.TargetLimits(info), usual;
  for (const LimitKey& key : LimitKeys()) {
    std::string list;
    bool same = true;
    for (int i = 0; i < key.count; ++i) {
      const int64_t value = std::clamp(key.at(&limits)[i], key.lowest, key.highest);
      same = same && value == key.at(&usual)[i];
      list += fmt::format("{}{}", i == 0 ? "" : ", ", value);
    }
    if (!same)
      text += key.count == 1 ? fmt::format("{} = {}\n", key.name, list) : fmt::format("{} = [{}]\n", key.name, list);
  }
  return text;
}

Status DescribeDevice(const measure::Machine& machine) {
  HONE_ASSIGN_OR_RETURN(const runtime::DeviceInfo info, machine.Describe());
  const std::string text = TargetFileText(machine, info);
  fwrite(text.data(), 1, text.size(), stdout);
  return fflush(stdout) == 0 ? Status() : Status::Io("the device's description cannot be written");
}

}  // namespace

int RunFindDevice(const std::string& target_path, const std::string& out) {
  return ExitCodeOf(out.empty() ? Status::Invalid("--find-device needs --out FILE") : FindDevice(target_path, out));
}

int RunDescribeDevice(const std::string& kind) {
  std::vector<std::string> known;
  for (const measure::Machine* machine : measure::Machines()) {
    if (!machine->kind().has_device()) continue;
    if (kind == machine->kind().name()) return ExitCodeOf(DescribeDevice(*machine));
    known.emplace_back(machine->kind().name());
  }
  return ExitCodeOf(Status::Invalid("--describe-device {}: known are {}", kind, Join(known, ", ")));
}

}  // namespace hone::command
