// A matrix product with bias, shift and limits, written by hand: two rows of 16 inputs, 32 outputs. All that tests
// expect of it is worked out on paper.
#pragma once

#include "common/vta_device.h"

namespace hone::vta {

// Where each instruction of the program is.
enum ProductStep {
  kLoadUops,
  kReset,
  kLoadRows,
  kLoadWeights,
  kLoadBias,
  kProduct,
  kAddBias,
  kShift,
  kMin,
  kMax,
  kStore,
  kLast,
  kEnd
};

struct Product {
  Program program;
  uint64_t out = 0;  // int8 [2][32]
};

// Row 0 is 3, -1, 3, -1, ..; row 1 is 0, 1, 2, .. 15. The weights of output j are j for the inputs 0 to 7 and -2 j for
// 8 to 15; those of output 16 + j are the negatives. So the sums are -8 j and 8 j for row 0, which adds up to 8 and 8;
// -156 j and 156 j for row 1, which adds up to 28 and 92. Then + 100, >> 3, limits of -127 and 127.
inline Product PutProduct(SimulatedDevice* device) {
  std::vector<int8_t> rows(32), weights(512);
  std::vector<int32_t> bias(32, 100);
  for (int k = 0; k < 16; ++k) {
    rows[k] = k % 2 == 0 ? 3 : -1, rows[16 + k] = k;
    for (int j = 0; j < 16; ++j) {
      weights[16 * j + k] = k < 8 ? j : -2 * j;
      weights[256 + 16 * j + k] = -weights[16 * j + k];
    }
  }
  Product made;
  made.out = device->Put(std::vector<int8_t>(64));
  // The first micro-operation begins at entry 0 of everything; the second adds ACC entry 4 and following.
  const uint32_t uops = device->PutUops({{0, 0, 0}, {0, 4, 0}});
  const HoneVtaInstruction alu{
      .opcode = HONE_VTA_ALU, .uop_end = 1, .iter_out = 1, .iter_in = 4, .dst_in = 1, .src_in = 1, .use_imm = 1};
  Program& p = made.program;
  p.resize(kEnd, alu);
  p[kLoadUops] = {
      .opcode = HONE_VTA_LOAD, .memory = HONE_VTA_UOP, .dram_base = uops, .y_size = 1, .x_size = 2, .x_stride = 2};
  p[kReset] = {
      .opcode = HONE_VTA_GEMM, .reset = 1, .uop_end = 1, .iter_out = 2, .iter_in = 2, .dst_out = 2, .dst_in = 1};
  p[kLoadRows] = {.opcode = HONE_VTA_LOAD,
                  .memory = HONE_VTA_INP,
                  .dram_base = device->PutEntries(HONE_VTA_INP, rows),
                  .y_size = 1,
                  .x_size = 2,
                  .x_stride = 2};
  p[kLoadWeights] = {.opcode = HONE_VTA_LOAD,
                     .push_next = 1,
                     .memory = HONE_VTA_WGT,
                     .dram_base = device->PutEntries(HONE_VTA_WGT, weights),
                     .y_size = 1,
                     .x_size = 2,
                     .x_stride = 2};
  p[kLoadBias] = {.opcode = HONE_VTA_LOAD,
                  .memory = HONE_VTA_ACC,
                  .sram_base = 4,
                  .dram_base = device->PutEntries(HONE_VTA_ACC, bias),
                  .y_size = 1,
                  .x_size = 2,
                  .x_stride = 2};
  p[kProduct] = {.opcode = HONE_VTA_GEMM,
                 .pop_prev = 1,
                 .uop_end = 1,
                 .iter_out = 2,
                 .iter_in = 2,
                 .dst_out = 2,
                 .dst_in = 1,
                 .src_out = 1,
                 .wgt_in = 1};
  p[kAddBias] = {.opcode = HONE_VTA_ALU,
                 .uop_begin = 1,
                 .uop_end = 2,
                 .iter_out = 2,
                 .iter_in = 2,
                 .dst_out = 2,
                 .dst_in = 1,
                 .src_in = 1,
                 .alu_opcode = HONE_VTA_ADD};
  p[kShift].alu_opcode = HONE_VTA_SHR, p[kShift].imm = 3;
  p[kMin].alu_opcode = HONE_VTA_MIN, p[kMin].imm = 127;
  p[kMax].alu_opcode = HONE_VTA_MAX, p[kMax].imm = -127, p[kMax].push_next = 1;
  p[kStore] = {.opcode = HONE_VTA_STORE,
               .pop_prev = 1,
               .push_prev = 1,
               .memory = HONE_VTA_OUT,
               .dram_base = static_cast<uint32_t>(made.out / 16),
               .y_size = 1,
               .x_size = 4,
               .x_stride = 4};
  p[kLast] = {.opcode = HONE_VTA_LOAD, .pop_next = 1, .memory = HONE_VTA_UOP};
  p.push_back(Finish());
  return made;
}

}  // namespace hone::vta
