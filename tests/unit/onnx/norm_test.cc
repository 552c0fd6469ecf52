// Normalisations compared with the formulas of ONNX's specification.
#include "run_model.h"

namespace hone::onnx {
namespace {

// x [2,2,3] and the four vectors of a batch norm.
ModelMaker BatchNorm(int64_t opset, const std::vector<std::string>& further) {
  ModelMaker m = ModelMaker::Of("BatchNormalization", {2, 2, 3}, opset, {"scale", "bias", "mean", "variance"});
  m.Floats("scale", {2}, {2, 3});
  m.Floats("bias", {2}, {1, -1});
  m.Floats("mean", {2}, {0.5, -0.25});
  m.Floats("variance", {2}, {4, 1});
  for (const std::string& name : further) m.FirstNode()->add_output(name);
  return m;
}

// Until opset 14, additional outputs mean training mode, in which y differs from inference.
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

// [2,5,3]: `size` neighbouring channels; if even, one more behind than before.
TEST(Lrn, DividesByThePowersOfItsNeighbours) {
  for (const int size : {1, 3, 4}) {
    SCOPED_TRACE(size);
    ModelMaker m = ModelMaker::Of("LRN", {2, 5, 3});
    m.FirstNode().Set("size", size).Set("alpha", 0.5f).Set("beta", 0.75f).Set("bias", 2.0f);
    const std::vector<float> x = SomeValues(30);
    std::vector<double> wanted;
    for (int n = 0; n < 2; ++n) {
      for (int c = 0; c < 5; ++c) {
        for (int i = 0; i < 3; ++i) {
          const auto at = [&](int channel) -> double { return x[static_cast<size_t>((n * 5 + channel) * 3 + i)]; };
          double squares = 0;
          for (int k = c - (size - 1) / 2; k <= c + size / 2; ++k) {
            if (k >= 0 && k < 5) squares += at(k) * at(k);
          }
          wanted.push_back(at(c) / std::pow(2 + 0.5 / size * squares, 0.75));
        }
      }
    }
    ExpectNear(RunModel(m, {{"x", x}}).values.at("y"), wanted);
  }
}

// x [2,4,3] normalised over groups of this many neighbours in memory, then scale and bias of channel i / 3 % 4.
std::vector<double> Normal(const std::vector<float>& x, size_t group, double epsilon, const std::vector<double>& scale,
                           const std::vector<double>& bias) {
  std::vector<double> wanted(x.size());
  for (size_t begin = 0; begin < x.size(); begin += group) {
    double sum = 0, squares = 0;
    for (size_t i = begin; i < begin + group; ++i) sum += x[i], squares += static_cast<double>(x[i]) * x[i];
    const double mean = sum / static_cast<double>(group), variance = squares / static_cast<double>(group) - mean * mean;
    for (size_t i = begin; i < begin + group; ++i) {
      wanted[i] = (x[i] - mean) / std::sqrt(variance + epsilon) * scale[i / 3 % 4] + bias[i / 3 % 4];
    }
  }
  return wanted;
}

TEST(InstanceNorm, IsOverEachChannel) {
  ModelMaker m = ModelMaker::Of("InstanceNormalization", {2, 4, 3}, 13, {"scale", "bias"});
  m.FirstNode().Set("epsilon", 0.25f);
  m.Floats("scale", {4}, {1, 2, -1, 0.5});
  m.Floats("bias", {4}, {0, 1, 2, 3});
  const std::vector<float> x = SomeValues(24);
  ExpectNear(RunModel(m, {{"x", x}}).values.at("y"), Normal(x, 3, 0.25, {1, 2, -1, 0.5}, {0, 1, 2, 3}));
}

// Scale and bias are per group until opset 21, per channel since.
TEST(GroupNorm, IsOverGroupsOfChannels) {
  const std::vector<float> x = SomeValues(24);
  for (const int64_t opset : {18, 21}) {
    SCOPED_TRACE(opset);
    ModelMaker m = ModelMaker::Of("GroupNormalization", {2, 4, 3}, opset, {"scale", "bias"});
    if (opset < 21) {
      m.Floats("scale", {2}, {2, -1});
      m.Floats("bias", {2}, {1, 3});
    } else {
      m.Floats("scale", {4}, {1, 2, -1, 0.5});
      m.Floats("bias", {4}, {0, 1, 2, 3});
    }
    m.FirstNode().Set("num_groups", 2).Set("epsilon", 0.25f);
    const std::vector<double> scale =
        opset < 21 ? std::vector<double>{2, 2, -1, -1} : std::vector<double>{1, 2, -1, 0.5};
    const std::vector<double> bias = opset < 21 ? std::vector<double>{1, 1, 3, 3} : std::vector<double>{0, 1, 2, 3};
    ExpectNear(RunModel(m, {{"x", x}}).values.at("y"), Normal(x, 6, 0.25, scale, bias));
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
  m.FirstNode().Set("training_mode", 1).Set("momentum", 0.75f);
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
