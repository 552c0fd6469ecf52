// Expectations are worked out by hand from AutoTVM's rules (doc/reference/formats.md). Counts are products of numbers
// of ordered factorisations: C(a+k-1, k-1) for a prime power p^a and k parts. Digits are positions in the enumerations
// below.
#include "search/autotvm/autotvm_space.h"

#include <tuple>

#include "common/expect.h"

namespace hone::search {
namespace {

using Sizes = std::vector<int64_t>;

AutoTvmShape Conv(int64_t ci, int64_t co, int64_t h, int64_t k, int64_t stride, int64_t pad) {
  return {{{1, ci, h, h}, {co, ci, k, k}}, {stride, stride}, {pad, pad, pad, pad}, {1, 1}};
}

AutoTvmShape Depthwise(int64_t c, int64_t h) { return {{{1, c, h, h}, {c, 1, 3, 3}}, {1, 1}, {1, 1}, {1, 1}}; }

AutoTvmShape Dense(int64_t m, int64_t k, int64_t n) { return AutoTvmShape{.tensors = {{m, k}, {n, k}}}; }

AutoTvmShape Batch(int64_t b, int64_t m, int64_t k, int64_t n) {
  return AutoTvmShape{.tensors = {{b, m, k}, {b, n, k}}};
}

Space Of(const std::string& name, const AutoTvmShape& shape) { return Must(AutoTvmSpace(name, shape)); }

// The knobs with their numbers of values.
std::string Knobs(const Space& space) {
  std::string text;
  for (const Knob& k : space.knobs()) text += (text.empty() ? "" : " ") + k.name() + ":" + std::to_string(k.size());
  return text;
}

// Checks that the point at `index` has these `values`, and that they have this index.
void ExpectAt(const Space& space, uint64_t index, const std::string& values) {
  const Config config = space.At(index);
  EXPECT_EQ(config.Text(), config.template_name + " " + values);
  EXPECT_EQ(*space.IndexOf(config), index);
}

StatusKind Refused(const std::string& name, const AutoTvmShape& shape) {
  return AutoTvmSpace(name, shape).status().kind();
}
// 64 = 2^6: C(9,3) = 84; 56 = 2^3 7: C(6,3) C(4,3) = 80; two parts of 64: 7, of 3: 2; 84 80 80 7 2 2 3 2.
TEST(AutoTvmCuda, DirectConvolution) {
  const Space s = Of("conv2d_nchw.cuda", Conv(64, 64, 56, 3, 1, 1));
  EXPECT_EQ(Knobs(s),
            "tile_f:84 tile_y:80 tile_x:80 tile_rc:7 tile_ry:2 tile_rx:2 auto_unroll_max_step:3 unroll_explicit:2");
  EXPECT_EQ(s.size(), 90316800u);
  // In the last point, the innermost factor is the whole extent in every knob with a choice.
  ExpectAt(s, 0,
           "tile_f=[-1,1,1,1] tile_y=[-1,1,1,1] tile_x=[-1,1,1,1] tile_rc=[-1,1] tile_ry=[-1,1] tile_rx=[-1,1] "
           "auto_unroll_max_step=0 unroll_explicit=0");
  ExpectAt(s, s.size() - 1,
           "tile_f=[-1,1,1,64] tile_y=[-1,1,1,56] tile_x=[-1,1,1,56] tile_rc=[-1,64] tile_ry=[-1,3] tile_rx=[-1,3] "
           "auto_unroll_max_step=1500 unroll_explicit=1");
}

// One value of every knob, found by hand. CO = 4 in four parts, i inner, t, v: (i, t, v) run through (1,1,1) (1,1,2)
// (1,1,4) (1,2,1) (1,2,2) (1,4,1) (2,1,1) (2,1,2) (2,2,1) (4,1,1); sizes are [-1, v, t, i].
//   tile_f [-1,2,1,2]: digit 7 of 10     tile_y of 2, [-1,1,2,1]: (1,1,1) (1,1,2) (1,2,1) (2,1,1): digit 2 of 4
//   tile_x of 2, [-1,2,1,1]: 1 of 4      tile_rc of 6, [-1,3]: 1 2 3 6: 2 of 4
//   tile_ry of 3, [-1,3]: 1 of 2         tile_rx of 1: 0 of 1
//   auto_unroll_max_step 1500: 2 of 3    unroll_explicit 1: 1 of 2
TEST(AutoTvmCuda, AnIndexWorkedOutDigitByDigit) {
  const AutoTvmShape shape = {{{1, 6, 4, 2}, {4, 6, 3, 1}}, {1, 1}, {0, 0}, {1, 1}};  // OH = 2, OW = 2
  const Space s = Of("conv2d_nchw.cuda", shape);
  EXPECT_EQ(Knobs(s),
            "tile_f:10 tile_y:4 tile_x:4 tile_rc:4 tile_ry:2 tile_rx:1 auto_unroll_max_step:3 unroll_explicit:2");
  ExpectAt(s, 7 + 10 * (2 + 4 * (1 + 4 * (2 + 4 * (1 + 2 * (0 + 1 * (2 + 3 * 1)))))),
           "tile_f=[-1,2,1,2] tile_y=[-1,1,2,1] tile_x=[-1,2,1,1] tile_rc=[-1,3] tile_ry=[-1,3] tile_rx=[-1,1] "
           "auto_unroll_max_step=1500 unroll_explicit=1");
}

// The sizes of ResNet-18's layers, each from the factorisations of its extents.
TEST(AutoTvmCuda, DirectConvolutionsOfResNet18) {
  const auto size = [](const AutoTvmShape& shape) { return Of("conv2d_nchw.cuda", shape).size(); };
  EXPECT_EQ(size(Conv(3, 64, 224, 7, 2, 3)), 79027200u);   // 84 140 140 2 2 2 6
  EXPECT_EQ(size(Conv(64, 64, 56, 1, 1, 0)), 22579200u);   // 84 80 80 7 1 1 6
  EXPECT_EQ(size(Conv(64, 128, 56, 3, 2, 1)), 32256000u);  // 120 40 40 7 2 2 6
  EXPECT_EQ(size(Conv(128, 128, 28, 3, 1, 1)), 36864000u);
  EXPECT_EQ(size(Conv(256, 512, 14, 1, 2, 0)), 190080u);  // 220 4 4 9 1 1 6
  EXPECT_EQ(size(Conv(512, 512, 7, 3, 1, 1)), 844800u);
}

// m is 4 if H is a multiple of 8, else 2. The filter of tile_b leaves one value.
TEST(AutoTvmCuda, Winograd) {
  const Space s = Of("conv2d_nchw_winograd.cuda", Conv(64, 64, 56, 3, 1, 1));  // P = 14 14 = 2^2 7^2: 10 10 = 100
  EXPECT_EQ(Knobs(s), "tile_b:1 tile_y:84 tile_x:100 tile_rc:7 auto_unroll_max_step:3 unroll_explicit:2");
  EXPECT_EQ(s.At(0).Sizes("tile_b"), (Sizes{-1, 1, 1, 1}));
  EXPECT_EQ(s.At(84 * 100 * 7).Number("auto_unroll_max_step"), 128);
  const auto size = [](const AutoTvmShape& shape) { return Of("conv2d_nchw_winograd.cuda", shape).size(); };
  EXPECT_EQ(size(Conv(128, 128, 28, 3, 1, 1)), 576000u);  // m 2, P 196
  EXPECT_EQ(size(Conv(256, 256, 14, 3, 1, 1)), 89100u);   // m 2, P 49: 165 10 9 6
  EXPECT_EQ(size(Conv(512, 512, 7, 3, 1, 1)), 462000u);   // m 2, P 16
}

TEST(AutoTvmCuda, DepthwiseAndDense) {
  EXPECT_EQ(Of("depthwise_conv2d_nchw.cuda", Depthwise(32, 112)).size(), 6585600u);  // 56 140 140 6
  EXPECT_EQ(Of("depthwise_conv2d_nchw.cuda", Depthwise(512, 14)).size(), 337920u);
  EXPECT_EQ(Of("depthwise_conv2d_nchw.cuda", Depthwise(1024, 7)).size(), 27456u);
  EXPECT_EQ(Of("dense_small_batch.gpu", Dense(1, 512, 1000)).size(), 10u);
  EXPECT_EQ(Of("dense_small_batch.gpu", Dense(1, 512, 1000)).At(6).Sizes("tile_k"), (Sizes{-1, 64}));
  const Space large = Of("dense_large_batch.gpu", Dense(128, 512, 1000));
  EXPECT_EQ(Knobs(large), "tile_x:120 tile_y:400 tile_k:55");
}

TEST(AutoTvmCuda, UnrollingIsAlwaysExplicitOnRocm) {
  AutoTvmShape shape = Conv(64, 64, 56, 3, 1, 1);
  shape.unroll_always_explicit = true;
  const Space s = Of("conv2d_nchw.cuda", shape);
  EXPECT_EQ(s.size(), 90316800u / 2);
  EXPECT_EQ(s.At(0).Number("unroll_explicit"), 1);
}

TEST(AutoTvmCuda, BatchMatmul) {
  const Space s = Of("batch_matmul.cuda", Batch(8, 64, 32, 100));
  // 2^6 cut in 3: C(8, 2); 100 = 2^2 5^2 cut in 3: 6 6; 2^5 cut in 2: 6.
  EXPECT_EQ(Knobs(s), "tile_y:28 tile_x:36 tile_k:6 auto_unroll_max_step:4 unroll_explicit:2");
  EXPECT_EQ(s.At(28 * 36 * 6 * 3).Number("auto_unroll_max_step"), 64);
  const Workload w = *Workload::Parse("matmul(f32[8,64,32], f32[8,32,100])");
  EXPECT_EQ(AutoTvmSpace("batch_matmul.cuda", *AutoTvmShapeOf(w))->size(), s.size());
  EXPECT_FALSE(AutoTvmShapeOf(*Workload::Parse("matmul(f32[8,64,32], f32[32,100])")).ok());
}

TEST(AutoTvmSpace, EveryTemplateTakesItsShapeAndRefusesTheOther) {
  const AutoTvmShape conv = Conv(8, 8, 8, 3, 1, 1), dense = Dense(32, 16, 8);
  const std::tuple<const char*, AutoTvmShape, AutoTvmShape> rows[] = {
      {"conv2d_nchw.cuda", conv, dense},           {"conv2d_nchw_winograd.cuda", conv, dense},
      {"depthwise_conv2d_nchw.cuda", conv, dense}, {"dense_small_batch.gpu", dense, conv},
      {"dense_small_batch.cuda", dense, conv},     {"dense_large_batch.gpu", dense, conv},
      {"dense_large_batch.cuda", dense, conv},     {"batch_matmul.cuda", Batch(2, 8, 8, 32), conv}};
  for (const auto& [name, own, other] : rows) {
    const Space space = Of(name, own);
    for (const PointIndex index : {PointIndex{0}, space.size() / 3, space.size() - 1}) {
      EXPECT_EQ(*space.IndexOf(space.At(index)), index) << name;
    }
    EXPECT_EQ(Refused(name, other), StatusKind::kInvalid) << name;
  }
}

TEST(AutoTvmSpace, BadShapesAreRefused) {
  EXPECT_EQ(Refused("conv2d_hwcn.cuda", Conv(8, 8, 8, 3, 1, 1)), StatusKind::kNotFound);
  const auto refused = [](const AutoTvmShape& shape) { return Refused("conv2d_nchw.cuda", shape); };
  EXPECT_EQ(refused({}), StatusKind::kInvalid);
  EXPECT_EQ(refused(Conv(8, 8, 2, 3, 1, 0)), StatusKind::kInvalid);  // the window is larger than the input
  EXPECT_EQ(refused(Conv(8, 0, 8, 3, 1, 1)), StatusKind::kInvalid);
  EXPECT_EQ(refused(Conv(8, 8, 8, 3, 0, 1)), StatusKind::kInvalid);
  EXPECT_EQ(refused(Conv(8, 8, 8, 3, 1, -1)), StatusKind::kInvalid);
  EXPECT_EQ(refused(Conv(8, int64_t{1} << 40, 8, 3, 1, 1)), StatusKind::kUnsupported);
}

// Points and indices in AutoTVM's published logs (cuda v0.10): the inner parts of splits, then the digits of the other
// knobs.
struct Logged {
  const char* name;
  AutoTvmShape shape;
  std::vector<Sizes> splits;
  Sizes digits;
  uint64_t index;
};

TEST(AutoTvmSpace, ReproducesLoggedIndices) {
  const char* const depthwise = "depthwise_conv2d_nchw.cuda";
  const auto stride2 = [](AutoTvmShape shape) {
    shape.strides = {2, 2};
    return shape;
  };
  const std::vector<Logged> logged = {
      {depthwise, Depthwise(192, 14), {{1, 2, 1}, {1, 2, 7}, {1, 14, 1}}, {1, 1}, 391790},
      {depthwise, Depthwise(288, 14), {{1, 2, 1}, {14, 1, 1}, {1, 14, 1}}, {1, 1}, 646818},
      {depthwise, stride2(Depthwise(288, 14)), {{1, 16, 1}, {7, 1, 1}, {1, 7, 1}}, {2, 1}, 49930},
      {depthwise, Depthwise(480, 7), {{2, 3, 2}, {1, 7, 1}, {1, 7, 1}}, {1, 0}, 23522},
      {depthwise, stride2(Depthwise(72, 112)), {{1, 1, 1}, {1, 8, 1}, {7, 8, 1}}, {1, 1}, 5492400},
      {depthwise, Depthwise(144, 56), {{4, 1, 1}, {1, 28, 1}, {1, 8, 1}}, {0, 1}, 7345453},
      {"conv2d_nchw.cuda",
       {{{1, 32, 288, 128}, {5, 32, 1, 1}}, {1, 1}, {0, 0, 0, 0}, {1, 1}},
       {{5, 1, 1}, {1, 1, 1}, {1, 128, 1}, {2}, {1}, {1}},
       {1, 1},
       6798401},
  };
  for (const Logged& l : logged) {
    const Config c = Of(l.name, l.shape).At(l.index);
    const Space space = Of(l.name, l.shape);
    ASSERT_EQ(c.values.size(), l.splits.size() + l.digits.size()) << l.name;
    for (size_t i = 0; i < l.splits.size(); ++i) {
      Sizes parts = {-1};
      parts.insert(parts.end(), l.splits[i].begin(), l.splits[i].end());
      EXPECT_EQ(c.values[i].numbers, parts) << l.name << " " << l.index;
    }
    for (size_t i = 0; i < l.digits.size(); ++i) {
      const Knob& knob = space.knobs()[l.splits.size() + i];
      EXPECT_EQ(c.values[l.splits.size() + i], knob.value(l.digits[i])) << l.name << " " << l.index;
    }
  }
}

// Extents derived from others are bounded, too, as their factorisations would take forever.
TEST(AutoTvmSpace, HugeDerivedExtentsAreRefusedAtOnce) {
  const int64_t big = 1 << 19;
  const AutoTvmShape tiles = {{{big, 8, big, big}, {8, 8, 3, 3}}, {1, 1}, {1, 1}, {1, 1}};
  EXPECT_EQ(Refused("conv2d_nchw_winograd.cuda", tiles), StatusKind::kUnsupported);
  const AutoTvmShape channels = {{{1, big, 8, 8}, {big, big, 3, 3}}, {1, 1}, {1, 1}, {1, 1}};
  EXPECT_EQ(Refused("depthwise_conv2d_nchw.cuda", channels), StatusKind::kUnsupported);
  const AutoTvmShape window = {{{1, 8, 8, 720720}, {8, 8, 1, 720720}}, {1, 1}, {0, 0}, {1, 1}};
  EXPECT_EQ(Of("conv2d_nchw_winograd.cuda", window).knobs()[0].size(), 1u);
}

TEST(AutoTvmSpace, TakesHonesWorkloads) {
  const auto shape = [](const std::string& workload) { return AutoTvmShapeOf(*Workload::Parse(workload)); };
  EXPECT_EQ(
      Of("conv2d_nchw.cuda", *shape("conv2d(f32[1,64,56,56], f32[128,64,3,3], stride=2x2, pad=1,1,1,1) + bias")).size(),
      32256000u);
  EXPECT_EQ(Of("dense_small_batch.cuda", *shape("dense(f32[1,512], f32[1000,512]) + bias")).size(), 10u);
  EXPECT_EQ(shape("max_pool2d(f32[1,64,8,8], kernel=3x3)").status().kind(), StatusKind::kUnsupported);
}

}  // namespace
}  // namespace hone::search
