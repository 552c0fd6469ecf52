// dense(f32[N,K], f32[M,K]) + epilogue: out[n,m] = sum over k of data[n,k] * weight[m,k]; everything plain.
//
// Template dense_packed: weights packed as [M / (vectors*lanes)][K][vectors*lanes], so that each task reads one stream:
// with few rows of data the layer is bound by memory. Knobs: vectors (of outputs in a tile), tile_n (rows of data in a
// tile), k_parts (independent partial sums), unroll_k, prefetch (bytes ahead; 0 = none), task (tiles a task), ahead
// (with several rows and 1 MB of weights or more; "task": the next task's weights are brought into the second cache
// while these are used). A tile of weights meets all rows before the next is read. Rules: registers, code size, k
// parts, task, parallel, prefetch.
#pragma once

#include "op/operator.h"

namespace hone::op {

const Operator& Dense();

}  // namespace hone::op
