// Expectations are worked out by hand from AutoTVM's rules (doc/reference/formats.md): counts as products of ordered
// factorisations, C(a+k-1, k-1) for a prime power p^a cut in k; digits as positions in the enumeration written out
// here. The orders of sets are those that CPython 3.11 prints for list(set(divisors) | set(powers)).
#include "search/autotvm/autotvm_space.h"

#include <algorithm>

#include "common/expect.h"
#include "search/autotvm/set_order.h"

namespace hone::search {
namespace {

using Sizes = std::vector<int64_t>;

AutoTvmShape Conv(int64_t ci, int64_t co, int64_t h, int64_t k, int64_t stride, int64_t pad) {
  return {{{1, ci, h, h}, {co, ci, k, k}}, {stride, stride}, {pad, pad, pad, pad}, {1, 1}};
}

AutoTvmShape Depthwise(int64_t c, int64_t h) { return {{{1, c, h, h}, {c, 1, 3, 3}}, {1, 1}, {1, 1}, {1, 1}}; }

AutoTvmShape Dense(int64_t m, int64_t k, int64_t n) {
  AutoTvmShape shape;
  shape.tensors = {{m, k}, {n, k}};
  return shape;
}

AutoTvmShape Batch(int64_t b, int64_t m, int64_t k, int64_t n) {
  AutoTvmShape shape;
  shape.tensors = {{b, m, k}, {b, n, k}};
  return shape;
}

Space Of(const std::string& name, const AutoTvmShape& shape) { return Must(AutoTvmSpace(name, shape)); }

// The knobs, each with its number of values.
std::string Knobs(const Space& space) {
  std::string text;
  for (const Knob& k : space.knobs()) text += (text.empty() ? "" : " ") + k.name() + ":" + std::to_string(k.size());
  return text;
}

// Both ways: the point at `index` has these `values`, and these values have this index.
void ExpectAt(const Space& space, uint64_t index, const std::string& values) {
  const Config config = space.At(index);
  EXPECT_EQ(config.Text(), config.template_name + " " + values);
  EXPECT_EQ(*space.IndexOf(config), index);
}

StatusKind Refused(const std::string& name, const AutoTvmShape& shape) {
  return AutoTvmSpace(name, shape).status().kind();
}

TEST(AutoTvmSets, VerboseFactorsStandInCPythonsOrder) {
  EXPECT_EQ(VerboseFactors(1), (Sizes{1}));
  EXPECT_EQ(VerboseFactors(7), (Sizes{1, 2, 4, 7}));
  EXPECT_EQ(VerboseFactors(28), (Sizes{1, 2, 4, 7, 8, 14, 16, 28}));
  EXPECT_EQ(VerboseFactors(56), (Sizes{32, 1, 2, 4, 7, 8, 14, 16, 56, 28}));
  EXPECT_EQ(VerboseFactors(112), (Sizes{32, 1, 2, 64, 4, 7, 8, 14, 16, 112, 56, 28}));
  EXPECT_EQ(VerboseFactors(224), (Sizes{64, 1, 2, 128, 4, 7, 8, 14, 16, 28, 32, 224, 112, 56}));
  EXPECT_EQ(VerboseFactors(100), (Sizes{32, 1, 2, 64, 4, 5, 100, 8, 10, 16, 50, 20, 25}));
  EXPECT_EQ(VerboseFactors(360), (Sizes{64, 1,  2,  3,  4,  5,  6,  128, 8,  9,   10, 72,  12,  256, 15,
                                        16, 18, 20, 24, 90, 30, 32, 36,  40, 360, 45, 180, 120, 60}));
}

// 64 = 2^6: C(9,3) = 84; 56 = 2^3 7: C(6,3) C(4,3) = 80; two parts of 64: 7, of 3: 2; 84 80 80 7 2 2 3 2.
TEST(AutoTvmCuda, DirectConvolution) {
  const Space s = Of("conv2d_nchw.cuda", Conv(64, 64, 56, 3, 1, 1));
  EXPECT_EQ(Knobs(s),
            "tile_f:84 tile_y:80 tile_x:80 tile_rc:7 tile_ry:2 tile_rx:2 auto_unroll_max_step:3 unroll_explicit:2");
  EXPECT_EQ(s.size(), 90316800u);
  // The last point: the innermost factor is the whole extent if there is a choice.
  ExpectAt(s, 0,
           "tile_f=[-1,1,1,1] tile_y=[-1,1,1,1] tile_x=[-1,1,1,1] tile_rc=[-1,1] tile_ry=[-1,1] tile_rx=[-1,1] "
           "auto_unroll_max_step=0 unroll_explicit=0");
  ExpectAt(s, s.size() - 1,
           "tile_f=[-1,1,1,64] tile_y=[-1,1,1,56] tile_x=[-1,1,1,56] tile_rc=[-1,64] tile_ry=[-1,3] tile_rx=[-1,3] "
           "auto_unroll_max_step=1500 unroll_explicit=1");
}

// One value of every knob, by hand. CO = 4 in four parts, i inner, t, v: (i, t, v) run through (1,1,1) (1,1,2)
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

// m = 4 if H is a multiple of 8, else 2. tile_b keeps only one of its many values.
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

// OW = 56: ten factors in the order of their set, 32 first; tails are allowed, so 32 and 16 stay though 56 is no
// multiple of them. 7 7 10 2 = 980.
TEST(AutoTvmX86, ConvolutionWithTailsInSetOrder) {
  const Space s = Of("conv2d_NCHWc.x86", Conv(64, 64, 56, 3, 1, 1));
  EXPECT_EQ(Knobs(s), "tile_ic:7 tile_oc:7 tile_ow:10 unroll_kw:2");
  ExpectAt(s, 0, "tile_ic=[-1,1] tile_oc=[-1,1] tile_ow=[-1,32] unroll_kw=true");
  // tile_ic 64 (6), tile_oc 32 (5), tile_ow 8 (digit 5), unroll_kw true (0).
  ExpectAt(s, 6 + 7 * (5 + 7 * (5 + 10 * 0)), "tile_ic=[-1,64] tile_oc=[-1,32] tile_ow=[-1,8] unroll_kw=true");
  ExpectAt(s, 490, "tile_ic=[-1,1] tile_oc=[-1,1] tile_ow=[-1,32] unroll_kw=false");
}

// OW = 112: twelve factors, of which the filter drops 112: [32, 1, 2, 64, ..]: 2 7 11 2.
TEST(AutoTvmX86, FilterKeepsTheOrderOfWhatIsLeft) {
  const Space s = Of("conv2d_NCHWc.x86", Conv(3, 64, 224, 7, 2, 3));
  EXPECT_EQ(s.size(), 308u);
  Sizes inner;
  for (size_t d = 0; d < s.knobs()[2].size(); ++d) inner.push_back(s.knobs()[2].value(d).numbers[1]);
  EXPECT_EQ(inner, (Sizes{32, 1, 2, 64, 4, 7, 8, 14, 16, 56, 28}));
}

TEST(AutoTvmX86, OneByOneTilesRows) {
  const Space s = Of("conv2d_NCHWc.x86", Conv(64, 128, 56, 1, 2, 0));  // OW 28: 8 factors; 7 8 8 2
  EXPECT_EQ(s.size(), 896u);
  EXPECT_EQ(s.knobs()[3].name(), "tile_oh");
  EXPECT_EQ(s.At(895).Number("tile_oh"), 2);
  EXPECT_EQ(Of("conv2d_NCHWc.x86", Conv(64, 128, 1, 1, 1, 0)).knobs()[3].size(), 1u);  // one row
  EXPECT_EQ(Of("conv2d_NCHWc.x86", Conv(512, 512, 7, 3, 1, 1)).size(), 800u);          // 10 10 4 2
}

TEST(AutoTvmX86, DepthwiseAndDense) {
  EXPECT_EQ(Of("depthwise_conv2d_NCHWc.x86", Depthwise(32, 112)).size(), 648u);  // 6 6 9 2: 112 is filtered
  EXPECT_EQ(Of("depthwise_conv2d_NCHWc.x86", Depthwise(1024, 7)).size(), 484u);  // 11 11 2 2
  EXPECT_EQ(Of("dense_nopack.x86", Dense(1, 512, 1000)).size(), 160u);
  EXPECT_EQ(Of("dense_nopack.x86", Dense(128, 512, 1000)).size(), 1280u);
  EXPECT_EQ(Of("dense_pack.x86", Dense(1, 512, 1000)).size(), 1000u);
  EXPECT_EQ(Knobs(Of("dense_pack.x86", Dense(128, 512, 1000))),
            "tile_y:36 tile_x:100 tile_k:10 tile_inner:5");  // of 128 the inner 1 2 4 8 16
}

// ann_spatial: 3^3 words minus those with two or three `vec`: 8 + 12 = 20, the last axis fastest: 0 none none none, 1
// none none unroll, 2 none none vec, 3 none unroll none, .. 5 none unroll vec, 6 none vec none, 7 none vec unroll, 8
// unroll none none, 9 unroll none unroll, 10 unroll none vec, ..
TEST(AutoTvmArm, SpatialPack) {
  const Space s = Of("conv2d_nchw_spatial_pack.arm_cpu", Conv(3, 64, 224, 7, 2, 3));
  EXPECT_EQ(Knobs(s), "tile_co:7 tile_oh:10 tile_ow:10 reorder_0:2 ann_reduce:4 ann_spatial:20");
  EXPECT_EQ(s.size(), 112000u);
  // tile_co 4 (2), tile_oh 1 (0), tile_ow 4 (2), second order, [none, unroll] (1), [unroll, none, vec] (10)
  ExpectAt(s, 2 + 7 * (0 + 10 * (2 + 10 * (1 + 2 * (1 + 4 * 10)))),
           "tile_co=[-1,4] tile_oh=[-1,1] tile_ow=[-1,4] reorder_0=[0,1,2,3,4,5,6,9,7,8] ann_reduce=[none,unroll] "
           "ann_spatial=[unroll,none,vec]");
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

// tile_k of K / 16 = 6: 1 2 3 6; the splits of 4 and of 2 in four parts as in AnIndexWorkedOutDigitByDigit.
TEST(AutoTvmCuda, DenseOfBytes) {
  const std::string name = "dense_int8.cuda";
  EXPECT_EQ(Knobs(Of(name, Dense(16, 512, 1000))),  // C(7, 3), C(6, 3)^2, 2^5 in two
            "tile_y:35 tile_x:400 tile_k:6 auto_unroll_max_step:3");
  const Space small = Of(name, Dense(4, 96, 2));
  EXPECT_EQ(Knobs(small), "tile_y:10 tile_x:4 tile_k:4 auto_unroll_max_step:3");
  ExpectAt(small, 7 + 10 * (2 + 4 * (2 + 4 * 1)),
           "tile_y=[-1,2,1,2] tile_x=[-1,1,2,1] tile_k=[-1,3] auto_unroll_max_step=512");
  EXPECT_EQ(Of(name, Dense(4, 20, 2)).knobs()[2].size(), 2u);  // 20 / 4 = 5
  EXPECT_EQ(Refused("dense_int8.cuda", Dense(4, 18, 2)), StatusKind::kInvalid);
}

// 3^4 4 2 2 4 3 points. Digits of the values asked for: 4 is 2 of (1, 2, 4), 8 is 3 of chunk's, and so on.
TEST(AutoTvmCuda, DenseOnTensorCores) {
  const std::string name = "dense_tensorcore.cuda";
  const Space s = Of(name, Dense(32, 64, 24));  // 32 and 8 divide: wmma_m 32 16 8
  EXPECT_EQ(Knobs(s),
            "block_row_warps:3 block_col_warps:3 warp_row_tiles:3 warp_col_tiles:3 chunk:4 offset:2 offsetCS:2 vec:4 "
            "wmma_m:3");
  EXPECT_EQ(s.size(), 15552u);
  ExpectAt(s, 2 + 3 * (0 + 3 * (1 + 3 * (2 + 3 * (3 + 4 * (1 + 2 * (0 + 2 * (2 + 4 * 2))))))),
           "block_row_warps=4 block_col_warps=1 warp_row_tiles=2 warp_col_tiles=4 chunk=8 offset=8 offsetCS=0 vec=4 "
           "wmma_m=8");
  // The order of the last knob depends on the shape: values that fit it come first.
  EXPECT_EQ(Of(name, Dense(16, 64, 16)).At(15551).Number("wmma_m"), 32);
  EXPECT_EQ(Of(name, Dense(16, 64, 16)).At(0).Number("wmma_m"), 16);
  EXPECT_EQ(Of(name, Dense(8, 64, 32)).At(0).Number("wmma_m"), 8);
  EXPECT_EQ(Of(name, Dense(8, 64, 32)).At(5184).Number("wmma_m"), 16);
  EXPECT_EQ(Refused(name, Dense(8, 64, 16)), StatusKind::kInvalid);
  EXPECT_EQ(Refused(name, Dense(32, 24, 24)), StatusKind::kInvalid);
  AutoTvmShape four_bits = Dense(8, 64, 8);
  four_bits.four_bits = true;
  EXPECT_EQ(Of(name, four_bits).size(), 5184u);  // without wmma_m
  four_bits.tensors = {{8, 48}, {8, 48}};
  EXPECT_EQ(Refused(name, four_bits), StatusKind::kInvalid);
}

// 4 in three parts, (inner, middle): (1,1) (1,2) (1,4) (2,1) (2,2) (4,1); of 2 (1,1) (1,2) (2,1).
TEST(AutoTvmMali, SpatialPack) {
  const std::string name = "conv2d_nchw_spatial_pack.mali";
  EXPECT_EQ(Knobs(Of(name, Conv(64, 64, 56, 3, 1, 1))),
            "tile_co:28 tile_oh:30 tile_ow:30 reorder_0:2 ann_reduce:4 ann_spatial:20");
  const Space s = Of(name, {{{1, 6, 4, 2}, {4, 6, 3, 1}}, {1, 1}, {0, 0}, {1, 1}});  // OH = 2, OW = 2
  ExpectAt(s, 4 + 6 * (2 + 3 * (1 + 3 * (1 + 2 * (3 + 4 * 10)))),
           "tile_co=[-1,2,2] tile_oh=[-1,1,2] tile_ow=[-1,2,1] reorder_0=[0,1,2,3,4,5,6,9,7,8] "
           "ann_reduce=[unroll,unroll] ann_spatial=[unroll,none,vec]");
}

// 24: 1 2 4 8 divide it, 16 does not; divisors 1 2 3 4 6 8 12 24, up to 8 six of them.
TEST(AutoTvmMali, Winograd) {
  const std::string name = "conv2d_nchw_winograd.mali";
  const Space s = Of(name, Conv(24, 24, 8, 3, 1, 1));
  EXPECT_EQ(Knobs(s), "tile_bna:4 tile_bnb:5 tile_t1:8 tile_t2:8 c_unroll:6 yt:6");
  ExpectAt(s, 2 + 4 * (4 + 5 * (6 + 8 * (2 + 8 * (4 + 6 * 5)))),
           "tile_bna=4 tile_bnb=16 tile_t1=[-1,12] tile_t2=[-1,3] c_unroll=[-1,6] yt=32");
  EXPECT_EQ(Knobs(Of(name, Conv(256, 512, 14, 3, 1, 1))),  // <= 128
            "tile_bna:5 tile_bnb:5 tile_t1:8 tile_t2:8 c_unroll:4 yt:6");
  // As logged by AutoTVM (mali v0.06), when a knob with one value preceded the others.
  ExpectAt(Of(name, Conv(128, 32, 7, 3, 1, 1)), 14587,
           "tile_bna=4 tile_bnb=4 tile_t1=[-1,128] tile_t2=[-1,1] c_unroll=[-1,1] yt=8");
  for (const AutoTvmShape& other : {Conv(24, 24, 8, 5, 1, 2), Conv(24, 24, 8, 3, 2, 1)}) {
    EXPECT_EQ(Refused(name, other), StatusKind::kInvalid);
  }
}

// 6 in three parts, (inner, middle): (1,1) (1,2) (1,3) (1,6) (2,1) (2,3) (3,1) (3,2) (6,1).
TEST(AutoTvmMali, Dense) {
  const Space s = Of("dense.mali", Dense(4, 128, 6));
  EXPECT_EQ(Knobs(s), "tile_y:6 tile_x:9 c_unroll:7");  // of 128 the inner 1 .. 64
  ExpectAt(s, 4 + 6 * (7 + 9 * 6), "tile_y=[-1,2,2] tile_x=[-1,2,3] c_unroll=[-1,64]");
}

TEST(AutoTvmArm, WinogradAndDepthwise) {
  const auto size = [](const AutoTvmShape& shape) { return Of("conv2d_nchw_winograd.arm_cpu", shape).size(); };
  EXPECT_EQ(size(Conv(64, 64, 56, 3, 1, 1)), 2000u);    // P 196: 1 2 4 7 14; 5 5 5 2 8
  EXPECT_EQ(size(Conv(128, 128, 28, 3, 1, 1)), 800u);   // P 49: 1 7
  EXPECT_EQ(size(Conv(256, 256, 14, 3, 1, 1)), 2000u);  // P 16
  EXPECT_EQ(size(Conv(512, 512, 7, 3, 1, 1)), 1200u);   // P 4
  EXPECT_EQ(Of("depthwise_conv2d_nchw.arm_cpu", Depthwise(32, 112)).size(), 12000u);
  EXPECT_EQ(Of("depthwise_conv2d_nchw.arm_cpu", Depthwise(1024, 7)).size(), 880u);
}

TEST(AutoTvmSpace, EveryTemplateTakesItsShapeAndRefusesTheOther) {
  for (const std::string& name : AutoTvmTemplates()) {
    const bool products = name.rfind("dense", 0) == 0 || name.rfind("batch_matmul", 0) == 0;
    const AutoTvmShape conv = Conv(8, 8, 8, 3, 1, 1);
    const AutoTvmShape own = name.rfind("batch", 0) == 0 ? Batch(2, 8, 8, 32) : products ? Dense(32, 16, 8) : conv;
    const Space space = Of(name, own);
    for (const PointIndex index : {PointIndex{0}, space.size() / 3, space.size() - 1}) {
      EXPECT_EQ(*space.IndexOf(space.At(index)), index) << name;
    }
    EXPECT_EQ(Refused(name, products ? conv : Dense(32, 8, 8)), StatusKind::kInvalid) << name;
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

// Points and indices that AutoTVM itself logged (its published logs cuda v0.10, arm_cpu v0.08, mali v0.06): splits by
// their inner parts, then the digits of the other knobs.
struct Logged {
  const char* name;
  AutoTvmShape shape;
  std::vector<Sizes> splits;
  Sizes digits;
  uint64_t index;
};

TEST(AutoTvmSpace, ReproducesLoggedIndices) {
  const std::string spatial = "conv2d_nchw_spatial_pack.arm_cpu", winograd = "conv2d_nchw_winograd.arm_cpu";
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
      {spatial.c_str(), Conv(2048, 512, 7, 1, 1, 0), {{16}, {1}, {7}}, {1, 2, 5}, 1824},
      {spatial.c_str(), Conv(1024, 2048, 14, 1, 2, 0), {{16}, {1}, {7}}, {0, 0, 2}, 796},
      {spatial.c_str(), Conv(256, 1024, 14, 1, 1, 0), {{8}, {2}, {7}}, {1, 1, 13}, 18934},
      {spatial.c_str(), Conv(256, 64, 56, 1, 1, 0), {{8}, {2}, {8}}, {1, 3, 13}, 49962},
      {"conv2d_nchw_spatial_pack.mali", Conv(992, 128, 7, 1, 1, 0), {{2, 2}, {7, 1}, {1, 7}}, {1, 3, 13}, 36225},
      {"conv2d_nchw_spatial_pack.mali", Conv(960, 128, 7, 1, 1, 0), {{8, 16}, {1, 1}, {1, 1}}, {1, 1, 2}, 6185},
      {"conv2d_nchw_spatial_pack.mali", Conv(1024, 512, 14, 1, 1, 0), {{8, 4}, {1, 2}, {1, 2}}, {0, 3, 13}, 492272},
      {"dense.mali", Dense(1, 1024, 1000), {{1, 1}, {25, 1}, {16}}, {}, 407},
      {winograd.c_str(), Conv(512, 512, 7, 3, 1, 1), {{4}, {16}, {4}}, {0, 5}, 794},
      {winograd.c_str(), Conv(256, 256, 14, 3, 1, 1), {{8}, {8}, {2}}, {0, 5}, 1293},
      {winograd.c_str(), Conv(128, 128, 28, 3, 1, 1), {{7}, {4}, {4}}, {1, 7}, 775},
      {winograd.c_str(), Conv(64, 64, 56, 3, 1, 1), {{4}, {16}, {8}}, {0, 5}, 1347},
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

// Derived extents are also bounded: their factorisations would take forever.
TEST(AutoTvmSpace, HugeDerivedExtentsAreRefusedAtOnce) {
  const int64_t big = 1 << 19;
  const AutoTvmShape tiles = {{{big, 8, big, big}, {8, 8, 3, 3}}, {1, 1}, {1, 1}, {1, 1}};
  EXPECT_EQ(Refused("conv2d_nchw_winograd.cuda", tiles), StatusKind::kUnsupported);
  EXPECT_EQ(Refused("conv2d_nchw_winograd.arm_cpu", tiles), StatusKind::kUnsupported);
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
  EXPECT_EQ(Of("dense_pack.x86", *shape("dense(f32[1,512], f32[1000,512]) + bias")).size(), 1000u);
  EXPECT_EQ(shape("max_pool2d(f32[1,64,8,8], kernel=3x3)").status().kind(), StatusKind::kUnsupported);
}

}  // namespace
}  // namespace hone::search
