// conv2d_winograd: convolutions with fewer multiplications, F(m, r) along each axis, on blocked input, with dilation
// and groups of 1. Kernels: 3x3, 5x5, 1x3, 3x1, 1x7, 7x1 and others for which some m pays off and is accurate enough
// with this many channels (WinogradErrorBound). So 7x7 is direct; with stride 2 it is four phases of 4x4 and smaller,
// and both axes must have taps.
//
// A tile is mh x mw outputs from ah x aw inputs: along an axis with r taps m outputs from m + r - 1 inputs, along one
// with a single tap 1 from 1. Tiles are numbered row by row through all images of the batch. With a stride the taps
// fall into phases (p, q), each a convolution of stride 1 over every stride-th input with ceil(taps / stride) taps or
// one less; the phases' products are summed like those of channels. (i, j) is one of the ah x aw transformed elements:
//   weight.packed = G g G^T        by the prepare function, in double precision
//   v[i,j,p,q,ic block,tile,ic]    = B^T d B, d the tile's input
//   m[i,j,oc block,tile,oc]        = sum over phases and input channels of v * weight
//   out                            = A^T m A, then the epilogue
// A phase with one tap less has no product for its last element: the missing tap is the last one, whose point is
// infinity.
//
// A task of the parallel loop computes its own v (scratch) for `block` tiles and all input channels, and then
// `oc_block` blocks of output channels. One sum is a matrix product of tiles x input channels x output channels, with a
// register tile of `ocv` vectors of channels x `tiles` tiles. v and m have strides of odd numbers of vectors between
// elements, so that the values of a tile lie in different sets of a cache. If the last task is not full, its extra
// tiles are computed but not stored.
//
// Knobs (in order; the first is the least significant digit of the index):
//   m           outputs of a tile along an axis with taps: 2, 4, 6; 3 for seven taps, 5 if an output is 5, 10, 14 ..
//   form        "xi_oc": all products of a task, then all its outputs; "oc_xi": products and outputs of `ocv` blocks of
//               channels at a time: m is small, and the weights are one stream
//   ocv         output-channel vectors of the register tile
//   tiles       tiles of the register tile, at most
//   oc_block    output-channel vectors of a task
//   block       tiles of a task
//   prefetch    of weights: "near", 4 KB ahead into the first-level cache; "far", those of a later element, 32 KB
//               ahead or more, into the second, spread evenly over the products of this one; "none"
// Rules: block, oc block, tiles, form, prefetch, scratch, parallel, estimate; numerics, if they limit m.
#pragma once

#include "op/operator.h"

namespace hone::op {

// Whether it applies and some m saves multiplications.
bool WinogradApplies(const Workload& workload, const Target& target);

const Template& Conv2dWinograd();

// The algorithms "winograd" with each m that pays off, named "m4". A sketch divides the tiles evenly among tasks, so
// their number is rounded up to one that threads can share.
std::vector<OtherAlgorithm> WinogradAlgorithms(const Workload& workload, const Target& target);

// The algorithm "winograd" of this template and of ChainWinogradPool: the stages of conv2d_winograd_te.h for tiles of m
// outputs. `tiles` is the number to compute, at least the number that exist.
Result<Computation> ComputeWinograd(const Workload& workload, const Target& target, const Algorithm& algorithm);

// chain_winograd_pool: the same followed by a max or average pool of 2x2 windows with a stride of 2, without padding,
// on an even number of rows and columns: an inverse transform ends with the pooled part of its tile. Same knobs and
// rules.
bool WinogradPoolApplies(const Workload& chain, const Target& target);
const Template& ChainWinogradPool();

}  // namespace hone::op
