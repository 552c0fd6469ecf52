#include "op/layout.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "op/shapes.h"
#include "op/simple_operator.h"

namespace hone::op {
namespace {

using ir::Expr;
using ir::Var;
using te::Tensor;

Instance CopyInstance(const Tensor& data, const Tensor& out, std::vector<Step> steps) {
  Instance instance;
  instance.outputs = {out};
  instance.args = {data, out};
  instance.placeholders = {data};
  instance.steps = std::move(steps);
  return instance;
}

int64_t Pixels(const std::vector<int64_t>& shape) {
  return std::accumulate(shape.begin() + 2, shape.end(), int64_t{1}, std::multiplies<>());
}

Result<Instance> BuildBlock(const Workload& w, const Target& target) {
  const std::vector<int64_t>& s = w.inputs[0].shape;
  int lanes = target.FloatLanes();
  int64_t pixels = Pixels(s), blocks = CeilDiv(s[1], lanes);
  Tensor data = te::Placeholder("data", {s[0], s[1], pixels});
  Tensor out =
      te::Compute("out", {s[0], blocks, pixels, lanes}, {"n", "co", "x", "ci"}, [&](const std::vector<Var>& x) {
        Expr c = x[1] * lanes + x[3];
        if (s[1] % lanes == 0) return data(x[0], c, x[2]);
        return ir::MakeSelect(c < s[1], data(x[0], ir::Min(c, s[1] - 1), x[2]), ir::Imm(DType::Float(32), 0));
      });
  return CopyInstance(data, out, SpreadOut(s[0] * blocks, "x", pixels, target.threads));
}

// Blocked [n, c, ..] to plain: one pixel is a copy, several are gathered along them.
Result<Instance> BuildUnblock(const Workload& w, const Target& target) {
  const std::vector<int64_t>& s = w.inputs[0].shape;
  int lanes = target.FloatLanes();
  std::vector<Step> steps = {Split("out", "x", {lanes}, {"x.o", "x.i"}), Vectorize("out", "x.i")};
  if (s.size() != 4 && s.size() != 5) {
    Tensor data = te::Placeholder("data", {w.inputs[0].Elements()});
    Tensor out =
        te::Compute("out", {w.inputs[0].Elements()}, {"x"}, [&](const std::vector<Var>& x) { return data(x[0]); });
    steps.push_back(Parallel("out", "x.o"));
    return CopyInstance(data, out, steps);
  }
  int64_t pixels = Pixels(s), blocks = CeilDiv(s[1], lanes);
  if (pixels == 1) {
    Tensor data = te::Placeholder("data", {s[0], blocks * lanes});
    Tensor out =
        te::Compute("out", {s[0], s[1]}, {"n", "x"}, [&](const std::vector<Var>& x) { return data(x[0], x[1]); });
    steps.push_back(Fuse("out", {"n", "x.o"}, "task"));
    steps.push_back(Parallel("out", "task"));
    return CopyInstance(data, out, steps);
  }
  Tensor data = te::Placeholder("data", {s[0], blocks, pixels, lanes});
  Tensor out = te::Compute("out", {s[0], s[1], pixels}, {"n", "c", "x"},
                           [&](const std::vector<Var>& x) { return data(x[0], x[1] / lanes, x[2], x[1] % lanes); });
  steps.push_back(Fuse("out", {"n", "c"}, "task"));
  steps.push_back(Parallel("out", "task"));
  return CopyInstance(data, out, steps);
}

Result<Instance> BuildPad2d(const Workload& w, const Target& target) {
  const std::vector<int64_t>& s = w.inputs[0].shape;
  std::vector<int64_t> p = ExpandedNumbers(w, "pad", 4, 0);
  int lanes = target.FloatLanes();
  int64_t blocks = CeilDiv(s[1], lanes), h = s[2], width = s[3];
  Tensor data = te::Placeholder("data", {s[0], blocks, h, width, lanes});
  Tensor out =
      te::Compute("out", {s[0], blocks, h + p[0] + p[2], width + p[1] + p[3], lanes}, {"n", "co", "y", "x", "ci"},
                  [&](const std::vector<Var>& x) {
                    Expr row = x[2] - p[0], column = x[3] - p[1];
                    Expr inside = row >= 0 && row < h && (column >= 0 && column < width);
                    return te::IfThenElse(inside, data(x[0], x[1], row, column, x[4]), ir::Imm(DType::Float(32), 0));
                  });
  return CopyInstance(data, out, SpreadOut(s[0] * blocks, "y", h + p[0] + p[2], target.threads));
}

class CopyOperator : public SimpleOperator {
 public:
  using SimpleOperator::SimpleOperator;
  Status Check(const Workload& w) const override {
    HONE_RETURN_IF_ERROR(CheckInputs(w, 1));
    if (ActivationLayout(w.inputs[0]) == Layout::kPlain) {
      return Status::Invalid(w.op + ": input 0 is " + w.inputs[0].Text() + "; it must have 4 or 5 axes");
    }
    HONE_RETURN_IF_ERROR(CheckAttributeNames(w, {}));
    return CheckNoEpilogue(w);
  }
  TensorType OutputType(const Workload& w) const override { return w.inputs[0]; }
  bool HasBatch(const Workload&) const override { return true; }

 protected:
  double FlopPerOutput(const Workload&) const override { return 0; }
  std::vector<double> Evaluate(const Workload&, const std::vector<std::vector<double>>& inputs) const override {
    return inputs[0];
  }
};

class BlockOperator final : public CopyOperator {
 public:
  BlockOperator() : CopyOperator("block", 1, BuildBlock) {}

 protected:
  Layout InputLayout(const Workload&, size_t) const override { return Layout::kPlain; }
};

class UnblockOperator final : public CopyOperator {
 public:
  UnblockOperator() : CopyOperator("unblock", 1, BuildUnblock) {}

 protected:
  Layout OutputLayout(const Workload&) const override { return Layout::kPlain; }
};

class FlattenOperator final : public CopyOperator {
 public:
  FlattenOperator() : CopyOperator("flatten", 1, BuildUnblock) {}
  Status Check(const Workload& w) const override {
    HONE_RETURN_IF_ERROR(CheckInputs(w, 1));
    if (w.inputs[0].shape.size() < 2) return Status::Invalid("flatten: needs an input of at least two axes");
    HONE_RETURN_IF_ERROR(CheckAttributeNames(w, {}));
    return CheckNoEpilogue(w);
  }
  TensorType OutputType(const Workload& w) const override {
    int64_t n = w.inputs[0].shape[0];
    return {w.inputs[0].type, {n, w.inputs[0].Elements() / n}};
  }
};

class Pad2dOperator final : public CopyOperator {
 public:
  Pad2dOperator() : CopyOperator("pad2d", 1, BuildPad2d) {}
  Status Check(const Workload& w) const override {
    HONE_RETURN_IF_ERROR(CheckInputs(w, 1));
    HONE_RETURN_IF_ERROR(CheckRank(w, 0, 4));
    HONE_RETURN_IF_ERROR(CheckAttributeNames(w, {"pad"}));
    HONE_RETURN_IF_ERROR(CheckNumbers(w, "pad", 4, 0, 1 << 16));
    HONE_RETURN_IF_ERROR(CheckNoEpilogue(w));
    return CheckOutput(w, OutputType(w).shape);
  }
  Workload Canonical(const Workload& w) const override {
    Workload c{w.op, w.inputs, {}, {}};
    AddCanonical(&c, "pad", ExpandedNumbers(w, "pad", 4, 0), ',', 0);
    return c;
  }
  TensorType OutputType(const Workload& w) const override {
    std::vector<int64_t> s = w.inputs[0].shape, p = ExpandedNumbers(w, "pad", 4, 0);
    return {w.inputs[0].type, {s[0], s[1], s[2] + p[0] + p[2], s[3] + p[1] + p[3]}};
  }

 protected:
  std::vector<double> Evaluate(const Workload& w, const std::vector<std::vector<double>>& inputs) const override {
    std::vector<int64_t> in = w.inputs[0].shape, out = OutputType(w).shape, p = ExpandedNumbers(w, "pad", 4, 0);
    std::vector<double> values(OutputType(w).Elements(), 0.0);
    for (int64_t plane = 0; plane < in[0] * in[1]; ++plane) {
      for (int64_t y = 0; y < in[2]; ++y) {
        const double* row = inputs[0].data() + (plane * in[2] + y) * in[3];
        std::copy(row, row + in[3], values.data() + (plane * out[2] + y + p[0]) * out[3] + p[1]);
      }
    }
    return values;
  }
};

}  // namespace

const Operator& Block() {
  static const BlockOperator op;
  return op;
}
const Operator& Unblock() {
  static const UnblockOperator op;
  return op;
}
const Operator& Flatten() {
  static const FlattenOperator op;
  return op;
}
const Operator& Pad2d() {
  static const Pad2dOperator op;
  return op;
}

}  // namespace hone::op
