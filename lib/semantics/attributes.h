// Attributes of workloads as numbers, and the checks that operators share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "task/workload.h"

namespace hone::semantics {

using Shape = std::vector<int64_t>;

// Of any tensor: 2 GiB of float32, far above what a network has.
inline constexpr int64_t kMaxElements = int64_t{1} << 29;

enum class AttributeKind {
  kWhole,  // whole numbers
  kReal,   // numbers
  kWord,   // one of `words`
};
struct AttributeSpec {
  std::string name;
  AttributeKind kind = AttributeKind::kWhole;
  std::string fallback;  // its text where it is absent; empty: there is none, absence means something of its own
  std::vector<std::string> words;
  char separator = ',';
  // How many values it has for each spatial axis of the first input, where one may stand for all; 0: as given.
  int spatial = 0;
  bool infinite = false;  // a kReal one takes inf and -inf
};

// A list of numbers: whole ones become Attribute::values, a list with others its word.
Attribute MakeRealAttribute(const std::string& name, const std::vector<double>& values);
// Numbers of either form; `fallback` where the attribute is absent.
std::vector<double> Reals(const Workload& workload, const std::string& name, std::vector<double> fallback);
double Real(const Workload& workload, const std::string& name, double fallback);
int64_t Whole(const Workload& workload, const std::string& name, int64_t fallback);
std::string Word(const Workload& workload, const std::string& name, const std::string& fallback);
// `count` whole numbers: one given stands for all.
Shape Expanded(const Workload& workload, const std::string& name, size_t count, int64_t fallback);

// Every attribute is of `specs`, at most once, and of its kind; a suggestion for unknown names.
Status CheckAttributes(const Workload& workload, const std::vector<AttributeSpec>& specs);
// The attributes in the order of `specs`, without those that have their fallback.
Workload CanonicalAttributes(const Workload& workload, const std::vector<AttributeSpec>& specs);

// `least` .. `most` inputs of at most 8 axes, with extents of at least 1 and at most kMaxElements elements.
Status CheckInputs(const Workload& workload, size_t least, size_t most);
Status CheckRankIn(const Workload& workload, size_t input, size_t least, size_t most);
// The element types that Hone's kernels take. kUnsupported, beginning with `what`, for others.
Status CheckElementType(const std::string& what, const DType& type);
// The type rule of most operators: every input is f32, and so is the output.
Result<DType> FloatToFloat(const Workload& workload);
// An output that is not empty and has at most kMaxElements elements.
Result<Shape> Checked(const Workload& workload, Shape shape);
// An axis given by attribute `name`, 0 .. rank-1.
Result<int64_t> AxisOf(const Workload& workload, const std::string& name, int64_t rank, int64_t fallback);

int64_t Product(const Shape& shape, size_t begin, size_t end);
int64_t Product(const Shape& shape);
// Elements between neighbours along each axis, row-major.
Shape Strides(const Shape& shape);

}  // namespace hone::semantics
