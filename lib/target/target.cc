#include "target/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/json.h"
#include "base/suggest.h"
#include "base/text.h"

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

}  // namespace

std::string Target::Text() const {
  std::string text = kKindNames[static_cast<int>(kind)];
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
  HONE_ASSIGN_OR_RETURN(Json json, ReadJsonFile(path));
  JsonReader reader(json, path);
  std::string kind_name;
  HONE_RETURN_IF_ERROR(reader.Read("kind", &kind_name));
  Result<TargetKind> kind = ParseKind(kind_name);
  if (!kind.ok()) return reader.Error("kind", kind.status().message());

  Target target;
  target.kind = *kind;
  // What is not said is the host's; but another CPU or triple says nothing of this host's features.
  bool own = !reader.Has("cpu") && !reader.Has("triple") && !reader.Has("features");
  if (*kind == TargetKind::kCpu) {
    HONE_ASSIGN_OR_RETURN(Target host, HostTarget());
    if (own) {
      target = host;
    } else {
      target.triple = host.triple;
      target.threads = host.threads;
      target.cpu = reader.Has("triple") ? "generic" : host.cpu;
    }
  }
  HONE_RETURN_IF_ERROR(reader.ReadOptional("triple", &target.triple));
  HONE_RETURN_IF_ERROR(reader.ReadOptional("cpu", &target.cpu));
  HONE_RETURN_IF_ERROR(reader.ReadOptional("features", &target.features));
  HONE_RETURN_IF_ERROR(reader.ReadOptional("threads", &target.threads));
  if (target.threads < 1) return reader.Error("threads", "must be at least 1");
  if (!own) {
    auto has = [&](const char* f) {
      return std::find(target.features.begin(), target.features.end(), f) != target.features.end();
    };
    target.vector_bytes = has("avx512f") ? 64 : has("avx2") && has("fma") ? 32 : 16;
  }
  HONE_RETURN_IF_ERROR(reader.ReadOptional("vector_bytes", &target.vector_bytes));
  if (!IsVectorWidth(target.vector_bytes)) return reader.Error("vector_bytes", "must be 16, 32 or 64");
  HONE_RETURN_IF_ERROR(reader.Finish());
  Canonicalize(&target);
  return target;
}

}  // namespace hone
