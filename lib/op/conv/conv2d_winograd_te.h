// The computations of conv2d_winograd; conv2d_winograd.h says what they are.
#pragma once

#include <functional>
#include <vector>

#include "ir/expr.h"
#include "op/conv/conv2d_winograd_space.h"
#include "op/conv/cook_toom.h"
#include "te/tensor.h"

namespace hone::op {

// In order of computation; those that a layer does not need are not defined.
//   pad    [co, row, column, ci]            all images one below the other, zeros around each
//   vrow   [b, i, co, p, q, t, ci]          columns of tiles transformed: where both axes have taps
//   v      [i, j, p, q, co, t, ci]
//   acc, m [i, j, co, t, ci]                sums; acc in registers
//   mrow   [j, y, co, t, ci]                columns of outputs: where both axes have taps
//   tile   [co, t, y, x, ci]                whole tiles, where the output has parts of some; with the epilogue, where
//                                           it is pooled
//   out    [n, oco, oh, ow, oci]
struct WinogradStages {
  te::Tensor pad, vrow, v, acc, m, mrow, tile, out;
};

struct WinogradTransforms {
  CookToom h, w;  // F(1, 1) along an axis without taps
};
Result<WinogradTransforms> MakeTransforms(const WinogradTiles& tiles);

// `data`: blocked. `epilogue`: of a value of `out` at its indices.
WinogradStages MakeWinogradStages(const WinogradLayer& layer, const WinogradPoint& point,
                                  const WinogradTransforms& transforms, const te::Tensor& data,
                                  const te::Tensor& packed_weight,
                                  const std::function<ir::Expr(ir::Expr, const std::vector<ir::Var>&)>& epilogue);

// "weight.packed" from the raw weights: [i][j][tile of output channels][p][q][ic][ocv * lanes], or with the tile first.
te::Tensor PackWinogradWeight(const WinogradLayer& layer, const WinogradPoint& point,
                              const WinogradTransforms& transforms, const te::Tensor& raw);

}  // namespace hone::op
