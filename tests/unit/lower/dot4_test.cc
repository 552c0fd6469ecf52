// `tensorize S axis dot4`: products of bytes give the defined result; other loops are rejected with a reason.
#include "unit/lower/lower_case.h"

namespace hone::lower {
namespace {

// How b is stored: as [m, depth], [depth, m], or so that each lane of eight has four factors side by side.
enum class Stored { kRows, kColumns, kLanes };

// out[i, j] = sum over k of i32(a[i, k]) * i32(b[j, k]).
struct ByteProduct {
  ByteProduct(int64_t n, int64_t m, int64_t depth, Stored stored = Stored::kRows, DType of_b = DType::Int(8))
      : n(n), m(m), depth(depth), stored(stored), a(te::Placeholder("a", {n, depth}, DType::UInt(8))) {
    std::vector<int64_t> shape = {m, depth};
    if (stored == Stored::kColumns) shape = {depth, m};
    if (stored == Stored::kLanes) shape = {m / 8, depth / 4, 8, 4};
    b = te::Placeholder("b", shape, of_b);
    const ir::IterVar k = te::ReduceAxis(depth, "k");
    const auto whole = [](const ir::Expr& e) { return ir::MakeCast(DType::Int(32), e); };
    out = te::Compute("out", {n, m}, {"i", "j"}, [&](const Vars& x) {
      const ir::Expr weight = stored == Stored::kRows      ? b(x[1], k.var)
                              : stored == Stored::kColumns ? b(k.var, x[1])
                                                           : b(x[1] / 8, k.var / 4, x[1] % 8, k.var % 4);
      return te::Sum(whole(a(x[0], k.var)) * whole(weight), {k});
    });
  }
  int64_t PlaceOf(int64_t j, int64_t k) const {
    if (stored == Stored::kRows) return j * depth + k;
    if (stored == Stored::kColumns) return k * m + j;
    return ((j / 8 * (depth / 4) + k / 4) * 8 + j % 8) * 4 + k % 4;
  }
  // The lowered text, after the interpreter gave the right values; or the error.
  std::string Run(const std::string& steps) const {
    const Result<ir::Function> f = LowerSteps({a, b}, out, steps, false);
    if (!f.ok()) return f.status().message();
    std::vector<uint8_t> x(n * depth);
    std::vector<int8_t> y(m * depth);
    std::vector<int32_t> z(n * m, -1);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<uint8_t>(i * 77);
    for (size_t i = 0; i < y.size(); ++i) y[i] = static_cast<int8_t>(i * 59);
    Must(ir::Run(*f, {{x.data(), n * depth}, {y.data(), m * depth}, {z.data(), n * m}}));
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < m; ++j) {
        int32_t want = 0;
        for (int64_t k = 0; k < depth; ++k) want += x[i * depth + k] * y[PlaceOf(j, k)];
        EXPECT_EQ(z[i * m + j], want) << i << " " << j << ir::ToString(f->body);
      }
    }
    return ir::ToString(f->body);
  }
  int64_t n, m, depth;
  Stored stored;
  Tensor a, b, out;
};

const char* const kTile =
    "cache_write out register -> sums\nsplit out i [3] -> io ii\nsplit out j [8] -> jo ji\nreorder out io jo ii ji\n"
    "vectorize out ji\nunroll out ii\ncompute_at sums out jo\nsplit sums k [4] -> ko q\nreorder sums ko i j q\n"
    "vectorize sums j\nunroll sums i\ntensorize sums q dot4\n";

TEST(TensorizeDot4, TheLanesOfATile) {
  const std::string text = ByteProduct(6, 16, 12, Stored::kLanes).Run(kTile);
  EXPECT_THAT(text, HasSubstr("sums[ramp(0, 1, 8)] = dot4(sums[ramp(0, 1, 8)], a[ramp("));
  EXPECT_THAT(text, HasSubstr(", 1, 4)], b[ramp("));
  EXPECT_THAT(text, HasSubstr(", 1, 32)])"));
}

// The lanes of a vector have factors far apart: one lane after the other.
TEST(TensorizeDot4, LanesWhoseFactorsLieApart) {
  const std::string text = ByteProduct(6, 16, 12).Run(kTile);
  EXPECT_THAT(text, HasSubstr("dot4(sums["));
  EXPECT_THAT(text, Not(HasSubstr(", 1, 32)])")));
}

TEST(TensorizeDot4, ALaneAlone) {
  EXPECT_THAT(ByteProduct(3, 5, 8).Run("split out k [4] -> ko q\ntensorize out q dot4\n"), HasSubstr("= dot4(out["));
}

TEST(TensorizeDot4, IsRefusedWhereItIsNoSumOfFourProducts) {
  const auto why = [](const std::string& steps, int64_t depth = 8, Stored stored = Stored::kRows,
                      DType of_b = DType::Int(8)) { return ByteProduct(3, 5, depth, stored, of_b).Run(steps); };
  const std::string on = "split out k [4] -> ko q\ntensorize out q dot4\n";
  const std::string axis = " of `out` must be a reduce axis of 4, split off before";
  EXPECT_THAT(why("split out k [2] -> ko q\ntensorize out q dot4\n"), HasSubstr("tensorize dot4: `q`" + axis));
  EXPECT_THAT(why("tensorize out j dot4\n"), HasSubstr("tensorize dot4: `j`" + axis));
  EXPECT_EQ(why(on, 9), "tensorize dot4: the loop has to be of 4 rounds");
  EXPECT_EQ(why(on, 8, Stored::kRows, DType::UInt(8)),
            "tensorize dot4: the factors are not two elements of 8 bits, one of them signed, as i32");
  EXPECT_EQ(why(on, 8, Stored::kColumns), "tensorize dot4: `b` does not have the factors side by side");
  const ByteProduct gpu(3, 5, 8);
  EXPECT_EQ(LowerSteps({gpu.a, gpu.b}, gpu.out, on, true).status().message(),
            "axis `q` of `out` is tensorized with dot4: only a CPU has that");
  EXPECT_THAT(why("tensorize out k dot5\n"), HasSubstr("tensorize: no target has `dot5`; did you mean `dot4`?"));
}

}  // namespace
}  // namespace hone::lower
