// The program of AutoTVM's template conv2d_packed.vta in closed form: a reference for tests, written from a description
// of what the template emits.
#pragma once

#include <vector>

#include "op/vta/conv2d_packed.h"
#include "runtime/vta/timing.h"

namespace hone::op {

// An ALU operation with an immediate on all results of a tile.
struct VtaAluStage {
  uint32_t opcode;
  int32_t imm;
};
// As tuned: >> 8, at most 127, at least 0.
inline const std::vector<VtaAluStage> kTunedStages = {{HONE_VTA_SHR, 8}, {HONE_VTA_MIN, 127}, {HONE_VTA_MAX, 0}};

// Where the tensors are in DRAM, in entries: data [CI][H][W], weights [CO][CI][K][K], out [CO][OH][OW] and the
// micro-operations.
struct VtaConvAddresses {
  uint32_t data = 0, weights = 0, out = 0, uops = 0;
};

struct VtaConvProgram {
  std::vector<HoneVtaUop> uops;
  std::vector<HoneVtaInstruction> instructions;
};

// REQUIRES: Conv2dPackedSpace accepts the tile. Throws std::length_error if all lists of micro-operations together are
// larger than UOP: AutoTVM's runtime replaces lists when it needs room, but this builder loads each once.
VtaConvProgram MakeVtaConv(const PackedConv& conv, const PackedTile& tile, const std::vector<VtaAluStage>& stages,
                           const VtaConvAddresses& at = {});

// Random tensors for it, and the outputs of kTunedStages from plain loops.
struct VtaConvData {
  std::vector<int8_t> data, weights;
};
VtaConvData RandomVtaData(const PackedConv& conv);
int8_t ExpectedOutput(const PackedConv& conv, const VtaConvData& data, int64_t channel, int64_t y, int64_t x);
// All of them, as the accelerator stores them: [CO][OH][OW][16].
std::vector<int8_t> ExpectedOutputs(const PackedConv& conv, const VtaConvData& data);

// Its counters, with the cycles of each timing, on the default design.
std::vector<HoneVtaCounters> TimeVtaConv(const PackedConv& conv, const PackedTile& tile,
                                         const std::vector<VtaAluStage>& stages,
                                         const std::vector<HoneVtaTiming>& timings);

}  // namespace hone::op
