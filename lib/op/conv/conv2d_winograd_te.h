// The stages of Winograd, which conv2d_winograd.h explains.
#pragma once

#include <functional>
#include <vector>

#include "ir/expr.h"
#include "op/conv/cook_toom.h"
#include "op/conv/winograd_layer.h"
#include "te/tensor.h"

namespace hone::op {

struct WinogradTransforms {
  CookToom h, w;  // F(1, 1) along an axis without taps
};
Result<WinogradTransforms> MakeTransforms(const WinogradTiles& tiles);

// The output, computed from `tiles` tiles of m outputs each. `data` is blocked; `weight` is as given; `epilogue` is
// applied to a value of "out" at its indices. Stages in order of computation; only those that a layer needs:
//   pad    [co, row, column, ci]            all images one below the other, zeros around each
//   vrow   [b, i, co, p, q, t, ci]          columns of tiles transformed: if both axes have taps
//   v      [i, j, p, q, co, t, ci]
//   acc, m [i, j, co, t, ci]                sums; acc in registers
//   mrow   [j, y, co, t, ci]                columns of outputs: if both axes have taps
//   tile   [co, t, y, x, ci]                whole tiles, if the output has partial tiles or is pooled; then with the
//                                           epilogue
//   out    [n, oco, oh, ow, oci]
// and two constants, in whole blocks of channels: "weight.taps" [ic, kh, kw, oc], from which "weight.transformed"
// [i, j, p, q, ic, oc] is computed; acc reads it.
te::Tensor MakeWinograd(const WinogradLayer& layer, int64_t m, int64_t tiles, const WinogradTransforms& transforms,
                        const te::Tensor& data, const te::Tensor& weight,
                        const std::function<ir::Expr(ir::Expr, const std::vector<ir::Var>&)>& epilogue);

}  // namespace hone::op
