// CUDA C and NVRTC's output. No GPU: OpenCL, which prints the same statements, checks what they compute.
#include <dlfcn.h>
#include <elf.h>

#include "common/nvrtc.h"
#include "device_case.h"

namespace hone::device_test {
namespace {

using codegen::CompileToCuda;
using codegen::CudaCode;

// Reads the cubin itself, not the log that the tested code reads: attribute 0x2f of the section .nv.info holds pairs of
// a symbol's number and its registers. (https://docs.nvidia.com/cuda/cuda-binary-utilities; the numbers are those of
// `cuobjdump -elf`.)
std::map<std::string, uint32_t> RegistersIn(const std::string& cubin) {
  std::map<std::string, uint32_t> registers;
  const char* base = cubin.data();
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(base);
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(base + header->e_shoff);
  const char* names = base + sections[header->e_shstrndx].sh_offset;
  const Elf64_Sym* symbols = nullptr;
  const char* strings = nullptr;
  for (int i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB) continue;
    symbols = reinterpret_cast<const Elf64_Sym*>(base + sections[i].sh_offset);
    strings = base + sections[sections[i].sh_link].sh_offset;
  }
  for (int i = 0; i < header->e_shnum; ++i) {
    if (strcmp(names + sections[i].sh_name, ".nv.info") != 0) continue;
    const auto* at = reinterpret_cast<const unsigned char*>(base + sections[i].sh_offset);
    const auto* end = at + sections[i].sh_size;
    while (at + 4 <= end) {
      const int format = at[0], attribute = at[1];
      const int size = at[2] + 256 * at[3];
      at += 4;
      if (format != 4) continue;  // no payload behind these four bytes
      if (attribute == 0x2f && size == 8) {
        uint32_t pair[2];
        memcpy(pair, at, 8);
        registers[strings + symbols[pair[0]].st_name] = pair[1];
      }
      at += size;
    }
  }
  return registers;
}

TEST(CudaText, OfAGuardedStencil) {
  auto code = Must(codegen::WriteCuda({Stencil()}, CudaTarget("sm_90")));
  EXPECT_EQ(code.source, R"(extern "C" __global__ void __launch_bounds__(96, 1)
stencil(const float* __restrict__ in, float* __restrict__ out) {
  const int block = blockIdx.x;
  const int thread = threadIdx.x;
  if (block * 96 + thread < 257) {
    out[block * 96 + thread] = in[block * 96 + thread] * 1.5f + in[block * 96 + thread + 1];
  }
}
)");
}

// The function that OpenCL runs correctly (opencl_test.cc), in the other dialect: 32-bit indices, vector accesses, and
// sums in registers because their loops are unrolled.
TEST(CudaText, OfATiledProduct) {
  const std::string source = Must(codegen::WriteCuda({TiledProduct(32, 48, 64)}, CudaTarget("sm_90"))).source;
  for (const char* part : {
           "product(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C) {\n"
           "  __shared__ __align__(16) float A_shared[256];\n",
           "  float sums[8];\n  #pragma unroll\n  for (int i = 0; i < 2; ++i) {\n    #pragma unroll\n",
           "  #pragma unroll 1\n  for (int step_ = 0; step_ < 4; ++step_) {\n    __syncthreads();\n"
           "    const float4 A_v = *(const float4*)(A + (blockIdx_y * 16 + ((threadIdx_y * 4 + threadIdx_x) * 4 >> 4)) "
           "* 64 + step_ * 16 + ((threadIdx_y * 4 + threadIdx_x) * 4 & 15));\n"
           "    *(float4*)(A_shared + (threadIdx_y * 4 + threadIdx_x) * 4) = make_float4(A_v.x, A_v.y, A_v.z, "
           "A_v.w);\n",
           "    *(float4*)(C + (blockIdx_y * 16 + threadIdx_y * 2 + i_2) * 48 + blockIdx_x * 16 + threadIdx_x * 4) = "
           "make_float4(sums[i_2 * 4], sums[i_2 * 4 + 1], sums[i_2 * 4 + 2], sums[i_2 * 4 + 3]);\n",
       }) {
    EXPECT_THAT(source, HasSubstr(part));
  }
}

TEST(CudaText, Tf32IsOfDevicesThatHaveIt) {
  for (const bool rounds : {true, false}) {
    const std::string name = rounds ? "tf32" : "mma_tf32";
    auto code = Must(codegen::WriteCuda({WithTf32(rounds)}, CudaTarget("sm_80")));
    EXPECT_THAT(code.source, HasSubstr("hone_" + name + "("));
    const Status older = codegen::WriteCuda({WithTf32(rounds)}, CudaTarget("sm_75")).status();
    EXPECT_THAT(older.message(), HasSubstr(name + " is for CUDA from sm_80 on"));
  }
}

// Many tests are skipped if Hone finds no NVRTC. Asks the loader without Hone's code.
TEST(NoNvrtc, IsSaidOnlyIfNoneCanBeLoaded) {
  for (const std::string folder : {"", "/usr/local/cuda/lib64/", "/usr/local/cuda/lib/"}) {
    for (const char* name : {"libnvrtc.so.12", "libnvrtc.so.13"}) {
      if (dlopen((folder + name).c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) continue;
      EXPECT_NE(codegen::NvrtcVersion("sm_90").status().kind(), StatusKind::kNotFound) << folder << name;
    }
  }
}

class CudaFor : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (const std::string why = NoNvrtcFor(arch_); !why.empty()) GTEST_SKIP() << why;
  }
  const std::string arch_ = GetParam();
};
INSTANTIATE_TEST_SUITE_P(Archs, CudaFor, testing::Values("sm_61", "sm_70", "sm_75", "sm_80", "sm_90"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(CudaFor, KernelsCompileWithoutAWarning) {
  std::vector<ir::Function> functions = {Stencil(), TwoKernels(), TiledProduct(32, 48, 64), MathFunctions(97)};
  for (uint32_t seed = 0; seed < 10; ++seed) functions.push_back(RandomFunction(seed));
  const auto code = Must(CompileToCuda(functions, CudaTarget(arch_), {.warnings_fail = true}));
  EXPECT_EQ(code.artifact.format, "cubin");
  EXPECT_THAT(code.artifact.bytes, StartsWith("\x7f"
                                              "ELF"));
}

class Cuda : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = NoNvrtcFor("sm_90"); !why.empty()) GTEST_SKIP() << why;
  }
};

TEST_F(Cuda, RegistersAreTheCubins) {
  const auto code = Must(CompileToCuda({TiledProduct(32, 48, 64), TwoKernels()}, CudaTarget("sm_90")));
  ASSERT_EQ(code.resources.size(), 3U);
  const auto registers = RegistersIn(code.artifact.bytes);
  for (const codegen::KernelResources& r : code.resources) {
    ASSERT_EQ(registers.count(r.symbol), 1U) << r.symbol;
    EXPECT_EQ(r.registers, registers.at(r.symbol)) << r.symbol;
    EXPECT_GE(r.registers, 8);
    EXPECT_EQ(r.spill_bytes, 0);
    EXPECT_EQ(r.stack_bytes, 0) << r.symbol << ": its array is in registers";
  }
  EXPECT_EQ(code.resources[0].shared_bytes, 2 * 16 * 16 * 4);
  EXPECT_EQ(code.resources[1].shared_bytes, 0);
}

TEST_F(Cuda, SpillsAreSeen) {
  // 160 sums per thread of 1024 threads, with 64 registers for each thread.
  constexpr int64_t kSums = 160;
  const DType f32 = DType::Float(32);
  auto in = Argument("in", 2048 * 8), out = Argument("out", 1024 * kSums, true);
  auto sums = ir::Buffer::Make("sums", f32, kSums, ir::Scope::kRegister);
  ir::Var t("tx"), i("i"), j("j"), k("k"), r("r");
  const auto over = [&](const ir::Var& v, int64_t n, ir::Stmt body) {
    return ir::MakeFor(v, 0, ir::Expr(n), ir::ForKind::kSerial, std::move(body));
  };
  const ir::Expr at = ir::Expr(t) + ir::Expr(r) * 7;
  const ir::Stmt body = ir::MakeBlock(
      {over(i, kSums, ir::MakeStore(sums, i, ir::Imm(f32, 0))),
       over(r, 1000,
            over(j, kSums,
                 ir::MakeStore(sums, j, ir::MakeLoad(sums, j) + ir::MakeLoad(in, at) * ir::MakeLoad(in, at + j)))),
       over(k, kSums, ir::MakeStore(out, ir::Expr(k) * 1024 + t, ir::MakeLoad(sums, k)))});
  const ir::Function f{"many", {in, out}, Blocks(ir::Var("bx"), 1, Threads(t, 1024, ir::MakeAllocate(sums, body)))};
  const auto code = Must(CompileToCuda({f}, CudaTarget("sm_90")));
  EXPECT_LE(code.resources[0].registers, 64);
  EXPECT_GT(code.resources[0].stack_bytes, (kSums - 64) * 4);
}

// A block has `floats` in each of two arrays; OpenCL runs it with fewer.
ir::Function Reverse(int64_t floats) {
  auto in = Argument("in", 64), out = Argument("out", 64, true);
  auto first = ir::Buffer::Make("first", DType::Float(32), floats, ir::Scope::kShared);
  auto second = ir::Buffer::Make("second", DType::Float(32), floats, ir::Scope::kShared);
  ir::Var t("tx");
  const int64_t step = floats / 64;
  const ir::Stmt body = ir::MakeBlock(
      {ir::MakeStore(first, ir::Expr(t) * step, ir::MakeLoad(in, t)),
       ir::MakeStore(second, ir::Expr(t) * step, ir::MakeLoad(in, t) + ir::MakeLoad(in, t)), ir::MakeBarrier(),
       ir::MakeStore(
           out, t, ir::MakeLoad(first, (ir::Expr(63) - t) * step) + ir::MakeLoad(second, (ir::Expr(63) - t) * step))});
  return {"reverse",
          {in, out},
          Blocks(ir::Var("bx"), 1, ir::MakeAllocate(first, ir::MakeAllocate(second, Threads(t, 64, body))))};
}

TEST(CudaText, MuchSharedMemoryIsGivenAtLaunch) {
  Target target = CudaTarget("sm_90");
  auto little = Must(codegen::WriteCuda({Reverse(6144)}, target));
  EXPECT_THAT(little.source, HasSubstr("__shared__ __align__(16) float second[6144];"));
  EXPECT_EQ(little.artifact.entries[0].launches[0].shared_bytes, 49152);
  EXPECT_EQ(little.artifact.entries[0].launches[0].dynamic_shared_bytes, 0);
  EXPECT_THAT(codegen::WriteCuda({Reverse(8192)}, target).status().message(), HasSubstr("shared memory"));
  target.limits.shared_bytes_per_block = CudaSharedBytes("sm_90");
  auto much = Must(codegen::WriteCuda({Reverse(29056)}, target));
  EXPECT_THAT(much.source, HasSubstr("extern __shared__ __align__(16) unsigned char hone_shared[];"));
  EXPECT_THAT(much.source, HasSubstr("float* const first = (float*)(hone_shared + 0);"));
  EXPECT_THAT(much.source, HasSubstr("float* const second = (float*)(hone_shared + 116224);"));
  EXPECT_EQ(much.artifact.entries[0].launches[0].shared_bytes, 232448);
  EXPECT_EQ(much.artifact.entries[0].launches[0].dynamic_shared_bytes, 232448) << "all of it, nothing is declared";
  EXPECT_FALSE(codegen::WriteCuda({Reverse(29120)}, target).ok());
}

TEST_P(CudaFor, MuchSharedMemoryIsGivenAtLaunch) {
  Target target = CudaTarget(arch_);
  target.limits.shared_bytes_per_block = CudaSharedBytes(arch_);
  const auto code = Must(CompileToCuda({Reverse(CudaSharedBytes(arch_) / 8)}, target, {.warnings_fail = true}));
  // 48 KiB, all of sm_61, can be declared.
  EXPECT_EQ(code.resources[0].shared_bytes, CudaSharedBytes(arch_) > 49152 ? 0 : 49152);
}

}  // namespace
}  // namespace hone::device_test
