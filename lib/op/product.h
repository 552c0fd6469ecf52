// The operands of sums of products of data and weights, of floats or of bytes with their zero points
// (semantics::ProductType), for te builders.
//
// Sums of bytes are those of the stored values. A zero point z of the data then takes away z times the sum of the
// weights, which is a constant for each channel of the output; padding is z. Or each element is read less z, and
// padding is 0. Zero points of the weights are taken away from the weights, which then are no bytes any more.
#pragma once

#include <vector>

#include "op/operator.h"

namespace hone::op {

class ProductOperands {
 public:
  // Makes the placeholders: data and weight of these shapes, then zero points.
  ProductOperands(const Workload& workload, const std::vector<int64_t>& data, const std::vector<int64_t>& weight);

  const std::vector<Tensor>& inputs() const { return inputs_; }  // in operand order
  const Tensor& data() const { return inputs_[0]; }
  // The weight less its zero points, of the stored shape.
  const Tensor& weight() const { return weight_; }
  // The value of padding; undefined for 0.
  Expr Padding() const;
  // A product of two elements, as it is summed up.
  Expr Times(const Expr& value, const Expr& weight) const;
  // An element of the data less its zero point.
  Expr LessZero(const Expr& value) const;
  // The sum of products of stored values without the data's zero point, for a channel of the output below `channels`,
  // which may exceed the real ones (those have weights of 0).
  Expr LessZero(const Expr& sum, const Expr& channel, int64_t channels);

 private:
  bool bytes_ = false;
  std::vector<Tensor> inputs_;
  Tensor weight_, zeros_;  // zeros_: the data's zero point times the sums of weights, by channel
};

}  // namespace hone::op
