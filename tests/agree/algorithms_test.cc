// Sketches of other algorithms than `direct`: random points give the values of the definition, on the interpreter, in
// any order of what may run at the same time. op_kernel_grid_test compares their machine code.
#include <fmt/format.h>

#include <cmath>

#include "agree/te_eval.h"
#include "base/rng.h"
#include "common/expect.h"
#include "interpreter/interpreter.h"
#include "lower/lower.h"
#include "op/operator.h"
#include "schedule/schedule.h"
#include "sketch/sketch.h"

namespace hone::agree {
namespace {

// Inputs of about 1, zero in the lanes beyond the last channel; weights such that outputs are of order 1.
Values InputsOf(const op::Computation& c, const std::vector<Operand>& operands, int64_t products, uint64_t seed) {
  Values values;
  Rng rng(seed);
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    const te::Tensor& t = c.inputs[i];
    const std::vector<int64_t>& shape = t.shape();
    const bool blocked = shape.size() == 5;
    int64_t size = 1, plane = 1;
    for (const int64_t e : shape) size *= e;
    if (blocked) plane = shape[2] * shape[3] * shape[4];
    for (int64_t e = 0; e < size; ++e) {
      const double value = (static_cast<double>(rng.UniformInt(2001)) - 1000) / 1000;
      const int64_t channel = blocked ? e / plane % shape[1] * shape[4] + e % shape[4] : 0;
      const bool exists = !blocked || channel < operands[i].logical.shape[1];
      values[t.name()].push_back(!exists ? 0 : t.name() == "weight" ? value / std::sqrt(products) : value);
    }
  }
  return values;
}

struct Layer {
  const char* workload;
  int64_t products;  // of an output
};

class Algorithms : public testing::TestWithParam<Layer> {};

TEST_P(Algorithms, PointsOfTheirSketchesAgreeOnTheInterpreter) {
  Target target = {.triple = "x86_64-unknown-linux-gnu",
                   .cpu = "x86-64-v3",
                   .threads = 2,
                   .vector_bytes = 32,
                   .vector_registers = 16};
  const Workload workload = Must(op::ParseChecked(GetParam().workload));
  const op::Operator& op = *Must(op::FindOperator(workload));
  const std::vector<Operand> operands = op.Operands(workload, target);
  const op::Computation direct = Must(op.Compute(workload, target, Algorithm()));
  const Values inputs = InputsOf(direct, operands, GetParam().products, 3);
  Values wanted = inputs;
  EvaluateDag(direct.outputs, &wanted);
  std::vector<std::string> constants;
  for (const Operand& operand : operands) {
    if (operand.role == OperandRole::kConstant) constants.push_back(operand.name);
  }
  int points = 0;
  for (const op::OtherAlgorithm& other : op.OtherAlgorithms(workload, target)) {
    const op::Computation c = Must(op.Compute(workload, target, other.algorithm));
    Values once = inputs;  // with the constants that all points have
    for (const te::Tensor& t : te::TopologicalOrder(c.outputs)) {
      if (t.node()->constant) EvaluateDag({t}, &once);
    }
    for (const sketch::Sketch& sketch :
         sketch::MakeSketches(c.outputs, constants, target, other.algorithm, other.name)) {
      const search::Space space = sketch::SpaceOf(sketch);
      Rng rng(11);
      for (int i = 0; i < 3; ++i) {
        const Config config =
            i == 0 ? Must(sketch::BestByEstimate(sketch, space)) : space.At(space.SampleLegal(rng).value());
        SCOPED_TRACE(config.Text());
        schedule::Schedule schedule = Must(schedule::Schedule::Create(c.outputs));
        Must(schedule.ApplyAll(Must(sketch::StepsOf(sketch, config))));
        const std::vector<te::Tensor> arguments = schedule.Arguments(c.inputs);
        const ir::Function function = Must(lower::Lower(schedule, arguments, {.name = "f", .verify = true}));
        Values values = once;
        std::vector<te::Tensor> packed;
        for (const te::Tensor& t : arguments) {
          if (t.node()->constant) packed.push_back(t);
        }
        EvaluateDag(packed, &values);
        std::vector<std::vector<float>> data;
        std::vector<ir::RunArgument> given;
        for (size_t a = 0; a + 1 < arguments.size(); ++a) {
          const std::vector<double>& of = values.at(arguments[a].name());
          data.emplace_back(of.begin(), of.end());
        }
        data.emplace_back(wanted.at(direct.outputs[0].name()).size(), NAN);
        for (std::vector<float>& each : data) given.push_back({each.data(), static_cast<int64_t>(each.size())});
        Must(ir::Run(function, given, {ir::ParallelOrder::kShuffled, static_cast<uint64_t>(i)}));
        double worst = 0;
        for (size_t e = 0; e < data.back().size(); ++e) {
          const double error = std::abs(static_cast<double>(data.back()[e]) - wanted.at(direct.outputs[0].name())[e]);
          worst = std::max(worst, std::isnan(error) ? INFINITY : error);
        }
        EXPECT_LE(worst, std::max(10 * c.rounding, 1e-6));
        ++points;
      }
    }
  }
  EXPECT_GE(points, 6);
}

INSTANTIATE_TEST_SUITE_P(
    Layers, Algorithms,
    testing::Values(Layer{"conv2d(f32[1,8,7,8], f32[8,8,3,3], pad=1,1,1,1) + bias + relu", 72},
                    Layer{"conv2d(f32[2,3,5,9], f32[11,3,3,3], pad=1,1,1,1) + bias + add + relu", 27},
                    Layer{"conv2d(f32[1,1,10,11], f32[5,1,3,3])", 9},
                    Layer{"conv2d(f32[1,5,3,13], f32[8,5,5,5], pad=2,2,2,2) + add", 125},
                    Layer{"conv2d(f32[2,13,11,4], f32[9,13,7,1], pad=3,0,3,0) + relu", 91},
                    Layer{"conv2d(f32[1,5,9,8], f32[7,5,5,5], stride=2x2, pad=2,2,2,2) + relu", 125},
                    Layer{"conv2d(f32[1,8,3,31], f32[24,8,1,3])", 24}));

}  // namespace
}  // namespace hone::agree
