// Runs test models through the importer, and the resulting graph by the definitions of its operators.
#pragma once

#include "common/expect.h"
#include "graph/reference.h"
#include "model_maker.h"
#include "onnx/import.h"
#include "onnx/read_model.h"

namespace hone::onnx {

inline Result<ImportedModel> ImportBytes(const ModelMaker& m) {
  return Import(*ParseModel(m.Bytes(), "m.onnx", false), "m", {});
}

// Why it cannot be used; empty if it can.
inline std::string Refusal(const ModelMaker& m) { return ImportBytes(m).status().message(); }

struct Ran {
  std::map<std::string, std::vector<double>> values;  // by output
  std::map<std::string, Shape> shapes;
  std::string operators;  // of the graph, in order, separated by spaces
};

inline Ran RunModel(const ModelMaker& m, const std::map<std::string, TensorData>& inputs) {
  Ran ran;
  const auto model = Must(ImportBytes(m));
  for (const graph::Node& node : model.graph.nodes) {
    ran.operators += (ran.operators.empty() ? "" : " ") + node.workload.op;
  }
  for (const std::string& name : model.graph.outputs) ran.shapes[name] = model.graph.FindType(name)->shape;
  ran.values = Must(graph::RunReference(model.graph, model.values, inputs, 1));
  return ran;
}

inline void ExpectNear(const std::vector<double>& found, const std::vector<double>& wanted, double error = 1e-5) {
  ASSERT_EQ(found.size(), wanted.size());
  for (size_t i = 0; i < found.size(); ++i) {
    // Compare for equality first: the difference of equal infinities is NaN.
    if (found[i] != wanted[i]) {
      EXPECT_NEAR(found[i], wanted[i], error) << "element " << i;
    }
  }
}

// Values of both signs, different for different seeds.
inline std::vector<float> SomeValues(int64_t count, int seed = 0) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>((i * 7 + seed * 3) % 11 - 5) * 0.5f);
  return values;
}

}  // namespace hone::onnx
