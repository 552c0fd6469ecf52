// Gemm and MatMul. With a constant second matrix they become a dense layer, whose weight is tuned and packed; else a
// product of two tensors.
#include "onnx/operators.h"
#include "onnx/values.h"

namespace hone::onnx {
namespace {

Result<Value> Scaled(NodeContext* c, const Value& x, double factor) {
  if (factor == 1) return x;
  return Binary(c, "mul", x, Filled({1}, factor));
}

Status MapGemm(NodeContext* c) {
  Value a = c->In(0), b = c->In(1);
  if (a.shape.size() != 2 || b.shape.size() != 2) return Status::Invalid("its operands must be matrices");
  const bool transposed = c->Int("transB", 0) != 0;
  const double alpha = c->Float("alpha", 1), beta = c->Float("beta", 1);
  if (c->Int("transA", 0) != 0) {
    HONE_ASSIGN_OR_RETURN(a, Transpose(c, a, {1, 0}));
  }
  const int64_t units = b.shape[transposed ? 0 : 1];
  if (a.shape[1] != b.shape[transposed ? 1 : 0]) {
    return Status::Invalid("{} and {} cannot be multiplied", ShapeText(a.shape), ShapeText(b.shape));
  }
  Value bias;
  const bool has_bias = c->Has(2) && beta != 0;
  if (has_bias) {
    HONE_ASSIGN_OR_RETURN(bias, Scaled(c, c->In(2), beta));
  }
  Value out;
  bool fused = false;
  if (b.is_constant()) {
    if (!transposed) {
      HONE_ASSIGN_OR_RETURN(b, Transpose(c, b, {1, 0}));
    }
    HONE_ASSIGN_OR_RETURN(b, Scaled(c, b, alpha));
    std::vector<Value> operands = {a, b};
    std::vector<EpilogueOp> epilogue;
    // One value per unit; a scalar applies to all.
    const bool row = has_bias && (bias.shape.empty() || (bias.shape.size() <= 2 && bias.shape.back() >= 1 &&
                                                         (bias.shape.size() == 1 || bias.shape[0] == 1)));
    fused = row && bias.is_constant();
    if (fused) {
      HONE_ASSIGN_OR_RETURN(bias, Expand(c, bias, {1, units}));
      HONE_ASSIGN_OR_RETURN(bias, Reshape(c, bias, {units}));
      operands.push_back(bias);
      epilogue.push_back({EpilogueKind::kBias});
    }
    HONE_ASSIGN_OR_RETURN(out, c->Emit("dense", operands, {}, epilogue));
  } else {
    if (transposed) {
      HONE_ASSIGN_OR_RETURN(b, Transpose(c, b, {1, 0}));
    }
    HONE_ASSIGN_OR_RETURN(out, c->Emit("matmul", {a, b}));
    HONE_ASSIGN_OR_RETURN(out, Scaled(c, out, alpha));
  }
  if (!has_bias || fused) return c->Set(0, out);
  return c->Set(Binary(c, "add", out, bias));
}

Status MapMatMul(NodeContext* c) { return c->Set(MatrixProduct(c, c->In(0), c->In(1))); }

}  // namespace

std::vector<OperatorEntry> MatmulOperators() {
  return {
      {"Gemm", MapGemm, 2, 3, 7},
      {"MatMul", MapMatMul, 2, 2, 7},
  };
}

}  // namespace hone::onnx
