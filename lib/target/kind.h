// TargetKind: a sort of hardware that Hone generates code for, as far as a target's text and files go. What else a back
// end consists of is in the layers above: measure/machine.h, compile/backend.h, library/backend.h.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"

namespace hone {

class JsonReader;
struct Target;

// How kernels of a target are scheduled: an operator has templates for a family, whatever back end compiles them.
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
  // Whether it is a device with a driver, which a machine may lack: it is looked for before anything is tuned.
  virtual bool has_device() const = 0;
  // Elements of f32 in a vector.
  virtual int FloatLanes(const Target&) const { return 1; }
  // Channels in a block of a blocked tensor (task/operand.h). 1: it lies in memory as a plain one does.
  virtual int ChannelBlock(const Target&) const { return 1; }

  // The text: what follows the name, as " -key=value" each, and back. A failure does not name the target.
  virtual std::string KeysText(const Target& target) const = 0;
  virtual Status SetKey(const std::string& key, const std::string& value, Target* target) const = 0;
  // After the last key: fills in what follows from the keys. kInvalid if they contradict each other.
  virtual Status Complete(Target* target) const = 0;

  // The file: all keys but `kind`.
  virtual std::vector<TargetKey> FileKeys() const = 0;
  virtual Status ReadFile(JsonReader* reader, Target* target) const = 0;
  // Checks the values of a file's keys without asking which machine this is: for pipelines, which are planned on one
  // machine and run on another. *key: the one to blame, if not ok; the message begins with it.
  virtual Status CheckFile(const Json& file, std::string* key) const = 0;
};

#define HONE_BACKEND(folder, Name) const TargetKind& Name##Kind();
#include "target/backends.def"
#undef HONE_BACKEND

// Adds a kind that is not in backends.def; a test's, before any other thread runs. It must outlive its use.
void AddTargetKind(const TargetKind* kind);
// kInvalid, with a suggestion, if no kind has this name.
Result<const TargetKind*> FindTargetKind(const std::string& name);

}  // namespace hone
