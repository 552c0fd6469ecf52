#include "target/x86_levels.h"

#include <algorithm>

#include "base/text.h"

namespace hone {
namespace {

struct Level {
  const char* name;
  std::vector<std::string> adds;  // in addition to the previous level
};

const std::vector<Level>& Levels() {
  static const std::vector<Level> levels = {
      {"x86-64", {}},
      {"x86-64-v2", {"popcnt", "sse3", "sse4.1", "sse4.2", "ssse3"}},
      {"x86-64-v3", {"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"}},
      {"x86-64-v4", {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"}},
  };
  return levels;
}

}  // namespace

std::optional<std::vector<std::string>> X86LevelFeatures(const std::string& cpu) {
  std::vector<std::string> features;
  for (const Level& level : Levels()) {
    features.insert(features.end(), level.adds.begin(), level.adds.end());
    if (cpu != level.name) continue;
    std::ranges::sort(features);
    return features;
  }
  return std::nullopt;
}

std::vector<std::string> WithoutPartialAvx512(std::vector<std::string> features) {
  if (std::ranges::find(features, "avx512vl") != features.end()) return features;
  std::erase_if(features, [](const std::string& feature) { return StartsWith(feature, "avx512"); });
  return features;
}

const std::vector<std::string>& X86Features() {
  static const std::vector<std::string> features = {
      "amx-bf16",   "amx-int8",        "amx-tile", "avx",        "avx2",       "avx512bf16", "avx512bitalg", "avx512bw",
      "avx512cd",   "avx512dq",        "avx512f",  "avx512fp16", "avx512ifma", "avx512vbmi", "avx512vbmi2",  "avx512vl",
      "avx512vnni", "avx512vpopcntdq", "avxvnni",  "bmi",        "bmi2",       "f16c",       "fma",          "gfni",
      "lzcnt",      "movbe",           "popcnt",   "sse3",       "sse4.1",     "sse4.2",     "ssse3",        "vaes",
      "vpclmulqdq",
  };
  return features;
}

std::string X86Level(const std::vector<std::string>& features) {
  std::string name;
  for (const Level& level : Levels()) {
    const bool all = std::ranges::all_of(
        level.adds, [&](const std::string& feature) { return std::ranges::find(features, feature) != features.end(); });
    if (!all) break;
    name = level.name;
  }
  return name;
}

}  // namespace hone
