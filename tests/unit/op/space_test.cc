// Spaces of the tunable operators: index <-> config, legality, defaults.
#include "base/rng.h"
#include "common/expect.h"
#include "op/operator.h"
#include "propose/propose.h"

namespace hone::op {
namespace {

Target Cpu(int vector_bytes, int registers, int threads) {
  return Target{.threads = threads, .vector_bytes = vector_bytes, .vector_registers = registers};
}

const std::vector<const char*>& Workloads() {
  static const std::vector<const char*> list = {
      "conv2d(f32[1,64,56,56], f32[64,64,3,3], pad=1) + bias + relu",
      "conv2d(f32[1,128,28,28], f32[128,128,3,3], pad=1)",
      "conv2d(f32[1,256,14,14], f32[256,256,3,3], pad=1)",
      "conv2d(f32[1,512,7,7], f32[512,512,3,3], pad=1)",
      "conv2d(f32[1,256,14,14], f32[512,256,3,3], stride=2, pad=1)",
      "conv2d(f32[1,64,56,56], f32[128,64,1,1], stride=2)",
      "conv2d(f32[1,256,56,56], f32[64,256,1,1])",
      "conv2d(f32[1,3,224,224], f32[64,3,7,7], stride=2, pad=3, in=nchw)",
      "conv2d(f32[1,1,1,1], f32[1,1,1,1])",
      "conv2d(f32[1,13,3,1], f32[7,13,3,1], pad=2,0,0,0)",
      "conv2d(f32[1,96,28,28], f32[96,1,3,3], pad=1, groups=96)",
      "conv2d(f32[1,64,7,7], f32[64,32,3,3], pad=1, groups=2)",
      "conv2d(f32[1,512,14,14], f32[256,512,3,3], pad=12, dilation=12)",
      "conv2d(f32[1,16,60,1], f32[16,16,3,1], pad=24,0,24,0, dilation=24x1)",
      "dense(f32[1,512], f32[1000,512])",
      "dense(f32[7,13], f32[3,13])",
  };
  return list;
}

TEST(Space, EveryLayerHasADefaultAndLegalPointsForAnyMachine) {
  for (const Target& target : {Cpu(64, 32, 2), Cpu(64, 32, 1), Cpu(32, 16, 4), Cpu(16, 32, 3), Cpu(64, 32, 64)}) {
    for (const char* text : Workloads()) {
      SCOPED_TRACE(std::string(text) + " threads " + std::to_string(target.threads));
      Workload w = *ParseChecked(text);
      search::TaskSpace space = *propose::MakeTaskSpace(w, target);
      Config config = Must(propose::DefaultConfig(w, target));
      std::optional<std::string> why = space.Reject(config.index);
      EXPECT_FALSE(why.has_value()) << *why;
      Rng rng(3);
      for (int i = 0; i < 20; ++i) {
        std::optional<PointIndex> index = space.SampleLegal(rng);
        ASSERT_TRUE(index.has_value());
        Config point = space.At(*index);
        PointIndex back = Must(space.IndexOf(point));
        EXPECT_EQ(back, *index);
        EXPECT_TRUE(propose::Instantiate(w, target, point).ok());
      }
    }
  }
}

TEST(Space, FirstKnobIsTheLeastSignificantDigit) {
  Workload w = *ParseChecked(Workloads()[0]);
  search::TaskSpace space = *propose::MakeTaskSpace(w, Cpu(64, 32, 2));
  // 56 columns in even parts of at most 29.
  const std::vector<search::Knob>& knobs = space.spaces()[0].knobs();
  ASSERT_EQ(knobs[0].name(), "rows");
  ASSERT_EQ(knobs[1].name(), "outer_rows");
  const auto size = static_cast<PointIndex>(knobs[0].size());
  EXPECT_EQ(space.At(0).Number("rows"), 28);
  EXPECT_EQ(space.At(1).Number("rows"), 19);
  EXPECT_EQ(space.At(2).Number("rows"), 14);
  EXPECT_EQ(space.At(size).Number("rows"), 28);
  EXPECT_EQ(space.At(size - 1).Number("outer_rows"), 1);
  EXPECT_EQ(space.At(size).Number("outer_rows"), 2);
}

// The default point with some decisions changed, and the rule that must reject it.
TEST(Space, RulesNameThemselves) {
  const Workload w = *ParseChecked(Workloads()[0]);
  const Target target = Cpu(64, 32, 2);
  const search::TaskSpace space = *propose::MakeTaskSpace(w, target);
  const Config good = *propose::DefaultConfig(w, target);
  ASSERT_EQ(good.template_name, "sums");
  const auto with = [&](const std::vector<std::pair<const char*, int64_t>>& numbers, const char* order = nullptr) {
    Config c = good;
    for (KnobValue& v : c.values) {
      for (auto [name, number] : numbers) {
        if (v.name == name) v.numbers = {number};
      }
      if (order && v.name == "order") v.words = {order};
    }
    return space.spaces()[0].Reject(c).value_or("legal");
  };
  EXPECT_EQ(with({}), "legal");
  EXPECT_THAT(with({{"rows", 28}, {"outer_rows", 2}}), StartsWith("registers:"));
  EXPECT_THAT(with({{"rows", 1}, {"outer_rows", 1}, {"vectors", 1}}), StartsWith("cycles:"));
  EXPECT_THAT(with({{"block_rows", 56}, {"block_vectors", 4}}), StartsWith("parallel:"));
  EXPECT_THAT(with({{"block_rows", 28}, {"outer_rows", 4}}), StartsWith("block:"));
  EXPECT_THAT(with({{"block_rows", 4}, {"outer_rows", 7}, {"rows", 2}, {"vectors", 2}}), "legal");
  EXPECT_THAT(with({{"rows", 6}, {"outer_rows", 1}, {"vectors", 4}, {"block_vectors", 4}}, "vectors"),
              StartsWith("order:"));
}

TEST(Space, SizesAreWhatASearchCanHandle) {
  for (size_t i = 0; i < 4; ++i) {
    Workload w = *ParseChecked(Workloads()[i]);
    const search::TaskSpace space = Must(propose::MakeTaskSpace(Must(propose::ProposersOf(w, Cpu(64, 32, 2)))));
    const std::optional<std::vector<PointIndex>> legal = space.LegalIndices(4000000);
    ASSERT_TRUE(legal.has_value());
    EXPECT_GT(legal->size(), 300u) << Workloads()[i];
    EXPECT_LT(legal->size(), 100000u) << Workloads()[i];
  }
}

TEST(Space, ForeignOrDamagedConfigsAreRefused) {
  Workload w = *ParseChecked(Workloads()[0]);
  Target target = Cpu(64, 32, 2);
  Config c = *propose::DefaultConfig(w, target);
  Config other = c;
  other.template_name = "sms";
  Result<Candidate> r = propose::Instantiate(w, target, other);
  EXPECT_THAT(r.status().message(), HasSubstr("did you mean `sums`"));
  other = c;
  other.values.pop_back();
  EXPECT_FALSE(propose::Instantiate(w, target, other).ok());
  other = c;
  other.values[0].numbers = {17};
  EXPECT_FALSE(propose::Instantiate(w, target, other).ok());
}

TEST(Space, ASpaceThatIsKeptGivesTheSameCandidates) {
  const Workload w = *ParseChecked(Workloads()[0]);
  const Target target = Cpu(64, 32, 2);
  const propose::Proposers proposers = *propose::AllProposers(w, target);
  const search::TaskSpace space = *propose::MakeTaskSpace(proposers);
  Rng rng(1);
  for (int i = 0; i < 20; ++i) {
    const Config config = space.At(*space.SampleLegal(rng));
    EXPECT_EQ(*propose::Instantiate(proposers, space, config), *propose::Instantiate(w, target, config))
        << config.Text();
  }
  PointIndex rejected = 0;
  while (!space.Reject(rejected)) ++rejected;
  Config bad[] = {*propose::DefaultConfig(w, target), *propose::DefaultConfig(w, target), space.At(rejected)};
  bad[0].template_name = "conv2d_dirct";
  bad[1].values.pop_back();
  for (const Config& config : bad) {
    EXPECT_EQ(propose::Instantiate(proposers, space, config).status().message(),
              propose::Instantiate(w, target, config).status().message());
    EXPECT_FALSE(propose::Instantiate(proposers, space, config).ok());
  }
}

}  // namespace
}  // namespace hone::op
