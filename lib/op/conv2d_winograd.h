// conv2d_winograd: F(m x m, 3 x 3) for 3x3 convolutions with stride, dilation and groups 1 on blocked input.
//
// Tiles of m x m outputs, numbered row by row within an image; alpha = m + 2; (i, j) one of the alpha^2 transformed
// elements:
//   weight.packed = G g G^T        by the prepare function, in double precision
//   v[i,j,n,ic block,tile,ic]      = B^T d B, d the tile's (alpha x alpha) input
//   m[i,j,n,oc block,tile,oc]      = sum over input channels of v * weight
//   out                            = A^T m A, then the epilogue
// A task of the parallel loop makes its own v (scratch) for `block` tiles and all input channels, and then
// `oc_block` blocks of output channels. One sum is a matrix product of tiles x input channels x output channels, with a
// register tile of `ocv` vectors of channels x `tiles` tiles. v and m have strides of odd numbers of vectors between
// elements, so that the alpha^2 places where a tile's values go lie in different sets of a cache.
//
// Knobs (in order; the first is the least significant digit of the index):
//   m           2, 4, 6
//   form        "xi_oc": all products of a task, then all its outputs; "oc_xi": products and outputs of `ocv` blocks of
//               channels at a time: m is small, and the weights are one stream
//   ocv         output-channel vectors of the register tile
//   tiles       tiles of the register tile, at most
//   oc_block    output-channel vectors of a task
//   block       tiles of a task: some rows of one image, or a part of one row
//   unroll_ic   input channels unrolled
//   prefetch    distance of the software prefetch in the weights, bytes; 0 = none
// Rules: registers, register tile, code size, tiles, oc block, block, parallel, form, scratch, transforms.
#pragma once

#include "op/operator.h"

namespace hone::op {

// Does it apply, and does any m save multiplications?
bool WinogradApplies(const Workload& workload, const Target& target);

const Template& Conv2dWinograd();

}  // namespace hone::op
