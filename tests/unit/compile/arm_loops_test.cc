// The default schedules' inner loops for AArch64 keep everything in registers.
#include "base/text.h"
#include "common/expect.h"
#include "compile/compile.h"
#include "propose/propose.h"
#include "target/arm_cores.h"

namespace hone::compile {
namespace {

struct Loop {
  size_t first, last;  // lines
};

// The loops that contain no other loop: from a label to a branch back to it.
std::vector<Loop> InnermostLoops(const std::vector<std::string>& lines) {
  std::map<std::string, size_t> labels;
  std::vector<Loop> loops;
  for (size_t i = 0; i < lines.size(); ++i) {
    const std::vector<std::string> words = SplitWords(lines[i]);
    if (words.empty()) continue;
    if (words[0].ends_with(":")) labels[words[0].substr(0, words[0].size() - 1)] = i;
    const bool branch = words[0] == "b" || words[0].starts_with("b.") || words[0].starts_with("cb");
    const auto to = labels.find(words.back());
    if (branch && to != labels.end()) loops.push_back({to->second, i});
  }
  const auto contains = [](const Loop& a, const Loop& b) { return a.first < b.first && b.last <= a.last; };
  std::vector<Loop> inner;
  for (const Loop& loop : loops) {
    if (std::ranges::none_of(loops, [&](const Loop& other) { return contains(loop, other); })) inner.push_back(loop);
  }
  return inner;
}

struct Counts {
  int multiply_adds = 0, stack = 0;
};

// Of the innermost loops with at least eight multiply-adds.
Counts CountIn(const std::string& workload, const std::string& cpu) {
  Target target = Must(Target::Parse("cpu -triple=aarch64-unknown-linux-gnu -threads=4 -vector=16 -cpu=" + cpu));
  target.features = ArmCoreFeatures(cpu).value();
  const Workload w = Must(op::ParseChecked(workload));
  const Candidate candidate = Must(propose::Instantiate(w, target, Must(propose::DefaultConfig(w, target))));
  const CompiledKernel kernel = Must(CompileKernel(w, target, candidate, {.keep_text = true}));
  const std::vector<std::string> lines = Split(kernel.assembly, '\n');
  Counts counts;
  for (const Loop& loop : InnermostLoops(lines)) {
    Counts of;
    for (size_t i = loop.first; i <= loop.last; ++i) {
      for (const char* name : {"\tfmla\t", "\tmla\t", "\tsdot\t", "\tusdot\t"})
        of.multiply_adds += lines[i].find(name) != std::string::npos;
      of.stack += lines[i].find("[sp") != std::string::npos;
    }
    if (of.multiply_adds < 8) continue;
    counts.multiply_adds += of.multiply_adds;
    counts.stack += of.stack;
  }
  return counts;
}

// The ten largest convolutions of ResNet-18, and others of MobileNet, SqueezeNet and VGG-16.
TEST(ArmLoops, DoNotUseTheStack) {
  const char* kFloat[] = {"conv2d(f32[1,3,224,224], f32[64,3,7,7], stride=2x2, pad=3,3,3,3, in=nchw) + bias + relu",
                          "conv2d(f32[1,64,56,56], f32[64,64,3,3], pad=1,1,1,1) + bias + relu",
                          "conv2d(f32[1,64,56,56], f32[64,64,3,3], pad=1,1,1,1) + bias + add + relu",
                          "conv2d(f32[1,64,56,56], f32[128,64,3,3], stride=2x2, pad=1,1,1,1) + bias + relu",
                          "conv2d(f32[1,128,28,28], f32[128,128,3,3], pad=1,1,1,1) + bias + relu",
                          "conv2d(f32[1,128,28,28], f32[256,128,3,3], stride=2x2, pad=1,1,1,1) + bias + relu",
                          "conv2d(f32[1,256,14,14], f32[256,256,3,3], pad=1,1,1,1) + bias + relu",
                          "conv2d(f32[1,256,14,14], f32[512,256,1,1], stride=2x2) + bias",
                          "conv2d(f32[1,256,14,14], f32[512,256,3,3], stride=2x2, pad=1,1,1,1) + bias + relu",
                          "conv2d(f32[1,512,7,7], f32[512,512,3,3], pad=1,1,1,1) + bias + relu",
                          "conv2d(f32[1,256,28,28], f32[256,256,1,1]) + bias + clip(0,6)",
                          "conv2d(f32[1,128,55,55], f32[16,128,1,1]) + bias + relu",
                          "conv2d(f32[1,64,224,224], f32[64,64,3,3], pad=1,1,1,1) + bias + relu",
                          "dense(f32[1,512], f32[1000,512]) + bias"};
  const char* kBytes[] = {
      "conv2d(u8[1,3,224,224], i8[64,3,7,7], u8[1], stride=2x2, pad=3,3,3,3, in=nchw) + bias + requant(u8)",
      "conv2d(u8[1,64,56,56], i8[64,64,3,3], u8[1], pad=1,1,1,1) + bias + requant(u8)",
      "conv2d(i8[1,64,56,56], i8[64,64,3,3], pad=1,1,1,1) + bias + requant(i8)",
      "conv2d(u8[1,128,28,28], i8[256,128,3,3], u8[1], stride=2x2, pad=1,1,1,1) + bias + requant(u8)",
      "conv2d(u8[1,512,7,7], i8[512,512,3,3], u8[1], pad=1,1,1,1) + bias + add(u8) + requant(u8)",
      "conv2d(u8[1,256,28,28], i8[256,256,1,1], u8[1]) + bias + requant(u8)"};
  const auto expect = [](const std::string& workload, const std::string& cpu) {
    const Counts counts = CountIn(workload, cpu);
    EXPECT_GE(counts.multiply_adds, 16) << workload << " " << cpu;
    EXPECT_EQ(counts.stack, 0) << workload << " " << cpu;
  };
  for (const char* cpu : {"cortex-a53", "cortex-a72", "neoverse-n1"}) {
    for (const char* workload : kFloat) expect(workload, cpu);
  }
  for (const char* cpu : {"cortex-a53", "cortex-a76", "neoverse-v1"}) {
    for (const char* workload : kBytes) expect(workload, cpu);
  }
}

}  // namespace
}  // namespace hone::compile
