// OpenCL C written by this code runs on this machine's OpenCL device (usually PoCL's CPU) and gives the results of the
// interpreter, or of arithmetic in double precision.
#include <dlfcn.h>

#include "codegen/opencl/codegen.h"
#include "device_case.h"
#include "runtime/opencl/opencl_device.h"

namespace hone::device_test {
namespace {

Target OpenClTarget() { return Target{.kind = &OpenClKind()}; }

class OpenCl : public testing::Test {
 protected:
  void SetUp() override {
    auto device = runtime::OpenOpenClDevice();
    if (device.status().kind() == StatusKind::kNotFound) GTEST_SKIP() << device.status().message();
    ASSERT_TRUE(device.ok()) << device.status().message();
    device_ = std::move(*device);
  }

  std::vector<Bytes> Run(const ir::Function& f, const std::vector<Bytes>& args) {
    return RunOn(device_.get(), Must(codegen::CompileToOpenCl({f}, OpenClTarget())), f.name, args);
  }

  std::unique_ptr<runtime::Device> device_;
};

TEST_F(OpenCl, GuardedTailsAgreeWithTheInterpreter) {
  const std::vector<Bytes> args = {ToBytes(Ramp(258, 0.125f)), ToBytes(std::vector<float>(257, -1.0f))};
  EXPECT_EQ(Run(Stencil(), args), Interpret(Stencil(), args));
}

TEST_F(OpenCl, KernelsShareAWorkspace) {
  const std::vector<Bytes> args = {ToBytes(Ramp(64, 0.5f)), ToBytes(std::vector<float>(64, -1.0f))};
  EXPECT_EQ(Run(TwoKernels(), args), Interpret(TwoKernels(), args));
}

TEST_F(OpenCl, SharedTilesGiveTheProduct) {
  constexpr int64_t kM = 32, kN = 48, kK = 64;
  const std::vector<float> a = Ramp(kM * kK, 0.03125f), b = Ramp(kK * kN, -0.0625f);
  const auto got = Run(TiledProduct(kM, kN, kK), {ToBytes(a), ToBytes(b), ToBytes(std::vector<float>(kM * kN, NAN))});
  ASSERT_EQ(got.size(), 3U);
  const std::vector<float> c = FromBytes<float>(got[2]);
  for (int64_t i = 0; i < kM; ++i) {
    for (int64_t j = 0; j < kN; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < kK; ++k) sum += static_cast<double>(a[i * kK + k]) * static_cast<double>(b[k * kN + j]);
      ASSERT_NEAR(c[i * kN + j], sum, 1e-4 * (1 + std::abs(sum))) << i << ", " << j;
    }
  }
}

TEST_F(OpenCl, FunctionsOfFloatsAgreeWithTheInterpreter) {
  constexpr int64_t kSize = 97;
  const ir::Function f = MathFunctions(kSize);
  std::vector<Bytes> args{ToBytes(Ramp(kSize, 0.0371f))};
  for (size_t i = 1; i < f.params.size(); ++i) args.push_back(ToBytes(std::vector<float>(kSize, NAN)));
  const auto got = Run(f, args), want = Interpret(f, args);
  ASSERT_EQ(got.size(), want.size());
  for (size_t p = 1; p < want.size(); ++p) {
    const auto g = FromBytes<float>(got[p]), w = FromBytes<float>(want[p]);
    for (size_t i = 0; i < w.size(); ++i) {
      if (std::isinf(w[i])) {
        EXPECT_EQ(g[i], w[i]) << "parameter " << p << ", element " << i;
      } else {
        EXPECT_NEAR(g[i], w[i], 4e-6 * (1 + std::abs(w[i]))) << "parameter " << p << ", element " << i;
      }
    }
  }
}

// One step of a maximum and of a minimum, as reductions are lowered: b if b is NaN, else the one that keeps a's NaN.
TEST_F(OpenCl, NanStaysInASteppedMaximum) {
  const std::vector<float> a = {1, NAN, 3, NAN, -INFINITY, 2}, b = {2, 1, NAN, NAN, NAN, -INFINITY};
  const int64_t size = static_cast<int64_t>(a.size());
  const auto x = Argument("a", size), y = Argument("b", size);
  const auto most = Argument("most", size, true), least = Argument("least", size, true);
  ir::Var block("block"), i("i");
  const ir::Expr p = ir::MakeLoad(x, i), q = ir::MakeLoad(y, i);
  const auto step = [&](const ir::Buffer& out, const ir::Expr& value) {
    return ir::MakeStore(out, i, ir::MakeSelect(ir::Ne(q, q), q, value));
  };
  const ir::Stmt body = ir::MakeBlock({step(most, ir::Max(q, p)), step(least, ir::Min(q, p))});
  const ir::Function f{"stepped", {x, y, most, least}, Blocks(block, 1, Threads(i, size, body))};
  const Bytes empty = ToBytes(std::vector<float>(a.size(), 0.0f));
  const auto got = Run(f, {ToBytes(a), ToBytes(b), empty, empty});
  ASSERT_EQ(got.size(), 4U);
  const std::vector<float> larger = FromBytes<float>(got[2]), smaller = FromBytes<float>(got[3]);
  for (size_t k = 0; k < a.size(); ++k) {
    const bool nan = std::isnan(a[k]) || std::isnan(b[k]);
    EXPECT_TRUE(nan ? std::isnan(larger[k]) : larger[k] == std::max(a[k], b[k])) << k << ": " << larger[k];
    EXPECT_TRUE(nan ? std::isnan(smaller[k]) : smaller[k] == std::min(a[k], b[k])) << k << ": " << smaller[k];
  }
}

TEST_F(OpenCl, RandomProgramsAgreeWithTheInterpreter) {
  // One program for many functions, as compiling each separately would take most of the time.
  std::vector<ir::Function> functions;
  for (uint32_t seed = 0; seed < 40; ++seed) functions.push_back(RandomFunction(seed));
  auto artifact = Must(codegen::CompileToOpenCl(functions, OpenClTarget()));
  auto module = Must(device_->Load(artifact));
  std::vector<int64_t> in(48), out(48, 0);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int64_t>(i * 7 % 31);
  int wrote = 0;
  for (const ir::Function& f : functions) {
    const auto expected = Interpret(f, {ToBytes(in), ToBytes(out)});
    auto a = *device_->Allocate(48 * 8), b = *device_->Allocate(48 * 8);
    ASSERT_TRUE(device_->CopyIn(a.get(), in.data(), 48 * 8).ok());
    ASSERT_TRUE(device_->CopyIn(b.get(), out.data(), 48 * 8).ok());
    Must(module->Run(f.name, {a.get(), b.get()}));
    Bytes got(48 * 8);
    ASSERT_TRUE(device_->CopyOut(got.data(), *b, 48 * 8).ok());
    EXPECT_EQ(FromBytes<int64_t>(got), FromBytes<int64_t>(expected[1])) << f.name;
    wrote += expected[1] != ToBytes(out);
  }
  EXPECT_GT(wrote, 20) << "most programs store something";
}

TEST_F(OpenCl, TimesAreOfTheDevice) {
  auto artifact = Must(codegen::CompileToOpenCl({Stencil()}, OpenClTarget()));
  auto module = Must(device_->Load(artifact));
  auto in = *device_->Allocate(258 * 4), out = *device_->Allocate(257 * 4);
  const auto seconds = Must(module->Time("stencil", {}, {{in.get(), out.get()}, {in.get(), out.get()}}));
  EXPECT_GT(seconds, 0);
  EXPECT_LT(seconds, 60);
}

TEST_F(OpenCl, WhatDoesNotFitIsRefused) {
  auto artifact = Must(codegen::CompileToOpenCl({Stencil()}, OpenClTarget()));
  auto module = Must(device_->Load(artifact));
  auto in = *device_->Allocate(258 * 4), small = *device_->Allocate(256 * 4);
  EXPECT_EQ(module->Run("stencil", {in.get(), small.get()}).message(),
            "`stencil`: argument 1 (out) needs 1028 bytes, the buffer has 1024");
  EXPECT_EQ(module->Run("stencil", {in.get()}).message(), "`stencil` takes 2 arguments, 1 are given");
  EXPECT_EQ(module->Run("other", {}).message(), "the module has no entry point `other`");
  EXPECT_FALSE(device_->lost());
}

TEST_F(OpenCl, ABrokenProgramIsTheProgramsFault) {
  Artifact artifact{.format = "opencl-c"};
  artifact.bytes = "__kernel void f(__global float* a) { a[0] = undeclared; }";
  const Status broken = device_->Load(artifact).status();
  EXPECT_EQ(broken.kind(), StatusKind::kInvalid);
  EXPECT_THAT(broken.message(), HasSubstr("undeclared"));
  artifact.format = "cubin";
  EXPECT_EQ(device_->Load(artifact).status().message(), "OpenCL runs artifacts of format opencl-c, not cubin");
  EXPECT_FALSE(device_->lost());
}

// Many tests are skipped if Hone finds no device. Asks the loader without Hone's code.
TEST(NoOpenCl, IsSaidOnlyIfThereIsNoDevice) {
  void* library = dlopen("libOpenCL.so.1", RTLD_NOW | RTLD_LOCAL);
  uint32_t platforms = 0, devices = 0;
  if (library != nullptr) {
    const auto get_platforms = (int (*)(uint32_t, void**, uint32_t*))dlsym(library, "clGetPlatformIDs");
    const auto get_devices = (int (*)(void*, uint64_t, uint32_t, void**, uint32_t*))dlsym(library, "clGetDeviceIDs");
    void* all[16] = {};
    if (get_platforms(16, all, &platforms) != 0) platforms = 0;
    for (uint32_t i = 0; i < std::min(platforms, 16U); ++i) {
      uint32_t count = 0;
      if (get_devices(all[i], 2 + 4 + 8 /* CPU, GPU, accelerator */, 0, nullptr, &count) == 0) devices += count;
    }
  }
  EXPECT_EQ(runtime::DescribeOpenClDevice().status().kind() == StatusKind::kNotFound, devices == 0) << devices;
}

TEST(NoOpenCl, SaysWhatToInstall) {
  const Status status = runtime::DescribeOpenClDevice({"libNoSuchOpenCL.so.7"}).status();
  EXPECT_EQ(status.kind(), StatusKind::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("pocl-opencl-icd"));
}

TEST(NoOpenCl, LeavesTheListOfDriversToChildren) {
  setenv("OCL_ICD_FILENAMES", "first.so:second.so", 1);
  EXPECT_EQ(runtime::DescribeOpenClDevice({SPLITTING_OPENCL}).status().kind(), StatusKind::kNotFound);
  EXPECT_STREQ(getenv("OCL_ICD_FILENAMES"), "first.so:second.so");
  unsetenv("OCL_ICD_FILENAMES");
}

TEST(OpenClCode, LimitsOfTheTargetAreKept) {
  Target target = OpenClTarget();
  target.limits.shared_bytes_per_block = 2047;
  EXPECT_EQ(codegen::CompileToOpenCl({TiledProduct(16, 16, 16)}, target).status().message(),
            "kernel `product` needs 2048 bytes of shared memory in a block, the target has 2047");
  target = OpenClTarget();
  target.limits.max_threads_per_block = 95;
  EXPECT_EQ(codegen::CompileToOpenCl({Stencil()}, target).status().message(),
            "kernel `stencil` needs 96 threads in a block, the target has 95");
}

TEST(OpenClCode, Tf32IsRefused) {
  for (const bool rounds : {true, false}) {
    const Status status = codegen::CompileToOpenCl({WithTf32(rounds)}, OpenClTarget()).status();
    EXPECT_THAT(status.message(), HasSubstr("tf32 is for CUDA from sm_80 on"));
  }
}

}  // namespace
}  // namespace hone::device_test
