// Pooling.
#include <fmt/format.h>

#include <algorithm>

#include "onnx/arith.h"
#include "onnx/mappers.h"
#include "onnx/moves.h"
#include "onnx/window.h"

namespace hone::onnx {
namespace {

// The node's windows over x, which has the shape of its input.
Result<Value> Pool(NodeContext* c, const Value& x, bool average, bool include_pad) {
  const Shape kernel = c->IntList("kernel_shape", {});
  if (x.shape.size() < 3 || kernel.size() != x.shape.size() - 2) {
    return Status::Invalid(
        fmt::format("its kernel_shape {} does not fit its input {}", ShapeText(kernel), ShapeText(x.shape)));
  }
  HONE_ASSIGN_OR_RETURN(const std::string dimensions, Dimensions(kernel.size()));
  HONE_ASSIGN_OR_RETURN(Window window, ReadWindow(c, x.shape, kernel));
  // auto_pad gives the final size, regardless of rounding.
  const std::string mode = c->String("auto_pad", "NOTSET");
  const bool ceil = c->Int("ceil_mode", 0) != 0 && mode != "SAME_UPPER" && mode != "SAME_LOWER";
  const bool widened = kernel.size() == 1;
  Value data = x;
  if (widened) {
    HONE_ASSIGN_OR_RETURN(data, Reshape(c, x, WidenedShape(x.shape)));
    window = Widened(window);
  }
  std::vector<Attribute> attributes = {Numbers("kernel", window.kernel, 'x')};
  for (Attribute& attribute : WindowAttributes(window)) attributes.push_back(std::move(attribute));
  if (ceil) attributes.push_back(Numbers("ceil_mode", {1}));
  if (average && include_pad) attributes.push_back(Numbers("count_include_pad", {1}));
  HONE_ASSIGN_OR_RETURN(const Value out, c->Emit((average ? "avg_pool" : "max_pool") + dimensions, {data}, attributes));
  if (!widened) return out;
  return Reshape(c, out, {out.shape[0], out.shape[1], out.shape[3]});
}

// |x|^p, and back.
Result<Value> Powers(NodeContext* c, const Value& x, int64_t p) {
  if (p == 2) return Binary(c, "mul", x, x);
  HONE_ASSIGN_OR_RETURN(const Value size, Unary(c, "abs", x));
  return p == 1 ? Result<Value>(size) : Binary(c, "pow", size, Scalar(static_cast<double>(p)));
}
Result<Value> Roots(NodeContext* c, const Value& x, int64_t p) {
  if (p == 1) return x;
  return p == 2 ? Unary(c, "sqrt", x) : Binary(c, "pow", x, Scalar(1 / static_cast<double>(p)));
}

}  // namespace

Status MapPool(NodeContext* c) {
  const bool average = c->node().op == "AveragePool";
  return c->Set(Pool(c, c->In(0), average, c->Int("count_include_pad", 0) != 0));
}

// A sum is the average of all of a window, with its padding, times their number.
Status MapLpPool(NodeContext* c) {
  const int64_t p = c->Int("p", 2);
  if (p < 1) return Status::Invalid(fmt::format("its p is {}, must be at least 1", p));
  if (c->Int("ceil_mode", 0) != 0) return Status::Unsupported("its ceil_mode is not supported");
  double elements = 1;
  for (int64_t extent : c->IntList("kernel_shape", {})) elements *= static_cast<double>(extent);
  HONE_ASSIGN_OR_RETURN(const Value powers, Powers(c, c->In(0), p));
  HONE_ASSIGN_OR_RETURN(const Value means, Pool(c, powers, true, true));
  HONE_ASSIGN_OR_RETURN(const Value sums, Binary(c, "mul", means, Scalar(elements)));
  return c->Set(Roots(c, sums, p));
}

Status MapGlobalPool(NodeContext* c) {
  return c->Set(c->Emit(c->node().op == "GlobalAveragePool" ? "global_avg_pool" : "global_max_pool", {c->In(0)}));
}

}  // namespace hone::onnx
