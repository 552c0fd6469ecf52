// Reductions over axes, softmax, matrix products and dense layers.
#include <algorithm>
#include <cmath>

#include "semantics/indices.h"
#include "semantics/tables.h"

namespace hone::semantics {
namespace {

Result<Shape> ReducedShape(const Workload& w) {
  const Shape& in = w.inputs[0].shape;
  for (int64_t axis : w.Numbers("axes", {})) {
    if (axis < 0 || axis >= static_cast<int64_t>(in.size())) {
      return Status::Invalid(w.op + ": `axes` has " + std::to_string(axis) + "; it must be in 0 .. " +
                             std::to_string(static_cast<int64_t>(in.size()) - 1));
    }
  }
  const std::vector<bool> reduced = ReducedAxes(w);
  const bool keep = Whole(w, "keep", 0) != 0;
  Shape shape;
  for (size_t i = 0; i < in.size(); ++i) {
    if (!reduced[i]) shape.push_back(in[i]);
    if (reduced[i] && keep) shape.push_back(1);
  }
  return shape;
}

struct Kind {
  double start;
  double (*add)(double sum, double x);
  double (*finish)(double sum, double count);
};

double Same(double sum, double) { return sum; }

Kind KindOf(const std::string& op) {
  auto sum = [](double a, double x) { return a + x; };
  if (op == "reduce_sum") return {0, sum, Same};
  if (op == "reduce_mean") return {0, sum, [](double s, double count) { return s / count; }};
  if (op == "reduce_max") return {-kInfinity, Most, Same};
  if (op == "reduce_min") return {kInfinity, [](double a, double x) { return -Most(-a, -x); }, Same};
  if (op == "reduce_prod") return {1, [](double a, double x) { return a * x; }, Same};
  if (op == "reduce_sum_square") return {0, [](double a, double x) { return a + x * x; }, Same};
  if (op == "reduce_l1") return {0, [](double a, double x) { return a + std::fabs(x); }, Same};
  if (op == "reduce_l2")
    return {0, [](double a, double x) { return a + x * x; }, [](double s, double) { return std::sqrt(s); }};
  if (op == "reduce_log_sum") return {0, sum, [](double s, double) { return std::log(s); }};
  return {0, sum, [](double s, double) { return std::log(s); }};  // reduce_log_sum_exp: Reduce passes exponentials
}

void Reduce(const Workload& w, const std::vector<const Values*>& x, const Shape&, int, Values* out) {
  const Shape& in = w.inputs[0].shape;
  const std::vector<bool> reduced = ReducedAxes(w);
  Shape kept = in;
  for (size_t i = 0; i < in.size(); ++i) {
    if (reduced[i]) kept[i] = 1;
  }
  auto for_each = [&](auto&& visit) {
    Walk walk(in, BroadcastStrides(kept, in));
    for (const double value : *x[0]) {
      visit(static_cast<size_t>(walk.at()), value);
      walk.Next();
    }
  };
  const Kind kind = KindOf(w.op);
  const bool exponents = w.op == "reduce_log_sum_exp";
  Values most;
  if (exponents) {
    most.assign(out->size(), -kInfinity);
    for_each([&](size_t at, double value) { most[at] = Most(most[at], value); });
    for (double& m : most) m = std::isinf(m) ? 0 : m;
  }
  std::fill(out->begin(), out->end(), kind.start);
  for_each([&](size_t at, double value) {
    (*out)[at] = kind.add((*out)[at], exponents ? std::exp(value - most[at]) : value);
  });
  const double count = static_cast<double>(x[0]->size()) / static_cast<double>(out->size());
  for (size_t i = 0; i < out->size(); ++i) (*out)[i] = kind.finish((*out)[i], count) + (exponents ? most[i] : 0);
}

Result<Shape> SoftmaxShape(const Workload& w) {
  const int64_t rank = static_cast<int64_t>(w.inputs[0].shape.size());
  if (rank == 0) return Status::Invalid(w.op + ": its input has no axes");
  HONE_RETURN_IF_ERROR(AxisOf(w, "axis", rank, rank - 1).status());
  return w.inputs[0].shape;
}

void Softmax(const Workload& w, const std::vector<const Values*>& x, const Shape& shape, int, Values* out) {
  const size_t axis = static_cast<size_t>(Whole(w, "axis", static_cast<int64_t>(shape.size()) - 1));
  const int64_t extent = shape[axis], inner = Product(shape, axis + 1, shape.size());
  for (int64_t o = 0; o < Product(shape, 0, axis); ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      const double* from = x[0]->data() + o * extent * inner + i;
      double* to = out->data() + o * extent * inner + i;
      double most = -kInfinity, sum = 0;
      for (int64_t k = 0; k < extent; ++k) most = Most(most, from[k * inner]);
      for (int64_t k = 0; k < extent; ++k) sum += std::exp(from[k * inner] - most);
      for (int64_t k = 0; k < extent; ++k) {
        const double shifted = from[k * inner] - most;
        to[k * inner] = w.op == "softmax" ? std::exp(shifted) / sum : shifted - std::log(sum);
      }
    }
  }
}

Result<Shape> MatmulShape(const Workload& w) {
  HONE_RETURN_IF_ERROR(CheckRankIn(w, 0, 1, 8));
  HONE_RETURN_IF_ERROR(CheckRankIn(w, 1, 1, 8));
  Result<Matmul> m = MatmulOf(w);
  HONE_RETURN_IF_ERROR(m.status());
  return m->shape;
}

void EvaluateMatmul(const Workload& w, const std::vector<const Values*>& x, const Shape&, int threads, Values* out) {
  const Matmul p = *MatmulOf(w);
  const Shape a_stride = Strides(p.a_batch), b_stride = Strides(p.b_batch), out_stride = Strides(p.batch);
  ParallelFor(Product(p.batch), threads, [&](int64_t image) {
    int64_t a_at = 0, b_at = 0;
    for (size_t i = 0; i < p.batch.size(); ++i) {
      const int64_t index = image / out_stride[i] % p.batch[i];
      a_at += (p.a_batch[i] == 1 ? 0 : index) * a_stride[i];
      b_at += (p.b_batch[i] == 1 ? 0 : index) * b_stride[i];
    }
    const double* a = x[0]->data() + a_at * p.m * p.k;
    const double* b = x[1]->data() + b_at * p.k * p.n;
    double* to = out->data() + image * p.m * p.n;
    for (int64_t i = 0; i < p.m; ++i) {
      for (int64_t k = 0; k < p.k; ++k) {
        for (int64_t j = 0; j < p.n; ++j) to[i * p.n + j] += a[i * p.k + k] * b[k * p.n + j];
      }
    }
  });
}

double MatmulFlop(const Workload& w, const Shape&) {
  const Matmul p = *MatmulOf(w);
  return 2.0 * static_cast<double>(Product(p.batch)) * static_cast<double>(p.m * p.n) * static_cast<double>(p.k);
}

Result<Shape> DenseShape(const Workload& w) {
  HONE_RETURN_IF_ERROR(CheckRankIn(w, 0, 2, 2));
  HONE_RETURN_IF_ERROR(CheckRankIn(w, 1, 2, 2));
  const Shape &data = w.inputs[0].shape, &weight = w.inputs[1].shape;
  if (data[1] == weight[1]) return Shape{data[0], weight[0]};
  return Status::Invalid("dense: data " + w.inputs[0].Text() + " and weight " + w.inputs[1].Text() +
                         " differ in their second axis");
}

void Dense(const Workload& w, const std::vector<const Values*>& inputs, const Shape& shape, int threads, Values* out) {
  const LessZeros x(inputs);
  const int64_t units = shape[1], depth = w.inputs[0].shape[1];
  ParallelFor(shape[0] * units, threads, [&](int64_t i) {
    const double *data = x.data().data() + i / units * depth, *weight = x.weight().data() + i % units * depth;
    double sum = 0;
    for (int64_t k = 0; k < depth; ++k) sum += data[k] * weight[k];
    (*out)[static_cast<size_t>(i)] = sum;
  });
}

double DenseFlop(const Workload& w, const Shape& shape) {
  return 2.0 * static_cast<double>(Product(shape)) * static_cast<double>(w.inputs[0].shape[1]);
}

}  // namespace

std::vector<bool> ReducedAxes(const Workload& w) {
  const size_t rank = w.inputs[0].shape.size();
  const Attribute* axes = w.Find("axes");
  std::vector<bool> reduced(rank, axes == nullptr);
  for (int64_t axis : w.Numbers("axes", {})) reduced[static_cast<size_t>(axis)] = true;
  return reduced;
}

Result<Matmul> MatmulOf(const Workload& w) {
  Matmul p;
  Shape a = w.inputs[0].shape, b = w.inputs[1].shape;
  const bool a_row = a.size() == 1, b_column = b.size() == 1;
  if (a_row) a.insert(a.begin(), 1);
  if (b_column) b.push_back(1);
  p.m = a[a.size() - 2], p.k = a.back(), p.n = b.back();
  if (b[b.size() - 2] != p.k) {
    return Status::Invalid(w.op + ": " + w.inputs[0].Text() + " and " + w.inputs[1].Text() + " do not fit");
  }
  const size_t rank = std::max(a.size(), b.size());
  a.insert(a.begin(), rank - a.size(), 1);
  b.insert(b.begin(), rank - b.size(), 1);
  for (size_t i = 0; i + 2 < rank; ++i) {
    if (a[i] != b[i] && a[i] != 1 && b[i] != 1) {
      return Status::Invalid(w.op + ": " + w.inputs[0].Text() + " and " + w.inputs[1].Text() + " do not broadcast");
    }
    p.a_batch.push_back(a[i]), p.b_batch.push_back(b[i]), p.batch.push_back(std::max(a[i], b[i]));
  }
  p.shape = p.batch;
  if (!a_row) p.shape.push_back(p.m);
  if (!b_column) p.shape.push_back(p.n);
  return p;
}

std::vector<Definition> Reductions() {
  std::vector<Definition> all;
  for (const char* name : {"reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod", "reduce_sum_square",
                           "reduce_l1", "reduce_l2", "reduce_log_sum", "reduce_log_sum_exp"}) {
    all.push_back({name, 1, 1, {{"axes"}, {"keep", AttributeKind::kWhole, "0"}}, ReducedShape, Reduce, InputFlop});
  }
  for (const char* name : {"softmax", "log_softmax"}) {
    all.push_back({name, 1, 1, {{"axis"}}, SoftmaxShape, Softmax, OutputFlop<5>});
  }
  all.push_back({"matmul", 2, 2, {}, MatmulShape, EvaluateMatmul, MatmulFlop});
  Definition dense{"dense", 2, 4, {}, DenseShape, Dense, DenseFlop};
  dense.type = ProductType;
  dense.has_batch = dense.layer = true;
  dense.channels_of_weight = 0;
  all.push_back(std::move(dense));
  return all;
}

}  // namespace hone::semantics
