// Sketches that a user wrote: which tasks they fit, what their points are, and what is wrong with them.
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
  EXPECT_EQ(Names(relu, Mode::kSketches, own), List{"relu_default"}) << "it has no axis i";
  // A fixed schedule stays, as only a rule is known to be as fast.
  const OwnSketches flat = Own("sketch mine\nsplit out a0 [16] -> o l\nparallel out o\nvectorize out l\n");
  EXPECT_EQ(Names(relu, Mode::kBoth, flat), (List{"relu_default", "mine"}));
  EXPECT_EQ(Names(relu, Mode::kTemplates, flat), List{"relu_default"});
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
  const OwnSketches own = Own("sketch sums\nparallel out i\n");
  EXPECT_EQ(
      AllProposers(Matmul(), Cpu(), own).status().message(),
      "mine.sketch:1:1: `sums` is the name of another template or sketch; rename this one");
  const OwnSketches twice = {Own(kRows)[0], Own(kRows)[0]};
  EXPECT_FALSE(AllProposers(Matmul(), Cpu(), twice).ok());
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
