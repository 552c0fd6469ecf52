// The text of sketches, and what is wrong with it.
#include "sketch/sketch.h"

#include "common/expect.h"

namespace hone::sketch {
namespace {

constexpr char kText[] =
    "sketch rows\n"
    "decide i 4 2 1\n"
    "decide order in out\n"
    "split out i [{i}] -> i.o i.i\n"
    "order=in: reorder out j i.o i.i\n"
    "order=out: reorder out i.o j i.i\n"
    "parallel out i.o\n";

Config Point(const Sketch& sketch, PointIndex index) { return SpaceOf(sketch).At(index); }

TEST(SketchText, IsReadBack) {
  const Sketch sketch = Must(ParseSketch(kText, "mine"));
  EXPECT_EQ(sketch.name, "rows");
  EXPECT_EQ(SketchText(sketch), kText);
  EXPECT_EQ(SpaceOf(sketch).size(), PointIndex{6});
  EXPECT_EQ(SketchText(Must(ParseSketch("# of me\n\n" + std::string(kText) + "\n", "mine"))), kText);
}

TEST(SketchText, MayScheduleAnotherAlgorithm) {
  const std::string text = "sketch mine\nalgorithm winograd(m=4, tiles=16)\ndecide i 4 2\nparallel out n\n";
  const Sketch sketch = Must(ParseSketch(text, "mine"));
  EXPECT_EQ(sketch.algorithm, (Algorithm{"winograd", {{"m", 4}, {"tiles", 16}}}));
  EXPECT_EQ(SketchText(sketch), text);
  EXPECT_EQ(Decided(sketch, Point(sketch, 0)).algorithm, sketch.algorithm);
  EXPECT_EQ(Must(ParseSketch(kText, "mine")).algorithm, Algorithm());
}

TEST(SketchText, DecisionsMakeItSteps) {
  const Sketch sketch = Must(ParseSketch(kText, "mine"));
  const Config config = Point(sketch, 1);  // i=2, order=in
  EXPECT_EQ(config.Text(), "rows i=2 order=in");
  EXPECT_EQ(Must(StepsOf(sketch, config)),
            Must(ParseSteps("split out i [2] -> i.o i.i\nreorder out j i.o i.i\nparallel out i.o")));
  EXPECT_EQ(Must(StepsOf(sketch, Point(sketch, 3)))[1], Must(ParseStep("reorder out i.o j i.i")));
}

TEST(SketchText, DecisionsThatAreMadeGiveTheSameSteps) {
  const Sketch sketch = Must(ParseSketch(kText, "mine"));
  const search::Space space = SpaceOf(sketch);
  for (uint64_t i = 0; i < 6; ++i) {
    const std::string text = SketchText(Decided(sketch, space.At(i)));
    const Sketch again = Must(ParseSketch(text, "again"));
    ASSERT_EQ(SpaceOf(again).size(), PointIndex{1}) << text;
    EXPECT_EQ(Must(StepsOf(again, Point(again, 0))), Must(StepsOf(sketch, space.At(i)))) << text;
  }
  EXPECT_EQ(SketchText(Decided(sketch, space.At(4))),
            "sketch rows\ndecide i 2\ndecide order out\nsplit out i [{i}] -> i.o i.i\nreorder out i.o j i.i\n"
            "parallel out i.o\n");
}

TEST(SketchText, KnowsThePlacesOfItsLines) {
  const Sketch sketch = Must(ParseSketch("\r\n" + std::string(kText), "mine"));
  EXPECT_EQ(sketch.place, "mine:2:1");
  EXPECT_EQ(sketch.lines[0].place, "mine:5:1");
  EXPECT_EQ(sketch.lines[1].place, "mine:6:11");
}

TEST(SketchText, MistakesHaveLineAndColumn) {
  const auto wrong = [](const std::string& text) { return ParseSketch(text, "mine").status().message(); };
  const std::string name = "sketch rows\n", decided = name + "decide i 4 2\n";
  EXPECT_EQ(wrong(""), "mine: no line `sketch NAME`");
  EXPECT_EQ(wrong("rows\n"), "mine:1:1: expected `sketch NAME` before all else");
  EXPECT_EQ(wrong("sketch a b\n"), "mine:1:1: expected `sketch NAME` before all else");
  EXPECT_EQ(wrong(name), "mine: sketch `rows` has no step");
  EXPECT_THAT(wrong(name + "algorithm winograd(m=)\nparallel out i\n"), StartsWith("mine:2:11: "));
  EXPECT_EQ(wrong(decided + "algorithm winograd(m=4)\n"),
            "mine:3:1: `algorithm` stands once, before decisions and steps");
  EXPECT_EQ(wrong(name + "decide i\n"), "mine:2:9: expected `decide NAME VALUE..`");
  EXPECT_EQ(wrong(decided + "decide i 1\n"), "mine:3:8: decision `i` is there twice");
  EXPECT_EQ(wrong(name + "decide i 4 4\n"), "mine:2:8: decision `i` has a value twice");
  EXPECT_EQ(wrong(name + "decide i=j 4\n"), "mine:2:8: `i=j` cannot be the name of a decision");
  std::string many = name;
  for (int i = 0; i < 64; ++i) many += "decide d" + std::to_string(i) + " 1 2\n";
  EXPECT_EQ(wrong(many), "mine:65:8: the decisions have more than 2^63 combinations");
  EXPECT_EQ(wrong(name + "parallel out \x01\n"), "mine:2:1: has characters that cannot be printed");
  EXPECT_EQ(wrong(decided + "parallel out i\ndecide j 1\n"), "mine:4:1: decisions stand before the steps");
  EXPECT_EQ(wrong(decided + "split out i [{j}] -> a b\n"), "mine:3:15: no decision `j`; known: i");
  EXPECT_EQ(wrong(decided + "split out i [{i] -> a b\n"), "mine:3:14: `{` without `}`");
  EXPECT_EQ(wrong(decided + "k=4: parallel out i\n"), "mine:3:1: no decision `k`; known: i");
  EXPECT_EQ(wrong(decided + "i=3: parallel out i\n"), "mine:3:3: decision `i` has no value `3`; known: 4, 2");
  EXPECT_THAT(wrong(decided + "i=4: paralel out i\n"), StartsWith("mine:3:6: "));
  EXPECT_THAT(wrong(decided + "split out i -> a b\n"), StartsWith("mine:3:1: "));
}

TEST(SketchEstimate, TheCheapestLegalPointIsChosen) {
  Sketch sketch = Must(ParseSketch(kText, "mine"));
  sketch.cost = [](const Config& config) { return std::vector<double>{double(config.Number("i"))}; };
  EXPECT_EQ(Must(BestByEstimate(sketch, SpaceOf(sketch))).Number("i"), 1);
  sketch.rules = {{"none of one", [](const Config& config) -> std::optional<std::string> {
                     if (config.Number("i") > 1) return {};
                     return "one";
                   }}};
  EXPECT_EQ(Must(BestByEstimate(sketch, SpaceOf(sketch))).Number("i"), 2);
  sketch.rules[0].reject = [](const Config&) { return "never"; };
  EXPECT_EQ(BestByEstimate(sketch, SpaceOf(sketch)).status().message(), "sketch `rows` has no legal point");
}

}  // namespace
}  // namespace hone::sketch
