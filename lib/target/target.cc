#include "target/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/file.h"
#include "base/json.h"
#include "base/suggest.h"
#include "base/text.h"
#include "target/x86_levels.h"

namespace hone {
namespace {

constexpr const char* kKindNames[] = {"cpu", "cuda", "opencl", "vta"};

Result<TargetKind> ParseKind(const std::string& word) {
  for (int i = 0; i < 4; ++i) {
    if (word == kKindNames[i]) return static_cast<TargetKind>(i);
  }
  return Status::Invalid(fmt::format("unknown target kind `{}`{}", word,
                                     SuggestionText(word, {std::begin(kKindNames), std::end(kKindNames)})));
}

bool IsVectorWidth(int64_t bytes) { return bytes == 16 || bytes == 32 || bytes == 64; }

int RegistersOf(const Target& target) {
  bool many = StartsWith(target.triple, "aarch64") || target.vector_bytes == 64;
  return many ? 32 : 16;
}

void Canonicalize(Target* target) {
  std::sort(target->features.begin(), target->features.end());
  target->features.erase(std::unique(target->features.begin(), target->features.end()), target->features.end());
  target->vector_registers = RegistersOf(*target);
}

bool IsX86(const Target& target) { return StartsWith(target.triple, "x86_64"); }

bool Has(const Target& target, const char* feature) {
  return std::find(target.features.begin(), target.features.end(), feature) != target.features.end();
}

// The widest vectors that the features have.
int WidestVector(const Target& target) {
  if (!IsX86(target)) return 16;
  return Has(target, "avx512f") ? 64 : Has(target, "avx2") && Has(target, "fma") ? 32 : 16;
}

// A name that LLVM does not know is only a warning to it, and the code would be for another machine than was meant.
Status CheckNames(JsonReader* reader, const Target& target) {
  const std::string machine = target.triple.substr(0, target.triple.find('-'));
  if (machine != "x86_64" && machine != "aarch64") {
    return reader->Error("triple", fmt::format("`{}` must begin with x86_64 or aarch64, such as "
                                               "`x86_64-unknown-linux-gnu`",
                                               target.triple));
  }
  if (!IsX86(target)) return Status();
  for (const std::string& feature : target.features) {
    if (std::find(X86Features().begin(), X86Features().end(), feature) != X86Features().end()) continue;
    return reader->Error("features",
                         fmt::format("unknown feature `{}`{}", feature, SuggestionText(feature, X86Features())));
  }
  return Status();
}

// Makes cpu and features agree, where the file names one of them or the triple: code is generated for both together,
// and a built library looks for the features alone before it runs.
Status CompleteCpu(JsonReader* reader, Target* target) {
  if (!IsX86(*target)) {
    if (target->cpu.empty()) target->cpu = "generic";
    return Status();
  }
  if (target->cpu.empty()) target->cpu = X86Level(target->features);
  if (auto implied = X86LevelFeatures(target->cpu)) {
    target->features.insert(target->features.end(), implied->begin(), implied->end());
    return Status();
  }
  if (reader->Has("features")) return Status();
  return reader->Error("cpu", fmt::format("which features `{}` has is not known here: name a level (x86-64, x86-64-v2, "
                                          "x86-64-v3, x86-64-v4), or list `features`",
                                          target->cpu));
}

Status CheckAvx512(JsonReader* reader, const Target& target) {
  if (!IsX86(target) || WithoutPartialAvx512(target.features).size() == target.features.size()) return Status();
  return reader->Error("features",
                       "AVX-512 without `avx512vl`, which no code can be generated for: add `avx512vl` if the CPU has "
                       "it, else name the level x86-64-v3 as `cpu` and no feature that begins with avx512");
}

std::string LimitText(const LimitKey& key, DeviceLimits limits) {
  std::vector<std::string> numbers;
  for (int i = 0; i < key.count; ++i) numbers.push_back(std::to_string(key.at(&limits)[i]));
  return Join(numbers, "x");
}

Status ParseLimit(const std::string& text, const std::string& flag, const std::string& value, DeviceLimits* limits) {
  std::vector<std::string> flags = {"-arch"};
  for (const LimitKey& key : LimitKeys()) {
    flags.emplace_back(key.flag);
    if (flag != key.flag) continue;
    std::vector<int64_t> numbers;
    for (const std::string& part : Split(value, 'x')) {
      Result<int64_t> number = ParseInt(part);
      if (!number.ok()) return Status::Invalid(fmt::format("target `{}`: {}: `{}` is no number", text, flag, part));
      numbers.push_back(*number);
    }
    return SetLimit(key, numbers, limits).WithContext(fmt::format("target `{}`: {}", text, flag));
  }
  return Status::Invalid(fmt::format("target `{}`: unknown key `{}`{}", text, flag, SuggestionText(flag, flags)));
}

Status ParseGpu(const std::string& text, const std::vector<std::string>& words, Target* target) {
  std::map<std::string, bool> seen;
  for (size_t i = 1; i < words.size(); ++i) {
    const size_t equals = words[i].find('=');
    const std::string flag = words[i].substr(0, equals);
    if (equals == std::string::npos || flag.empty() || flag[0] != '-') {
      return Status::Invalid(fmt::format("target `{}`: `{}` is not of the form -key=value", text, words[i]));
    }
    if (seen[flag]) return Status::Invalid(fmt::format("target `{}`: {} is given twice", text, flag));
    seen[flag] = true;
    const std::string value = words[i].substr(equals + 1);
    if (flag == "-arch" && target->kind == TargetKind::kCuda) {
      target->cpu = value;
    } else {
      HONE_RETURN_IF_ERROR(ParseLimit(text, flag, value, &target->limits));
    }
  }
  if (target->kind == TargetKind::kCuda && !IsCudaArch(target->cpu)) {
    return Status::Invalid(fmt::format("target `{}`: -arch must be such as sm_90", text));
  }
  std::string key;
  const Status status = CheckLimits(target->limits, target->cpu, &key);
  return status.WithContext(fmt::format("target `{}`: {}", text, key));
}

// cuda and opencl: nothing is taken from this host, which may have no such device.
Result<Target> ReadGpu(JsonReader* reader, TargetKind kind) {
  Target target;
  target.kind = kind;
  if (kind == TargetKind::kCuda) {
    HONE_RETURN_IF_ERROR(reader->Read("arch", &target.cpu));
    if (!IsCudaArch(target.cpu)) {
      return reader->Error("arch", fmt::format("`{}` is no architecture; write for example sm_90", target.cpu));
    }
  }
  for (const LimitKey& key : LimitKeys()) {
    if (!reader->Has(key.name)) continue;
    std::vector<int64_t> values(1);
    HONE_RETURN_IF_ERROR(key.count == 1 ? reader->Read(key.name, values.data()) : reader->Read(key.name, &values));
    if (Status status = SetLimit(key, values, &target.limits); !status.ok()) {
      return reader->Error(key.name, status.message());
    }
  }
  HONE_RETURN_IF_ERROR(reader->Finish());
  std::string key;
  if (Status status = CheckLimits(target.limits, target.cpu, &key); !status.ok())
    return reader->Error(key, status.message());
  return target;
}

}  // namespace

std::string Target::Text() const {
  std::string text = kKindNames[static_cast<int>(kind)];
  if (IsGpu()) {
    if (!cpu.empty()) text += " -arch=" + cpu;
    for (const LimitKey& key : LimitKeys()) text += fmt::format(" {}={}", key.flag, LimitText(key, limits));
    return text;
  }
  if (!triple.empty()) text += " -triple=" + triple;
  if (!cpu.empty()) text += " -cpu=" + cpu;
  if (!features.empty()) text += " -features=" + Join(features, ",");
  if (kind == TargetKind::kCpu) text += fmt::format(" -threads={} -vector={}", threads, vector_bytes);
  return text;
}

Result<Target> Target::Parse(const std::string& text) {
  std::vector<std::string> words = SplitWords(text);
  if (words.empty()) return Status::Invalid("a target's text is empty; write for example `cpu -threads=2 -vector=32`");
  Target target;
  HONE_ASSIGN_OR_RETURN(target.kind, ParseKind(words[0]));
  if (target.IsGpu()) {
    HONE_RETURN_IF_ERROR(ParseGpu(text, words, &target));
    return target;
  }
  std::map<std::string, bool> seen;
  for (size_t i = 1; i < words.size(); ++i) {
    const std::string& word = words[i];
    size_t equals = word.find('=');
    std::string key = word.substr(0, equals);
    if (equals == std::string::npos || key.empty() || key[0] != '-') {
      return Status::Invalid(fmt::format("target `{}`: `{}` is not of the form -key=value", text, word));
    }
    if (seen[key]) return Status::Invalid(fmt::format("target `{}`: {} is given twice", text, key));
    seen[key] = true;
    std::string value = word.substr(equals + 1);
    auto number = [&](int* out) -> Status {
      Result<int64_t> parsed = ParseInt(value);
      bool good = parsed.ok() && *parsed >= 1 && *parsed <= 65536;
      if (key == "-vector") good = good && IsVectorWidth(*parsed);
      if (!good) {
        const char* what = key == "-vector" ? "16, 32 or 64" : "a number from 1 to 65536";
        return Status::Invalid(fmt::format("target `{}`: {} must be {}, not `{}`", text, key, what, value));
      }
      *out = static_cast<int>(*parsed);
      return Status::Ok();
    };
    if (key == "-triple") {
      target.triple = value;
    } else if (key == "-cpu") {
      target.cpu = value;
    } else if (key == "-features") {
      target.features = Split(value, ',');
      std::erase(target.features, "");
    } else if (key == "-threads") {
      HONE_RETURN_IF_ERROR(number(&target.threads));
    } else if (key == "-vector") {
      HONE_RETURN_IF_ERROR(number(&target.vector_bytes));
    } else {
      return Status::Invalid(fmt::format("target `{}`: unknown key `{}`{}", text, key,
                                         SuggestionText(key, {"-triple", "-cpu", "-features", "-threads", "-vector"})));
    }
  }
  Canonicalize(&target);
  return target;
}

Result<Target> ReadTargetFile(const std::string& path) {
  HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  return ParseTargetFile(text, path);
}

Result<Target> ParseTargetFile(std::string_view text, const std::string& path) {
  HONE_ASSIGN_OR_RETURN(Json json, ParseJson(text, path));
  JsonReader reader(json, path);
  std::string kind_name;
  HONE_RETURN_IF_ERROR(reader.Read("kind", &kind_name));
  Result<TargetKind> kind = ParseKind(kind_name);
  if (!kind.ok()) return reader.Error("kind", kind.status().message());

  Target target;
  target.kind = *kind;
  if (target.IsGpu()) return ReadGpu(&reader, *kind);
  // What is not said is the host's; but another CPU or triple says nothing of this host's features.
  const bool own = !reader.Has("cpu") && !reader.Has("triple") && !reader.Has("features");
  if (*kind == TargetKind::kCpu) {
    HONE_ASSIGN_OR_RETURN(const Target host, HostTarget());
    if (own) {
      target = host;
    } else {
      target.triple = host.triple;
      target.threads = host.threads;
    }
  }
  HONE_RETURN_IF_ERROR(reader.ReadOptional("triple", &target.triple));
  HONE_RETURN_IF_ERROR(reader.ReadOptional("cpu", &target.cpu));
  HONE_RETURN_IF_ERROR(reader.ReadOptional("features", &target.features));
  HONE_RETURN_IF_ERROR(reader.ReadOptional("threads", &target.threads));
  if (target.threads < 1) return reader.Error("threads", "must be at least 1");
  if (*kind == TargetKind::kCpu) HONE_RETURN_IF_ERROR(CheckNames(&reader, target));
  if (*kind == TargetKind::kCpu && !own) {
    HONE_RETURN_IF_ERROR(CompleteCpu(&reader, &target));
    HONE_RETURN_IF_ERROR(CheckAvx512(&reader, target));
  }
  if (!own) target.vector_bytes = WidestVector(target);
  HONE_RETURN_IF_ERROR(reader.ReadOptional("vector_bytes", &target.vector_bytes));
  if (!IsVectorWidth(target.vector_bytes)) return reader.Error("vector_bytes", "must be 16, 32 or 64");
  if (*kind == TargetKind::kCpu && target.vector_bytes > WidestVector(target)) {
    return reader.Error("vector_bytes", fmt::format("{}: the CPU's features have vectors of {} bytes",
                                                    target.vector_bytes, WidestVector(target)));
  }
  HONE_RETURN_IF_ERROR(reader.Finish());
  Canonicalize(&target);
  return target;
}

}  // namespace hone
