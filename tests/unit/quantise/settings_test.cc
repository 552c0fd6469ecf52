#include "quantise/settings.h"

#include "common/expect.h"

namespace hone::quantise {
namespace {

TEST(QuantiseSettings, TextHasAll) {
  const Settings settings{.method = Method::kKl,
                          .scheme = Scheme::kPower2,
                          .percentile = 99,
                          .samples = 5,
                          .per_channel = false,
                          .bias_correction = false,
                          .keep = {"fc", "conv"}};
  EXPECT_EQ(Must(ParseSettings(SettingsText(settings), "s")), settings);
  EXPECT_EQ(Must(ParseSettings(SettingsText({}), "s")), Settings{});
}

TEST(QuantiseSettings, WordsHaveSuggestions) {
  EXPECT_EQ(Must(ParseMethod("kl")), Method::kKl);
  EXPECT_THAT(ParseMethod("percentil").status().message(),
              HasSubstr("unknown method 'percentil'; did you mean `percentile`?"));
  EXPECT_THAT(ParseScheme("uniform").status().message(), HasSubstr("known: affine, symmetric, power2"));
}

TEST(QuantiseSettings, ValuesAreChecked) {
  EXPECT_EQ(CheckValues({}), "");
  EXPECT_THAT(CheckValues({.percentile = 50}), testing::StartsWith("percentile: must be above 50"));
  EXPECT_THAT(CheckValues({.samples = -1}), testing::StartsWith("samples: "));
  EXPECT_FALSE(ParseSettings("{\"version\": 1}", "s").ok());
}

}  // namespace
}  // namespace hone::quantise
