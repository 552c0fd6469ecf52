// Plugins: the example's operator on CPUs and GPUs, and what is rejected.
#include "plugin/plugin.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "common/expect.h"
#include "propose/propose.h"
#include "unit/op/gpu_case.h"
#include "unit/op/kernel_case.h"

namespace hone::plugin {
namespace {

using op::FindOperator;
using op::ParseChecked;

std::string PluginFile(const std::string& name) { return std::string(HONE_PLUGINS) + "/" + name; }

TEST(Plugin, TheExampleRunsOnCpus) {
  Must(Load(PluginFile("rgb_to_yuv.so")));
  ASSERT_TRUE(Load(PluginFile("rgb_to_yuv.so")).ok()) << "again is nothing";
  EXPECT_EQ(LoadedFiles().size(), 1U);
  EXPECT_EQ(op::PluginOf("rgb_to_yuv"), LoadedFiles()[0]);
  EXPECT_EQ(op::PluginOf("relu"), "");
  Target target = *HostTarget();
  target.threads = 2;
  runtime::ThreadPool pool = *runtime::ThreadPool::Create(2, false);
  for (const char* text : {"rgb_to_yuv(f32[16,32,3])", "rgb_to_yuv(f32[7,13,3])", "rgb_to_yuv(f32[1,1,3])",
                           "rgb_to_yuv_planes(f32[3,16,32])", "rgb_to_yuv_planes(f32[3,7,13])"}) {
    const Workload w = Must(ParseChecked(text));
    EXPECT_TRUE(propose::Tunable(w, target));
    const search::TaskSpace space = *propose::MakeTaskSpace(w, target);
    testing::OperandData data = *testing::MakeOperandData(w, target, 3);
    int legal = 0;
    for (uint64_t index = 0; index < space.size(); index += 3) {
      if (space.Reject(index)) continue;
      ++legal;
      testing::KernelCase kernel = Must(testing::KernelCase::Create(w, target, space.At(index), &pool));
      ASSERT_TRUE(kernel.Load(data).ok());
      kernel.Run();
      (*FindOperator(w))->Reference(w, target, data.Pointers());
      EXPECT_LT(testing::Compare(data.values.back(), kernel.output()).worst, 1e-5) << space.At(index).Text();
    }
    EXPECT_GT(legal, 0);
  }
  // Without a template, the schedules are derived.
  const propose::Proposers derived = *propose::AllProposers(*ParseChecked("rgb_to_yuv_planes(f32[3,16,32])"), target);
  ASSERT_EQ(derived.size(), 1U);
  EXPECT_EQ(derived[0].name(), "stages");
  // By hand: pure green.
  const Workload one = *ParseChecked("rgb_to_yuv(f32[1,1,3])");
  std::vector<float> rgb = {0, 1, 0}, yuv(3);
  (*FindOperator(one))->Reference(one, target, {rgb.data(), yuv.data()});
  EXPECT_FLOAT_EQ(yuv[0], 0.504F);
  EXPECT_FLOAT_EQ(yuv[1], -0.291F);
  EXPECT_FLOAT_EQ(yuv[2], -0.368F);
  const Workload planes = *ParseChecked("rgb_to_yuv_planes(f32[3,1,1])");
  (*FindOperator(planes))->Reference(planes, target, {rgb.data(), yuv.data()});
  EXPECT_FLOAT_EQ(yuv[1], -0.291F);
}

TEST(Plugin, TheExampleRunsOnGpus) {
  ASSERT_TRUE(Load(PluginFile("rgb_to_yuv.so")).ok());
  const Target target = *Target::Parse("opencl -threads=256");
  const Workload w = *ParseChecked("rgb_to_yuv(f32[7,23,3])");
  const search::TaskSpace space = *propose::MakeTaskSpace(w, target);
  int legal = 0;
  for (uint64_t index = 0; index < space.size(); ++index) {
    if (space.Reject(index)) continue;
    EXPECT_EQ(testing::CheckGpu(w, target, space.At(index), index), "");
    ++legal;
  }
  EXPECT_EQ(legal, 12) << "32 .. 256 threads, 1 .. 4 pixels";
  // Without a template for GPUs, its sketch is tuned.
  const Workload planes = *ParseChecked("rgb_to_yuv_planes(f32[3,7,24])");
  const search::TaskSpace points = *propose::MakeTaskSpace(planes, target);
  ASSERT_TRUE(propose::Tunable(planes, target));
  for (uint64_t index = 0; index < points.size(); ++index) {
    if (points.Reject(index)) continue;
    EXPECT_EQ(testing::CheckGpu(planes, target, points.At(index), index), "");
  }
}

TEST(Plugin, ItsOwnMistakesAreToldInOneLine) {
  ASSERT_TRUE(Load(PluginFile("rgb_to_yuv.so")).ok());
  const auto check = [](const char* text) { return ParseChecked(text).status().message(); };
  EXPECT_THAT(check("rgb_to_yuv(f32[4,4,4])"), HasSubstr("takes an image [height, width, 3]"));
  EXPECT_THAT(check("rgb_to_yuv(f32[4,4,3], gamma=2)"), HasSubstr("gamma"));
  EXPECT_THAT(check("rgb_to_yuvs(f32[4,4,3])"), HasSubstr("did you mean `rgb_to_yuv`"));
}

TEST(Plugin, WhatIsNoneOrStaleOrThrowsIsRefused) {
  struct Case {
    const char* file;
    StatusKind kind;
    const char* message;
  };
  for (const Case& c : {Case{"none.so", StatusKind::kNotFound, "no such plugin; build it"},
                        Case{"stranger.so", StatusKind::kInvalid, "but no plugin of Hone"},
                        Case{"stale.so", StatusKind::kUnsupported, "another version; build it again"},
                        Case{"throws.so", StatusKind::kInvalid, "threw an exception while it was loaded: no memory"},
                        Case{"taken.so", StatusKind::kInvalid, "there is an operator `relu` already (Hone's own)"},
                        Case{"empty.so", StatusKind::kInvalid, "operator `hollow` has no definition.shape"},
                        Case{"hollow_rule.so", StatusKind::kInvalid, "rule `hollow` has no derive"},
                        Case{"taken_rule.so", StatusKind::kInvalid, "there is a rule `sums` already"},
                        Case{"taken_template.so", StatusKind::kInvalid, "there is a template `dense_packed` already"}}) {
    const Status status = Load(PluginFile(c.file));
    EXPECT_EQ(status.kind(), c.kind) << c.file << ": " << status.message();
    EXPECT_THAT(status.message(), HasSubstr(c.file));
    EXPECT_THAT(status.message(), HasSubstr(c.message));
    EXPECT_THAT(status.message(), Not(HasSubstr("\n")));
  }
  const TempDir dir = *TempDir::Create();
  ASSERT_TRUE(WriteFileAtomic(dir.Join("text.so"), "no library").ok());
  EXPECT_THAT(Load(dir.Join("text.so")).message(), HasSubstr("cannot be loaded"));
  // The loader died on a truncated library.
  const std::string whole = *ReadFile(PluginFile("lazy.so")), cut = dir.Join("cut.so");
  for (const size_t size : {size_t{100}, size_t{4000}, whole.size() / 2}) {
    ASSERT_TRUE(WriteFileAtomic(cut, whole.substr(0, size)).ok());
    EXPECT_EQ(Load(cut).message(), cut + ": this library is cut off; build or copy it again") << size;
  }
}

TEST(Plugin, ExceptionsOfItsFunctionsBecomeFailures) {
  Must(Load(PluginFile("lazy.so")));
  const Target target = *HostTarget();
  EXPECT_THAT(ParseChecked("lazy(f32[13])").status().message(), HasSubstr("thirteen"));
  const Workload w = *ParseChecked("lazy(f32[12])");
  const Status space = propose::MakeTaskSpace(w, target).status();
  EXPECT_THAT(space.message(), HasSubstr("template `lazy_cpu` threw an exception: no space"));
  const op::Template* t = (*FindOperator(w))->Templates(w, target)[0];
  EXPECT_THAT(t->Instantiate(w, target, Config()).status().message(), HasSubstr("of an unknown type"));
  EXPECT_THAT(op::Compute(w, target, {}).status().message(), HasSubstr("operator `lazy` threw"));
}

TEST(Plugin, AChildIsToldWhichToLoad) {
  std::string flag = "--plugin", file = PluginFile("rgb_to_yuv.so"), other = "--plug";
  char* good[] = {flag.data(), file.data()};
  EXPECT_TRUE(LoadArguments(2, good).ok());
  char* bad[] = {other.data(), file.data()};
  EXPECT_FALSE(LoadArguments(2, bad).ok());
  EXPECT_FALSE(LoadArguments(1, good).ok());
}

// Somebody else's task or graph names a library: its code must not run.
TEST(Plugin, NamedByAFileItMustBeTrusted) {
  auto dir = Must(TempDir::Create());
  const std::string own = PluginFile("rgb_to_yuv.so"), copy = dir.Join("copy.so");
  const std::string bytes = *ReadFile(own);
  ASSERT_TRUE(WriteFileAtomic(copy, bytes).ok());
  const size_t before = LoadedFiles().size();
  const auto refused = [&](const std::string& path, const std::string& digest, const char* part) {
    const Status status = LoadNamed(path, digest);
    EXPECT_EQ(status.kind(), StatusKind::kInvalid) << status.message();
    EXPECT_THAT(status.message(), HasSubstr(part));
  };
  refused("rgb_to_yuv.so", "", "by its whole path");
  refused("../plugins/rgb_to_yuv.so", "", "by its whole path");
  ASSERT_EQ(chmod(copy.c_str(), 0666), 0);
  refused(copy, "", "can be written by everybody");
  ASSERT_EQ(chmod(copy.c_str(), 0644), 0);
  refused(copy, "00", "another one than when the file was written");
  EXPECT_EQ(LoadNamed(dir.Join("none.so"), "").kind(), StatusKind::kNotFound);
  EXPECT_EQ(LoadedFiles().size(), before);
  EXPECT_TRUE(LoadNamed(own, Digest128(bytes).Hex()).ok())
      << LoadNamed(own, Digest128(bytes).Hex()).message();
}

TEST(Plugin, ALinkToAnotherUsersFileDoesNotMakeItOurs) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  auto dir = Must(TempDir::Create());
  const std::string copy = dir.Join("copy.so"), link = dir.Join("link.so");
  ASSERT_TRUE(WriteFileAtomic(copy, *ReadFile(PluginFile("rgb_to_yuv.so"))).ok());
  ASSERT_EQ(chmod(copy.c_str(), 0644), 0);
  ASSERT_EQ(chown(copy.c_str(), 65534, 65534), 0);
  ASSERT_EQ(symlink(copy.c_str(), link.c_str()), 0);
  const size_t before = LoadedFiles().size();
  const Status status = LoadNamed(link, "");
  EXPECT_EQ(status.kind(), StatusKind::kInvalid) << status.message();
  EXPECT_THAT(status.message(), HasSubstr("belongs to another user"));
  EXPECT_EQ(LoadedFiles().size(), before);
}

}  // namespace
}  // namespace hone::plugin
