// The simulator on programs that are right: results, counters and cycles, all worked out by hand.
#include "unit/runtime/vta_product.h"

#include "common/vta_designs.h"

namespace hone::vta {
namespace {

std::vector<int8_t> ExpectedProduct() {
  std::vector<int8_t> out(64);
  const int slopes[] = {-8, 8, -156, 156};
  for (int block = 0; block < 4; ++block) {
    for (int j = 0; j < 16; ++j) {
      const double value = std::floor((slopes[block] * j + 100) / 8.0);
      out[16 * block + j] = static_cast<int8_t>(std::clamp(value, -127.0, 127.0));
    }
  }
  return out;
}

TEST(VtaProduct, GivesTheValuesWorkedOutByHandInEveryOrder) {
  const std::vector<int8_t> expected = ExpectedProduct();
  EXPECT_EQ(expected[0], 12);     // 100 >> 3
  EXPECT_EQ(expected[15], -3);    // (100 - 120) >> 3 rounds down
  EXPECT_EQ(expected[31], 27);    // (100 + 120) >> 3
  EXPECT_EQ(expected[33], -7);    // (100 - 156) >> 3
  EXPECT_EQ(expected[47], -127);  // (100 - 2340) >> 3 = -280
  EXPECT_EQ(expected[63], 127);
  for (uint64_t seed = 0; seed < 20; ++seed) {
    SimulatedDevice device({.seed = seed});
    const Product product = PutProduct(&device);
    ASSERT_EQ(device.Run(product.program), "");
    EXPECT_EQ(device.Get(product.out, 64), expected);
  }
}

TEST(VtaProduct, CountsWhatItMovesAndComputes) {
  SimulatedDevice device;
  const Product product = PutProduct(&device);
  ASSERT_EQ(device.Run(product.program), "");
  const HoneVtaCounters& c = device.counters();
  EXPECT_EQ(c.instructions, 13u);
  EXPECT_EQ(c.load_bytes[HONE_VTA_UOP], 8u);
  EXPECT_EQ(c.load_bytes[HONE_VTA_INP], 32u);
  EXPECT_EQ(c.load_bytes[HONE_VTA_WGT], 512u);
  EXPECT_EQ(c.load_bytes[HONE_VTA_ACC], 128u);
  EXPECT_EQ(c.load_bytes[HONE_VTA_ACC_8BIT], 0u);
  EXPECT_EQ(c.store_bytes, 64u);
  EXPECT_EQ(c.reset, 4u);
  EXPECT_EQ(c.gemm, 4u);
  EXPECT_EQ(c.alu, 16u);
}

// pynq, with 5 cycles for each instruction: micro-operations 55 (32 for the row, 16 for a burst, 2 words); reset 29;
// rows 57 (32 + 16 + 4); weights 165 (32 + 4 x 16 + 64); bias 69 (32 + 16 + 16); product 29; ALU 33 each; store 45
// (32 + 8); the last two 5. The port serves load first: rows from 0 to 57, weights to 222, then the micro-operations to
// 277. Now everything waits for the instruction before: reset to 306, bias to 375, product to 404, ALU to 536, store to
// 581, the rest to 591.
TEST(VtaProduct, TakesTheCyclesWorkedOutByHand) {
  SimulatedDevice device;
  const Product product = PutProduct(&device);
  ASSERT_EQ(device.Run(product.program), "");
  EXPECT_EQ(device.counters().cycles, 591u);
  EXPECT_EQ(device.counters().busy[HONE_VTA_MODULE_LOAD], 57u + 165);
  EXPECT_EQ(device.counters().busy[HONE_VTA_MODULE_COMPUTE], 55u + 29 + 69 + 29 + 4 * 33 + 5 + 5);
  EXPECT_EQ(device.counters().busy[HONE_VTA_MODULE_STORE], 45u);
  EXPECT_EQ(device.counters().port_busy, 57u + 55 + 165 + 69 + 45);
}

// pynq-2019: each of the four ALU instructions takes 24 cycles more for each of its 4 micro-operations. ideal: only the
// product's 4. tsim, with 10 for each instruction: rows 20 (6 + 4), to 20; weights 80, to 100; micro-operations 18, to
// 118; reset 22 (8 + 4), to 140; bias 32, to 172; product 22, to 194; ALU 22 each, to 282; store 24, to 306; then 10
// each.
TEST(VtaProduct, TakesOtherCyclesWithOtherPresets) {
  const std::pair<const char*, uint64_t> cases[] = {
      {"pynq", 591}, {"pynq-2019", 591 + 4 * 4 * 24}, {"ideal", 4}, {"tsim", 326}};
  for (const auto& [name, cycles] : cases) {
    SCOPED_TRACE(name);
    ASSERT_NE(hone_vta_find_preset(name), nullptr);
    for (int only_cycles : {0, 1}) {
      SimulatedDevice device({.timing = *hone_vta_find_preset(name), .only_cycles = only_cycles});
      const Product product = PutProduct(&device);
      ASSERT_EQ(device.Run(product.program), "");
      EXPECT_EQ(device.counters().cycles, cycles);
      EXPECT_EQ(device.counters().gemm, 4u);
      EXPECT_EQ(device.Get(product.out, 64) == std::vector<int8_t>(64), only_cycles == 1);
    }
  }
  int presets = 0;
  for (const HoneVtaTiming* preset = hone_vta_presets(); preset->name != nullptr; ++preset) ++presets;
  EXPECT_EQ(presets, 4);
  EXPECT_EQ(hone_vta_find_preset("zynq"), nullptr);
}

uint64_t CyclesOf(const Program& program, const char* preset = "pynq") {
  SimulatedDevice device({.timing = *hone_vta_find_preset(preset), .only_cycles = 1});
  EXPECT_EQ(device.Run(program), "");
  return device.counters().cycles;
}

TEST(VtaTiming, RowsBurstsAndPadding) {
  // 3 rows of 9 entries (144 bytes: 2 bursts, 18 beats), 5 x 12 - 27 = 33 entries of padding.
  HoneVtaInstruction load{.opcode = HONE_VTA_LOAD,
                          .memory = HONE_VTA_INP,
                          .y_size = 3,
                          .x_size = 9,
                          .x_stride = 56,
                          .y_pad_0 = 1,
                          .y_pad_1 = 1,
                          .x_pad_0 = 1,
                          .x_pad_1 = 2};
  EXPECT_EQ(CyclesOf({load, Finish()}), 5u + 3 * (32 + 2 * 16 + 18) + 33);
  EXPECT_EQ(CyclesOf({load, Finish()}, "tsim"), 10u + 3 * (6 + 18) + 33);
  // An odd number of micro-operations: 5 words at 4 bytes a cycle.
  load = {.opcode = HONE_VTA_LOAD, .memory = HONE_VTA_UOP, .y_size = 1, .x_size = 5};
  EXPECT_EQ(CyclesOf({load, Finish()}), 5u + 32 + 16 + 5 + 5);
  // Stores have no bursts.
  const HoneVtaInstruction store{.opcode = HONE_VTA_STORE, .memory = HONE_VTA_OUT, .y_size = 3, .x_size = 9};
  EXPECT_EQ(CyclesOf({store, Finish()}), 5u + 3 * (32 + 18));
  EXPECT_EQ(CyclesOf({load, store, Finish()}, "ideal"), 0u);
  EXPECT_EQ(CyclesOf({Finish()}), 5u);
}

// Two threads: the second load runs during the first product. A load of 4 weights takes 5 + 32 + 8 x 16 + 128 = 293
// cycles, a product of 1000 executions 1025.
TEST(VtaTiming, LoadsRunBesideProducts) {
  const HoneVtaInstruction load{
      .opcode = HONE_VTA_LOAD, .push_next = 1, .memory = HONE_VTA_WGT, .y_size = 1, .x_size = 4};
  const HoneVtaInstruction gemm{.opcode = HONE_VTA_GEMM, .pop_prev = 1, .uop_end = 1, .iter_out = 10, .iter_in = 100};
  EXPECT_EQ(CyclesOf({load, gemm, load, gemm, Finish()}), 293u + 1025 + 1025 + 5);
  // With one buffer, the second load waits until the first product has freed it.
  HoneVtaInstruction frees = gemm, waits = load;
  frees.push_prev = 1, waits.pop_next = 1;
  EXPECT_EQ(CyclesOf({load, frees, waits, gemm, Finish()}), 293u + 1025 + 293 + 1025 + 5);
}

// Whoever waits, the free port goes to load before compute, whatever the order in the stream.
TEST(VtaTiming, ThePortServesLoadFirst) {
  const HoneVtaInstruction uops{.opcode = HONE_VTA_LOAD, .memory = HONE_VTA_UOP, .y_size = 1, .x_size = 4};  // 57
  const HoneVtaInstruction rows{.opcode = HONE_VTA_LOAD, .memory = HONE_VTA_INP, .y_size = 1, .x_size = 8};  // 69
  const HoneVtaInstruction gemm{.opcode = HONE_VTA_GEMM, .uop_end = 1, .iter_out = 1, .iter_in = 75};        // 100
  EXPECT_EQ(CyclesOf({uops, gemm, rows, Finish()}), 69u + 57 + 100 + 5);
  EXPECT_EQ(CyclesOf({uops, gemm, rows, rows, Finish()}), 69u + 69 + 57 + 100 + 5);
  // Here load is done at 69, before compute asks at 100.
  EXPECT_EQ(CyclesOf({gemm, uops, rows, Finish()}), 100u + 57 + 5);
}

TEST(VtaSimulator, StoresTheLowBytesAndWrapsAround) {
  SimulatedDevice device;
  const uint64_t out = device.Put(std::vector<int8_t>(64));
  const uint32_t uops = device.PutUops({{0, 0, 0}, {0, 1, 0}});
  std::vector<int32_t> values(32, 0);
  values[0] = 300, values[1] = -129, values[2] = INT32_MAX, values[16 + 2] = 1, values[3] = -1, values[4] = 5;
  const uint32_t acc = device.PutEntries(HONE_VTA_ACC, values);
  const HoneVtaInstruction add{.opcode = HONE_VTA_ALU,
                               .push_next = 1,
                               .uop_begin = 1,
                               .uop_end = 2,
                               .iter_out = 1,
                               .iter_in = 1,
                               .alu_opcode = HONE_VTA_ADD};
  HoneVtaInstruction left = add;  // by 15 bits, the most
  left.push_next = 0, left.alu_opcode = HONE_VTA_SHR, left.use_imm = 1, left.imm = -15;
  const HoneVtaInstruction load{
      .opcode = HONE_VTA_LOAD, .memory = HONE_VTA_ACC, .dram_base = acc, .y_size = 1, .x_size = 2};
  const HoneVtaInstruction store{.opcode = HONE_VTA_STORE,
                                 .pop_prev = 1,
                                 .push_prev = 1,
                                 .memory = HONE_VTA_OUT,
                                 .dram_base = static_cast<uint32_t>(out / 16),
                                 .y_size = 1,
                                 .x_size = 1};
  const HoneVtaInstruction load_uops{
      .opcode = HONE_VTA_LOAD, .memory = HONE_VTA_UOP, .dram_base = uops, .y_size = 1, .x_size = 2};
  const HoneVtaInstruction last{.opcode = HONE_VTA_LOAD, .pop_next = 1, .memory = HONE_VTA_UOP};
  ASSERT_EQ(device.Run({load_uops, load, add, store, last, Finish()}), "");
  EXPECT_THAT(device.Get(out, 5), ElementsAre(44, 127, 0, -1, 5));
  HoneVtaInstruction right = left, low = add;
  right.imm = 14, low.use_imm = 1, low.imm = 0;
  ASSERT_EQ(device.Run({load_uops, load, left, right, low, store, last, Finish()}), "");
  // 300 << 15 >> 14 = 600 = 88; -129 << 1 = -258; INT32_MAX << 15 = -32768, >> 14 = -2; -1 << 1; 5 << 1.
  EXPECT_THAT(device.Get(out, 5), ElementsAre(88, -2, -2, -2, 10));
}

// What only some designs have: int8 widened to accumulators, and products in the ALU. Shifts by other accumulators.
TEST(VtaSimulator, WidensMultipliesAndShiftsByAccumulators) {
  HoneVtaConfig config = hone_vta_default_config();
  config.extensions = 1;
  SimulatedDevice device({}, config);
  const uint64_t out = device.Put(std::vector<int8_t>(32));
  std::vector<int8_t> values(48);  // three entries: x, y, shifts
  const int x[] = {-128, 127, -1, 100}, y[] = {3, -5, 7, 0}, shifts[] = {2, -1, 0, 15};
  for (int e = 0; e < 4; ++e) values[e] = x[e], values[16 + e] = y[e], values[32 + e] = shifts[e];
  const auto alu = [](uint32_t opcode, uint32_t uop) {
    return HoneVtaInstruction{.opcode = HONE_VTA_ALU,
                              .uop_begin = uop,
                              .uop_end = uop + 1,
                              .iter_out = 1,
                              .iter_in = 1,
                              .alu_opcode = opcode};
  };
  HoneVtaInstruction shift = alu(HONE_VTA_SHR, 1);
  shift.push_next = 1;
  ASSERT_EQ(device.Run({{.opcode = HONE_VTA_LOAD,
                         .memory = HONE_VTA_UOP,
                         .dram_base = device.PutUops({{0, 1, 0}, {0, 2, 0}}),
                         .y_size = 1,
                         .x_size = 2},
                        {.opcode = HONE_VTA_LOAD,
                         .memory = HONE_VTA_ACC_8BIT,
                         .dram_base = device.PutEntries(HONE_VTA_ACC_8BIT, values),
                         .y_size = 1,
                         .x_size = 3},
                        alu(HONE_VTA_MUL, 0),
                        shift,
                        {.opcode = HONE_VTA_STORE,
                         .pop_prev = 1,
                         .push_prev = 1,
                         .memory = HONE_VTA_OUT,
                         .dram_base = static_cast<uint32_t>(out / 16),
                         .y_size = 1,
                         .x_size = 1},
                        {.opcode = HONE_VTA_LOAD, .pop_next = 1, .memory = HONE_VTA_UOP},
                        Finish()}),
            "");
  // -384 >> 2 = -96; -635 << 1 = -1270, of which the low byte is 10; -7; 0.
  EXPECT_THAT(device.Get(out, 4), ElementsAre(-96, 10, -7, 0));
  EXPECT_EQ(device.counters().load_bytes[HONE_VTA_ACC_8BIT], 48u);
  EXPECT_EQ(device.counters().load_bytes[HONE_VTA_ACC], 0u);
}

// Rows apart in DRAM, with padding around them: a product with weights 1 sums each entry.
TEST(VtaSimulator, LoadsRowsWithPadding) {
  SimulatedDevice device;
  const uint64_t out = device.Put(std::vector<int8_t>(16 * 20));
  std::vector<int8_t> image(16 * 12), weights(256, 0);
  for (int e = 0; e < 12; ++e) image[16 * e] = static_cast<int8_t>(e + 1);
  for (int j = 0; j < 16; ++j) weights[16 * j] = 1;
  const uint32_t uops = device.PutUops({{0, 0, 0}});
  Program p = {{.opcode = HONE_VTA_LOAD, .memory = HONE_VTA_UOP, .dram_base = uops, .y_size = 1, .x_size = 1},
               {.opcode = HONE_VTA_LOAD,
                .memory = HONE_VTA_WGT,
                .dram_base = device.PutEntries(HONE_VTA_WGT, weights),
                .y_size = 1,
                .x_size = 1},
               // 2 rows of 3 entries, 4 apart; 1 row above, 1 below; 1 entry to the left, 1 to the right.
               {.opcode = HONE_VTA_LOAD,
                .push_next = 1,
                .memory = HONE_VTA_INP,
                .dram_base = device.PutEntries(HONE_VTA_INP, image) + 1,
                .y_size = 2,
                .x_size = 3,
                .x_stride = 4,
                .y_pad_0 = 1,
                .y_pad_1 = 1,
                .x_pad_0 = 1,
                .x_pad_1 = 1},
               {.opcode = HONE_VTA_GEMM, .reset = 1, .uop_end = 1, .iter_out = 1, .iter_in = 20, .dst_in = 1},
               {.opcode = HONE_VTA_GEMM,
                .pop_prev = 1,
                .push_next = 1,
                .uop_end = 1,
                .iter_out = 1,
                .iter_in = 20,
                .dst_in = 1,
                .src_in = 1},
               // 5 rows of 4 entries, dense.
               {.opcode = HONE_VTA_STORE,
                .pop_prev = 1,
                .push_prev = 1,
                .memory = HONE_VTA_OUT,
                .dram_base = static_cast<uint32_t>(out / 16),
                .y_size = 5,
                .x_size = 4,
                .x_stride = 4},
               {.opcode = HONE_VTA_LOAD, .pop_next = 1, .memory = HONE_VTA_UOP},
               Finish()};
  ASSERT_EQ(device.Run(p), "");
  const std::vector<int8_t> all = device.Get(out, 16 * 20);
  std::vector<int> found;
  for (int e = 0; e < 20; ++e) found.push_back(all[16 * e]);
  EXPECT_THAT(found, ElementsAre(0, 0, 0, 0, 0, 0, 2, 3, 4, 0, 0, 6, 7, 8, 0, 0, 0, 0, 0, 0));
  EXPECT_EQ(device.counters().load_bytes[HONE_VTA_INP], 6u * 16);  // padding is not counted
}

// Random products on other designs (block 8 and 32, batch 2, halved memories), against plain integers.
TEST(VtaSimulator, MultipliesOnOtherDesigns) {
  for (const HoneVtaConfig& config : VtaDesigns()) {
    SimulatedDevice device({.seed = 3}, config);
    const int batch = 1 << config.log_batch, block = 1 << config.log_block, rows = 5, steps = 3;
    // Row blocks x steps of the reduction; steps of weights, one output block.
    std::vector<int8_t> inp(rows * steps * batch * block), wgt(steps * block * block);
    uint32_t random = 1;
    for (auto* values : {&inp, &wgt}) {
      for (int8_t& value : *values) value = static_cast<int8_t>((random = random * 1664525 + 1013904223) >> 24);
    }
    const uint64_t out = device.Put(std::vector<int8_t>(rows * batch * block));
    const HoneVtaInstruction nest{.opcode = HONE_VTA_GEMM,
                                  .uop_end = 1,
                                  .iter_out = steps,
                                  .iter_in = rows,
                                  .dst_in = 1,
                                  .src_out = 1,
                                  .src_in = steps,
                                  .wgt_out = 1};
    HoneVtaInstruction reset = nest, product = nest;
    reset.reset = reset.iter_out = 1, product.pop_prev = product.push_next = 1;
    ASSERT_EQ(device.Run({{.opcode = HONE_VTA_LOAD,
                           .memory = HONE_VTA_UOP,
                           .dram_base = device.PutUops({{0, 0, 0}}),
                           .y_size = 1,
                           .x_size = 1},
                          reset,
                          {.opcode = HONE_VTA_LOAD,
                           .memory = HONE_VTA_INP,
                           .dram_base = device.PutEntries(HONE_VTA_INP, inp),
                           .y_size = 1,
                           .x_size = rows * steps},
                          {.opcode = HONE_VTA_LOAD,
                           .push_next = 1,
                           .memory = HONE_VTA_WGT,
                           .dram_base = device.PutEntries(HONE_VTA_WGT, wgt),
                           .y_size = 1,
                           .x_size = steps},
                          product,
                          {.opcode = HONE_VTA_STORE,
                           .pop_prev = 1,
                           .push_prev = 1,
                           .memory = HONE_VTA_OUT,
                           .dram_base = static_cast<uint32_t>(out / hone_vta_entry_bytes(&config, HONE_VTA_OUT)),
                           .y_size = 1,
                           .x_size = rows},
                          {.opcode = HONE_VTA_LOAD, .pop_next = 1, .memory = HONE_VTA_UOP},
                          Finish()}),
              "");
    std::vector<int8_t> expected(rows * batch * block);
    for (int r = 0; r < rows; ++r) {
      for (int b = 0; b < batch; ++b) {
        for (int j = 0; j < block; ++j) {
          int sum = 0;
          for (int s = 0; s < steps; ++s) {
            for (int k = 0; k < block; ++k) {
              sum += inp[((r * steps + s) * batch + b) * block + k] * wgt[(s * block + j) * block + k];
            }
          }
          expected[(r * batch + b) * block + j] = static_cast<int8_t>(sum);
        }
      }
    }
    EXPECT_EQ(device.Get(out, expected.size()), expected);
    EXPECT_EQ(device.counters().gemm, 15u);
  }
}

}  // namespace
}  // namespace hone::vta
