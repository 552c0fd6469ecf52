// The ten convolutions of ResNet-18 on the simulator and in the cycle model, against figures that neither computed: the
// counters follow from the tiles, the times are those of an independent model of the same program, and measurements.
#include "unit/op/vta_conv.h"

#include "common/vta_device.h"
#include "unit/op/vta_layers.h"

namespace hone::op {
namespace {

using vta::SimulatedDevice;

// `pynq`, whose ALU needs `alu` cycles for a micro-operation.
HoneVtaTiming Pynq(uint32_t alu) {
  HoneVtaTiming timing = *hone_vta_find_preset("pynq");
  timing.alu = alu;
  return timing;
}

double Milliseconds(uint64_t cycles, const HoneVtaTiming& timing) {
  return static_cast<double>(cycles) / (1e3 * timing.megahertz);
}

TEST(VtaConv, CountersOfThePublishedConfigurations) {
  for (const VtaLayer& layer : kVtaLayers) {
    SCOPED_TRACE(layer.name);
    const HoneVtaCounters found = TimeVtaConv(layer.conv, layer.published, kTunedStages, {Pynq(2)})[0];
    EXPECT_EQ(found.gemm, layer.counters.gemm);
    EXPECT_EQ(found.reset, layer.counters.reset);
    EXPECT_EQ(found.alu, layer.counters.alu);
    EXPECT_EQ(found.load_bytes[HONE_VTA_INP], layer.counters.inp);
    EXPECT_EQ(found.load_bytes[HONE_VTA_WGT], layer.counters.wgt);
    EXPECT_EQ(found.store_bytes, layer.counters.out);
    EXPECT_EQ(found.load_bytes[HONE_VTA_UOP], layer.counters.uop);
    // All 8 that the table omits or counts as 3: two to start, and six to synchronise.
    EXPECT_EQ(found.instructions, layer.counters.instructions + 5);
  }
}

// What the compute module alone needs, at least: its products, resets and three ALU instructions.
uint64_t ComputeCycles(const PackedConv& c, const PackedTile& tile, const HoneVtaTiming& timing) {
  const int64_t results = c.out_blocks * c.OutHeight() * c.OutWidth();
  const int64_t tiles = results / (tile.out_blocks * tile.height * tile.width), steps = c.in_blocks / tile.in_blocks;
  return results * c.in_blocks * c.kernel * c.kernel + results * (1 + 3 * timing.alu) +
         tiles * (steps + 4) * (timing.any + timing.nest);
}

// The best of all legal points, each with three ALUs: 1 and 2 cycles for a micro-operation, and 26 as in 2019.
TEST(VtaConv, BestPointsTakeTheTimesOfAnIndependentModel) {
  const std::vector<HoneVtaTiming> timings = {Pynq(1), Pynq(2), *hone_vta_find_preset("pynq-2019")};
  double totals[3] = {};
  int published_is_best[3] = {};
  for (const VtaLayer& layer : kVtaLayers) {
    SCOPED_TRACE(layer.name);
    const search::Space space = Conv2dPackedSpace(hone_vta_default_config(), layer.conv);
    const auto published = TimeVtaConv(layer.conv, layer.published, kTunedStages, timings);
    uint64_t best[3] = {published[0].cycles, published[1].cycles, published[2].cycles};
    for (PointIndex index = 0; index < space.size(); ++index) {
      const PackedTile tile = PackedTile::Of(space.At(index));
      int better = 0;
      for (int t = 0; t < 3; ++t) better += ComputeCycles(layer.conv, tile, timings[t]) < best[t];
      if (better == 0 || !space.Legal(index)) continue;
      const auto found = TimeVtaConv(layer.conv, tile, kTunedStages, timings);
      for (int t = 0; t < 3; ++t) best[t] = std::min(best[t], found[t].cycles);
    }
    for (int t = 0; t < 3; ++t) {
      totals[t] += layer.times * Milliseconds(best[t], timings[t]);
      published_is_best[t] += published[t].cycles == best[t];
    }
    // What the tutorial's random search found on the board.
    EXPECT_NEAR(layer.Flop() / Milliseconds(best[2], timings[2]) / 1e6, layer.tutorial_gops,
                0.06 * layer.tutorial_gops);
    // Times on the board, by the ALU that fits best.
    const double tolerance = layer.name == std::string("C4") ? 0.16 : 0.10;
    EXPECT_NEAR(Milliseconds(published[0].cycles, timings[0]), layer.published_ms, tolerance * layer.published_ms);
  }
  EXPECT_NEAR(totals[0], 85.0, 0.005 * 85.0);
  EXPECT_NEAR(totals[1], 87.6, 0.005 * 87.6);
  EXPECT_NEAR(totals[2], 163, 0.01 * 163);
  EXPECT_EQ(published_is_best[0], 8);  // all but C4 and C7
  EXPECT_EQ(published_is_best[1], 7);  // and C2
}

// VTA's own cycle-accurate simulator on the whole network, with six ALU operations for each convolution: 7,729,601
// cycles with a product each cycle, 27,679,515 with one every four.
TEST(VtaConv, TsimCyclesOfTheNetwork) {
  const std::vector<VtaAluStage> six(6, {HONE_VTA_MAX, 0});
  std::vector<HoneVtaTiming> timings(2, *hone_vta_find_preset("tsim"));
  timings[1].gemm = timings[1].reset = 4;
  double totals[2] = {};
  for (const VtaLayer& layer : kVtaLayers) {
    const auto found = TimeVtaConv(layer.conv, layer.published, six, timings);
    for (int t = 0; t < 2; ++t) totals[t] += static_cast<double>(layer.times * found[t].cycles);
  }
  EXPECT_NEAR(totals[0], 7729601, 0.02 * 7729601);
  EXPECT_NEAR(totals[1], 27679515, 0.02 * 27679515);
}

TEST(VtaConv, IdealIsTheProductsAlone) {
  uint64_t total = 0;
  for (const VtaLayer& layer : kVtaLayers) {
    total += layer.times *
             TimeVtaConv(layer.conv, layer.published, kTunedStages, {*hone_vta_find_preset("ideal")})[0].cycles;
  }
  EXPECT_EQ(total, 6623232u);
}

// Runs a convolution and compares every `step`-th output; "" or the simulator's message.
std::string Simulate(const PackedConv& c, const PackedTile& tile, int64_t step, uint64_t seed = 0) {
  SimulatedDevice device({.seed = seed});
  const VtaConvData d = RandomVtaData(c);
  const int64_t outputs = 16 * c.out_blocks * c.OutHeight() * c.OutWidth();
  const uint64_t out = device.Put(std::vector<int8_t>(outputs));
  VtaConvAddresses at{device.PutEntries(HONE_VTA_INP, d.data), device.PutEntries(HONE_VTA_WGT, d.weights),
                      static_cast<uint32_t>(out / 16), 0};
  at.uops = device.PutUops(MakeVtaConv(c, tile, kTunedStages).uops);
  const std::string message = device.Run(MakeVtaConv(c, tile, kTunedStages, at).instructions);
  if (!message.empty()) return message;
  const std::vector<int8_t> found = device.Get(out, outputs);
  for (int64_t e = 0; e < outputs; e += step) {
    const int64_t lane = e % 16, x = e / 16 % c.OutWidth(), y = e / 16 / c.OutWidth() % c.OutHeight();
    const int64_t channel = e / 16 / c.OutWidth() / c.OutHeight() * 16 + lane;
    const int8_t expected = ExpectedOutput(c, d, channel, y, x);
    if (found[e] != expected) return fmt::format("output {} is {}, not {}", e, found[e], expected);
  }
  return "";
}

TEST(VtaConv, ThePublishedConfigurationsComputeTheConvolutions) {
  for (const VtaLayer& layer : kVtaLayers) EXPECT_EQ(Simulate(layer.conv, layer.published, 1009), "") << layer.name;
}

// Whether an instruction of the tile reads an accumulator that it wrote before it has left the pipeline: the results
// inside the innermost reduction are fewer than 3. AutoTVM looks for this only inside a list of micro-operations.
bool ReadsTooSoon(const PackedConv& conv, const PackedTile& t) {
  if (conv.kernel > 1) return t.out_blocks * t.height < 3;
  return t.in_blocks > 1 && t.width * t.out_blocks * t.height < 3;
}

// Every legal point of small layers is right or refused for this reason.
TEST(VtaConv, EveryPointOfSmallLayers) {
  for (const PackedConv& conv :
       {PackedConv{6, 8, 2, 4, 3, 1, 1}, PackedConv{7, 5, 2, 2, 3, 2, 1}, PackedConv{6, 6, 4, 2, 1, 2, 0},
        PackedConv{5, 4, 2, 2, 1, 1, 0}, PackedConv{4, 4, 1, 4, 3, 1, 2}}) {
    const search::Space space = Conv2dPackedSpace(hone_vta_default_config(), conv);
    int points[2] = {};
    for (PointIndex index = 0; index < space.size(); ++index) {
      if (!space.Legal(index)) continue;
      const PackedTile tile = PackedTile::Of(space.At(index));
      const std::string message = Simulate(conv, tile, 1, static_cast<uint64_t>(index));
      const bool too_soon = ReadsTooSoon(conv, tile);
      ++points[too_soon];
      if (too_soon) {
        EXPECT_THAT(message, HasSubstr("(GEMM) of compute: reads entry"));
        EXPECT_THAT(message, HasSubstr("execution(s) after writing it"));
      } else {
        EXPECT_EQ(message, "");
      }
    }
    EXPECT_GE(points[0], 8);
    EXPECT_GE(points[1], 5);
  }
}

TEST(VtaConv, TheBuilderRefusesMoreMicroOperationsThanFit) {
  EXPECT_THROW(MakeVtaConv({170, 2, 1, 6, 9, 1, 4}, {85, 2, 1, 6, 1, 2}, kTunedStages), std::length_error);
}

// Some of the 1,745 points that AutoTVM runs are wrong on the board; doc/internals/vta.md has the number. The simulator
// runs a few of each layer, the first among them, and a few of the others. (All 140 take ten seconds.)
TEST(VtaConv, SomeLegalPointsReadAccumulatorsTooSoon) {
  int too_soon = 0, refused = 0, accepted = 0;
  for (const VtaLayer& layer : kVtaLayers) {
    const search::Space space = Conv2dPackedSpace(hone_vta_default_config(), layer.conv);
    std::vector<PackedTile> soon, right;
    int legal = 0;
    for (PointIndex index = 0; index < space.size(); ++index) {
      if (!space.Legal(index)) continue;
      const PackedTile tile = PackedTile::Of(space.At(index));
      if (ReadsTooSoon(layer.conv, tile)) {
        soon.push_back(tile);
      } else if (++legal % 60 == 0) {
        right.push_back(tile);
      }
    }
    too_soon += static_cast<int>(soon.size());
    EXPECT_EQ(ReadsTooSoon(layer.conv, PackedTile::Of(space.At(0))), layer.conv.kernel > 1) << layer.name;
    for (size_t i = 0; i < soon.size(); i += 5) {
      EXPECT_THAT(Simulate(layer.conv, soon[i], 1), HasSubstr("(GEMM) of compute: reads entry 0 of ACC")) << layer.name;
      ++refused;
    }
    for (const PackedTile& tile : right) {
      EXPECT_EQ(Simulate(layer.conv, tile, 4001), "") << layer.name;
      ++accepted;
    }
    EXPECT_FALSE(ReadsTooSoon(layer.conv, layer.published)) << layer.name;
  }
  EXPECT_EQ(too_soon, 140);
  EXPECT_EQ(refused, 32);
  EXPECT_EQ(accepted, 21);
}

}  // namespace
}  // namespace hone::op
