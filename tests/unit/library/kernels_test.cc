// A library's kernels are built from the algorithm and steps in a best file: the template that proposed them may be
// gone.
#include "library/kernels.h"

#include "base/hash.h"
#include "base/rng.h"
#include "common/expect.h"
#include "op/operator.h"
#include "propose/propose.h"

namespace hone::library {
namespace {

constexpr const char* kLayers[] = {
    "conv2d(f32[1,32,14,14], f32[32,32,3,3], pad=1,1,1,1) + bias + relu",
    "conv2d(f32[1,32,14,14], f32[32,32,3,3], pad=1,1,1,1) + relu -> max_pool2d(f32[1,32,14,14], kernel=2x2, "
    "stride=2x2)",
    "conv2d(f32[1,32,9,9], f32[32,1,3,3], pad=1,1,1,1, groups=32)",
    "dense(f32[3,40], f32[24,40]) + bias",
};

// An entry for a point of the workload's last template or sketch, which is Winograd if there is one.
pipeline::BestEntry Entry(const Workload& workload, const Target& target) {
  const search::Space space = *propose::ProposersOf(workload, target)->back().MakeSpace();
  Rng rng(1);
  pipeline::BestEntry entry{{}, TaskId(workload, target.Text()), workload.Text(), pipeline::BestSource::kTuned};
  entry.config = space.At(*space.SampleLegal(rng));
  entry.candidate = *propose::Instantiate(workload, target, *entry.config);
  return entry;
}

TEST(Kernels, AreBuiltWithoutTheTemplateThatProposedThem) {
  const Target target = *HostTarget();
  std::vector<Workload> workloads;
  pipeline::BestFile with{"net", target.Text(), {}, std::nullopt}, without = with;
  int winograd = 0;
  for (const char* layer : kLayers) {
    workloads.push_back(*op::ParseChecked(layer));
    with.tasks.push_back(Entry(workloads.back(), target));
    winograd += with.tasks.back().candidate->algorithm.name == "winograd";
    without.tasks.push_back(with.tasks.back());
    without.tasks.back().config->template_name = "of_long_ago";
    with.tasks.back().candidate.reset();
  }
  EXPECT_EQ(winograd, 2);
  const auto known = Must(CompileKernels(workloads, target, &with, 1));
  const auto gone = Must(CompileKernels(workloads, target, &without, 1));
  for (size_t i = 0; i < workloads.size(); ++i) {
    EXPECT_EQ(known[i].compiled.object, gone[i].compiled.object) << kLayers[i];
    EXPECT_EQ(known[i].compiled.rounding, gone[i].compiled.rounding) << kLayers[i];
    EXPECT_EQ(known[i].steps_digest, gone[i].steps_digest) << kLayers[i];
    // The digest in a best file of the same candidate (command/pick_best/finalists.cc), including the algorithm.
    EXPECT_EQ(gone[i].steps_digest, Digest128(without.tasks[i].candidate->Text()).Hex()) << kLayers[i];
  }
}

// Libraries and trials use different symbols.
TEST(Kernels, AreComparedWithWhatWasMeasured) {
  for (const Target& target : {*HostTarget(), *Target::Parse("opencl -threads=256 -block=256x256x64 -shared=32768")}) {
    const Workload workload = *op::ParseChecked(kLayers[3]);
    pipeline::BestEntry entry = Entry(workload, target);
    const auto measured = Must(compile::CompileKernel(workload, target, *entry.candidate, {}));
    const auto own = Must(compile::CompileKernel(workload, target, *entry.candidate, {.symbol = "hone_k1"}));
    for (const bool changed : {false, true}) {
      entry.artifact_digest = changed ? "0123" : compile::ArtifactDigest(measured);
      const pipeline::BestFile best{"net", target.Text(), {entry}, std::nullopt};
      const NetworkKernel second = Must(CompileKernels({workload, workload}, target, &best, 1)).at(1);
      EXPECT_EQ(second.changed, changed);
      EXPECT_EQ(second.artifact_digest, compile::ArtifactDigest(measured));
      EXPECT_EQ(second.compiled.kernel.symbol, "hone_k1");
      EXPECT_EQ(EntriesText({second.compiled.kernel}), EntriesText({own.kernel}));
      if (target.kind == &OpenClKind()) {
        EXPECT_EQ(second.compiled.object, own.object);
      }
    }
  }
}

TEST(Kernels, NameTheTaskThatCannotBeBuilt) {
  const Target target = *HostTarget();
  const std::vector<Workload> workloads = {*op::ParseChecked(kLayers[0])};
  const auto refusal = [&](const pipeline::BestEntry& entry) {
    const pipeline::BestFile best{"net", target.Text(), {entry}, std::nullopt};
    return CompileKernels(workloads, target, &best, 1).status().message();
  };
  const pipeline::BestEntry good = Entry(workloads[0], target);
  pipeline::BestEntry entry = good;
  entry.candidate->algorithm.name = "winograt";
  EXPECT_THAT(refusal(entry), HasSubstr(good.id));
  EXPECT_THAT(refusal(entry), HasSubstr("no algorithm `winograt`"));
  entry = good;
  entry.candidate->steps.push_back(Unroll("nowhere", "x"));
  EXPECT_THAT(refusal(entry), HasSubstr("no stage `nowhere`"));
  entry = good;
  entry.candidate->steps.insert(entry.candidate->steps.begin(),
                                Relayout("weight", {"d0/999999", "d1", "d2", "d3", "d0%999999"}, "large"));
  EXPECT_THAT(refusal(entry), HasSubstr("the parts of d0 take 1 * 999999 of its 32 indices"));
  entry = good;
  entry.candidate.reset();
  entry.config->template_name = "of_long_ago";
  EXPECT_THAT(refusal(entry), HasSubstr("no template or sketch `of_long_ago`"));
}

}  // namespace
}  // namespace hone::library
