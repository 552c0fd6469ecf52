// Computations for tests of rules.
#pragma once

#include <string>
#include <vector>

#include "te/tensor.h"

namespace hone::sketch {

struct Dag {
  te::Tensor data, out;
};

// Over the last axis, or with `inner` over the one before it.
inline Dag Softmax(int64_t rows, int64_t length, int64_t inner = 0) {
  std::vector<int64_t> shape = {rows, length}, kept = {rows};
  std::vector<std::string> axes = {"i", "j"}, kept_axes = {"i"};
  if (inner > 0) shape.push_back(inner), kept.push_back(inner), axes.push_back("k"), kept_axes.push_back("k");
  const te::Tensor data = te::Placeholder("data", shape);
  const auto element = [&](const te::Tensor& t, const std::vector<ir::Var>& x, const ir::Expr& at) {
    return inner > 0 ? t(x[0], at, x.back()) : t(x[0], at);
  };
  const auto row = [&](const te::Tensor& t, const std::vector<ir::Var>& x) {
    return inner > 0 ? t(x[0], x.back()) : t(x[0]);
  };
  const ir::IterVar r = te::ReduceAxis(length, "r"), q = te::ReduceAxis(length, "q");
  const te::Tensor most = te::Compute("most", kept, kept_axes, [&](const std::vector<ir::Var>& x) {
    return te::MaxOver(element(data, x, r.var), {r});
  });
  const te::Tensor power = te::Compute("power", shape, axes, [&](const std::vector<ir::Var>& x) {
    return te::Exp(element(data, x, x[1]) - row(most, x));
  });
  const te::Tensor total = te::Compute(
      "total", kept, kept_axes, [&](const std::vector<ir::Var>& x) { return te::Sum(element(power, x, q.var), {q}); });
  return {data, te::Compute("out", shape, axes,
                            [&](const std::vector<ir::Var>& x) { return element(power, x, x[1]) / row(total, x); })};
}

}  // namespace hone::sketch
