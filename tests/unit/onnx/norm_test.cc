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
      " it has the outputs of training, which is not supported; export it for inference";
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

}  // namespace
}  // namespace hone::onnx
