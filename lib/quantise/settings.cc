#include "quantise/settings.h"

#include <algorithm>

#include "base/fields.h"
#include "base/text.h"

namespace hone::quantise {
namespace {

const ChoiceNames<Method> kMethods = {{Method::kMax, "max"}, {Method::kPercentile, "percentile"}, {Method::kKl, "kl"}};
const ChoiceNames<Scheme> kSchemes = {
    {Scheme::kAffine, "affine"}, {Scheme::kSymmetric, "symmetric"}, {Scheme::kPower2, "power2"}};

template <typename T>
Result<T> ParseWord(const char* what, const std::string& word, const ChoiceNames<T>& names) {
  std::vector<std::string> known;
  for (const auto& [value, name] : names) {
    if (word == name) return value;
    known.emplace_back(name);
  }
  return Status::Invalid("unknown {} '{}'{}", what, word, SuggestionText(word, known));
}

}  // namespace

static void ListFields(Fields* f, Settings* s) {
  f->Version(1);
  f->Choice("method", &s->method, kMethods);
  f->Choice("scheme", &s->scheme, kSchemes);
  f->Value("percentile", &s->percentile)
      .Check(s->percentile > 50 && s->percentile <= 100, "must be above 50 and at most 100");
  f->Value("samples", &s->samples).In(0, 1'000'000);
  HONE_VALUES(f, s->per_channel, s->bias_correction, s->keep);
}

Result<Method> ParseMethod(const std::string& word) { return ParseWord("method", word, kMethods); }
Result<Scheme> ParseScheme(const std::string& word) { return ParseWord("scheme", word, kSchemes); }
const char* MethodName(Method method) { return ChoiceName(kMethods, method); }
const char* SchemeName(Scheme scheme) { return ChoiceName(kSchemes, scheme); }

std::string CheckValues(const Settings& settings) { return FieldsProblem(settings); }

std::string SettingsText(const Settings& settings) { return FieldsText(settings); }

Result<Settings> ParseSettings(std::string_view text, const std::string& path) {
  return ParseFields<Settings>(text, path);
}

}  // namespace hone::quantise
