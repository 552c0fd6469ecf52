// Pooling.
#include <fmt/format.h>

#include "onnx/mappers.h"
#include "onnx/moves.h"
#include "onnx/window.h"

namespace hone::onnx {

Status MapPool(NodeContext* c) {
  const Value& x = c->In(0);
  const Shape kernel = c->IntList("kernel_shape", {});
  if (x.shape.size() < 3 || kernel.size() != x.shape.size() - 2) {
    return Status::Invalid(
        fmt::format("its kernel_shape {} does not fit its input {}", ShapeText(kernel), ShapeText(x.shape)));
  }
  HONE_ASSIGN_OR_RETURN(const std::string dimensions, Dimensions(kernel.size()));
  HONE_ASSIGN_OR_RETURN(Window window, ReadWindow(c, x.shape, kernel));
  const bool average = c->node().op == "AveragePool";
  const bool widened = kernel.size() == 1;
  Value data = x;
  if (widened) {
    HONE_ASSIGN_OR_RETURN(data, Reshape(c, x, WidenedShape(x.shape)));
    window = Widened(window);
  }
  std::vector<Attribute> attributes = {Numbers("kernel", window.kernel, 'x')};
  for (Attribute& attribute : WindowAttributes(window)) attributes.push_back(std::move(attribute));
  // What auto_pad makes has its final size, however it is rounded.
  const std::string mode = c->String("auto_pad", "NOTSET");
  if (c->Int("ceil_mode", 0) != 0 && mode != "SAME_UPPER" && mode != "SAME_LOWER") {
    attributes.push_back(Numbers("ceil_mode", {1}));
  }
  if (average && c->Int("count_include_pad", 0) != 0) attributes.push_back(Numbers("count_include_pad", {1}));
  HONE_ASSIGN_OR_RETURN(const Value out, c->Emit((average ? "avg_pool" : "max_pool") + dimensions, {data}, attributes));
  if (!widened) return c->Set(0, out);
  return c->Set(Reshape(c, out, {out.shape[0], out.shape[1], out.shape[3]}));
}

Status MapGlobalPool(NodeContext* c) {
  return c->Set(c->Emit(c->node().op == "GlobalAveragePool" ? "global_avg_pool" : "global_max_pool", {c->In(0)}));
}

}  // namespace hone::onnx
