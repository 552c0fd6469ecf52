// Normalisations beside their formulas, straight from ONNX's text.
#include <gtest/gtest.h>

#include <cmath>

#include "run_model.h"

namespace hone::onnx {
namespace {

// x [2,2,3] and the four vectors of a batch norm.
ModelMaker BatchNorm(int64_t opset, const std::vector<std::string>& further) {
  ModelMaker m(opset);
  m.Input("x", {2, 2, 3});
  m.Floats("scale", {2}, {2, 3});
  m.Floats("bias", {2}, {1, -1});
  m.Floats("mean", {2}, {0.5, -0.25});
  m.Floats("variance", {2}, {4, 1});
  pb::NodeProto& node = m.Node("BatchNormalization", {"x", "scale", "bias", "mean", "variance"}, "y");
  for (const std::string& name : further) node.add_output(name);
  m.Output("y");
  return m;
}

// Until opset 14 the outputs say that a node trains: its y is another than that of inference.
TEST(BatchNorm, OutputsOfTrainingAreRefusedWhereNoAttributeSaysSo) {
  const std::string refusal =
      " it has the outputs of training, which is supported from opset 14 on; export it for inference";
  for (int64_t opset : {7, 9, 13}) {
    const std::string node = "node `y_node` (BatchNormalization, opset " + std::to_string(opset) + "):";
    EXPECT_EQ(Refusal(BatchNorm(opset, {"new_mean", "new_variance", "saved_mean", "saved_variance"})), node + refusal);
    EXPECT_EQ(Refusal(BatchNorm(opset, {"", "new_variance"})), node + refusal);
    EXPECT_EQ(Refusal(BatchNorm(opset, {})), "");
    EXPECT_EQ(Refusal(BatchNorm(opset, {"", "", "", ""})), "");
  }
}

TEST(BatchNorm, InferenceTakesTheGivenStatistics) {
  const std::vector<float> x = SomeValues(12);
  std::vector<double> wanted;
  const double scale[] = {2, 3}, bias[] = {1, -1}, mean[] = {0.5, -0.25}, variance[] = {4, 1};
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t c = i / 3 % 2;
    wanted.push_back((x[i] - mean[c]) / std::sqrt(variance[c] + 1e-5) * scale[c] + bias[c]);
  }
  ExpectNear(RunModel(BatchNorm(9, {}), {{"x", x}}).values.at("y"), wanted);
  ExpectNear(RunModel(BatchNorm(15, {}), {{"x", x}}).values.at("y"), wanted);
}

TEST(BatchNorm, TrainingTakesTheStatisticsOfTheBatch) {
  ModelMaker m = BatchNorm(15, {"running_mean", "running_variance"});
  pb::NodeProto* node = m.model.mutable_graph()->mutable_node(0);
  ModelMaker::SetInt(node, "training_mode", 1);
  ModelMaker::SetFloat(node, "momentum", 0.75f);
  m.Output("running_mean");
  m.Output("running_variance");
  const std::vector<float> x = SomeValues(12);
  const double scale[] = {2, 3}, bias[] = {1, -1}, old_mean[] = {0.5, -0.25}, old_variance[] = {4, 1};
  std::vector<double> y(12), running_mean, running_variance;
  for (size_t c = 0; c < 2; ++c) {
    double sum = 0, squares = 0;
    for (size_t i = 0; i < 12; ++i) {
      if (i / 3 % 2 == c) sum += x[i], squares += static_cast<double>(x[i]) * x[i];
    }
    const double mean = sum / 6, variance = squares / 6 - mean * mean;
    running_mean.push_back(0.75 * old_mean[c] + 0.25 * mean);
    running_variance.push_back(0.75 * old_variance[c] + 0.25 * variance);
    for (size_t i = 0; i < 12; ++i) {
      if (i / 3 % 2 == c) y[i] = (x[i] - mean) / std::sqrt(variance + 1e-5) * scale[c] + bias[c];
    }
  }
  const Ran ran = RunModel(m, {{"x", x}});
  ExpectNear(ran.values.at("y"), y);
  ExpectNear(ran.values.at("running_mean"), running_mean);
  ExpectNear(ran.values.at("running_variance"), running_variance);
  EXPECT_EQ(ran.shapes.at("running_mean"), Shape{2});
}

}  // namespace
}  // namespace hone::onnx
