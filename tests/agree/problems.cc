#include "agree/problems.h"

#include <fmt/format.h>

namespace hone::agree {
namespace {

using ir::Expr;
using ir::Var;
using te::Tensor;
using Vars = std::vector<Var>;

Expr F(double v) { return ir::Imm(DType::Float(32), v); }

Problem MatMul(int64_t n, int64_t m, int64_t k) {
  Tensor a = te::Placeholder("a", {n, k}), b = te::Placeholder("b", {k, m});
  ir::IterVar r = te::ReduceAxis(k, "k");
  Tensor c = te::Compute("c", {n, m}, {"i", "j"},
                         [&](const Vars& x) { return te::Sum(a(x[0], r.var) * b(r.var, x[1]), {r}); });
  Tensor out = te::Compute("out", {n, m}, {"i", "j"}, [&](const Vars& x) { return Max(c(x[0], x[1]) - F(1), F(0)); });
  return {fmt::format("matmul_{}_{}_{}", n, m, k), {a, b}, {out}};
}

// Blocked convolution as the operator builds it, with blocks of 4.
Problem Conv(int64_t h, int64_t w, int64_t kernel, int64_t stride, int64_t pad, int64_t dilation) {
  constexpr int64_t kBlock = 4;
  const int64_t oh = (h + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
  const int64_t ow = (w + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
  Tensor data = te::Placeholder("data", {1, 2, h, w, kBlock});
  Tensor weight = te::Placeholder("weight", {2, 2, kernel, kernel, kBlock, kBlock});
  Tensor bias = te::Placeholder("bias", {2, kBlock});
  Tensor padded =
      te::Compute("pad", {1, 2, h + 2 * pad, w + 2 * pad, kBlock}, {"n", "c", "ih", "iw", "ci"}, [&](const Vars& x) {
        Expr inside = x[2] >= Expr(pad) && x[2] < Expr(h + pad) && x[3] >= Expr(pad) && x[3] < Expr(w + pad);
        return te::IfThenElse(inside, data(x[0], x[1], x[2] - pad, x[3] - pad, x[4]), F(0));
      });
  ir::IterVar c = te::ReduceAxis(2, "c"), kh = te::ReduceAxis(kernel, "kh"), kw = te::ReduceAxis(kernel, "kw"),
              ci = te::ReduceAxis(kBlock, "ci");
  Tensor acc = te::Compute("acc", {1, 2, oh, ow, kBlock}, {"n", "oc", "oh", "ow", "oi"}, [&](const Vars& x) {
    return te::Sum(padded(x[0], c.var, x[2] * stride + kh.var * dilation, x[3] * stride + kw.var * dilation, ci.var) *
                       weight(x[1], c.var, kh.var, kw.var, ci.var, x[4]),
                   {c, kh, kw, ci});
  });
  Tensor out = te::Compute("out", {1, 2, oh, ow, kBlock}, {"n", "oc", "oh", "ow", "oi"}, [&](const Vars& x) {
    return Max(acc(x[0], x[1], x[2], x[3], x[4]) + bias(x[1], x[4]), F(0));
  });
  return {fmt::format("conv_{}x{}_k{}_s{}_p{}_d{}", h, w, kernel, stride, pad, dilation), {data, weight, bias}, {out}};
}

// A convolution of bytes, padded with its zero point, whose factors of a lane lie side by side.
Problem ByteConv(int64_t h, int64_t w, int64_t kernel, int64_t pad, DType factor) {
  constexpr int64_t kBlock = 4, kZero = 3;
  const int64_t oh = h + 2 * pad - kernel + 1, ow = w + 2 * pad - kernel + 1;
  const auto whole = [](const Expr& e) { return ir::MakeCast(DType::Int(32), e); };
  Tensor data = te::Placeholder("data", {2, h, w, kBlock}, factor);
  Tensor weight = te::Placeholder("weight", {2, kernel, kernel, 2, kBlock, kBlock}, DType::Int(8));
  Tensor padded =
      te::Compute("pad", {2, h + 2 * pad, w + 2 * pad, kBlock}, {"c", "ih", "iw", "ci"}, [&](const Vars& x) {
        Expr inside = x[1] >= Expr(pad) && x[1] < Expr(h + pad) && x[2] >= Expr(pad) && x[2] < Expr(w + pad);
        return te::IfThenElse(inside, data(x[0], x[1] - pad, x[2] - pad, x[3]), ir::MakeInt(factor, kZero));
      });
  ir::IterVar c = te::ReduceAxis(2, "c"), kh = te::ReduceAxis(kernel, "kh"), kw = te::ReduceAxis(kernel, "kw"),
              ci = te::ReduceAxis(kBlock, "ci");
  Tensor acc = te::Compute("acc", {2, oh, ow, kBlock}, {"oc", "oh", "ow", "oi"}, [&](const Vars& x) {
    return te::Sum(whole(padded(c.var, x[1] + kh.var, x[2] + kw.var, ci.var)) *
                       whole(weight(x[0], kh.var, kw.var, c.var, x[3], ci.var)),
                   {c, kh, kw, ci});
  });
  Tensor out = te::Compute("out", {2, oh, ow, kBlock}, {"oc", "oh", "ow", "oi"}, [&](const Vars& x) {
    // Each lane is shifted by other numbers of bits.
    const Expr sum = acc({x.begin(), x.end()}) + kZero, lane = whole(x[3]);
    const Expr shifted = ir::ShiftRight(ir::ShiftLeft(sum, lane), Expr(3) - lane);
    return ir::MakeCast(factor, Min(Max(shifted, Expr(factor.is_int() ? -20 : 0)), Expr(120)));
  });
  return {fmt::format("bytes_{}_{}x{}_k{}_p{}", ToString(factor), h, w, kernel, pad), {data, weight}, {out}};
}

Problem Chain(int64_t n, int64_t m) {
  Tensor x0 = te::Placeholder("x", {n, m});
  auto at = [](const Tensor& t, const Vars& x) { return t(x[0], x[1]); };
  Tensor a = te::Compute("a", {n, m}, {"i", "j"}, [&](const Vars& x) { return at(x0, x) + F(1); });
  Tensor b = te::Compute("b", {n, m}, {"i", "j"}, [&](const Vars& x) { return at(a, x) * F(2); });
  Tensor c = te::Compute("c", {n, m}, {"i", "j"}, [&](const Vars& x) { return Max(at(b, x), at(a, x) * at(x0, x)); });
  return {fmt::format("chain_{}_{}", n, m), {x0}, {c}};
}

// A stencil: neighbours overlap, so attached regions overlap as well; conditions at both ends.
Problem Stencil(int64_t n) {
  Tensor x0 = te::Placeholder("x", {n});
  Tensor a = te::Compute("a", {n}, {"i"}, [&](const Vars& x) { return x0(x[0]) * F(3); });
  Tensor out = te::Compute("out", {n}, {"i"}, [&](const Vars& x) {
    Expr left = te::IfThenElse(x[0] >= Expr(1), a(x[0] - 1), F(0));
    Expr right = te::IfThenElse(x[0] < Expr(n - 1), a(x[0] + 1), F(0));
    return left + a(x[0]) + right;
  });
  return {fmt::format("stencil_{}", n), {x0}, {out}};
}

Problem MaxPool(int64_t h, int64_t w) {
  const int64_t oh = (h + 2 - 3) / 2 + 1, ow = (w + 2 - 3) / 2 + 1;
  Tensor data = te::Placeholder("data", {h, w, 4});
  ir::IterVar kh = te::ReduceAxis(3, "kh"), kw = te::ReduceAxis(3, "kw");
  Tensor out = te::Compute("out", {oh, ow, 4}, {"oh", "ow", "c"}, [&](const Vars& x) {
    Expr y = x[0] * 2 + kh.var - 1, z = x[1] * 2 + kw.var - 1;
    Expr inside = y >= Expr(0) && y < Expr(h) && z >= Expr(0) && z < Expr(w);
    return te::MaxOver(te::IfThenElse(inside, data(y, z, x[2]), F(-1000)), {kh, kw});
  });
  return {fmt::format("max_pool_{}_{}", h, w), {data}, {out}};
}

Problem Sums(int64_t n, int64_t m, int64_t k) {
  Tensor x0 = te::Placeholder("x", {n, m, k});
  ir::IterVar i = te::ReduceAxis(n, "ri"), j = te::ReduceAxis(m, "rj");
  Tensor sum = te::Compute("sum", {k}, {"c"}, [&](const Vars& x) { return te::Sum(x0(i.var, j.var, x[0]), {i, j}); });
  ir::IterVar l = te::ReduceAxis(k, "rk");
  Tensor low = te::Compute("low", {n, m}, {"i", "j"},
                           [&](const Vars& x) { return te::MinOver(x0(x[0], x[1], l.var) - sum(l.var), {l}); });
  return {fmt::format("sums_{}_{}_{}", n, m, k), {x0}, {low, sum}};
}

// Indices that are not linear: flatten, transpose, unflatten.
Problem Flatten(int64_t n, int64_t m) {
  Tensor x0 = te::Placeholder("x", {n, m});
  Tensor flat = te::Compute("flat", {n * m}, {"f"}, [&](const Vars& x) { return x0(x[0] / m, x[0] % m) + F(1); });
  Tensor out = te::Compute("out", {m, n}, {"i", "j"}, [&](const Vars& x) { return flat(x[1] * m + x[0]) * F(2); });
  return {fmt::format("flatten_{}_{}", n, m), {x0}, {out}};
}

}  // namespace

std::vector<Problem> AllProblems() {
  return {MatMul(5, 7, 6),
          MatMul(1, 13, 1),
          MatMul(8, 16, 4),
          Conv(5, 7, 3, 1, 1, 1),
          Conv(6, 5, 3, 2, 1, 1),
          Conv(7, 7, 3, 1, 2, 2),
          Conv(4, 6, 1, 1, 0, 1),
          ByteConv(5, 7, 3, 1, DType::UInt(8)),
          ByteConv(4, 6, 1, 0, DType::Int(8)),
          Chain(6, 11),
          Chain(1, 1),
          Stencil(17),
          Stencil(1),
          MaxPool(7, 6),
          MaxPool(3, 5),
          Sums(3, 5, 7),
          Sums(1, 4, 1),
          Flatten(5, 6)};
}

}  // namespace hone::agree
