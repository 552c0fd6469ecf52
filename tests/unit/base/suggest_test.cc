#include "base/text.h"
#include "common/expect.h"

namespace hone {
namespace {

TEST(EditDistance, CountsEdits) {
  EXPECT_EQ(EditDistance("", ""), 0);
  EXPECT_EQ(EditDistance("abc", ""), 3);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3);
  EXPECT_EQ(EditDistance("seed", "sede"), 1);  // two neighbours swapped
  EXPECT_EQ(EditDistance("Seed", "seed"), 0);
  EXPECT_EQ(EditDistance("trials", "trial"), EditDistance("trial", "trials"));
}

TEST(Suggest, NearWordsOnly) {
  std::vector<std::string> known = {"budget", "seed", "trials", "tuner"};
  EXPECT_EQ(Suggest("trails", known), "trials");
  EXPECT_EQ(Suggest("sed", known), "seed");
  EXPECT_EQ(Suggest("BUDGET", known), "budget");
  EXPECT_EQ(Suggest("colour", known), std::nullopt);
  EXPECT_EQ(Suggest("x", known), std::nullopt);
  EXPECT_EQ(Suggest("x", {"y"}), std::nullopt);  // one edit, but nothing in common
  EXPECT_EQ(Suggest("abd", {"abc", "abe"}), "abc");
}

TEST(Suggest, Text) {
  EXPECT_EQ(SuggestionText("sede", {"seed", "x"}), "; did you mean `seed`?");
  EXPECT_EQ(SuggestionText("colour", {"seed", "tuner"}), "; known: seed, tuner");
  EXPECT_EQ(SuggestionText("colour", {}), "");
}

}  // namespace
}  // namespace hone
