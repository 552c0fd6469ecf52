// What operators mean: which attributes they take, the shape they make, and their values in double precision on logical
// row-major tensors, straight from the definition. One definition for graphs (shapes, the reference execution) and for
// op/ (what a kernel is checked against); independent of te, schedules and code generation.
//
// Here are pooling and those that ONNX graphs brought; conv2d, dense and what stands in op/ alone
// (block, unblock, flatten, pad2d) define themselves there and in graph/.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "semantics/attributes.h"
#include "task/workload.h"

namespace hone::semantics {

using Values = std::vector<double>;

// How an operator stores tensors of four or five axes; all others are plain.
enum class Form {
  kPlain,    // row-major
  kBlocked,  // in blocks of channels (op/operator.h)
  kEither,   // as `layout` says: blocked, or layout=plain. Inputs with fewer axes than the output are plain
};

struct Definition {
  std::string name;
  size_t least_inputs = 1, most_inputs = 1;
  std::vector<AttributeSpec> attributes;
  // REQUIRES: inputs and attribute kinds are checked. The output's extents, or one line on what does not fit.
  Result<Shape> (*shape)(const Workload&) = nullptr;
  // REQUIRES: `shape` accepted the workload. `inputs`: one an input; `out`: of the right size, zeros.
  // `threads`: at least 1; the values do not depend on it.
  void (*evaluate)(const Workload&, const std::vector<const Values*>& inputs, const Shape& shape, int threads,
                   Values* out) = nullptr;
  // FLOP for the whole output.
  double (*flop)(const Workload&, const Shape& shape) = nullptr;
  Form form = Form::kPlain;
  // One value of each input makes one of the output. An epilogue may follow where all have the output's shape.
  bool elementwise = false;
  // The first axis of the data is one of images that are computed each by itself (the N of doc/reference/operators.md).
  // False where axes are taken as they come (elementwise ones, products of matrices, reductions, movements).
  bool has_batch = false;
};

// Adds a definition that a plugin brought. kInvalid if the name is taken. Before any thread looks for definitions.
Status Register(Definition definition);

// Null if this layer does not define it.
const Definition* Find(const std::string& name);
std::vector<std::string> Names();  // in no particular order

// kInvalid or kUnsupported in one line; REQUIRES: Find(workload.op).
Result<TensorType> InferOutput(const Workload& workload);
// Without the epilogue. REQUIRES: InferOutput accepts the workload.
Values Evaluate(const Workload& workload, const std::vector<const Values*>& inputs, int threads);
// How this workload stores its tensors: the definition's form, but for a concat along another axis than the channels.
Form FormOf(const Workload& workload);
// Attributes in the definition's order, without those that have their usual value.
Workload Canonical(const Workload& workload);

}  // namespace hone::semantics
