#include "op/elementwise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "op/epilogue.h"
#include "op/shapes.h"
#include "op/simple_operator.h"

namespace hone::op {
namespace {

using ir::Expr;
using ir::Var;
using te::Tensor;

Expr Float(double value) { return ir::Imm(DType::Float(32), value); }

struct Function {
  const char* name;
  size_t inputs;
  double flop;
  Expr (*te)(const std::vector<Expr>&);
  double (*plain)(const double*);
};

constexpr Function kFunctions[] = {
    {"relu", 1, 1, [](const std::vector<Expr>& x) { return ir::Max(x[0], Float(0)); },
     [](const double* x) { return std::max(x[0], 0.0); }},
    {"relu6", 1, 2, [](const std::vector<Expr>& x) { return ir::Min(ir::Max(x[0], Float(0)), Float(6)); },
     [](const double* x) { return std::min(std::max(x[0], 0.0), 6.0); }},
    {"sigmoid", 1, 4, [](const std::vector<Expr>& x) { return Float(1) / (Float(1) + te::Exp(Float(0) - x[0])); },
     [](const double* x) { return 1 / (1 + std::exp(-x[0])); }},
    {"tanh", 1, 4, [](const std::vector<Expr>& x) { return te::Tanh(x[0]); },
     [](const double* x) { return std::tanh(x[0]); }},
    {"exp", 1, 4, [](const std::vector<Expr>& x) { return te::Exp(x[0]); },
     [](const double* x) { return std::exp(x[0]); }},
    {"identity", 1, 0, [](const std::vector<Expr>& x) { return x[0]; }, [](const double* x) { return x[0]; }},
    {"add", 2, 1, [](const std::vector<Expr>& x) { return x[0] + x[1]; }, [](const double* x) { return x[0] + x[1]; }},
    {"mul", 2, 1, [](const std::vector<Expr>& x) { return x[0] * x[1]; }, [](const double* x) { return x[0] * x[1]; }},
};

const Function& FunctionOf(const Workload& w) {
  return *std::find_if(std::begin(kFunctions), std::end(kFunctions), [&](const Function& f) { return w.op == f.name; });
}

// Does the function, with its epilogue, map the zeros of unused lanes to zeros?
bool KeepsZero(const Workload& w) {
  const double zeros[2] = {0, 0};
  return FunctionOf(w).plain(zeros) == 0;
}

Result<Instance> Build(const Workload& w, const Target& target) {
  const Function& f = FunctionOf(w);
  int lanes = target.FloatLanes();
  const std::vector<int64_t>& shape = w.inputs[0].shape;
  bool blocked = shape.size() == 4 || shape.size() == 5;
  int64_t channels = shape.size() > 1 ? shape[1] : 1;
  Instance instance;
  std::vector<Tensor> inputs;
  // Blocked tensors are [n, co, h*w, ci]; plain ones [n, c, the rest], so that a bias finds its channel.
  std::vector<int64_t> stored = {shape[0], channels, 1};
  std::vector<std::string> axes = {"n", "c", "x"};
  for (size_t i = 2; i < shape.size(); ++i) stored[2] *= shape[i];
  if (blocked) {
    stored = {shape[0], CeilDiv(channels, lanes), stored[2], lanes};
    axes = {"n", "co", "x", "ci"};
  } else if (shape.size() <= 2 && !w.HasEpilogue(EpilogueKind::kBias)) {
    stored = {w.inputs[0].Elements()};
    axes = {"x"};
  } else if (shape.size() == 2) {
    stored = shape;
    axes = {"n", "c"};
  }
  for (size_t i = 0; i < f.inputs; ++i) {
    inputs.push_back(te::Placeholder(i == 0 ? "data" : "data" + std::to_string(i), stored));
  }
  EpilogueTensors epilogue = MakeEpilogueTensors(w, stored, channels, blocked ? lanes : 0);
  Tensor out = te::Compute("out", stored, axes, [&](const std::vector<Var>& x) {
    std::vector<Expr> at(x.begin(), x.end()), values;
    for (const Tensor& t : inputs) values.push_back(t(at));
    Expr value = f.te(values);
    if (!blocked) {
      return ApplyEpilogue(
          w, value, [&](size_t i) { return epilogue.is_bias[i] ? epilogue.read[i](at[1]) : epilogue.read[i](at); });
    }
    if (!KeepsZero(w) && channels % lanes != 0) {
      value = ir::MakeSelect(x[1] * lanes + x[3] < channels, value, Float(0));
    }
    return BlockedEpilogue(w, epilogue, value, x, channels, lanes);
  });
  instance.outputs = {out};
  instance.placeholders = inputs;
  instance.placeholders.insert(instance.placeholders.end(), epilogue.placeholders.begin(), epilogue.placeholders.end());
  instance.args = inputs;
  instance.args.insert(instance.args.end(), epilogue.read.begin(), epilogue.read.end());
  instance.args.push_back(out);
  if (blocked) {
    instance.steps = SpreadOut(stored[0] * stored[1], "x", stored[2], target.threads);
    return instance;
  }
  // A plain tensor's last axis goes in vectors; whatever stands before that is the parallel loop.
  std::string last = axes.back();
  instance.steps = {Split("out", last, {lanes}, {"v.o", "v.i"}), Vectorize("out", "v.i")};
  std::vector<std::string> outer(axes.begin(), axes.end() - 1);
  outer.push_back("v.o");
  if (outer.size() > 1) instance.steps.push_back(Fuse("out", outer, "task"));
  instance.steps.push_back(Parallel("out", outer.size() > 1 ? "task" : "v.o"));
  return instance;
}

class ElementwiseOperator final : public SimpleOperator {
 public:
  explicit ElementwiseOperator(const Function& f) : SimpleOperator(f.name, 1, Build), function_(f) {}

  Status Check(const Workload& w) const override {
    HONE_RETURN_IF_ERROR(CheckInputs(w, function_.inputs));
    HONE_RETURN_IF_ERROR(CheckAttributeNames(w, {}));
    if (function_.inputs == 2 && w.inputs[0] != w.inputs[1]) {
      return Status::Invalid(
          fmt::format("{}: {} and {} differ in shape", w.op, w.inputs[0].Text(), w.inputs[1].Text()));
    }
    return CheckEpilogue(w, w.inputs[0]);
  }
  TensorType OutputType(const Workload& w) const override { return w.inputs[0]; }

 protected:
  double FlopPerOutput(const Workload&) const override { return function_.flop; }
  std::vector<double> Evaluate(const Workload&, const std::vector<std::vector<double>>& inputs) const override {
    std::vector<double> out(inputs[0].size());
    for (size_t i = 0; i < out.size(); ++i) {
      double x[2] = {inputs[0][i], inputs.size() > 1 ? inputs[1][i] : 0};
      out[i] = function_.plain(x);
    }
    return out;
  }

 private:
  const Function& function_;
};

}  // namespace

std::vector<const Operator*> ElementwiseOperators() {
  static const std::vector<const Operator*> operators = [] {
    std::vector<const Operator*> all;
    for (const Function& f : kFunctions) all.push_back(new ElementwiseOperator(f));  // live as long as the process
    return all;
  }();
  return operators;
}

}  // namespace hone::op
