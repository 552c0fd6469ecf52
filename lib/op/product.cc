#include "op/product.h"

namespace hone::op {

static Expr Whole(const Expr& byte) { return ir::MakeCast(DType::Int(32), byte); }

static std::vector<std::string> NamesFor(size_t rank) {
  std::vector<std::string> names;
  for (size_t i = 0; i < rank; ++i) names.push_back("d" + std::to_string(i));
  return names;
}

ProductOperands::ProductOperands(const Workload& w, const std::vector<int64_t>& data,
                                 const std::vector<int64_t>& weight) {
  bytes_ = !w.inputs[0].type.is_float();
  inputs_ = {te::Placeholder("data", data, w.inputs[0].type), te::Placeholder("weight", weight, w.inputs[1].type)};
  constexpr const char* kZeros[] = {"zero", "weight_zero"};
  for (size_t i = 2; i < w.inputs.size(); ++i) {
    inputs_.push_back(te::Placeholder(kZeros[i - 2], w.inputs[i].shape, w.inputs[i].type));
  }
  weight_ = inputs_[1];
  if (inputs_.size() <= 3) return;
  weight_ = te::ComputeConstant("weight.whole", weight, NamesFor(weight.size()), [&](const Vars& x) {
    const Expr channel = inputs_[3].shape()[0] > 1 ? Expr(x[0]) : Expr(0);
    return Whole(inputs_[1]({x.begin(), x.end()})) - Whole(inputs_[3](channel));
  });
}

Expr ProductOperands::Padding() const { return inputs_.size() > 2 ? inputs_[2](Expr(0)) : Expr(); }

Expr ProductOperands::Times(const Expr& value, const Expr& weight) const {
  return bytes_ ? Whole(value) * Whole(weight) : value * weight;
}

Expr ProductOperands::LessZero(const Expr& value) const {
  return inputs_.size() > 2 ? Whole(value) - Whole(inputs_[2](Expr(0))) : value;
}

Expr ProductOperands::LessZero(const Expr& sum, const Expr& channel, int64_t channels) {
  if (inputs_.size() <= 2) return sum;
  if (!zeros_.defined()) {
    std::vector<ir::IterVar> rest;
    for (size_t i = 1; i < weight_.shape().size(); ++i) {
      rest.push_back(te::ReduceAxis(weight_.shape()[i], "k" + std::to_string(i)));
    }
    const int64_t real = weight_.shape()[0];
    const Tensor sums = te::ComputeConstant("weight.sums", {real}, {"o"}, [&](const Vars& x) {
      std::vector<Expr> at = {x[0]};
      for (const ir::IterVar& axis : rest) at.emplace_back(axis.var);
      return te::Sum(Whole(weight_(at)), rest);
    });
    zeros_ = te::ComputeConstant("weight.zeros", {channels}, {"o"}, [&](const Vars& x) {
      return te::ReadOrZero(sums, {x[0]}, {channels}) * Whole(inputs_[2](Expr(0)));
    });
  }
  return sum - zeros_(channel);
}

}  // namespace hone::op
