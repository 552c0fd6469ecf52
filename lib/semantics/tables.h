// The definitions by kind, one file each. Private to semantics/.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "semantics/semantics.h"

namespace hone::semantics {

// Iterates over the indices of a tensor in row-major order; at() is `from` plus the sum of index * stride.
class Walk {
 public:
  Walk(Shape extents, Shape strides, int64_t from = 0)
      : extents_(std::move(extents)), strides_(std::move(strides)), index_(extents_.size(), 0), at_(from) {}
  int64_t at() const { return at_; }
  void Next() {
    for (size_t axis = extents_.size(); axis-- > 0;) {
      at_ += strides_[axis];
      if (++index_[axis] < extents_[axis]) return;
      at_ -= strides_[axis] * extents_[axis];
      index_[axis] = 0;
    }
  }

 private:
  Shape extents_, strides_, index_;
  int64_t at_;
};

// The strides for reading a tensor of extents `from` that broadcasts to `shape`: 0 along repeated axes.
inline Shape BroadcastStrides(Shape from, const Shape& shape) {
  from.insert(from.begin(), shape.size() - from.size(), 1);
  Shape strides = Strides(from);
  for (size_t i = 0; i < from.size(); ++i) strides[i] *= from[i] == 1 ? 0 : 1;
  return strides;
}

// Calls body(0) .. body(count - 1), distributed over threads. Stops early once Interrupted().
void ParallelFor(int64_t count, int threads, const std::function<void(int64_t)>& body);

// FLOP of operators with constant work per element: `kEach` for each of the output, or one for each of the first input.
template <int kEach>
double OutputFlop(const Workload&, const Shape& shape) {
  return kEach * static_cast<double>(Product(shape));
}
inline double InputFlop(const Workload& w, const Shape&) { return static_cast<double>(w.inputs[0].Elements()); }

// The data and weights of ProductType's inputs less their zero points. `x` itself where these are 0.
class LessZeros {
 public:
  explicit LessZeros(const std::vector<const Values*>& x);
  const Values& data() const { return *data_; }
  const Values& weight() const { return *weight_; }

 private:
  Values kept_[2];
  const Values *data_, *weight_;
};

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
// The larger number. As in numpy, NaN wins.
inline double Most(double a, double b) { return std::isnan(a) ? a : std::isnan(b) || b > a ? b : a; }

// The attribute for the layout of all tensors (`plain`: they can be row-major, which is not the default), and that for
// the first input alone, with its word for row-major.
AttributeSpec LayoutSpec(bool plain = true);
AttributeSpec InputLayoutSpec(const std::string& plain);

std::vector<Definition> Elementwise();  // unary, binary with broadcasting
std::vector<Definition> Reductions();   // reduce_*, softmax, log_softmax, matmul
std::vector<Definition> Movement();     // transpose, reshape, slice, concat, pad, gather, expand
std::vector<Definition> Windows();      // conv3d, pooling, conv_transpose
std::vector<Definition> Norms();        // lrn, instance_norm, layer_norm, resize

}  // namespace hone::semantics
