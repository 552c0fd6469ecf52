// What operators mean, once for all of Hone: their attributes, types, shapes and FLOP, their values in double precision
// on logical row-major tensors, how they store tensors, and what the passes over graphs may do with them.
//
// Graphs take shapes and reference outputs from here; op/ adds the kernels and checks them against these values. The
// layer knows nothing of te, schedules and code generation. A new operator begins as a line in one of the tables
// (semantics/tables.h).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "semantics/attributes.h"
#include "task/operand.h"
#include "task/workload.h"

namespace hone::semantics {

using Values = std::vector<double>;
// Takes the source of one element of an output: an element of an operand, or kNoSource for padding.
using VisitSource = std::function<void(size_t operand, int64_t element)>;
inline constexpr int64_t kNoSource = -1;

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
  // FLOP for the whole output. Null: none.
  double (*flop)(const Workload&, const Shape& shape) = nullptr;
  // How the inputs and the output are stored where they have four or five axes. Weights and tensors of other ranks are
  // plain, and whatever the workload says is plain (StatedLayout). They differ in `block` and `unblock` alone.
  Layout in = Layout::kPlain, out = Layout::kPlain;
  // One value of each input makes one of the output. An epilogue may follow where all have the output's shape.
  bool elementwise = false;
  // The first axis of the data is one of images that are computed each by itself (the N of doc/reference/operators.md).
  // False where axes are taken as they come (elementwise ones, products of matrices, reductions, movements).
  bool has_batch = false;

  // Operators that only move elements: visits the source of each element of the output, in order. Null for others.
  // REQUIRES: as `evaluate`.
  void (*sources)(const Workload&, const Shape& shape, const VisitSource& visit) = nullptr;

  // The output's element type from those of the inputs, or one line on why it does not take them.
  Result<DType> (*type)(const Workload&) = FloatToFloat;

  // What passes ask for.
  // The output is the inputs, one behind the other, along the attribute `axis`.
  bool concatenates = false;
  // The output has the elements of the first input in the same order.
  bool keeps_order = false;
  // Scales and shifts each channel by inputs 1 to 4: gamma, beta, mean and variance (BatchNormEpsilon).
  bool normalises_channels = false;
  // Input 1 is a weight whose values are known when a library is built. An epilogue may follow.
  bool layer = false;
  // The axis of input 1 along which the output's channels lie: a batch norm behind folds into it. Negative: none.
  int channels_of_weight = -1;
  // May be a member of a chain.
  bool chains = false;
  // As the last operation of another kernel it is this one.
  std::optional<EpilogueKind> epilogue = std::nullopt;
  // REQUIRES: `shape` accepted the workload. Is the output the first input, whatever its values?
  bool (*passes_on)(const Workload&) = nullptr;
};

// Adds a definition that a plugin brought. kInvalid if the name is taken. Before any thread looks for definitions.
Status Register(Definition definition);

// Null for an unknown operator.
const Definition* Find(const std::string& name);
// REQUIRES: the operator is known.
const Definition& DefinitionOf(const Workload& workload);
std::vector<std::string> Names();  // sorted

// The functions below take chains as well.

// The output's type. kUnsupported for an unknown operator; kInvalid or kUnsupported in one line if inputs, attributes,
// epilogue or the members of a chain do not fit each other.
Result<TensorType> InferOutput(const Workload& workload);
// The types of the operands: the inputs, then one for each `bias` and `add` of the epilogue, in order; of a chain those
// of the first member, then of each that follows, without its first input. Errors as InferOutput.
Result<std::vector<TensorType>> OperandTypes(const Workload& workload);
size_t OperandCount(const Workload& workload);

// The rest REQUIRES: InferOutput accepts the workload.

// Attributes in the definition's order, without those that have their usual value.
Workload Canonical(const Workload& workload);
double Flop(const Workload& workload);
// The output's values. `operands`: as OperandTypes has them. `threads`: at least 1; the values do not depend on it.
Values Evaluate(const Workload& workload, const std::vector<const Values*>& operands, int threads);
bool HasBatch(const Workload& workload);

// The rest REQUIRES: not a chain.

Layout InputLayout(const Workload& workload, size_t input);
Layout OutputLayout(const Workload& workload);
// Tensors of four and five axes can be blocked.
inline bool CanBeBlocked(const TensorType& type) { return type.shape.size() == 4 || type.shape.size() == 5; }
// A transform changes how a tensor is stored and nothing else: `block`, `unblock`.
bool IsTransform(const Workload& workload);

// Some operators are stored in either layout, as an attribute says: `layout=plain` for all tensors of an elementwise
// one, `in=nchw` or `in=ncdhw` for the first input of a convolution. Only these functions read and write the attribute.
bool ChoosesLayout(const Workload& workload);
// Nothing if the workload does not say; it is then blocked.
std::optional<Layout> StatedLayout(const Workload& workload);
// REQUIRES: ChoosesLayout.
void SetLayout(Workload* workload, Layout layout);
bool PassesOn(const Workload& workload);
// The one epilogue operation that this workload is, of its first input or, for kAdd, of its two.
std::optional<EpilogueOp> AsEpilogue(const Workload& workload);

}  // namespace hone::semantics
