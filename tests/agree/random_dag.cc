#include "agree/random_dag.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "base/rng.h"

namespace hone::agree {
namespace {

using ir::Expr;
using te::Tensor;
using Vars = std::vector<ir::Var>;
using Shape = std::vector<int64_t>;

constexpr int64_t kExtents[] = {1, 2, 3, 5, 7, 8, 13, 16, 17, 33};
constexpr int64_t kMostElements = 4096;
constexpr double kSmall = 8, kExact = 1 << 22;  // sums of numbers up to the latter are exact

Expr Number(double v) { return ir::Imm(DType::Float(32), v); }

int64_t Product(const Shape& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

class Maker {
 public:
  explicit Maker(uint64_t seed) : rng_(seed) {}

  Problem Make(const std::string& name, int stages) {
    Input(AnyShape(1 + rng_.UniformInt(4)));
    for (int i = 0; i < stages; ++i) AddStage();
    return Finish(name);
  }

  // A window along the rows of pixels of `lanes` channels.
  Problem MakePool(const std::string& name, int64_t lanes) {
    Shape shape = AnyShape(1 + rng_.UniformInt(2));
    shape.push_back(3 + static_cast<int64_t>(rng_.UniformInt(14)));
    shape.push_back(lanes);
    Input(shape);
    Window(shape.size() - 2);
    if (rng_.UniformInt(2) == 0) Scale();
    return Finish(name);
  }

 private:
  Problem Finish(const std::string& name) {
    if (last_.node()->kind != te::TensorKind::kCompute) Scale();
    Problem problem{name, {}, {last_}};
    for (const Tensor& t : te::TopologicalOrder({last_})) {
      if (t.node()->kind == te::TensorKind::kPlaceholder) problem.inputs.push_back(t);
    }
    return problem;
  }

  Shape AnyShape(size_t rank) {
    Shape shape;
    for (size_t i = 0; i < rank; ++i) {
      const int64_t extent = kExtents[rng_.UniformInt(std::size(kExtents))];
      shape.push_back(Product(shape) * extent <= kMostElements ? extent : 1);
    }
    return shape;
  }

  Tensor Input(const Shape& shape) {
    last_ = te::Placeholder(fmt::format("in{}", count_++), shape);
    all_.push_back(last_);
    bounds_[last_.name()] = 4;
    return last_;
  }

  void Compute(const Shape& shape, double bound, const std::function<Expr(const Vars&)>& body) {
    std::vector<std::string> axes;
    for (size_t i = 0; i < shape.size(); ++i) axes.push_back(fmt::format("a{}", i));
    last_ = te::Compute(fmt::format("s{}", count_++), shape, axes, body);
    bounds_[last_.name()] = bound;
    all_.push_back(last_);
  }

  // A read, cut off if the values are so large that `times` of them would not add up exactly.
  Expr Read(const Tensor& t, const std::vector<Expr>& at, double times, double* bound) {
    *bound = bounds_.at(t.name());
    if (*bound * times <= kExact) return t(at);
    *bound = kSmall;
    return ir::Max(ir::Min(t(at), Number(kSmall)), Number(-kSmall));
  }

  void AddStage() {
    if (all_.size() > 2 && rng_.UniformInt(4) == 0) last_ = all_[rng_.UniformInt(all_.size())];
    switch (rng_.UniformInt(9)) {
      case 0:
        return Scale();
      case 1:
      case 2:
        return Combine();
      case 3:
        return Reduce();
      case 4:
        return Multiply();
      case 5:
        return Transpose();
      case 6:
        return Pad();
      case 7:
        return Window(rng_.UniformInt(last_.shape().size()));
      default:
        return last_.shape().size() > 1 ? Merge() : Repeat();
    }
  }

  void Scale() {
    const Tensor t = last_;
    double bound = 0;
    const auto value = [&](const Vars& x) { return Read(t, {x.begin(), x.end()}, 4, &bound) * Number(2) - Number(1); };
    Compute(t.shape(), 2 * kExact / 4 + 1, value);
    bounds_[last_.name()] = 2 * bound + 1;
  }

  // With another tensor, whose last axes are broadcast where they differ.
  void Combine() {
    const Tensor t = last_, u = all_[rng_.UniformInt(all_.size())];
    const uint64_t kind = rng_.UniformInt(3);
    double a = 0, b = 0;
    const auto value = [&](const Vars& x) {
      std::vector<Expr> at(u.shape().size(), Expr(0));
      for (size_t i = 0; i < std::min(at.size(), x.size()); ++i) {
        const size_t from = at.size() - 1 - i, axis = x.size() - 1 - i;
        if (u.shape()[from] == t.shape()[axis]) at[from] = x[axis];
      }
      const double times = kind == 0 ? 2 : 2048;
      const Expr left = Read(t, {x.begin(), x.end()}, times, &a), right = Read(u, at, times, &b);
      return kind == 0 ? left + right : kind == 1 ? left * right : ir::Max(left, right);
    };
    Compute(t.shape(), kExact, value);
    bounds_[last_.name()] = kind == 0 ? a + b : kind == 1 ? a * b : std::max(a, b);
  }

  void Reduce() {
    const Tensor t = last_;
    Shape kept;
    std::vector<bool> reduced;
    for (const int64_t extent : t.shape()) {
      reduced.push_back(rng_.UniformInt(2) == 0);
      if (!reduced.back()) kept.push_back(extent);
    }
    if (kept.size() == reduced.size()) reduced[0] = true, kept.erase(kept.begin());
    if (kept.empty()) kept.push_back(1);
    const uint64_t kind = rng_.UniformInt(3);
    const double terms = static_cast<double>(Product(t.shape()) / Product(kept));
    double bound = 0;
    Compute(kept, kExact, [&](const Vars& x) {
      std::vector<ir::IterVar> axes;
      std::vector<Expr> at;
      size_t next = 0;
      for (size_t i = 0; i < reduced.size(); ++i) {
        if (reduced[i]) axes.push_back(te::ReduceAxis(t.shape()[i], fmt::format("r{}", i)));
        at.push_back(reduced[i] ? Expr(axes.back().var) : Expr(x[next++]));
      }
      const Expr value = Read(t, at, kind == 0 ? terms : 1, &bound);
      return kind == 0 ? te::Sum(value, axes) : kind == 1 ? te::MaxOver(value, axes) : te::MinOver(value, axes);
    });
    bounds_[last_.name()] = kind == 0 ? bound * terms : bound;
  }

  // The last axis times a matrix.
  void Multiply() {
    const Tensor t = last_;
    Shape shape = t.shape();
    const int64_t k = shape.back(), room = std::max<int64_t>(kMostElements * k / Product(shape), 1);
    const int64_t n = std::min(kExtents[rng_.UniformInt(std::size(kExtents))], room);
    const Tensor matrix = Input({k, n});
    shape.back() = n;
    double bound = 0;
    Compute(shape, kExact, [&](const Vars& x) {
      const ir::IterVar axis = te::ReduceAxis(k, "k");
      std::vector<Expr> at(x.begin(), x.end());
      at.back() = axis.var;
      return te::Sum(Read(t, at, 4.0 * static_cast<double>(k), &bound) * matrix(axis.var, x.back()), {axis});
    });
    bounds_[last_.name()] = bound * 4 * static_cast<double>(k);
  }

  void Transpose() {
    const Tensor t = last_;
    std::vector<size_t> from(t.shape().size());
    std::iota(from.begin(), from.end(), size_t{0});
    rng_.Shuffle(&from);
    Shape shape;
    for (const size_t axis : from) shape.push_back(t.shape()[axis]);
    Compute(shape, bounds_.at(t.name()), [&](const Vars& x) {
      std::vector<Expr> at(x.size());
      for (size_t i = 0; i < x.size(); ++i) at[from[i]] = x[i];
      return t(at);
    });
  }

  // Zeros around one axis.
  void Pad() {
    const Tensor t = last_;
    const size_t axis = rng_.UniformInt(t.shape().size());
    const int64_t before = static_cast<int64_t>(rng_.UniformInt(3)), extent = t.shape()[axis];
    Shape shape = t.shape();
    shape[axis] += before + static_cast<int64_t>(rng_.UniformInt(3));
    Compute(shape, bounds_.at(t.name()), [&](const Vars& x) {
      std::vector<Expr> at(x.begin(), x.end());
      const Expr inside = x[axis] >= Expr(before) && x[axis] < Expr(before + extent);
      at[axis] = x[axis] - before;
      return te::IfThenElse(inside, t(at), Number(0));
    });
  }

  // The largest value, or the sum, of a window along one axis.
  void Window(size_t axis) {
    const Tensor t = last_;
    const int64_t taps = std::min<int64_t>(t.shape()[axis], 1 + static_cast<int64_t>(rng_.UniformInt(3)));
    const int64_t stride = 1 + static_cast<int64_t>(rng_.UniformInt(2));
    Shape shape = t.shape();
    shape[axis] = (shape[axis] - taps) / stride + 1;
    const bool sum = rng_.UniformInt(2) == 0;
    double bound = 0;
    Compute(shape, kExact, [&](const Vars& x) {
      const ir::IterVar tap = te::ReduceAxis(taps, "tap");
      std::vector<Expr> at(x.begin(), x.end());
      at[axis] = x[axis] * stride + tap.var;
      const Expr value = Read(t, at, static_cast<double>(taps), &bound);
      return sum ? te::Sum(value, {tap}) : te::MaxOver(value, {tap});
    });
    bounds_[last_.name()] = bound * static_cast<double>(taps);
  }

  // The first two axes as one.
  void Merge() {
    const Tensor t = last_;
    Shape shape(t.shape().begin() + 1, t.shape().end());
    const int64_t second = shape[0];
    shape[0] *= t.shape()[0];
    Compute(shape, bounds_.at(t.name()), [&](const Vars& x) {
      std::vector<Expr> at = {x[0] / second, x[0] % second};
      at.insert(at.end(), x.begin() + 1, x.end());
      return t(at);
    });
  }

  // A new first axis.
  void Repeat() {
    const Tensor t = last_;
    Shape shape = t.shape();
    shape.insert(shape.begin(), Product(shape) > 1000 ? 2 : 5);
    Compute(shape, bounds_.at(t.name()), [&](const Vars& x) { return t(std::vector<Expr>(x.begin() + 1, x.end())); });
  }

  Rng rng_;
  int count_ = 0;
  Tensor last_;
  std::vector<Tensor> all_;
  std::map<std::string, double> bounds_;  // the largest magnitude of each tensor's values
};

}  // namespace

Problem RandomDag(uint64_t seed, int most_stages) {
  Rng rng(Mix64(seed));
  const int stages = 1 + static_cast<int>(rng.UniformInt(static_cast<uint64_t>(most_stages)));
  const std::string name = fmt::format("dag{}", seed);
  if (seed % 8 == 0) return Maker(seed).MakePool(name, seed % 16 == 0 ? 16 : 8);
  return Maker(seed).Make(name, stages);
}

}  // namespace hone::agree
