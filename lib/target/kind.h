// TargetKind: a kind of hardware that Hone generates code for, as far as texts and files of targets are concerned. The
// other parts of a back end are in higher layers: measure/machine.h, compile/backend.h, library/backend.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace hone {

class JsonReader;
struct Target;

// Schedule families: an operator has templates for a family, and every back end of the family can compile them.
inline constexpr std::string_view kCpuFamily = "cpu";  // threads with vectors; activations in blocks of channels
inline constexpr std::string_view kGpuFamily = "gpu";  // loops bound to blocks and threads; all tensors row-major

// A key of a target file.
struct TargetKey {
  enum class Type { kText, kTexts, kNumber, kNumbers };
  const char* name;
  Type type;
};

class TargetKind {
 public:
  virtual ~TargetKind() = default;

  // The first word of a target's text, and `kind` in a target file.
  virtual const char* name() const = 0;
  virtual std::string_view family() const = 0;
  // Whether it is a device with a driver, which a machine may lack: tuning looks for it first.
  virtual bool has_device() const = 0;
  // f32 elements in a vector.
  virtual int FloatLanes(const Target&) const { return 1; }
  // Channels in a block of a blocked tensor (task/operand.h). With 1, a blocked tensor has the layout of a plain one.
  virtual int ChannelBlock(const Target&) const { return 1; }

  // Writes the text after the name, as " -key=value" each, or parses it. Errors do not name the target.
  virtual std::string KeysText(const Target& target) const = 0;
  virtual Status SetKey(const std::string& key, const std::string& value, Target* target) const = 0;
  // Call it after the last key: derives the remaining fields from the keys. Returns kInvalid if they contradict each
  // other.
  virtual Status Complete(Target* target) const = 0;

  // All keys of a target file except `kind`.
  virtual std::vector<TargetKey> FileKeys() const = 0;
  virtual Status ReadFile(JsonReader* reader, Target* target) const = 0;
  // Checks the values of a file's keys without using properties of this machine: pipelines are planned on one machine
  // and run on another. On error, sets *key to the key at fault, with which the message begins.
  virtual Status CheckFile(const Json& file, std::string* key) const = 0;
};

#define HONE_BACKEND(folder, Name) const TargetKind& Name##Kind();
#include "target/backends.def"
#undef HONE_BACKEND

// Adds a kind that is not in backends.def, for a test; call it before other threads run. The kind must outlive its use.
void AddTargetKind(const TargetKind* kind);
// Returns kInvalid, with a suggestion, if no kind has this name.
Result<const TargetKind*> FindTargetKind(const std::string& name);

}  // namespace hone
