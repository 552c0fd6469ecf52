// Normalisations.
#include "onnx/operators.h"
#include "onnx/values.h"

namespace hone::onnx {
namespace {

// Reshapes a vector of channels so that it broadcasts to a tensor [N, channels, ...].
Result<Value> PerChannel(NodeContext* c, const Value& vector, size_t rank) {
  Shape shape(rank - 1, 1);
  shape[0] = vector.shape.empty() ? 1 : vector.shape[0];
  return Reshape(c, vector, shape);
}

Status NeedChannels(const NodeContext& c, size_t first, size_t last) {
  const Shape& x = c.ShapeOf(0);
  if (x.size() < 2) return Status::Invalid("its input " + ShapeText(x) + " has no channels");
  for (size_t i = first; i <= last; ++i) {
    if (c.ShapeOf(i) != Shape{x[1]}) {
      return Status::Invalid("its input {} must be [{}], is {}", i, x[1], ShapeText(c.ShapeOf(i)));
    }
  }
  return Status();
}

// Sets the mean (output 1) and 1 / sqrt(variance + epsilon) (output 2) of a layer norm, if they are named.
Status LayerStatistics(NodeContext* c, int64_t axis) {
  if (!c->Wants(1) && !c->Wants(2)) return Status();
  const Value& x = c->In(0);
  Shape axes;
  for (int64_t i = axis; i < static_cast<int64_t>(x.shape.size()); ++i) axes.push_back(i);
  const std::vector<Attribute> over = {Numbers("axes", axes), Numbers("keep", {1})};
  HONE_ASSIGN_OR_RETURN(const Value mean, c->Emit("reduce_mean", {x}, over));
  if (c->Wants(1)) HONE_RETURN_IF_ERROR(c->Set(1, mean));
  if (!c->Wants(2)) return Status();
  HONE_ASSIGN_OR_RETURN(const Value centred, Binary(c, "sub", x, mean));
  HONE_ASSIGN_OR_RETURN(const Value squares, Binary(c, "mul", centred, centred));
  HONE_ASSIGN_OR_RETURN(const Value variance, c->Emit("reduce_mean", {squares}, over));
  HONE_ASSIGN_OR_RETURN(const Value shifted, Binary(c, "add", variance, Scalar(c->Float("epsilon", 1e-5))));
  HONE_ASSIGN_OR_RETURN(const Value deviation, Unary(c, "sqrt", shifted));
  HONE_ASSIGN_OR_RETURN(Value inverse, Unary(c, "reciprocal", deviation));
  return c->Set(2, std::move(inverse));
}

// Normalises by the mean and variance of the batch itself; the further outputs are the updated running values.
Status TrainingNorm(NodeContext* c) {
  const Value& x = c->In(0);
  const size_t rank = x.shape.size();
  Shape axes = {0};
  for (size_t i = 2; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  const std::vector<Attribute> over = {Numbers("axes", axes), Numbers("keep", {1})};
  HONE_ASSIGN_OR_RETURN(const Value mean, c->Emit("reduce_mean", {x}, over));
  HONE_ASSIGN_OR_RETURN(const Value centred, Binary(c, "sub", x, mean));
  HONE_ASSIGN_OR_RETURN(const Value squares, Binary(c, "mul", centred, centred));
  HONE_ASSIGN_OR_RETURN(const Value variance, c->Emit("reduce_mean", {squares}, over));
  HONE_ASSIGN_OR_RETURN(const Value shifted, Binary(c, "add", variance, Filled({1}, c->Float("epsilon", 1e-5))));
  HONE_ASSIGN_OR_RETURN(const Value deviation, Unary(c, "sqrt", shifted));
  HONE_ASSIGN_OR_RETURN(const Value scale, PerChannel(c, c->In(1), rank));
  HONE_ASSIGN_OR_RETURN(const Value bias, PerChannel(c, c->In(2), rank));
  HONE_ASSIGN_OR_RETURN(const Value factor, Binary(c, "div", scale, deviation));
  HONE_ASSIGN_OR_RETURN(const Value scaled, Binary(c, "mul", centred, factor));
  HONE_RETURN_IF_ERROR(c->Set(Binary(c, "add", scaled, bias)));
  const double momentum = c->Float("momentum", 0.9);
  const Value* statistics[] = {&mean, &variance};
  for (size_t i = 0; i < 2; ++i) {
    if (!c->Wants(1 + i)) continue;
    HONE_ASSIGN_OR_RETURN(const Value now, Reshape(c, *statistics[i], {x.shape[1]}));
    HONE_ASSIGN_OR_RETURN(const Value kept, Binary(c, "mul", c->In(3 + i), Filled({1}, momentum)));
    HONE_ASSIGN_OR_RETURN(const Value added, Binary(c, "mul", now, Filled({1}, 1 - momentum)));
    HONE_ASSIGN_OR_RETURN(Value running, Binary(c, "add", kept, added));
    HONE_RETURN_IF_ERROR(c->Set(1 + i, std::move(running)));
  }
  return Status();
}

Status MapBatchNorm(NodeContext* c) {
  HONE_RETURN_IF_ERROR(NeedChannels(*c, 1, 4));
  bool statistics = false;
  for (size_t i = 1; i < c->node().outputs.size(); ++i) statistics = statistics || c->Wants(i);
  if (c->opset() < 14 && statistics) {
    // These opsets have no attribute for it: further outputs mean training mode, in which the first output differs.
    return Status::Unsupported(
        "it has the outputs of training, which is supported from opset 14 on; export it for inference");
  }
  if (c->Int("training_mode", 0) != 0) return TrainingNorm(c);
  const double epsilon = c->Float("epsilon", 1e-5);
  bool constant = true;
  for (size_t i = 1; i < 5; ++i) constant = constant && c->In(i).is_constant();
  if (constant && !c->In(0).is_constant()) {
    return c->Set(
        c->Emit("batch_norm", {c->In(0), c->In(1), c->In(2), c->In(3), c->In(4)}, {Real("epsilon", epsilon)}));
  }
  // (x - mean) * (scale / sqrt(variance + epsilon)) + bias
  const size_t rank = c->ShapeOf(0).size();
  HONE_ASSIGN_OR_RETURN(const Value shifted, Binary(c, "add", c->In(4), Filled({1}, epsilon)));
  HONE_ASSIGN_OR_RETURN(const Value deviation, Unary(c, "sqrt", shifted));
  HONE_ASSIGN_OR_RETURN(const Value factor, Binary(c, "div", c->In(1), deviation));
  HONE_ASSIGN_OR_RETURN(const Value wide_mean, PerChannel(c, c->In(3), rank));
  HONE_ASSIGN_OR_RETURN(const Value wide_factor, PerChannel(c, factor, rank));
  HONE_ASSIGN_OR_RETURN(const Value wide_bias, PerChannel(c, c->In(2), rank));
  HONE_ASSIGN_OR_RETURN(const Value centred, Binary(c, "sub", c->In(0), wide_mean));
  HONE_ASSIGN_OR_RETURN(const Value scaled, Binary(c, "mul", centred, wide_factor));
  return c->Set(Binary(c, "add", scaled, wide_bias));
}

Status MapInstanceNorm(NodeContext* c) {
  HONE_RETURN_IF_ERROR(NeedChannels(*c, 1, 2));
  return c->Set(c->Emit("instance_norm", {c->In(0), c->In(1), c->In(2)}, {Real("epsilon", c->Float("epsilon", 1e-5))}));
}

Status MapLayerNorm(NodeContext* c) {
  const Value& x = c->In(0);
  const size_t rank = x.shape.size();
  HONE_ASSIGN_OR_RETURN(const int64_t axis, NodeContext::Axis(c->Int("axis", -1), rank));
  if (c->Int("stash_type", 1) != 1) return Status::Unsupported("its stash_type is not float32");
  const Shape inner(x.shape.begin() + axis, x.shape.end());
  std::vector<Value> operands = {x};
  for (size_t i = 1; i < 3; ++i) {
    if (!c->Has(i)) continue;
    const auto fits = BroadcastShape(c->ShapeOf(i), inner);
    if (!fits.ok() || *fits != inner) {
      return Status::Invalid("its input {} of {} does not fit {}", i, ShapeText(c->ShapeOf(i)), ShapeText(inner));
    }
    HONE_ASSIGN_OR_RETURN(Value wide, Expand(c, c->In(i), inner));
    operands.push_back(std::move(wide));
  }
  HONE_RETURN_IF_ERROR(LayerStatistics(c, axis));
  return c->Set(c->Emit("layer_norm", operands, {Numbers("axis", {axis}), Real("epsilon", c->Float("epsilon", 1e-5))}));
}

// An instance norm with the groups as channels, then scale and bias: per group until opset 21, per channel since.
Status MapGroupNorm(NodeContext* c) {
  const Value& x = c->In(0);
  const int64_t groups = c->Int("num_groups", 0);
  // Also reject more groups than channels.
  if (x.shape.size() < 3 || groups < 1 || groups > x.shape[1] || x.shape[1] % groups != 0) {
    return Status::Invalid("{} groups do not fit {}", groups, ShapeText(x.shape));
  }
  const int64_t scales = c->opset() < 21 ? groups : x.shape[1];
  Value per_channel[2];
  for (size_t i = 1; i < 3; ++i) {
    if (c->ShapeOf(i) != Shape{scales}) {
      return Status::Invalid("its input {} must be [{}], is {}", i, scales, ShapeText(c->ShapeOf(i)));
    }
    Value v = c->In(i);
    if (scales == groups) {
      HONE_ASSIGN_OR_RETURN(v, Reshape(c, v, {groups, 1}));
      HONE_ASSIGN_OR_RETURN(v, Expand(c, v, {groups, x.shape[1] / groups}));
      HONE_ASSIGN_OR_RETURN(v, Reshape(c, v, {x.shape[1]}));
    }
    HONE_ASSIGN_OR_RETURN(per_channel[i - 1], PerChannel(c, v, x.shape.size()));
  }
  const int64_t inner = x.shape[1] / groups * semantics::Product(x.shape, 2, x.shape.size());
  HONE_ASSIGN_OR_RETURN(const Value grouped, Reshape(c, x, {x.shape[0], groups, inner}));
  HONE_ASSIGN_OR_RETURN(const Value normal,
                        c->Emit("instance_norm", {grouped, Filled({groups}, 1), Filled({groups}, 0)},
                                {Real("epsilon", c->Float("epsilon", 1e-5))}));
  HONE_ASSIGN_OR_RETURN(const Value back, Reshape(c, normal, x.shape));
  HONE_ASSIGN_OR_RETURN(const Value scaled, Binary(c, "mul", back, per_channel[0]));
  return c->Set(Binary(c, "add", scaled, per_channel[1]));
}

Status MapLrn(NodeContext* c) {
  if (c->Int("size", 0) < 1) return Status::Invalid("its size must be at least 1");
  return c->Set(c->Emit("lrn", {c->In(0)},
                        {Numbers("size", {c->Int("size", 1)}), Real("alpha", c->Float("alpha", 1e-4)),
                         Real("beta", c->Float("beta", 0.75)), Real("bias", c->Float("bias", 1))}));
}

}  // namespace

std::vector<OperatorEntry> NormOperators() {
  return {
      {"BatchNormalization", MapBatchNorm, 5, 5, 7},       {"GroupNormalization", MapGroupNorm, 3, 3, 18},
      {"InstanceNormalization", MapInstanceNorm, 3, 3, 7}, {"LRN", MapLrn, 1, 1, 7},
      {"LayerNormalization", MapLayerNorm, 2, 3, 17},
  };
}

}  // namespace hone::onnx
