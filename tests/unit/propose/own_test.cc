// Sketches that a user wrote: which tasks they fit, what their points are, and what is wrong with them.
#include "base/text.h"
#include "common/expect.h"
#include "propose/propose.h"
#include "propose/versions.h"
#include "unit/propose/cpu.h"

namespace hone::propose {
namespace {

constexpr char kRows[] =
    "sketch mine\n"
    "decide rows 5 4 2\n"
    "decide order in out\n"
    "split out i [{rows}] -> i.o i.i\n"
    "order=in: reorder out i.i i.o\n"
    "parallel out i.o\n";

OwnSketches Own(const std::string& text) { return {Must(sketch::ParseSketch(text, "mine.sketch"))}; }
Workload Matmul() { return *op::ParseChecked("matmul(f32[2,64,32], f32[2,32,16])"); }
std::vector<std::string> Names(const Workload& w, Mode mode, const OwnSketches& own) {
  std::vector<std::string> names;
  for (const Proposer& p : Must(ProposersOf(w, Cpu(), mode, own))) names.push_back(p.name());
  return names;
}

TEST(OwnSketches, JoinTheProposersOfTheTasksThatTheyFit) {
  using List = std::vector<std::string>;
  const OwnSketches own = Own(kRows);
  EXPECT_EQ(Names(Matmul(), Mode::kBoth, own), (List{"sums", "mine"}));
  const Workload relu = *op::ParseChecked("relu(f32[64,64])");
  EXPECT_EQ(Names(relu, Mode::kSketches, own), List{"stages"}) << "it has no axis i";
  const OwnSketches flat = Own("sketch mine\nsplit out a0 [16] -> o l\nparallel out o\nvectorize out l\n");
  EXPECT_EQ(Names(relu, Mode::kBoth, flat), (List{"stages", "mine"}));
  EXPECT_EQ(Names(relu, Mode::kTemplates, flat), List{"stages"});
  EXPECT_EQ(Names(relu, Mode::kSketches, flat), List{"mine"});
}

TEST(OwnSketches, APointIsLegalIfItsStepsApply) {
  // The reduce axis k cannot be parallel, so half of the points are illegal.
  const OwnSketches own =
      Own("sketch mine\ndecide axis k i.o\ndecide rows 2\nsplit out i [{rows}] -> i.o i.i\n"
          "parallel out {axis}\n");
  const Proposers proposers = Must(AllProposers(Matmul(), Cpu(), own));
  const search::Space space = Must(proposers.back().MakeSpace());
  EXPECT_EQ(space.size(), PointIndex{2});
  EXPECT_THAT(space.Reject(space.At(0)).value_or(""), StartsWith("steps: mine.sketch:5:1: "));
  const Config config = Must(proposers.back().Default(space));
  EXPECT_EQ(config.Text(), "mine axis=i.o rows=2") << "the first legal one";
  EXPECT_EQ(Must(proposers.back().Instantiate(space, config)).Text(), "split out i [2] -> i.o i.i\nparallel out i.o\n");
  EXPECT_FALSE(proposers.back().Instantiate(space, space.At(0)).ok());
}

constexpr char kLayer[] = "conv2d(f32[1,16,8,8], f32[16,16,3,3])";

TEST(OwnSketches, MayScheduleAnotherAlgorithm) {
  using List = std::vector<std::string>;
  const Workload conv = *op::ParseChecked(kLayer);
  const std::string steps = "decide rows 2 3\nsplit out oh [{rows}] -> o i\nparallel out o\n";
  const OwnSketches own = Own("sketch mine\nalgorithm winograd(m=6, tiles=1)\n" + steps);
  EXPECT_EQ(Names(conv, Mode::kBoth, own),
            (List{"sums", "transformed_m2", "transformed_m4", "transformed_m6", "mine"}));
  const Proposer mine = Must(AllProposers(conv, Cpu(), own)).back();
  const search::Space space = Must(mine.MakeSpace());
  EXPECT_EQ(Must(mine.Instantiate(space, space.At(0))).Text(),
            "algorithm winograd(m=6, tiles=1)\nsplit out oh [2] -> o i\nparallel out o\n");
  EXPECT_EQ(Must(mine.MakeSpace({.winograd = 4})).Reject(space.At(0)).value_or(""),
            "numerics: m=6 is less exact than m=4");
  const auto misfit = [&](const std::string& algorithm) {
    return FindMisfit(Own("sketch mine\nalgorithm " + algorithm + "\n" + steps)[0], conv, Cpu())->why;
  };
  EXPECT_THAT(misfit("winograd(m=6, tiles=4000)"), HasSubstr("winograd(m=6, tiles=4000)"));
  EXPECT_THAT(misfit("fourier"), HasSubstr("fourier"));
}

TEST(OwnSketches, MayNarrowASketchOfAnotherAlgorithm) {
  const Workload conv = *op::ParseChecked(kLayer);
  std::string text;
  for (const Proposer& p : Must(AllProposers(conv, Cpu()))) {
    if (p.name() == "transformed_m4") text = SketchText(*p.sketch());
  }
  const size_t begin = text.find("decide unroll"), end = text.find('\n', begin);
  text.replace(begin, end - begin, "decide unroll 4");
  const OwnSketches own = Own(text);
  EXPECT_FALSE(FindMisfit(own[0], conv, Cpu()));
  for (const Proposer& p : Must(ProposersOf(conv, Cpu(), Mode::kBoth, own))) {
    if (!p.name().starts_with("transformed_m")) continue;
    const bool narrowed = SketchText(*p.sketch()).find("\ndecide unroll 4\n") != std::string::npos;
    EXPECT_EQ(narrowed, p.name() == "transformed_m4") << p.name();
  }
  const std::string other = "algorithm winograd(m=2, tiles=9)";
  text.replace(text.find("algorithm"), text.find('\n', text.find("algorithm")) - text.find("algorithm"), other);
  EXPECT_THAT(FindMisfit(Own(text)[0], conv, Cpu())->why, HasSubstr("is for the algorithm winograd(m=4"));
}

TEST(OwnSketches, WhatDoesNotFitSaysWhere) {
  const auto misfit = [](const std::string& lines) {
    const auto found = FindMisfit(Own("sketch mine\ndecide rows 4 2\n" + lines)[0], Matmul(), Cpu());
    return found ? found->why : "";
  };
  EXPECT_EQ(misfit("split out i [{rows}] -> i.o i.i\n"), "");
  EXPECT_THAT(misfit("split put i [{rows}] -> i.o i.i\n"), StartsWith("mine.sketch:3:1: no stage `put`"));
  EXPECT_THAT(misfit("# a comment\nrows=4: parallel out x\nrows=2: parallel out y\n"),
              StartsWith("mine.sketch:4:9: stage `out` has no axis `x`"));
  const std::string values = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20";
  std::string many;
  for (const char* name : {"a", "b", "c", "d"}) many += "decide " + std::string(name) + " " + values + "\n";
  EXPECT_EQ(misfit(many + "parallel out i\n"),
            "mine.sketch:1:1: its decisions have 320000 combinations, at most 100000 can be searched");
}

TEST(OwnSketches, TakeNoNameOfAnother) {
  const OwnSketches own = Own("sketch dense_packed\nparallel out i\n");
  EXPECT_EQ(AllProposers(Matmul(), Cpu(), own).status().message(),
            "mine.sketch:1:1: `dense_packed` is the name of another template or sketch; rename this one");
  const OwnSketches twice = {Own(kRows)[0], Own(kRows)[0]};
  EXPECT_FALSE(AllProposers(Matmul(), Cpu(), twice).ok());
}

std::string Derived() {
  const Proposers proposers = Must(AllProposers(Matmul(), Cpu()));
  return SketchText(*proposers[0].sketch());
}

// The text without the line that begins with `line`, or with `by` in its place.
std::string Replaced(std::string text, const std::string& line, const std::string& by = "") {
  const size_t begin = text.find("\n" + line) + 1;
  return text.replace(begin, text.find('\n', begin) + 1 - begin, by);
}

TEST(OwnSketches, WithTheNameOfARuleTakeValuesAway) {
  std::string text = Replaced(Derived(), "decide unroll", "decide unroll 4\n");
  text = Replaced(text, "decide order", "decide order vectors rows\n");  // in any order
  const Proposers all = Must(AllProposers(Matmul(), Cpu())), some = Must(AllProposers(Matmul(), Cpu(), Own(text)));
  ASSERT_EQ(some.size(), all.size());
  EXPECT_EQ(some[0].version(), all[0].version()) << "trials of both count for both";
  const search::Space wide = Must(all[0].MakeSpace()), narrow = Must(some[0].MakeSpace());
  EXPECT_LT(narrow.size(), wide.size());
  op::PointCost estimate = EstimatesOf(Matmul(), Cpu());
  int64_t legal = 0;
  for (PointIndex i = 0; i < narrow.size(); ++i) {
    const Config config = narrow.At(i);
    ASSERT_TRUE(wide.IndexOf(config).ok());
    EXPECT_EQ(narrow.Legal(config), wide.Legal(config)) << "the rules stay";
    if (!narrow.Legal(config)) continue;
    ++legal;
    EXPECT_EQ(config.Number("unroll"), 4);
    EXPECT_EQ(some[0].sketch()->cost(config), estimate(config));
    EXPECT_EQ(Must(some[0].Instantiate(narrow, config)).steps, Must(all[0].Instantiate(wide, config)).steps);
  }
  EXPECT_GT(legal, 0);
}

std::string WithoutLines(const std::string& text, const std::string& with) {
  std::string kept;
  for (const std::string& line : Split(text, '\n')) {
    if (line.find(with) == line.npos) kept += line + "\n";
  }
  return kept;
}

TEST(OwnSketches, WithoutAValueNeedNotHaveItsSteps) {
  const std::string text = Replaced(Derived(), "decide others", "decide others apart\n");
  EXPECT_FALSE(FindMisfit(Own(WithoutLines(text, "others=inside"))[0], Matmul(), Cpu()));
}

TEST(OwnSketches, WithTheNameOfARuleSayWhatDiffers) {
  const auto misfit = [](const std::string& text) {
    const auto found = FindMisfit(Own(text)[0], Matmul(), Cpu());
    return found ? found->why : "fits";
  };
  EXPECT_EQ(misfit(Derived()), "fits");
  EXPECT_EQ(misfit(Replaced(Derived(), "decide unroll", "decide unroll 4 77\n")),
            "mine.sketch:1:1: decision `unroll` of the task's sketch `sums` has no value 77");
  EXPECT_EQ(misfit(WithoutLines(Derived(), "fetch")),
            "mine.sketch:1:1: the task's sketch `sums` has a decision `fetch` as well");
  EXPECT_THAT(misfit(Derived() + "unroll out i.i\n"),
              HasSubstr(": the task's sketch `sums` has another step here; rename the sketch to change its steps"));
  EXPECT_EQ(misfit(Replaced(Derived(), "unroll out.sums k.i")),
            "mine.sketch:1:1: the task's sketch `sums` has more steps: unroll out.sums k.i");
  const auto relu = FindMisfit(Own(Derived())[0], *op::ParseChecked("relu(f32[64])"), Cpu());
  ASSERT_TRUE(relu);
  EXPECT_EQ(relu->why, "mine.sketch:1:1: the task has no sketch `sums`");
}

TEST(OwnSketches, HaveAnotherVersionWhenTheyChange) {
  const auto version = [](const std::string& text) {
    return VersionsOf(Must(AllProposers(Matmul(), Cpu(), Own(text))))["mine"];
  };
  EXPECT_GT(version(kRows), 0);
  EXPECT_EQ(version(kRows), version("# the same\n" + std::string(kRows)));
  EXPECT_NE(version(kRows), version(std::string(kRows) + "unroll out i.i\n"));
}

}  // namespace
}  // namespace hone::propose
