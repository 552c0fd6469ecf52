// Shared code of the kinds of targets that DeviceLimits describes: devices with launches and their own memory.
#pragma once

#include <string>
#include <vector>

#include "target/kind.h"

namespace hone {

// Does not use any property of this host, which may lack the device.
class DeviceKind final : public TargetKind {
 public:
  // `has_arch`: code is generated for an architecture that the target must name: Target::cpu, the key `arch`.
  DeviceKind(const char* name, bool has_arch) : name_(name), has_arch_(has_arch) {}

  const char* name() const override { return name_; }
  std::string_view family() const override { return kGpuFamily; }
  bool has_device() const override { return true; }
  std::string KeysText(const Target& target) const override;
  Status SetKey(const std::string& key, const std::string& value, Target* target) const override;
  Status Complete(Target* target) const override;
  std::vector<TargetKey> FileKeys() const override;
  Status ReadFile(JsonReader* reader, Target* target) const override;
  Status CheckFile(const Json& file, std::string* key) const override;

 private:
  const char* name_;
  bool has_arch_;
};

}  // namespace hone
