#include "op/conv/conv2d_winograd_te.h"

#include <utility>

#include "op/conv/conv2d_te.h"
#include "op/conv/cook_toom_te.h"

namespace hone::op {
namespace {

using ir::Expr;
using ir::Var;
using te::Tensor;
using Epilogue = std::function<Expr(Expr, const std::vector<Var>&)>;

class Builder {
 public:
  Builder(const WinogradLayer& l, int64_t m, int64_t tiles, const WinogradTransforms& t)
      : l_(l), s_(l.s), m_(m), t_(t), k_(l.Tiles(m)), stored_(tiles), along_h_(k_.aw == 1) {}

  Tensor Make(const Tensor& data, const Tensor& weight, const Epilogue& epilogue) const {
    return Output(Product(Input(data), weight), epilogue);
  }

 private:
  // Element `e` of a line of a tile, by its row and column: along the axis with taps, if only one has them.
  Expr Along(const Expr& e, bool row) const { return row == along_h_ ? e : Expr(0); }
  const CookToom& Last() const { return along_h_ ? t_.h : t_.w; }

  Tensor Input(const Tensor& data) const {
    const int64_t height = l_.Height(m_), width = l_.Width(m_);
    Tensor padded;
    if (l_.NeedsPad(m_)) padded = Padded(data, height, width);
    auto source = [&](const Expr& co, const Expr& t, Expr a, Expr b, const Expr& p, const Expr& q, const Expr& ci) {
      // Tiles that only fill up the last task read the input of the last one.
      Expr tile = stored_ > k_.count ? ir::Min(t, k_.count - 1) : t;
      Expr row = tile / k_.columns, y = a * k_.sh + p, x = tile % k_.columns * (k_.mw * k_.sw) + b * k_.sw + q;
      const int64_t step = k_.mh * k_.sh;
      if (padded.defined()) {
        Expr image = row / k_.rows * (height - k_.rows * step);
        return padded(co, (s_.n > 1 ? row * step + image : row * step) + y, x, ci);
      }
      return data(row / k_.rows, co, row % k_.rows * step + y, x, ci);
    };
    Tensor vrow;
    if (k_.both()) {
      vrow = te::Compute("vrow", {k_.aw, k_.ah, l_.ic_blocks, k_.sh, k_.sw, stored_, l_.lanes},
                         {"b", "i", "co", "p", "q", "t", "ci"}, [&](const std::vector<Var>& x) {
                           return TransformedAt(x[1], t_.h.bt, [&](const Expr& a) {
                             return source(x[2], x[5], a, x[0], x[3], x[4], x[6]);
                           });
                         });
    }
    return te::Compute("v", {k_.ah, k_.aw, k_.sh, k_.sw, l_.ic_blocks, stored_, l_.lanes},
                       {"i", "j", "p", "q", "co", "t", "ci"}, [&](const std::vector<Var>& x) {
                         return TransformedAt(x[along_h_ ? 0 : 1], Last().bt, [&](const Expr& e) {
                           if (vrow.defined()) return vrow(e, x[0], x[4], x[2], x[3], x[5], x[6]);
                           return source(x[4], x[5], Along(e, true), Along(e, false), x[2], x[3], x[6]);
                         });
                       });
  }

  Tensor Product(const Tensor& v, const Tensor& weight) const {
    const std::vector<int64_t> shape = {k_.ah, k_.aw, l_.oc_blocks, stored_, l_.lanes};
    const std::vector<std::string> axes = {"i", "j", "co", "t", "ci"};
    ir::IterVar p = te::ReduceAxis(k_.sh, "p"), q = te::ReduceAxis(k_.sw, "q");
    ir::IterVar io = te::ReduceAxis(l_.ic_blocks, "io"), ii = te::ReduceAxis(l_.lanes, "ii");
    const Tensor acc = te::Compute("acc", shape, axes, [&](const std::vector<Var>& x) {
      Expr ic = io.var * l_.lanes + ii.var, oc = x[2] * l_.lanes + x[4];
      Expr product = v(x[0], x[1], p.var, q.var, io.var, x[3], ii.var) * weight(x[0], x[1], p.var, q.var, ic, oc);
      if (k_.strided()) {
        // The last element of a phase with one tap less is zero.
        Expr any = x[0] + ir::Max(p.var - (k_.full_h - 1), Expr(0)) < k_.ah &&
                   x[1] + ir::Max(q.var - (k_.full_w - 1), Expr(0)) < k_.aw;
        product = ZeroOutside(any, product);
      }
      return te::Sum(product, {p, q, io, ii});
    });
    return te::Compute("m", shape, axes,
                       [&](const std::vector<Var>& x) { return acc(std::vector<Expr>(x.begin(), x.end())); });
  }

  Tensor Output(const Tensor& m, const Epilogue& epilogue) const {
    Tensor mrow, tile;
    if (k_.both()) {
      mrow = te::Compute("mrow", {k_.aw, k_.mh, l_.oc_blocks, stored_, l_.lanes}, {"j", "y", "co", "t", "ci"},
                         [&](const std::vector<Var>& x) {
                           return TransformedAt(x[1], t_.h.at,
                                                [&](const Expr& i) { return m(i, x[0], x[2], x[3], x[4]); });
                         });
    }
    auto pixel = [&](Expr co, Expr t, Expr y, Expr x, Expr ci) {
      return TransformedAt(along_h_ ? y : x, Last().at, [&](const Expr& e) {
        return mrow.defined() ? mrow(e, y, co, t, ci) : m(Along(e, true), Along(e, false), co, t, ci);
      });
    };
    if (l_.MakesTiles(m_)) {
      tile = te::Compute("tile", {l_.oc_blocks, stored_, k_.mh, k_.mw, l_.lanes}, {"co", "t", "y", "x", "ci"},
                         [&](const std::vector<Var>& x) {
                           Expr value = pixel(x[0], x[1], x[2], x[3], x[4]);
                           return l_.pool > 1 ? epilogue(value, {x[1], x[0], x[2], x[3], x[4]}) : value;
                         });
    }
    if (l_.pool > 1) return Pooled(tile);
    return te::Compute("out", {s_.n, l_.oc_blocks, s_.oh, s_.ow, l_.lanes}, {"n", "oco", "oh", "ow", "oci"},
                       [&](const std::vector<Var>& x) {
                         Expr t = (x[0] * k_.rows + x[2] / k_.mh) * k_.columns + x[3] / k_.mw, y = x[2] % k_.mh,
                              xx = x[3] % k_.mw;
                         return epilogue(tile.defined() ? tile(x[1], t, y, xx, x[4]) : pixel(x[1], t, y, xx, x[4]), x);
                       });
  }

  Tensor Pooled(const Tensor& tile) const {
    const int64_t d = l_.pool, mh = k_.mh / d, mw = k_.mw / d;
    const ir::Reducer reducer = l_.pool_max ? ir::Reducer::kMax : ir::Reducer::kSum;
    return te::Compute("out", {s_.n, l_.oc_blocks, s_.oh / d, s_.ow / d, l_.lanes}, {"n", "oco", "oh", "ow", "oci"},
                       [&](const std::vector<Var>& x) {
                         Expr t = (x[0] * k_.rows + x[2] / mh) * k_.columns + x[3] / mw, value;
                         for (int64_t y = 0; y < d; ++y) {
                           for (int64_t xx = 0; xx < d; ++xx) {
                             Expr one = tile(x[1], t, x[2] % mh * d + y, x[3] % mw * d + xx, x[4]);
                             value = value.defined() ? te::CombineReduction(reducer, value, one) : one;
                           }
                         }
                         return l_.pool_max ? value
                                            : value * ir::Imm(DType::Float(32), 1.0 / static_cast<double>(d * d));
                       });
  }

  Tensor Padded(const Tensor& data, int64_t height, int64_t width) const {
    return te::Compute("pad", {l_.ic_blocks, s_.n * height, width, l_.lanes}, {"co", "ih", "iw", "ci"},
                       [&](const std::vector<Var>& x) {
                         Expr n = s_.n > 1 ? x[1] / height : Expr(0), y = s_.n > 1 ? x[1] % height : Expr(x[1]), inside;
                         if (s_.pt > 0) inside = BothOf(inside, y >= s_.pt);
                         if (height > s_.h + s_.pt) inside = BothOf(inside, y < s_.h + s_.pt);
                         if (s_.pl > 0) inside = BothOf(inside, x[2] >= s_.pl);
                         if (width > s_.w + s_.pl) inside = BothOf(inside, x[2] < s_.w + s_.pl);
                         return ZeroOutside(inside, data(n, x[0], y - s_.pt, x[2] - s_.pl, x[3]));
                       });
  }

  const WinogradLayer& l_;
  const Conv2dShape& s_;
  const int64_t m_;
  const WinogradTransforms& t_;
  const WinogradTiles k_;
  const int64_t stored_;  // number of computed tiles
  const bool along_h_;    // columns have no taps
};

// With output channels last, transforming a vector reads vectors.
Tensor TransformWeight(const WinogradLayer& l, const WinogradTiles& k, const WinogradTransforms& t, const Tensor& raw) {
  const int64_t oc = l.oc_blocks * l.lanes, ic = l.ic_blocks * l.lanes, kh = k.rh * k.sh, kw = k.rw * k.sw;
  const Tensor taps =
      te::ComputeConstant("weight.taps", {ic, kh, kw, oc}, {"ic", "kh", "kw", "oc"}, [&](const std::vector<Var>& x) {
        return te::ReadOrZero(raw, {x[3], x[0], x[1], x[2]}, {oc, ic, kh, kw});
      });
  return te::ComputeConstant("weight.transformed", {k.ah, k.aw, k.sh, k.sw, ic, oc}, {"i", "j", "p", "q", "ic", "oc"},
                             [&](const std::vector<Var>& x) {
                               Expr sum;
                               for (int64_t a = 0; a < k.rh; ++a) {
                                 Expr row;
                                 for (int64_t b = 0; b < k.rw; ++b) {
                                   Expr tap = taps(x[4], x[2] + a * k.sh, x[3] + b * k.sw, x[5]);
                                   Expr product = ir::MakeCast(DType::Float(64), tap) *
                                                  PickEntry(t.w.g, x[1], static_cast<size_t>(b));
                                   row = row.defined() ? row + product : product;
                                 }
                                 Expr product = row * PickEntry(t.h.g, x[0], static_cast<size_t>(a));
                                 sum = sum.defined() ? sum + product : product;
                               }
                               return ir::MakeCast(DType::Float(32), sum);
                             });
}

}  // namespace

Result<WinogradTransforms> MakeTransforms(const WinogradTiles& k) {
  auto make = [](int64_t m, int64_t r) {
    return MakeCookToom(static_cast<int>(m), static_cast<int>(r), GoodPoints(static_cast<int>(m + r - 1)));
  };
  WinogradTransforms t;
  HONE_ASSIGN_OR_RETURN(t.h, make(k.mh, k.rh));
  HONE_ASSIGN_OR_RETURN(t.w, make(k.mw, k.rw));
  return t;
}

Tensor MakeWinograd(const WinogradLayer& layer, int64_t m, int64_t tiles, const WinogradTransforms& transforms,
                    const Tensor& data, const Tensor& weight,
                    const std::function<Expr(Expr, const std::vector<Var>&)>& epilogue) {
  const Tensor transformed = TransformWeight(layer, layer.Tiles(m), transforms, weight);
  return Builder(layer, m, tiles, transforms).Make(data, transformed, epilogue);
}

}  // namespace hone::op
