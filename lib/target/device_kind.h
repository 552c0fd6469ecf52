// Code shared by the kinds of targets that DeviceLimits describe: devices with launches and a memory of their own.
#pragma once

#include <string>
#include <vector>

#include "target/kind.h"

namespace hone {

// Takes nothing from this host, which may lack the device.
class DeviceKind : public TargetKind {
 public:
  std::string_view family() const override { return kGpuFamily; }
  bool has_device() const override { return true; }
  std::string KeysText(const Target& target) const override;
  Status SetKey(const std::string& key, const std::string& value, Target* target) const override;
  Status Complete(Target* target) const override;
  std::vector<TargetKey> FileKeys() const override;
  Status ReadFile(JsonReader* reader, Target* target) const override;
  Status CheckFile(const Json& file, std::string* key) const override;

 private:
  // Whether code is generated for an architecture, which a target must name: Target::cpu, the key `arch`.
  virtual bool has_arch() const = 0;
};

}  // namespace hone
