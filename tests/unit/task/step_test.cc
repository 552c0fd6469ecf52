#include "task/step.h"

#include "common/expect.h"

namespace hone {
namespace {

// Text and meaning, written by hand from the table in task/step.h and doc/reference/schedule.md.
struct Case {
  const char* text;
  Step step;
};

const std::vector<Case>& Cases() {
  static const std::vector<Case> cases = {
      {"split conv ow [14] -> ow.o ow.i", Split("conv", "ow", {14}, {"ow.o", "ow.i"})},
      {"split conv ow [4,7] -> a b c", Split("conv", "ow", {4, 7}, {"a", "b", "c"})},
      {"fuse conv n oh -> n.oh", Fuse("conv", {"n", "oh"}, "n.oh")},
      {"reorder conv a b c", Reorder("conv", {"a", "b", "c"})},
      {"vectorize conv oci", Vectorize("conv", "oci")},
      {"unroll conv ow.i", Unroll("conv", "ow.i")},
      {"parallel conv oh.o", Parallel("conv", "oh.o")},
      {"bind conv oh.o blockIdx.x", Bind("conv", "oh.o", "blockIdx.x")},
      {"compute_at acc out ow.o", ComputeAt("acc", "out", "ow.o")},
      {"compute_root acc", ComputeRoot("acc")},
      {"inline pad", Inline("pad")},
      {"cache_read data scratch acc max -> data.c", CacheRead("data", "scratch", {"acc", "max"}, "data.c")},
      {"cache_write out register -> out.c", CacheWrite("out", "register", "out.c")},
      {"relayout weight d0/16 d1 d0%16 -> weight.p", Relayout("weight", {"d0/16", "d1", "d0%16"}, "weight.p")},
      {"rfactor sum k.i -> sum.p", Rfactor("sum", "k.i", "sum.p")},
      {"set_scope acc register", SetScope("acc", "register")},
      {"storage_align pad h 16 4", {StepKind::kStorageAlign, "pad", {"h"}, {16, 4}, "", {}}},
      {"double_buffer pad", {StepKind::kDoubleBuffer, "pad", {}, {}, "", {}}},
      {"prefetch acc weight ici 256", Prefetch("acc", "weight", "ici", 256)},
      {"prefetch out weight oc 65536 2", {StepKind::kPrefetch, "out", {"weight", "oc"}, {65536, 2}, "", {}}},
      {"tensorize acc oci dot4", {StepKind::kTensorize, "acc", {"oci"}, {}, "dot4", {}}},
      {"pragma out oh.o unroll_max 4", PragmaStep("out", "oh.o", "unroll_max", 4)},
  };
  return cases;
}

TEST(Step, EveryKindPrintsAndParses) {
  for (const Case& c : Cases()) {
    EXPECT_EQ(StepText(c.step), c.text);
    EXPECT_EQ(Must(ParseStep(c.text)), c.step) << c.text;
  }
}

TEST(Step, NegativePrefetchDistanceIsAllowed) {
  EXPECT_EQ(Must(ParseStep("prefetch acc weight ici -64")).values, std::vector<int64_t>{-64});
}

TEST(Step, ListOfStepsSkipsEmptyLines) {
  EXPECT_EQ(StepsText(Must(ParseSteps("inline pad\n\n  vectorize out c\n"))), "inline pad\nvectorize out c\n");
}

TEST(Step, MistakesAreNamed) {
  struct Bad {
    const char* text;
    const char* says;
  };
  const Bad bad[] = {
      {"", "empty step"},
      {"vectorise out c", "did you mean `vectorize`"},
      {"split", "no stage"},
      {"split out c [4] -> a", "one more result than factors"},
      {"split out c [4 -> a b", "factors"},
      {"split out c [4,] -> a b c", "factors are integers"},
      {"split out c 4 -> a b", "factors are missing"},
      {"split out c [4] a b", "`->` is missing"},
      {"split out c [x] -> a b", "factors are integers"},
      {"fuse out a b", "`->` is missing"},
      {"fuse out a b -> c d", "one name"},
      {"vectorize out", "a name is missing"},
      {"vectorize out a b", "more words"},
      {"reorder out", "a name is missing"},
      {"prefetch acc w k far", "not a number"},
      {"compute_at acc out", "a name is missing"},
  };
  for (const Bad& b : bad) {
    Result<Step> step = ParseStep(b.text);
    ASSERT_FALSE(step.ok()) << b.text;
    EXPECT_EQ(step.status().kind(), StatusKind::kInvalid);
    EXPECT_THAT(step.status().message(), HasSubstr(b.says));
  }
  Result<std::vector<Step>> steps = ParseSteps("inline pad\n\ninlin pad\n");
  ASSERT_FALSE(steps.ok());
  EXPECT_EQ(steps.status().message().rfind("line 3:", 0), 0u) << steps.status().message();
}

}  // namespace
}  // namespace hone
