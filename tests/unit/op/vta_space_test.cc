// The space of conv2d_packed.vta on the ten convolutions: sizes, indices, and what each rule rejects.
#include "common/expect.h"
#include "unit/op/vta_layers.h"

namespace hone::op {
namespace {

const HoneVtaConfig kPynq = hone_vta_default_config();

TEST(VtaSpace, EachRuleRejectsWhatItShould) {
  const char* const names[] = {"threads", "inp", "wgt", "acc", "dma_in", "dma_out", "verify"};
  int points = 0, legal = 0;
  for (const VtaLayer& layer : kVtaLayers) {
    SCOPED_TRACE(layer.name);
    const search::Space space = Conv2dPackedSpace(kPynq, layer.conv);
    EXPECT_EQ(static_cast<int>(space.size()), layer.points);
    std::map<std::string, int> rejected;
    int accepted = 0;
    for (PointIndex index = 0; index < space.size(); ++index) {
      const auto why = space.Reject(space.At(index));
      if (why) ++rejected[why->substr(0, why->find(':'))];
      accepted += !why;
    }
    EXPECT_EQ(accepted, layer.legal);
    for (int rule = 0; rule < 7; ++rule) EXPECT_EQ(rejected[names[rule]], layer.rejected[rule]) << names[rule];
    EXPECT_EQ(rejected["limits"], 0);
    points += static_cast<int>(space.size()), legal += accepted;
  }
  EXPECT_EQ(points, 13760);
  EXPECT_EQ(legal, 1745);
}

TEST(VtaSpace, IndicesAreAutoTvms) {
  const search::Space space = Conv2dPackedSpace(kPynq, kVtaLayers[3].conv);  // C5
  const PackedTile tile = PackedTile::Of(space.At(1330));
  EXPECT_EQ(tile.height, 14);
  EXPECT_EQ(tile.width, 28);
  EXPECT_EQ(tile.in_blocks, 1);
  EXPECT_EQ(tile.out_blocks, 2);
  EXPECT_EQ(tile.channel_threads, 1);
  EXPECT_EQ(tile.row_threads, 2);
  EXPECT_EQ(space.Reject(space.At(1330)), std::nullopt);
  EXPECT_EQ(space.Reject(space.At(0)), std::nullopt);  // all tiles 1: AutoTVM's fallback
}

// Why a point is illegal.
std::string Reason(const PackedConv& conv, PackedTile wanted) {
  wanted.channel_threads = std::max<int64_t>(wanted.channel_threads, 1);
  wanted.row_threads = std::max<int64_t>(wanted.row_threads, 1);
  const auto numbers = [](const PackedTile& t) {
    return std::array{t.height, t.width, t.in_blocks, t.out_blocks, t.channel_threads, t.row_threads};
  };
  const search::Space space = Conv2dPackedSpace(kPynq, conv);
  for (PointIndex index = 0; index < space.size(); ++index) {
    if (numbers(PackedTile::Of(space.At(index))) == numbers(wanted)) {
      return space.Reject(space.At(index)).value_or("legal");
    }
  }
  return "no such point";
}

TEST(VtaSpace, LimitsOfInstructions) {
  // Loops of 2 and 9 in the instruction; 9 x 8 x 128 micro-operations.
  EXPECT_EQ(Reason({128, 2, 1, 8, 9, 1, 4}, {128, 2, 1, 8}), "limits: 9216 entries of UOP, which has 8192");
  EXPECT_EQ(Reason({128, 2, 1, 8, 9, 1, 4}, {64, 2, 1, 8}), "legal");
  // Two threads have a list each, 2 x 9 x 6 x 85 in all: they need not lie in UOP at the same time.
  EXPECT_EQ(Reason({170, 2, 1, 6, 9, 1, 4}, {85, 2, 1, 6, 1, 2}), "legal");
  EXPECT_EQ(Reason({3, 3, 1, 1, 20, 1, 16}, {1, 1, 1, 1}), "limits: padding of 16, at most 15");
  EXPECT_EQ(Reason({6, 6, 1, 1, 20, 1, 15}, {1, 1, 1, 1}), "legal");
}

TEST(VtaSpace, NoTileIsAllPadding) {
  const char* const why = "limits: a tile of the input is all padding";
  EXPECT_EQ(Reason({3, 3, 1, 1, 5, 1, 15}, {1, 1, 1, 1}), why);
  EXPECT_EQ(Reason({3, 3, 1, 1, 5, 1, 15}, {29, 29, 1, 1}), "legal");
  EXPECT_EQ(Reason({3, 3, 1, 1, 5, 1, 15}, {29, 1, 1, 1}), why);
  EXPECT_EQ(Reason({3, 3, 1, 4, 5, 1, 15}, {1, 29, 1, 4}), why);
  EXPECT_EQ(Reason({4, 4, 1, 1, 3, 1, 2}, {3, 3, 1, 1}), "legal");
  // The first window needs input 0, the last one input 3; with a padding of 3, neither needs any.
  EXPECT_EQ(Reason({4, 4, 1, 1, 3, 1, 2}, {1, 1, 1, 1}), "legal");
  EXPECT_EQ(Reason({4, 4, 1, 1, 3, 1, 3}, {1, 1, 1, 1}), why);
  // With a stride of 3: windows at -2 and 1; at -3, 0 and 3.
  EXPECT_EQ(Reason({4, 4, 1, 1, 3, 3, 2}, {1, 1, 1, 1}), "legal");
  EXPECT_EQ(Reason({4, 4, 1, 1, 3, 3, 3}, {1, 1, 1, 1}), why);
}

// Fields of 16 bits hold rows, columns and the distance of rows, but products of these may be larger.
TEST(VtaSpace, LimitsOfTransfers) {
  const PackedConv large{300, 300, 1, 1, 3, 1, 1};
  EXPECT_EQ(Reason(large, {10, 10, 1, 1}), "legal");
  EXPECT_EQ(Reason({300, 300, 2, 1, 1, 2, 0}, {1, 10, 2, 1}),
            "limits: a transfer of inputs with stride 90000, at most 65535");
  EXPECT_EQ(Reason({300, 300, 2, 1, 1, 2, 0}, {1, 10, 1, 1}), "legal");
  EXPECT_EQ(Reason({300, 300, 1, 2, 1, 1, 0}, {1, 10, 1, 2}),
            "limits: a transfer of results with stride 90000, at most 65535");
  EXPECT_EQ(Reason({1, 1, 80000, 2, 1, 1, 0}, {1, 1, 1, 2}),
            "limits: a transfer of weights with stride 80000, at most 65535");
  EXPECT_EQ(Reason({1, 1, 80000, 2, 1, 1, 0}, {1, 1, 1, 1}), "legal");
  EXPECT_EQ(Reason({4, 70000, 1, 1, 3, 1, 1}, {4, 10, 1, 1}),
            "limits: a transfer of inputs with stride 70000, at most 65535");
}

TEST(VtaSpace, AbortsIfTheWindowDoesNotFit) {
  EXPECT_DEATH(Conv2dPackedSpace(kPynq, {2, 2, 1, 1, 5, 1, 0}), "conv.kernel");
  EXPECT_DEATH(Conv2dPackedSpace(kPynq, {2, 9, 1, 1, 3, 2, 0}), "conv.kernel");
}

TEST(VtaSpace, MergesRows) {
  const auto rows = [](std::vector<int64_t> extents) { return MergeRows(extents, {8, 10, 12}); };
  const auto same = [](const std::optional<TransferRows>& r, int64_t count, int64_t columns, int64_t stride) {
    return r && r->rows == count && r->columns == columns && r->stride == stride;
  };
  EXPECT_TRUE(same(rows({1, 4, 5}), 4, 5, 12));
  EXPECT_TRUE(same(rows({3, 1, 5}), 3, 5, 120));
  EXPECT_TRUE(same(rows({1, 4, 12}), 1, 48, 48));  // full width
  EXPECT_TRUE(same(rows({3, 4, 12}), 3, 48, 120));
  EXPECT_TRUE(same(rows({3, 10, 5}), 30, 5, 12));  // full height
  EXPECT_TRUE(same(rows({3, 10, 12}), 1, 360, 360));
  EXPECT_TRUE(same(rows({1, 4, 1}), 4, 1, 12));
  EXPECT_TRUE(same(rows({1, 1, 1}), 1, 1, 1));
  EXPECT_EQ(rows({3, 4, 5}), std::nullopt);
  EXPECT_EQ(rows({3, 4, 1}), std::nullopt);
}

}  // namespace
}  // namespace hone::op
