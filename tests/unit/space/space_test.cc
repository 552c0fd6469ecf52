#include "search/space/space.h"

#include "common/expect.h"
#include "search/space/rules.h"

namespace hone::search {
namespace {

using Sizes = std::vector<int64_t>;

// The number of ordered k-factorisations of n (autotvm's `factors`): multiplicative, C(a+k-1, k-1) a prime power.
TEST(SplitKnob, CountsOfFactors) {
  EXPECT_EQ(Knob::Split("s", 512, 4).size(), 220u);
  EXPECT_EQ(Knob::Split("s", 64, 4).size(), 84u);
  EXPECT_EQ(Knob::Split("s", 56, 4).size(), 80u);
  EXPECT_EQ(Knob::Split("s", 7, 4).size(), 4u);
  EXPECT_EQ(Knob::Split("s", 3, 2).size(), 2u);
}

// The innermost part is chosen first, the last choice varies fastest, the outermost is -1.
TEST(SplitKnob, OrderOfFactors) {
  const Knob k = Knob::Split("s", 4, 3);
  const std::vector<Sizes> expected = {{-1, 1, 1}, {-1, 2, 1}, {-1, 4, 1}, {-1, 1, 2}, {-1, 2, 2}, {-1, 1, 4}};
  ASSERT_EQ(k.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(k.value(i).numbers, expected[i]) << i;
}

TEST(SplitKnob, LimitedAndGiven) {
  EXPECT_EQ(Knob::Split("s", 64, 2, 8).size(), 4u);
  EXPECT_EQ(Knob::SplitOf("s", {{-1, 14}, {-1, 7}}).value(0).numbers, (Sizes{-1, 14}));
  EXPECT_EQ(Knob::Split("s", 1, 3).size(), 1u);
}

Space Sample() {
  Space s("t");
  s.Add(Knob::Choice("a", {1, 2, 4}));
  s.Add(Knob::Words("b", {"x", "y"}));
  s.Add(Knob::Split("c", 4, 2));
  return s;
}

TEST(Space, FirstKnobIsTheLeastSignificantDigit) {
  const Space s = Sample();
  EXPECT_EQ(s.size(), 18u);
  EXPECT_EQ(s.At(1).Number("a"), 2);
  EXPECT_EQ(s.At(3).Word("b"), "y");
  EXPECT_EQ(s.At(17).Sizes("c"), (Sizes{-1, 4}));
  EXPECT_EQ(s.At(2 + 3 * 1 + 6 * 1).Text(), "t a=4 b=y c=[-1,2]");
}

TEST(Space, IndexAndConfigAreInverse) {
  const Space s = Sample();
  for (uint64_t i = 0; i < s.size(); ++i) EXPECT_EQ(*s.IndexOf(s.At(i)), i);
}

TEST(Space, ForeignConfigsAreRefusedByName) {
  const Space s = Sample();
  Config c = s.At(0);
  c.values[0].numbers = {3};
  EXPECT_THAT(s.IndexOf(c).status().message(), HasSubstr("`a`"));
  c = s.At(0);
  c.values.pop_back();
  EXPECT_FALSE(s.IndexOf(c).ok());
  c = s.At(0);
  c.template_name = "u";
  EXPECT_FALSE(s.IndexOf(c).ok());
}

TEST(Space, RulesNameThemselves) {
  Space s = Sample();
  s.AddRule({"registers", [](const Config& c) -> std::optional<std::string> {
               if (c.Number("a") > 2) return "needs 4, has 2";
               return std::nullopt;
             }});
  EXPECT_FALSE(s.Reject(s.At(0)));
  EXPECT_EQ(*s.Reject(s.At(2)), "registers: needs 4, has 2");
}

TEST(Space, WalkingIsTheSameAsAskingPointByPoint) {
  Space s = Sample();
  s.AddRule({"odd", [](const Config& c) {
               const bool odd = c.Number("a") == 1 || c.index % 7 == 3;
               return odd ? std::optional<std::string>("odd") : std::nullopt;
             }});
  for (uint64_t begin = 0; begin <= s.size(); ++begin) {
    uint64_t expected = begin;
    s.ForEach(begin, s.size(), [&](uint64_t index, bool legal) {
      EXPECT_EQ(index, expected++);
      EXPECT_EQ(legal, s.Legal(index)) << index;
      return true;
    });
    EXPECT_EQ(expected, s.size());
  }
  int visits = 0;
  s.ForEach(0, s.size(), [&](uint64_t, bool) { return ++visits < 3; });
  EXPECT_EQ(visits, 3);
}

TEST(TaskSpace, UnionKeepsOrderAndIndices) {
  TaskSpace t;
  t.Add(Sample());
  Space u("u");
  u.Add(Knob::Choice("a", {1, 2}));
  t.Add(u);
  EXPECT_EQ(t.size(), 20u);
  EXPECT_EQ(t.At(19).Text(), "u a=2");
  for (uint64_t i = 0; i < t.size(); ++i) EXPECT_EQ(*t.IndexOf(t.At(i)), i);
  EXPECT_EQ(t.LegalIndices(100)->size(), 20u);
  EXPECT_FALSE(t.LegalIndices(19));
}

TEST(TaskSpace, SamplesAreLegalAndSpreadOverAll) {
  TaskSpace t;
  Space s = Sample();
  s.AddRule(
      {"even", [](const Config& c) { return c.Number("a") == 1 ? std::optional<std::string>("odd") : std::nullopt; }});
  t.Add(s);
  Rng rng(1);
  std::vector<int> hits(t.size());
  for (int i = 0; i < 1200; ++i) ++hits[*t.SampleLegal(rng)];
  for (uint64_t i = 0; i < t.size(); ++i) {
    if (t.Reject(i)) {
      EXPECT_EQ(hits[i], 0);
    } else {
      EXPECT_GT(hits[i], 50);  // 100 expected each
    }
  }
}

TEST(TaskSpace, ASmallTemplateIsDrawnAsOftenAsALargeOne) {
  TaskSpace t;
  t.Add(Sample());  // 18 points
  Space u("u");
  u.Add(Knob::Choice("a", {1, 2}));
  t.Add(u);
  Rng rng(1);
  int small = 0;
  for (int i = 0; i < 1000; ++i) small += *t.SampleLegal(rng) >= 18;
  EXPECT_NEAR(small, 500, 80);  // five standard deviations
}

// Two points, both illegal.
Space Never() {
  Space never("never");
  never.Add(Knob::Choice("a", {1, 2}));
  never.AddRule({"never", [](const Config&) { return Rejection("never"); }});
  return never;
}

TEST(TaskSpace, ATemplateWithFewLegalPointsIsDrawnAsOften) {
  TaskSpace t;
  t.Add(Sample());  // 18 points
  Space rare("rare");
  rare.Add(Knob::Choice("a", {5, 6, 7, 8, 9}));
  rare.AddRule({"seven", [](const Config& c) { return Unless(c.Number("a") == 7, "not seven"); }});
  t.Add(rare);
  t.Add(Never());
  Rng rng(1);
  int seven = 0;
  for (int i = 0; i < 1000; ++i) seven += *t.SampleLegal(rng) >= 18;
  EXPECT_NEAR(seven, 500, 80);  // five standard deviations
}

// As in a task whose settings forbid most of its templates.
TEST(TaskSpace, TemplatesWithoutLegalPointsDoNotHideTheOthers) {
  TaskSpace t;
  for (int i = 0; i < 40; ++i) t.Add(Never());
  Space u("u");
  u.Add(Knob::Choice("a", {1, 2}));
  t.Add(u);
  Rng rng(1);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(t.SampleLegal(rng).has_value()) << i;
}

// 2^70 points, followed by 2.
TEST(TaskSpace, MoreThan2To64Points) {
  Space large("large"), small("small");
  for (int k = 0; k < 35; ++k) large.Add(Knob::Choice("k" + std::to_string(k), {0, 1, 2, 3}));
  small.Add(Knob::Choice("k0", {0, 1}));
  TaskSpace t;
  t.Add(large);
  t.Add(small);
  EXPECT_EQ(t.size(), (PointIndex{1} << 70) + 2);
  EXPECT_EQ(t.At(t.size() - 1).Text(), "small k0=1");
  const PointIndex index = (PointIndex{3} << 68) + 2;  // the last knob and the first
  EXPECT_EQ(t.At(index).Number("k34"), 3);
  EXPECT_EQ(t.At(index).Number("k0"), 2);
  EXPECT_EQ(t.At(index).Number("k1"), 0);
  EXPECT_EQ(*t.IndexOf(t.At(index)), index);
  Rng rng(1);
  std::vector<int> hits(4);  // of the values of the last knob, which a 64-bit index does not reach
  for (int i = 0; i < 4000; ++i) {
    const Config config = t.At(*t.SampleLegal(rng));
    if (config.template_name == "large") ++hits[config.Number("k34")];
  }
  for (const int count : hits) EXPECT_NEAR(count, 500, 100);
  EXPECT_FALSE(t.LegalIndices(UINT64_MAX));
}

TEST(TaskSpace, NothingToDraw) {
  TaskSpace empty;
  Rng rng(1);
  EXPECT_EQ(empty.size(), 0u);
  EXPECT_FALSE(empty.SampleLegal(rng));
  TaskSpace none;
  Space s = Sample();
  s.AddRule({"never", [](const Config&) { return std::optional<std::string>("no"); }});
  none.Add(s);
  EXPECT_FALSE(none.SampleLegal(rng, 100));
  EXPECT_TRUE(none.LegalIndices(100)->empty());
}

}  // namespace
}  // namespace hone::search
