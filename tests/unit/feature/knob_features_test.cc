#include "search/feature/knob_features.h"

#include "common/expect.h"

namespace hone::search {
namespace {

// Compares rows as text, since missing values (NaN) are not equal to themselves.
std::string Text(const std::vector<float>& row) {
  std::string text;
  for (const float v : row) text += std::isnan(v) ? "- " : std::to_string(static_cast<int>(v)) + " ";
  return text;
}

std::string RowText(const KnobFeatures& features, uint64_t index) {
  std::vector<float> row(features.columns());
  features.Write(index, row.data());
  return Text(row);
}

Space First() {
  Space space("first");
  space.Add(Knob::Split("tile", 6, 3));  // 9 points
  space.Add(Knob::Reorder("order", {{0, 1}, {1, 0}}));
  space.Add(Knob::Annotate("ann", {{"none", "vec"}, {"unroll", "none"}}));
  space.Add(Knob::Choice("limit", {0, 512, 1500}));
  return space;
}

TEST(KnobFeaturesTest, OneTemplateGivesAutotvmsColumns) {
  TaskSpace task;
  task.Add(First());
  const KnobFeatures features(task);
  EXPECT_EQ(features.columns(), 3u + 2 + 22 + 1);
  // tile's digit 3 of (innermost first): 1: 1 2 3 6, 2: 1 3, ..: the fourth has the parts -1, 6, 1.
  const uint64_t index = 3 + 9 * (1 + 2 * (0 + 2 * 2));
  EXPECT_EQ(RowText(features, index),
            "-1 6 1 1 0 "
            "1 0 0 0 0 0 0 0 0 0 0 "
            "0 1 0 0 0 0 0 0 0 0 0 "
            "1500 ");
  EXPECT_EQ(RowText(features, 9 * 2),
            "-1 1 1 0 1 "
            "0 0 1 0 0 0 0 0 0 0 0 "
            "1 0 0 0 0 0 0 0 0 0 0 "
            "0 ");
}

TEST(KnobFeaturesTest, TemplatesHaveColumnsOfTheirOwn) {
  Space second("second");
  second.Add(Knob::Words("kind", {"a", "b", "c"}));
  Space third("third");
  third.Add(Knob::Choice("n", {7, 8}));
  TaskSpace task;
  task.Add(std::move(second));
  task.Add(std::move(third));
  const KnobFeatures features(task);
  EXPECT_EQ(RowText(features, 2), "0 2 - ");
  EXPECT_EQ(RowText(features, 4), "1 - 8 ");
}

TEST(KnobFeaturesTest, RowsOfConfigsAreThoseOfTheirIndex) {
  TaskSpace task;
  task.Add(First());
  const KnobFeatures features(task);
  for (uint64_t i = 0; i < task.size(); ++i) EXPECT_EQ(Text(features.RowOf(task.At(i))), RowText(features, i));
}

TEST(KnobFeaturesTest, ConfigsOfOtherShapesHaveRowsToo) {
  TaskSpace task;
  task.Add(First());
  const KnobFeatures features(task);
  Config config = task.At(0);
  config.values[0].numbers = {-1, 11, 13};  // no factors of 6
  config.values.pop_back();
  const std::string row = Text(features.RowOf(config));
  EXPECT_EQ(row.substr(0, 10), "-1 11 13 0");
  EXPECT_EQ(row.substr(row.size() - 2), "- ");
  config.template_name = "another";
  EXPECT_EQ(Text(features.RowOf(config)).find_first_not_of("- "), std::string::npos);
}

}  // namespace
}  // namespace hone::search
