#include "onnx/product.h"

#include "onnx/moves.h"

namespace hone::onnx {

Result<Value> MatrixProduct(NodeContext* c, const Value& a, const Value& b) {
  const size_t rank = a.shape.size();
  const bool layer = b.is_constant() && !a.is_constant() && b.shape.size() == 2 && rank >= 2 &&
                     a.shape.back() == b.shape[0] && b.shape[0] > 0 && b.shape[1] > 0;
  if (!layer) return c->Emit("matmul", {a, b});
  HONE_ASSIGN_OR_RETURN(const Value weight, Transpose(c, b, {1, 0}));
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < rank; ++i) rows *= a.shape[i];
  HONE_ASSIGN_OR_RETURN(const Value flat, Reshape(c, a, {rows, a.shape.back()}));
  HONE_ASSIGN_OR_RETURN(const Value out, c->Emit("dense", {flat, weight}));
  Shape shape = a.shape;
  shape.back() = b.shape[1];
  return Reshape(c, out, shape);
}

}  // namespace hone::onnx
