// Attributes of workloads as numbers, and shared checks of operators.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "task/workload.h"

namespace hone::semantics {

using Shape = std::vector<int64_t>;

// The most elements of a tensor: 2 GiB of float32, far above any network.
inline constexpr int64_t kMaxElements = int64_t{1} << 29;

enum class AttributeKind {
  kWhole,  // whole numbers
  kReal,   // numbers
  kWord,   // one of `words`
};
struct AttributeSpec {
  std::string name;
  AttributeKind kind = AttributeKind::kWhole;
  std::string fallback;  // text of the default; empty: no default, absence has a meaning of its own
  std::vector<std::string> words;
  char separator = ',';
  // Number of values per spatial axis of the first input, where one value may stand for all; 0: exactly as given.
  int spatial = 0;
  bool infinite = false;  // kReal also accepts inf and -inf
};

// Makes a list of numbers: whole numbers become Attribute::values, a list with others becomes the word.
Attribute MakeRealAttribute(const std::string& name, const std::vector<double>& values);
// Numbers in either form; `fallback` if the attribute is absent.
std::vector<double> Reals(const Workload& workload, const std::string& name, std::vector<double> fallback);
double Real(const Workload& workload, const std::string& name, double fallback);
int64_t Whole(const Workload& workload, const std::string& name, int64_t fallback);
std::string Word(const Workload& workload, const std::string& name, const std::string& fallback);
// `count` whole numbers; a single given one stands for all.
Shape Expanded(const Workload& workload, const std::string& name, size_t count, int64_t fallback);

// Checks that every attribute is in `specs`, of its kind and given at most once; suggests a name for unknown ones.
Status CheckAttributes(const Workload& workload, const std::vector<AttributeSpec>& specs);
// The attributes in the order of `specs`, without those equal to their fallback.
Workload CanonicalAttributes(const Workload& workload, const std::vector<AttributeSpec>& specs);

// Checks for `least` .. `most` inputs of at most 8 axes, with extents of at least 1 and at most kMaxElements elements.
Status CheckInputs(const Workload& workload, size_t least, size_t most);
Status CheckRankIn(const Workload& workload, size_t input, size_t least, size_t most);
// Checks that Hone's kernels support the element type; else returns kUnsupported, beginning with `what`.
Status CheckElementType(const std::string& what, const DType& type);
// The type rule of most operators: every input is f32, and so is the output.
Result<DType> FloatToFloat(const Workload& workload);
// The type rule of operators that move elements: every input has the same type, f32, u8, i8 or i32, and so has the
// output.
Result<DType> SameType(const Workload& workload);
// The type rule of sums of products of data and weights: as FloatToFloat for two inputs; or u8 or i8 data and i8
// weights, whose sums are i32. Then a third input may have the data's zero point, of the data's type, and a fourth one
// those of the weights, i8, one or one for each channel of the output (axis 0 of the weight): what is multiplied is the
// difference from the zero point, and padding is the zero point. Without them, zero points are 0. Returns kInvalid if a
// sum could leave i32.
Result<DType> ProductType(const Workload& workload);
// Checks that an output is not empty and has at most kMaxElements elements.
Result<Shape> Checked(const Workload& workload, Shape shape);
// The axis in attribute `name`, as 0 .. rank-1.
Result<int64_t> AxisOf(const Workload& workload, const std::string& name, int64_t rank, int64_t fallback);

int64_t Product(const Shape& shape, size_t begin, size_t end);
int64_t Product(const Shape& shape);
// The distance in elements between neighbours along each axis, row-major.
Shape Strides(const Shape& shape);

// The epsilon of a batch norm: `epsilon`, or 1 / `inverse_epsilon`; 1e-5 without either.
double BatchNormEpsilon(const Workload& workload);

}  // namespace hone::semantics
