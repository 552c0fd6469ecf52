#include "sketch/core_sampler.h"

#include <map>
#include <set>

#include "common/expect.h"
#include "search/space/rules.h"
#include "sketch/sketch.h"

namespace hone::sketch {
namespace {

using search::Knob;
using search::Rejection;

Rejection Divides(const Config& c) { return search::Unless(c.Number("a") * c.Number("c") == 12, "not 12"); }
Rejection SmallSum(const Config& c) { return search::Unless(c.Number("a") + c.Number("b") < 8, "too large"); }

// a x c is 12 in six combinations. (12, 1) is legal with no b, (6, 2) with one value of b, the others with all three.
Sketch Example() {
  Sketch sketch{.name = "example"};
  sketch.decisions = {Knob::Choice("a", {1, 2, 3, 4, 6, 12}), Knob::Choice("b", {1, 2, 3}),
                      Knob::Choice("c", {1, 2, 3, 4, 6, 12})};
  sketch.rules = {{"divides", Divides}, {"small", SmallSum}};
  sketch.cores = {{{"a", "c", "absent"}, {sketch.rules[0]}}};
  return sketch;
}

TEST(CoreSampler, DrawsOnlyAmongTheLegalCombinationsOfTheCore) {
  const search::Space space = SpaceOf(Example());
  Rng rng(1);
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(Divides(space.At(space.Draw(rng))));
}

TEST(CoreSampler, EachLegalPointIsEquallyLikely) {
  const search::Space space = SpaceOf(Example());
  Rng rng(2);
  std::map<PointIndex, int> drawn;
  constexpr int kDraws = 26000;
  for (int i = 0; i < kDraws; ++i) ++drawn[*space.SampleLegal(rng)];
  int legal = 0;
  space.ForEach(0, space.size(), [&](PointIndex, bool is_legal) {
    legal += is_legal;
    return true;
  });
  ASSERT_EQ(legal, 13) << "1, 2, 3 and 4 with each b; 6 with the first";
  EXPECT_EQ(drawn.size(), 13U);
  for (const auto& [index, times] : drawn) EXPECT_NEAR(times, kDraws / 13, 250) << space.At(index).Text();
}

TEST(CoreSampler, WithoutALegalCombinationDrawsAnythingForTheRulesToReject) {
  Sketch sketch = Example();
  sketch.rules[0].reject = [](const Config&) -> Rejection { return "never"; };
  sketch.cores[0].rules = {sketch.rules[0]};
  const search::Space space = SpaceOf(sketch);
  Rng rng(3);
  EXPECT_LT(space.Draw(rng), space.size());
  EXPECT_FALSE(space.SampleLegal(rng, 10));
}

TEST(CoreSampler, SeveralCoresAreDrawnApart) {
  Sketch sketch = Example();
  sketch.rules.push_back({"large", [](const Config& c) -> Rejection {
                            if (c.Number("b") == 2) return "two";
                            return {};
                          }});
  sketch.cores.push_back({{"b"}, {sketch.rules.back()}});
  const search::Space space = SpaceOf(sketch);
  Rng rng(5);
  std::set<std::string> drawn;
  for (int i = 0; i < 1000; ++i) {
    const Config config = space.At(space.Draw(rng));
    EXPECT_FALSE(Divides(config)) << config.Text();
    EXPECT_NE(config.Number("b"), 2) << config.Text();
    drawn.insert(config.Text());
  }
  EXPECT_EQ(drawn.size(), 12U) << "six combinations of one, two of the other";
}

TEST(CoreSampler, ANarrowedSketchHasItsOwnCombinations) {
  Sketch sketch = Example();
  std::vector<Knob> decisions = sketch.decisions;
  decisions[0] = Knob::Choice("a", {3, 12});
  const search::Space space = SpaceOf(WithDecisions(sketch, decisions));
  Rng rng(4);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(space.At(*space.SampleLegal(rng)).Number("a"), 3);
}

}  // namespace
}  // namespace hone::sketch
