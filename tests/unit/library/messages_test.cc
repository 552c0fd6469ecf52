// Requests to processes that time networks: every setting arrives. A lost one would silently change what is measured.
#include "base/json.h"
#include "common/expect.h"
#include "library/compare.h"
#include "library/time_network.h"

namespace hone::library {
namespace {

// Every key of `text` is required: without it the request is rejected.
template <typename Parse>
void ExpectEveryKeyIsNeeded(const std::string& text, Parse parse) {
  const auto json = Must(ParseJson(text, "request"));
  for (const auto& item : json.items()) {
    Json without = json;
    without.erase(item.key());
    const auto read = parse(DumpJson(without, -1));
    ASSERT_FALSE(read.ok()) << item.key();
    EXPECT_THAT(read.status().message(), HasSubstr(item.key()));
  }
}

TEST(Messages, ATimeRequestArrives) {
  const TimeRequest request{.dir = "out/x",
                            .pace = "out/y",
                            .seed = 9,
                            .warmup = 2,
                            .iterations = 30,
                            .min_seconds = 0.25,
                            .max_seconds = 8,
                            .patience_seconds = 1.5,
                            .profiled = 3,
                            .outputs = true,
                            .peak_seconds = 0.125};
  const auto read = Must(ParseRequest(RequestText(request)));
  EXPECT_EQ(RequestText(read), RequestText(request));
  EXPECT_EQ(read.pace, "out/y");
  EXPECT_EQ(read.patience_seconds, 1.5);
  ExpectEveryKeyIsNeeded(RequestText(request), ParseRequest);
}

TEST(Messages, ACompareRequestArrives) {
  CompareRequest request{.dirs = {"a", "b"}};
  request.options = {.seed = 9,
                     .layers = true,
                     .warm = 2,
                     .timed = 5,
                     .min_rounds = 7,
                     .max_rounds = 11,
                     .seconds = 0.5,
                     .patience_seconds = 0};
  const auto read = Must(ParseCompareRequest(CompareRequestText(request)));
  EXPECT_EQ(CompareRequestText(read), CompareRequestText(request));
  EXPECT_EQ(read.dirs, request.dirs);
  EXPECT_EQ(read.options.patience_seconds, 0) << "of a device; its default is not 0";
  ExpectEveryKeyIsNeeded(CompareRequestText(request), ParseCompareRequest);
}

}  // namespace
}  // namespace hone::library
