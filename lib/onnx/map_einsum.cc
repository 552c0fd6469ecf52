// Einsum of one operand: sums and a transposition; of two: a product of matrices, or of elements where nothing is
// summed over both.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "onnx/arith.h"
#include "onnx/equation.h"
#include "onnx/mappers.h"
#include "onnx/moves.h"
#include "onnx/product.h"

namespace hone::onnx {
namespace {

bool Has(const Labels& labels, int label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }

Labels Joined(Labels a, const Labels& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// A tensor and what its axes are called.
struct Operand {
  Value value;
  Labels labels;
};

// Axes of one label become one, the diagonal: behind each other they are every (n + 1)-th element of n * n.
Status TakeDiagonals(NodeContext* c, Operand* x) {
  for (size_t i = 0; i < x->labels.size();) {
    const auto twice = std::find(x->labels.begin() + static_cast<ptrdiff_t>(i) + 1, x->labels.end(), x->labels[i]);
    if (twice == x->labels.end()) {
      ++i;
      continue;
    }
    const auto j = static_cast<size_t>(twice - x->labels.begin());
    const int label = x->labels[i];
    const int64_t n = x->value.shape[i];
    if (x->value.shape[j] != n) {
      return Status::Invalid(fmt::format("{} does not fit its equation: an axis that it names twice is {} and {}",
                                         ShapeText(x->value.shape), n, x->value.shape[j]));
    }
    Shape perm, flat;
    Labels left;
    for (size_t k = 0; k < x->labels.size(); ++k) {
      if (k == i || k == j) continue;
      perm.push_back(static_cast<int64_t>(k));
      flat.push_back(x->value.shape[k]);
      left.push_back(x->labels[k]);
    }
    for (size_t k : {i, j}) perm.push_back(static_cast<int64_t>(k));
    flat.push_back(n * n);
    left.push_back(label);
    Shape count = flat, step(flat.size(), 1);
    count.back() = n;
    if (n > 1) step.back() = n + 1;
    HONE_ASSIGN_OR_RETURN(x->value, Transpose(c, x->value, perm));
    HONE_ASSIGN_OR_RETURN(x->value, Reshape(c, x->value, flat));
    HONE_ASSIGN_OR_RETURN(x->value, Slice(c, x->value, Shape(flat.size(), 0), count, step));
    x->labels = std::move(left);
    i = 0;
  }
  return Status();
}

// Sums over the axes that `keep` does not have.
Status SumOthers(NodeContext* c, const Labels& keep, Operand* x) {
  Shape axes;
  Labels left;
  for (size_t i = 0; i < x->labels.size(); ++i) {
    if (Has(keep, x->labels[i])) {
      left.push_back(x->labels[i]);
    } else {
      axes.push_back(static_cast<int64_t>(i));
    }
  }
  if (axes.empty()) return Status();
  if (left.empty()) axes.clear();  // of all axes none is named
  HONE_ASSIGN_OR_RETURN(x->value, c->Emit("reduce_sum", {x->value}, {Numbers("axes", axes)}));
  x->labels = left;
  return Status();
}

// REQUIRES: `order` has the labels of x, each once
Result<Value> Ordered(NodeContext* c, const Operand& x, const Labels& order) {
  Shape perm;
  for (int label : order) perm.push_back(std::find(x.labels.begin(), x.labels.end(), label) - x.labels.begin());
  return Transpose(c, x.value, perm);
}

// The extent of each axis. Along one that the result also has, an operand of extent 1 is repeated.
Result<std::map<int, int64_t>> Extents(const Operand& a, const Operand& b, const Labels& output) {
  std::map<int, int64_t> extents;
  for (const Operand* x : {&a, &b}) {
    for (size_t i = 0; i < x->labels.size(); ++i) {
      const int64_t extent = x->value.shape[i];
      auto [known, added] = extents.emplace(x->labels[i], extent);
      if (added || known->second == extent) continue;
      if (!Has(output, x->labels[i]) || (known->second != 1 && extent != 1)) {
        return Status::Invalid(fmt::format("{} and {} do not fit its equation: an axis of both is {} and {}",
                                           ShapeText(a.value.shape), ShapeText(b.value.shape), known->second, extent));
      }
      known->second = std::max(known->second, extent);
    }
  }
  return extents;
}

Result<Value> Product(NodeContext* c, Operand a, Operand b, const Labels& output) {
  HONE_RETURN_IF_ERROR(SumOthers(c, Joined(b.labels, output), &a));
  HONE_RETURN_IF_ERROR(SumOthers(c, Joined(a.labels, output), &b));
  HONE_ASSIGN_OR_RETURN(const auto extents, Extents(a, b, output));
  // Axes of both operands and the result; of one operand and the result; of both operands, summed up.
  Labels batch, rows, columns, sums;
  for (int label : a.labels) {
    (!Has(b.labels, label) ? rows : Has(output, label) ? batch : sums).push_back(label);
  }
  for (int label : b.labels) {
    if (!Has(a.labels, label)) columns.push_back(label);
  }
  HONE_ASSIGN_OR_RETURN(Value left, Ordered(c, a, Joined(Joined(batch, rows), sums)));
  HONE_ASSIGN_OR_RETURN(Value right, Ordered(c, b, Joined(Joined(batch, sums), columns)));
  const auto axes = static_cast<ptrdiff_t>(batch.size());
  Shape left_shape(left.shape.begin(), left.shape.begin() + axes);
  Shape right_shape(right.shape.begin(), right.shape.begin() + axes);
  Operand out;
  out.labels = Joined(Joined(batch, rows), columns);
  if (sums.empty()) {
    left_shape = left.shape;
    left_shape.insert(left_shape.end(), columns.size(), 1);
    right_shape.insert(right_shape.end(), rows.size(), 1);
    right_shape.insert(right_shape.end(), right.shape.begin() + axes, right.shape.end());
    HONE_ASSIGN_OR_RETURN(left, Reshape(c, left, left_shape));
    HONE_ASSIGN_OR_RETURN(right, Reshape(c, right, right_shape));
    HONE_ASSIGN_OR_RETURN(out.value, Binary(c, "mul", left, right));
  } else {
    const auto product = [&](const Labels& labels) {
      int64_t count = 1;
      for (int label : labels) count *= extents.at(label);
      return count;
    };
    for (const Labels* labels : {&rows, &sums}) left_shape.push_back(product(*labels));
    for (const Labels* labels : {&sums, &columns}) right_shape.push_back(product(*labels));
    HONE_ASSIGN_OR_RETURN(left, Reshape(c, left, left_shape));
    HONE_ASSIGN_OR_RETURN(right, Reshape(c, right, right_shape));
    HONE_ASSIGN_OR_RETURN(out.value, MatrixProduct(c, left, right));
    Shape shape;
    for (int label : out.labels) shape.push_back(extents.at(label));
    HONE_ASSIGN_OR_RETURN(out.value, Reshape(c, out.value, shape));
  }
  return Ordered(c, out, output);
}

}  // namespace

Status MapEinsum(NodeContext* c) {
  std::vector<size_t> ranks;
  for (size_t i = 0; i < c->InputCount(); ++i) {
    if (!c->Has(i)) return Status::Invalid(fmt::format("its input {} is left out", i));
    ranks.push_back(c->ShapeOf(i).size());
  }
  if (ranks.size() > 2) {
    return Status::Unsupported(fmt::format("its equation is of {} operands; one or two are supported", ranks.size()));
  }
  HONE_ASSIGN_OR_RETURN(const Equation equation, ParseEquation(c->String("equation", ""), ranks));
  Operand a{c->In(0), equation.operands[0]};
  HONE_RETURN_IF_ERROR(TakeDiagonals(c, &a));
  if (ranks.size() == 2) {
    Operand b{c->In(1), equation.operands[1]};
    HONE_RETURN_IF_ERROR(TakeDiagonals(c, &b));
    return c->Set(Product(c, std::move(a), std::move(b), equation.output));
  }
  HONE_RETURN_IF_ERROR(SumOthers(c, equation.output, &a));
  return c->Set(Ordered(c, a, equation.output));
}

}  // namespace hone::onnx
