// The ten convolutions of ResNet-18 that AutoTVM's tutorial tunes on VTA, with what is published or known of each:
// TopHub's configuration and time, the tutorial's rate, the size of the space and what its rules reject (an independent
// model of the template), and the counters of the configuration (worked out from its tiles).
#pragma once

#include "op/vta/conv2d_packed.h"

namespace hone::op {

struct VtaLayer {
  const char* name;
  PackedConv conv;
  int times;  // in the network
  PackedTile published;
  double published_ms, tutorial_gops;
  int points, legal;
  int rejected[7];  // by threads, inp, wgt, acc, dma_in, dma_out, verify
  struct {
    uint64_t gemm, reset, alu, inp, wgt, out, uop, instructions;
  } counters;

  double Flop() const {
    return 2.0 * 256 * conv.OutHeight() * conv.OutWidth() * conv.in_blocks * conv.out_blocks * conv.kernel *
           conv.kernel;
  }
};

inline const VtaLayer kVtaLayers[] = {
    {"C2",
     {56, 56, 4, 4, 3, 1, 1},
     4,
     {8, 56, 1, 2, 2, 1},
     5.699,
     15.27,
     2304,
     215,
     {624, 213, 0, 24, 922, 222, 84},
     {451584, 12544, 37632, 487424, 258048, 200704, 416, 265}},
    {"C3",
     {56, 56, 4, 8, 3, 2, 1},
     1,
     {7, 28, 1, 4, 2, 1},
     2.966,
     15.15,
     1728,
     158,
     {468, 233, 0, 4, 633, 172, 60},
     {225792, 6272, 18816, 422912, 294912, 100352, 704, 157}},
    {"C4",
     {56, 56, 4, 8, 1, 2, 0},
     1,
     {7, 28, 1, 4, 1, 2},
     1.349,
     2.18,
     1728,
     386,
     {468, 181, 0, 4, 517, 172, 0},
     {25088, 6272, 18816, 366080, 32768, 100352, 88, 157}},
    {"C5",
     {28, 28, 8, 8, 3, 1, 1},
     3,
     {14, 28, 1, 2, 1, 2},
     5.183,
     22.74,
     2304,
     171,
     {624, 148, 34, 30, 1064, 173, 60},
     {451584, 6272, 18816, 430080, 294912, 100352, 704, 253}},
    {"C6",
     {28, 28, 8, 16, 3, 2, 1},
     1,
     {14, 14, 1, 4, 2, 1},
     2.669,
     22.97,
     1280,
     119,
     {416, 103, 56, 6, 487, 63, 30},
     {225792, 3136, 9408, 401408, 294912, 50176, 1376, 133}},
    {"C7",
     {28, 28, 8, 16, 1, 2, 0},
     1,
     {7, 14, 1, 8, 2, 1},
     1.029,
     3.99,
     1280,
     365,
     {416, 87, 0, 6, 343, 63, 0},
     {25088, 3136, 9408, 179712, 65536, 50176, 88, 133}},
    {"C8",
     {14, 14, 16, 16, 3, 1, 1},
     3,
     {14, 14, 1, 4, 2, 1},
     4.934,
     31.26,
     1600,
     119,
     {520, 86, 150, 10, 622, 63, 30},
     {451584, 3136, 9408, 200704, 589824, 50176, 1376, 229}},
    {"C9",
     {14, 14, 16, 32, 3, 2, 1},
     1,
     {7, 7, 1, 16, 2, 1},
     3.994,
     23.24,
     480,
     40,
     {260, 16, 40, 0, 120, 0, 4},
     {225792, 1568, 4704, 100352, 1179648, 25088, 2720, 121}},
    {"C10",
     {14, 14, 16, 32, 1, 2, 0},
     1,
     {7, 7, 1, 16, 2, 1},
     1.081,
     6.32,
     480,
     132,
     {260, 16, 0, 0, 72, 0, 0},
     {25088, 1568, 4704, 86528, 131072, 25088, 88, 121}},
    {"C11",
     {7, 7, 32, 32, 3, 1, 1},
     3,
     {7, 7, 1, 16, 2, 1},
     7.348,
     27.69,
     576,
     40,
     {312, 16, 69, 0, 135, 0, 4},
     {451584, 1568, 4704, 50176, 2359296, 25088, 2720, 217}},
};

}  // namespace hone::op
