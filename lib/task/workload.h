// Workload: what one kernel computes, independent of the target and the network. Its canonical text is its identity.
//
//   conv2d(f32[1,64,56,56], f32[64,64,3,3], stride=1x1, pad=1,1,1,1) + bias + add + relu
//   dense(f32[1,512], f32[1000,512]) + bias
//   max_pool2d(f32[1,64,112,112], kernel=3x3, stride=2x2, pad=1,1,1,1)
//   conv2d(f32[1,3,8,8], f32[4,3,3,3]) + relu -> max_pool2d(f32[1,4,6,6], kernel=2x2, stride=2x2)
//   conv2d(u8[1,64,56,56], i8[64,64,3,3], u8[1], pad=1,1,1,1) + bias + requant(u8)
//   dense(i8[1,64], i8[32,64]) + bias + shift(i8)
//   t0 = dense(f32[8,16], f32[32,16]) + bias -> t1 = sigmoid(t0:f32[8,32]) -> mul(t0:f32[8,32], t1:f32[8,32])
//
// Shapes are logical (NCHW, OIHW), in elements; op/operator.h defines how a target stores them. Attributes are in the
// operator's fixed order and omitted if they have the operator's default (op/ canonicalises), so that equal
// computations have equal texts.
//
// A group `A -> B` is one kernel that computes A and then B, whose first input is A's output and has that type. Its
// operands are A's inputs and epilogue operands, then B's other inputs and epilogue operands; its output is B's. A's
// output is not stored. A group has at most kMostFollowers members after the first.
//
// `name = ` before a member names its output. A later member that has `name:` before one of its inputs reads that
// output there; its inputs without a name are operands, the first one too. Each member except the last is read by a
// later one. The text that Text() writes has a name only where it is needed: t0 for the first member, t1, ..
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"

namespace hone {

struct TensorType {
  DType type = DType::Float(32);
  std::vector<int64_t> shape;

  int64_t Elements() const;
  std::string Text() const;  // f32[1,64,56,56]
  bool operator==(const TensorType&) const = default;
};

// `stride=2x2`, `pad=1,1,1,1`, `groups=4`, `in=nchw`: numbers with their separator, or one word.
struct Attribute {
  std::string name;
  std::vector<int64_t> values;
  char separator = ',';  // 'x' or ','
  std::string word;      // if not empty, this is the value, and `values` is empty
  bool operator==(const Attribute&) const = default;
};

enum class EpilogueKind {
  kBias,   // + bias[channel]: a constant operand of the output's type before it, [channels of the output]
  kAdd,    // + a residual: data of the output's shape. add(u8): after sums of integers (semantics/epilogue.h)
  kRelu,   // max(x, 0)
  kRelu6,  // min(max(x, 0), 6)
  kClip,   // min(max(x, low), high), text clip(low,high)
  // A sum of integers becomes an integer of 8 bits (semantics/epilogue.h), text requant(u8). Two constant operands: a
  // multiplier, f32[channels of the output], and limits of the new type: zero point, least and most value.
  kRequant,
  // The same by powers of two, in integers only, text shift(i8). Two constant operands: a shift, i32[channels of the
  // output], and limits of the new type: least and most value.
  kShift,
};
struct EpilogueOp {
  EpilogueKind kind = EpilogueKind::kRelu;
  double low = 0, high = 0;       // for kClip
  DType type = DType::Float(32);  // for kRequant and kShift, and for the kAdd of a residual of bytes
  bool operator==(const EpilogueOp&) const = default;
};

struct Workload {
  std::string op;                  // "conv2d"
  std::vector<TensorType> inputs;  // data, then constants (weights); `epilogue` implies its operands
  std::vector<Attribute> attributes;
  std::vector<EpilogueOp> epilogue;  // in order of application
  std::vector<Workload> then = {};   // later members of a group, whose own `then` is empty
  // Of a later member only: for each input, the number of the member that makes it, or kOperand. Empty: the member
  // before it makes the first input, and the others are operands.
  std::vector<int> from = {};

  static constexpr size_t kMostFollowers = 5;
  static constexpr int kOperand = -1;

  std::string Text() const;
  static Result<Workload> Parse(const std::string& text);  // an error message points at the column
  // The anchor (of each member of a chain) without its epilogue, for fallback lookups.
  std::string AnchorText() const;

  bool chain() const { return !then.empty(); }
  // The member (or kOperand) that makes an input of member `member`.
  int Maker(size_t member, size_t input) const;
  // Where member `member` begins in Text(), from 1.
  size_t ColumnOf(size_t member) const;
  // The members of a group in order, each as a workload; a workload that is not a group gives itself.
  std::vector<Workload> Parts() const;
  // The operators in order, joined by '_': "conv2d_max_pool2d".
  std::string OperatorText() const;

  const Attribute* Find(const std::string& name) const;
  // The attribute's numbers, or `fallback` if it is absent.
  std::vector<int64_t> Numbers(const std::string& name, const std::vector<int64_t>& fallback) const;
  bool HasEpilogue(EpilogueKind kind) const;
  bool operator==(const Workload&) const = default;
};

// "conv2d-3f9a...": OperatorText, '-', and 16 hex digits of the XXH3-128 of "<workload text>|<target text>". Names the
// task's files.
std::string TaskId(const Workload& workload, const std::string& target_text);

}  // namespace hone
