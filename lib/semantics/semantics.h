// The meaning of operators, defined once for all of Hone: attributes, types, shapes and FLOP, values in double
// precision on logical row-major tensors, storage of tensors, and what passes over graphs may do with them.
//
// Graphs take shapes and reference outputs from here; op/ adds the kernels and checks them against these values. This
// layer does not know te, schedules or code generation. A new operator begins as a line in one of the tables
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
// Receives the source of one element of an output: an element of an operand, or kNoSource for padding.
using VisitSource = std::function<void(size_t operand, int64_t element)>;
inline constexpr int64_t kNoSource = -1;

struct Definition {
  std::string name;
  size_t least_inputs = 1, most_inputs = 1;
  std::vector<AttributeSpec> attributes;
  // REQUIRES: inputs and attribute kinds are checked. Returns the output's extents, or a one-line error.
  Result<Shape> (*shape)(const Workload&) = nullptr;
  // REQUIRES: `shape` accepted the workload. `inputs` has one entry per input; `out` has the right size and is zero.
  // `threads` is at least 1; the values do not depend on it.
  void (*evaluate)(const Workload&, const std::vector<const Values*>& inputs, const Shape& shape, int threads,
                   Values* out) = nullptr;
  // FLOP for the whole output. Null: no FLOP.
  double (*flop)(const Workload&, const Shape& shape) = nullptr;
  // The layout of inputs and output with four or five axes, unless the workload states another one (StatedLayout).
  // Weights and tensors of other ranks are plain. `in` and `out` differ only for transforms.
  Layout in = Layout::kPlain, out = Layout::kPlain;
  // Each output value depends on one value of each input. An epilogue may follow if all inputs have the output's shape.
  bool elementwise = false;
  // The first axis of the data counts images that are computed independently (the N of doc/reference/operators.md).
  // False for operators without such an axis (elementwise ones, products of matrices, reductions, movements).
  bool has_batch = false;

  // For operators that only move elements: visits the source of each element of the output, in order. Null for others.
  // REQUIRES: as `evaluate`.
  void (*sources)(const Workload&, const Shape& shape, const VisitSource& visit) = nullptr;

  // The output's element type for those of the inputs, or a one-line error.
  Result<DType> (*type)(const Workload&) = FloatToFloat;

  // Traits for passes. The output is the concatenation of the inputs along the attribute `axis`.
  bool concatenates = false;
  // Each value of the output is a value of an input, chosen by its place or as the largest: nothing is computed, nor
  // padded. So the operator is the same on quantised and on real values, if all inputs have one scale and zero point.
  bool selects = false;
  // The output has the first input's elements in the same order.
  bool keeps_order = false;
  // Scales and shifts each channel by inputs 1 to 4: gamma, beta, mean and variance (BatchNormEpsilon).
  bool normalises_channels = false;
  // Input 1 is a weight whose values are known when a library is built. An epilogue may follow.
  bool layer = false;
  // The axis of input 1 that holds the output's channels, so that a following batch norm can be folded. Negative if no
  // input does.
  int channels_of_weight = -1;
  // The epilogue operation that this operator is equivalent to.
  std::optional<EpilogueKind> epilogue = std::nullopt;
  // REQUIRES: `shape` accepted the workload. Whether the output equals the first input, whatever its values.
  bool (*passes_on)(const Workload&) = nullptr;
};

// Adds a plugin's definition. Returns kInvalid if the name is taken. Call it before other threads look for definitions.
Status Register(Definition definition);

// Null for an unknown operator.
const Definition* Find(const std::string& name);
// REQUIRES: the operator is known.
const Definition& DefinitionOf(const Workload& workload);
std::vector<std::string> Names();  // sorted

// The functions below also accept groups.

// The number of values or products of data that each output sums: 1 if a factor is a weight, the sum is divided by that
// number, or nothing is summed.
int64_t ProductsOfData(const Workload& workload);

// The output's type. Returns kUnsupported for an unknown operator; kInvalid or kUnsupported in one line if inputs,
// attributes, epilogue or the members of a group do not fit together; errors in a group have the member's column.
Result<TensorType> InferOutput(const Workload& workload);
// The types of the operands: the inputs, then those of the epilogue (one for a `bias` or `add`, two for `requant`). For
// a group, those of the first member, then of each later one without the inputs that members make. Errors as in
// InferOutput.
Result<std::vector<TensorType>> OperandTypes(const Workload& workload);
size_t OperandCount(const Workload& workload);

// The following functions REQUIRE: InferOutput accepts the workload.

// Attributes in the definition's order, without those that have their default.
Workload Canonical(const Workload& workload);
double Flop(const Workload& workload);
// The output's values. `operands` are as in OperandTypes. `threads` is at least 1; the values do not depend on it.
Values Evaluate(const Workload& workload, const std::vector<const Values*>& operands, int threads);
bool HasBatch(const Workload& workload);

// The following functions REQUIRE: not a group.

Layout InputLayout(const Workload& workload, size_t input);
Layout OutputLayout(const Workload& workload);
// Only tensors of four and five axes can be stored in another layout than kPlain.
inline bool HasLayouts(const TensorType& type) { return type.shape.size() == 4 || type.shape.size() == 5; }
// The shape of a tensor stored as kPlain or kChannelsLast: [N,H,W,C] for [N,C,H,W]. REQUIRES: four or five axes.
Shape StoredShape(const Shape& logical, Layout layout);
// Whether the workload only changes how a tensor is stored: `block`, `channels_last` and their inverses.
bool IsTransform(const Workload& workload);
// The operator of the transform between kPlain and `layout`, which is another one: to it, or back.
const char* TransformName(Layout layout, bool back);

// Many operators accept several layouts, and state it for all their tensors by the attribute `layout`: `plain` or
// `nhwc` (kChannelsLast, also with five axes). Only the following functions read and write this attribute and `in`.
bool AcceptsLayout(const Workload& workload, Layout layout);
// Nothing if the workload does not state one.
std::optional<Layout> StatedLayout(const Workload& workload);
// REQUIRES: AcceptsLayout.
void SetLayout(Workload* workload, Layout layout);
// Removes `layout` and `in`.
void ForgetLayout(Workload* workload);

// A convolution that makes blocks can read its first input plain: `in=nchw`, `in=ncdhw`.
bool MayReadPlain(const Workload& workload);
bool ReadsPlain(const Workload& workload);
// REQUIRES: MayReadPlain.
void SetReadsPlain(Workload* workload, bool plain);
bool PassesOn(const Workload& workload);
// Whether the workload only changes single elements, or moves them.
bool ChangesOrMovesElements(const Workload& workload);
// The epilogue operation that this workload is equivalent to, on its first input or, for kAdd, on both inputs.
std::optional<EpilogueOp> AsEpilogue(const Workload& workload);
// The reverse, for an operation on floats of type `input`. REQUIRES: AsEpilogue can return `op`.
Workload AsOperator(const EpilogueOp& op, const TensorType& input);
// Whether the output has integers made of floats that kernels may round otherwise than the reference, so that a value
// half-way between two integers may become either: a `quantise` behind operators of floats in a group.
bool QuantisesFloats(const Workload& workload);

}  // namespace hone::semantics
