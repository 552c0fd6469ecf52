#include "target/device_kind.h"

#include "base/json.h"
#include "base/text.h"
#include "target/target.h"

namespace hone {

static std::string LimitText(const LimitKey& key, DeviceLimits limits) {
  std::vector<std::string> numbers;
  for (int i = 0; i < key.count; ++i) numbers.push_back(std::to_string(key.at(&limits)[i]));
  return Join(numbers, "x");
}

std::string DeviceKind::KeysText(const Target& target) const {
  std::string text = target.cpu.empty() ? "" : " -arch=" + target.cpu;
  for (const LimitKey& key : LimitKeys()) text += fmt::format(" {}={}", key.flag, LimitText(key, target.limits));
  return text;
}

Status DeviceKind::SetKey(const std::string& key, const std::string& value, Target* target) const {
  std::vector<std::string> known;
  if (has_arch_) {
    known.emplace_back("-arch");
    if (key == "-arch") {
      target->cpu = value;
      return Status();
    }
  }
  for (const LimitKey& limit : LimitKeys()) {
    known.emplace_back(limit.flag);
    if (key != limit.flag) continue;
    std::vector<int64_t> numbers;
    for (const std::string& part : Split(value, 'x')) {
      const Result<int64_t> number = ParseInt(part);
      if (!number.ok()) return Status::Invalid("{}: `{}` is not a number", key, part);
      numbers.push_back(*number);
    }
    return SetLimit(limit, numbers, &target->limits).WithContext(key);
  }
  return Status::Invalid("unknown key `{}`{}", key, SuggestionText(key, known));
}

Status DeviceKind::Complete(Target* target) const {
  if (has_arch_ && !IsCudaArch(target->cpu)) return Status::Invalid("-arch must be such as sm_90");
  std::string key;
  const Status status = CheckLimits(target->limits, target->cpu, &key);
  return status.WithContext(key);
}

std::vector<TargetKey> DeviceKind::FileKeys() const {
  using Type = TargetKey::Type;
  std::vector<TargetKey> keys;
  if (has_arch_) keys.push_back({"arch", Type::kText});
  for (const LimitKey& limit : LimitKeys()) {
    keys.push_back({limit.name, limit.count == 1 ? Type::kNumber : Type::kNumbers});
  }
  return keys;
}

Status DeviceKind::ReadFile(JsonReader* reader, Target* target) const {
  if (has_arch_) {
    HONE_RETURN_IF_ERROR(reader->Read("arch", &target->cpu));
    if (!IsCudaArch(target->cpu)) {
      return reader->Error("arch", fmt::format("`{}` is not an architecture; write for example sm_90", target->cpu));
    }
  }
  for (const LimitKey& limit : LimitKeys()) {
    if (!reader->Has(limit.name)) continue;
    std::vector<int64_t> values(1);
    HONE_RETURN_IF_ERROR(limit.count == 1 ? reader->Read(limit.name, values.data())
                                          : reader->Read(limit.name, &values));
    if (Status status = SetLimit(limit, values, &target->limits); !status.ok()) {
      return reader->Error(limit.name, status.message());
    }
  }
  HONE_RETURN_IF_ERROR(reader->Finish());
  std::string key;
  const Status status = CheckLimits(target->limits, target->cpu, &key);
  return status.ok() ? status : reader->Error(key, status.message());
}

Status DeviceKind::CheckFile(const Json& file, std::string* key) const {
  const std::string arch = file.value("arch", "");
  *key = "arch";
  if (has_arch_ && !IsCudaArch(arch)) return Status::Invalid("`arch` must be such as arch = \"sm_90\"");
  DeviceLimits limits;
  for (const LimitKey& limit : LimitKeys()) {
    if (!file.contains(limit.name)) continue;
    const Json& value = file[limit.name];
    const auto values =
        value.is_array() ? value.get<std::vector<int64_t>>() : std::vector<int64_t>{value.get<int64_t>()};
    *key = limit.name;
    if (Status status = SetLimit(limit, values, &limits); !status.ok()) {
      return Status::Invalid("`{}` {}", *key, status.message());
    }
  }
  const Status status = CheckLimits(limits, arch, key);
  return status.ok() ? status : Status::Invalid("`{}`: {}", *key, status.message());
}

}  // namespace hone
