// Targets of kind `cpu`: this host or another one, described by triple, CPU and features.

#include <algorithm>

#include "base/dtype.h"
#include "base/json.h"
#include "base/text.h"
#include "target/architecture.h"
#include "target/arm_cores.h"
#include "target/target.h"
#include "target/x86_levels.h"

namespace hone {
namespace {

bool IsVectorWidth(int64_t bytes) { return bytes == 16 || bytes == 32 || bytes == 64; }

void Canonicalize(Target* target) {
  if (StartsWith(target->triple, "aarch64")) std::erase(target->features, "neon");  // every core has it
  std::sort(target->features.begin(), target->features.end());
  target->features.erase(std::unique(target->features.begin(), target->features.end()), target->features.end());
  target->vector_registers = StartsWith(target->triple, "aarch64") || target->vector_bytes == 64 ? 32 : 16;
}

bool IsX86(const Target& target) { return StartsWith(target.triple, "x86_64"); }

bool Has(const Target& target, const char* feature) {
  return std::find(target.features.begin(), target.features.end(), feature) != target.features.end();
}

// The widest vectors that the features allow.
int WidestVector(const Target& target) {
  if (!IsX86(target)) return 16;
  return Has(target, "avx512f") ? 64 : Has(target, "avx2") && Has(target, "fma") ? 32 : 16;
}

// LLVM only warns about a name that it does not know, and would generate code for another machine than intended. Sets
// *key to the key at fault.
Status CheckNames(const std::string& triple, const std::vector<std::string>& features, std::string* key) {
  const std::string machine = Architecture(triple);
  *key = "triple";
  if (machine != "x86_64" && machine != "aarch64") {
    return Status::Invalid("`{}` must begin with x86_64 or aarch64, such as `x86_64-unknown-linux-gnu`", triple);
  }
  *key = "features";
  const bool arm = machine == "aarch64";
  const std::vector<std::string>& known = arm ? ArmFeatures() : X86Features();
  for (const std::string& feature : features) {
    if (std::ranges::find(known, feature) != known.end() || (arm && feature == "neon")) continue;
    if (arm && StartsWith(feature, "sve")) {
      return Status::Invalid("`{}`: code for AArch64 uses NEON's vectors of 16 bytes; leave out the scalable ones",
                             feature);
    }
    return Status::Invalid("unknown feature `{}`{}", feature, SuggestionText(feature, known));
  }
  return Status();
}

// Makes cpu and features agree if the file names either of them or the triple: code is generated for both together, but
// a built library checks only the features before it runs.
Status CompleteCpu(JsonReader* reader, Target* target) {
  const bool x86 = IsX86(*target);
  if (target->cpu.empty()) target->cpu = x86 ? X86Level(target->features) : "generic";
  if (const auto implied = x86 ? X86LevelFeatures(target->cpu) : ArmCoreFeatures(target->cpu)) {
    target->features.insert(target->features.end(), implied->begin(), implied->end());
    return Status();
  }
  if (reader->Has("features")) return Status();
  if (x86 && target->cpu != "generic" && ArmCoreFeatures(target->cpu)) {
    return reader->Error(
        "cpu", fmt::format("`{}` is a core of AArch64: add the triple aarch64-unknown-linux-gnu", target->cpu));
  }
  const std::string known = x86 ? "name a level (x86-64, x86-64-v2, x86-64-v3, x86-64-v4)"
                                : fmt::format("name one of {}", Join(ArmCores(), ", "));
  return reader->Error(
      "cpu", fmt::format("which features `{}` has is not known here: {}, or list `features`", target->cpu, known));
}

Status CheckAvx512(JsonReader* reader, const Target& target) {
  if (!IsX86(target) || WithoutPartialAvx512(target.features).size() == target.features.size()) return Status();
  return reader->Error("features",
                       "AVX-512 without `avx512vl`, which no code can be generated for: add `avx512vl` if the CPU has "
                       "it, else name the level x86-64-v3 as `cpu` and no feature that begins with avx512");
}

// Parses `threads` and similar numbers of a target's text.
Status SetNumber(const std::string& key, const std::string& value, int* out) {
  const Result<int64_t> parsed = ParseInt(value);
  bool good = parsed.ok() && *parsed >= 1 && *parsed <= 65536;
  if (key == "-vector") good = good && IsVectorWidth(*parsed);
  if (!good) {
    const char* what = key == "-vector" ? "16, 32 or 64" : "a number from 1 to 65536";
    return Status::Invalid("{} must be {}, not `{}`", key, what, value);
  }
  *out = static_cast<int>(*parsed);
  return Status();
}

class CpuTargetKind final : public TargetKind {
 public:
  const char* name() const override { return "cpu"; }
  std::string_view family() const override { return kCpuFamily; }
  bool has_device() const override { return false; }
  int FloatLanes(const Target& target) const override { return target.vector_bytes / DType::Float(32).bytes(); }
  int ChannelBlock(const Target& target) const override { return FloatLanes(target); }  // a block is one vector

  std::string KeysText(const Target& target) const override {
    std::string text;
    if (!target.triple.empty()) text += " -triple=" + target.triple;
    if (!target.cpu.empty()) text += " -cpu=" + target.cpu;
    if (!target.features.empty()) text += " -features=" + Join(target.features, ",");
    return text + fmt::format(" -threads={} -vector={}", target.threads, target.vector_bytes);
  }

  Status SetKey(const std::string& key, const std::string& value, Target* target) const override {
    if (key == "-triple") {
      target->triple = value;
    } else if (key == "-cpu") {
      target->cpu = value;
    } else if (key == "-features") {
      target->features = Split(value, ',');
      std::erase(target->features, "");
    } else if (key == "-threads") {
      return SetNumber(key, value, &target->threads);
    } else if (key == "-vector") {
      return SetNumber(key, value, &target->vector_bytes);
    } else {
      return Status::Invalid("unknown key `{}`{}", key,
                             SuggestionText(key, {"-triple", "-cpu", "-features", "-threads", "-vector"}));
    }
    return Status();
  }

  Status Complete(Target* target) const override {
    Canonicalize(target);
    return Status();
  }

  std::vector<TargetKey> FileKeys() const override {
    using Type = TargetKey::Type;
    return {{"triple", Type::kText},
            {"cpu", Type::kText},
            {"features", Type::kTexts},
            {"threads", Type::kNumber},
            {"vector_bytes", Type::kNumber}};
  }

  Status ReadFile(JsonReader* reader, Target* target) const override {
    // Missing keys take the host's values, but another CPU or triple has other features than this host.
    const bool own = !reader->Has("cpu") && !reader->Has("triple") && !reader->Has("features");
    HONE_ASSIGN_OR_RETURN(const Target host, HostTarget());
    if (own) {
      *target = host;
    } else {
      target->triple = host.triple;
      target->threads = host.threads;
    }
    HONE_RETURN_IF_ERROR(reader->ReadOptional("triple", &target->triple));
    HONE_RETURN_IF_ERROR(reader->ReadOptional("cpu", &target->cpu));
    HONE_RETURN_IF_ERROR(reader->ReadOptional("features", &target->features));
    HONE_RETURN_IF_ERROR(reader->ReadOptional("threads", &target->threads));
    if (target->threads < 1) return reader->Error("threads", "must be at least 1");
    std::string key;
    const Status names = CheckNames(target->triple, target->features, &key);
    if (!names.ok()) return reader->Error(key.c_str(), names.message());
    if (!reader->Has("threads") && !CheckRunsHere(*target).ok()) {
      return reader->Error("threads", "missing: this machine's number is no default for another architecture");
    }
    if (!own) {
      HONE_RETURN_IF_ERROR(CompleteCpu(reader, target));
      HONE_RETURN_IF_ERROR(CheckAvx512(reader, *target));
      target->vector_bytes = WidestVector(*target);
    }
    HONE_RETURN_IF_ERROR(reader->ReadOptional("vector_bytes", &target->vector_bytes));
    if (!IsVectorWidth(target->vector_bytes)) return reader->Error("vector_bytes", "must be 16, 32 or 64");
    if (target->vector_bytes > WidestVector(*target)) {
      return reader->Error("vector_bytes", fmt::format("{}: the CPU's features have vectors of {} bytes",
                                                       target->vector_bytes, WidestVector(*target)));
    }
    HONE_RETURN_IF_ERROR(reader->Finish());
    Canonicalize(target);
    return Status();
  }

  Status CheckFile(const Json& file, std::string* key) const override {
    const int64_t threads = file.value("threads", int64_t{1}), vector_bytes = file.value("vector_bytes", int64_t{16});
    *key = "threads";
    if (threads < 1 || threads > 4096) return Status::Invalid("`threads` must be from 1 to 4096");
    *key = "vector_bytes";
    if (!IsVectorWidth(vector_bytes)) return Status::Invalid("`vector_bytes` must be 16, 32 or 64");
    if (!file.contains("triple")) return Status();
    const Status names = CheckNames(file["triple"], file.value("features", std::vector<std::string>()), key);
    return names.ok() ? names : Status::Invalid("`{}`: {}", *key, names.message());
  }
};

}  // namespace

const TargetKind& CpuKind() {
  static const CpuTargetKind kind;
  return kind;
}

}  // namespace hone
