// How to quantise a network: [quantise] of a pipeline file, and the flags of hone-quantise.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace hone {
class Fields;
}

namespace hone::quantise {

// How to choose the range that a tensor's grid covers.
enum class Method {
  kMax,         // all values
  kPercentile,  // magnitudes up to a percentile
  kKl,          // magnitudes up to the limit that keeps most information (KL divergence)
};

enum class Scheme {
  kAffine,     // activations u8 with a zero point, weights i8
  kSymmetric,  // activations and weights i8, zero points 0
  kPower2,     // as kSymmetric, all scales powers of two; layers shift instead of multiplying
};

struct Settings {
  Method method = Method::kMax;
  Scheme scheme = Scheme::kAffine;
  double percentile = 99.99;      // for kPercentile
  int64_t samples = 0;            // calibration inputs to use; 0: all, or kSeededSamples without data
  bool per_channel = true;        // a scale for each output channel of a weight; else one for the weight
  bool bias_correction = true;    // shifts biases by the mean error that rounded weights cause
  std::vector<std::string> keep;  // nodes that compute with floats
  bool operator==(const Settings&) const = default;
};

inline constexpr int64_t kSeededSamples = 8;

// Returns kInvalid for an unknown word, with a suggestion.
Result<Method> ParseMethod(const std::string& word);
Result<Scheme> ParseScheme(const std::string& word);
const char* MethodName(Method method);
const char* SchemeName(Scheme scheme);

// The first error in the values, "" if all are valid; begins with the key.
std::string CheckValues(const Settings& settings);

// The JSON text, ending with a newline; equal settings give equal bytes. Parsing returns kInvalid with `path` and the
// key.
std::string SettingsText(const Settings& settings);
Result<Settings> ParseSettings(std::string_view text, const std::string& path);

}  // namespace hone::quantise
