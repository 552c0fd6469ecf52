#include "expectation.h"

#include <gtest/gtest.h>

namespace hone::onnx {
namespace {

TEST(Expectation, ReadsWhatItWrites) {
  const Passes passes = {{"test_abs", "passed"}, {"test_where", "folded"}};
  EXPECT_EQ(PassesText(passes), "passed test_abs\nfolded test_where\n");
  const auto read = ParsePasses(PassesText(passes), "list");
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, passes);
  for (const char* wrong : {"test_abs", "failed test_abs", "passed test abs", "passed a\nfolded a\n"}) {
    EXPECT_FALSE(ParsePasses(wrong, "list").ok()) << wrong;
  }
  EXPECT_EQ(ParsePasses("passed a\npassed\n", "list").status().message(),
            "list:2: expected `passed NAME` or `folded NAME`, each name once");
}

TEST(Expectation, NamesWhatPassesNoLonger) {
  const Passes wanted = {{"a", "passed"}, {"b", "folded"}, {"c", "passed"}, {"d", "passed"}, {"e", "folded"}};
  const Passes found = {{"a", "passed"}, {"c", "folded"}, {"e", "passed"}, {"f", "passed"}};
  EXPECT_EQ(NoLonger(wanted, found), (std::vector<std::string>{"b: folded before, does not pass any more",
                                                               "c: ran before, is computed by the importer now",
                                                               "d: passed before, does not pass any more"}));
  EXPECT_TRUE(NoLonger(wanted, wanted).empty());
}

}  // namespace
}  // namespace hone::onnx
