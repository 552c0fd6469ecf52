// Sums of four products of bytes: equal to the interpreter's on the host's and on any x86-64's instructions, for any
// number of lanes; and the best exact instruction of each CPU.
#include <cstdint>

#include "compiled.h"

namespace hone::codegen {
namespace {

using ir::Expr;
using ir::Var;

// out[i] = dot4(c[i], a[..], b[4i ..]) for `n` sums, `lanes` at a time; with `same`, all lanes have the same factors a.
ir::Function Dot4(DType factor, int64_t n, int lanes, bool same) {
  const auto c = Argument("c", DType::Int(32), n), a = Argument("a", factor, 4 * n),
             b = Argument("b", DType::Int(8), 4 * n);
  const auto out = Output("out", DType::Int(32), n);
  const Var i("i");
  const Expr first = At(Expr(i) * lanes, lanes), four = At(Expr(i) * (4 * lanes), 4 * lanes);
  const Expr of_a = MakeLoad(a, same ? At(Expr(i) * 4, 4) : four);
  const Expr sum =
      ir::MakeCall(DType::Int(32, lanes), ir::Intrinsic::kDot4, {MakeLoad(c, first), of_a, MakeLoad(b, four)});
  return {"f", {c, a, b, out}, Loop(i, n / lanes, MakeStore(out, first, sum))};
}

TEST(Dot4, AnyLanes) {
  for (const int lanes : {1, 2, 3, 4, 5, 8, 12, 16, 24, 32}) {
    for (const DType factor : {DType::UInt(8), DType::Int(8)}) {
      for (const bool same : {false, true}) {
        SCOPED_TRACE(testing::Message() << ToString(factor) << " lanes " << lanes << (same ? " same" : ""));
        const int64_t n = 3 * lanes;
        std::vector<int32_t> c(n);
        std::vector<uint8_t> a(4 * n);
        std::vector<int8_t> b(4 * n);
        for (size_t k = 0; k < c.size(); ++k) c[k] = k % 5 == 0 ? INT32_MAX - 3 : static_cast<int32_t>(k * 7919) - 9000;
        // The largest products in both directions, and all bytes.
        for (size_t k = 0; k < a.size(); ++k)
          a[k] = k % 16 < 8 ? 255 : k % 16 < 12 ? 128 : static_cast<uint8_t>(k * 37);
        for (size_t k = 0; k < b.size(); ++k) b[k] = k % 12 < 4 ? -128 : k % 12 < 8 ? 127 : static_cast<int8_t>(k * 53);
        ExpectAgrees(Dot4(factor, n, lanes, same), {ToBytes(c), ToBytes(a), ToBytes(b), Bytes(4 * n)});
      }
    }
  }
}

TEST(Dot4, TheBestExactInstruction) {
  const auto code = [](const char* triple, const char* cpu, std::vector<std::string> features, DType factor,
                       int lanes) {
    Target target;
    target.triple = triple, target.cpu = cpu, target.features = std::move(features);
    target.vector_bytes = 4 * lanes;
    return Must(CompileToObject({Dot4(factor, 64, lanes, true)}, target, {.keep_text = true})).assembly;
  };
  const char* x86 = "x86_64-unknown-linux-gnu";
  const DType u8 = DType::UInt(8), i8 = DType::Int(8);
  EXPECT_THAT(code(x86, "sapphirerapids", {}, u8, 16), testing::ContainsRegex("vpdpbusd.*zmm"));
  EXPECT_THAT(code(x86, "x86-64-v4", {"avx512vnni"}, u8, 8), testing::ContainsRegex("vpdpbusd.*ymm"));
  EXPECT_THAT(code(x86, "x86-64-v3", {"avxvnni"}, u8, 8), testing::ContainsRegex("vpdpbusd.*ymm"));
  EXPECT_THAT(code(x86, "x86-64-v4", {}, u8, 16), testing::ContainsRegex("vpmaddwd.*zmm"));
  EXPECT_THAT(code(x86, "x86-64-v3", {}, u8, 8),
              testing::AllOf(testing::ContainsRegex("vpmaddwd.*ymm"), Not(HasSubstr("vpmaddubsw"))));
  EXPECT_THAT(code(x86, "x86-64", {}, i8, 4), HasSubstr("pmaddwd"));
  const std::string arm = code("aarch64-unknown-linux-gnu", "cortex-a76", {}, i8, 4);
  EXPECT_THAT(arm, HasSubstr("sdot"));
  EXPECT_THAT(code("aarch64-unknown-linux-gnu", "cortex-a72", {}, i8, 4), Not(HasSubstr("sdot")));
  EXPECT_THAT(code("aarch64-unknown-linux-gnu", "neoverse-v1", {}, u8, 4),
              testing::AllOf(HasSubstr("usdot"), Not(HasSubstr("\tsdot"))));
  EXPECT_THAT(code("aarch64-unknown-linux-gnu", "neoverse-v1", {}, i8, 4), HasSubstr("\tsdot"));
}

TEST(Dot4, RoundingToAWholeNumberIsOneInstruction) {
  const ir::Function f = Elementwise(DType::Float(32), DType::Int(32), 32, 8, [](const Expr& a, const Expr&) {
    return ir::MakeCast(DType::Int(32, 8), ir::MakeCall(a.type(), ir::Intrinsic::kRound, {a}));
  });
  std::vector<float> values;
  for (int i = 0; i < 32; ++i) values.push_back(static_cast<float>(i - 16) / 2);
  ExpectAgrees(f, {ToBytes(values), ToBytes(values), Bytes(32 * 4)});
  Target target = Baseline();
  target.cpu = "x86-64-v3";
  const std::string text = Must(CompileToObject({f}, target, {.keep_text = true})).assembly;
  EXPECT_THAT(text, HasSubstr("vcvtps2dq"));
  EXPECT_THAT(text, Not(HasSubstr("vroundps")));
}

}  // namespace
}  // namespace hone::codegen
