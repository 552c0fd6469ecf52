// Convolutions with fewer multiplications, F(m, r) along each axis, on blocked input, with dilation and groups of 1.
// Kernels: 3x3, 5x5, 1x3, 3x1, 1x7, 7x1 and others for which some m pays off and is accurate enough with this many
// channels (WinogradErrorBound). So 7x7 is direct; with stride 2 it is four phases of 4x4 and smaller, and both axes
// must have taps.
//
// A tile is mh x mw outputs from ah x aw inputs: along an axis with r taps m outputs from m + r - 1 inputs, along one
// with a single tap 1 from 1. Tiles are numbered row by row through all images of the batch. With a stride the taps
// fall into phases (p, q), each a convolution of stride 1 over every stride-th input with ceil(taps / stride) taps or
// one less; the phases' products are summed like those of channels. (i, j) is one of the ah x aw transformed elements:
//   weight.transformed = G g G^T   by the prepare function, in double precision
//   v[i,j,p,q,ic block,tile,ic]    = B^T d B, d the tile's input
//   m[i,j,oc block,tile,oc]        = sum over phases and input channels of v * weight
//   out                            = A^T m A, then the epilogue
// A phase with one tap less has no product for its last element: the missing tap is the last one, whose point is
// infinity.
//
// Schedules are sketches (the rule `transformed`); these are the computations.
#pragma once

#include "op/operator.h"

namespace hone::op {

// The algorithms "winograd" with each m that pays off, named "m4". A sketch divides the tiles evenly among tasks, so
// their number is rounded up to one that threads can share. Empty if the workload does not suit Winograd.
//
// `workload` is a convolution. Or it is one followed by a max or average pool of 2x2 windows with a stride of 2,
// without padding, on an even number of rows and columns: then an inverse transform ends with the pooled part of its
// tile.
std::vector<OtherAlgorithm> WinogradAlgorithms(const Workload& workload, const Target& target);

// The algorithm "winograd": the stages of conv2d_winograd_te.h for tiles of m outputs. `tiles` is the number to
// compute, at least the number that exist.
Result<Computation> ComputeWinograd(const Workload& workload, const Target& target, const Algorithm& algorithm);

}  // namespace hone::op
