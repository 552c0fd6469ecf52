// Models of tests/data/onnx through the whole chain, compared with onnxruntime's results.
#include <gtest/gtest.h>

#include <string_view>

#include "backend_case.h"

namespace hone::onnx {
namespace {

class Models : public ::testing::TestWithParam<const char*> {};

TEST_P(Models, AgreeWithOnnxruntime) {
  for (const bool reference : {true, false}) {
    // Sums and averages of quantised values have no exact definition: one step of the output's scale.
    // In `quantised_pairs` onnxruntime computes with floats, so a value that is quantised may be a step away.
    const std::string_view name = GetParam();
    const double step = name == "quantised" ? 0.0501 : name == "quantised_pairs" ? 0.01 : 0;
    const CaseResult result = RunCase(std::string("tests/data/onnx/") + GetParam(), reference, step);
    EXPECT_EQ(result.outcome, Outcome::kPassed) << (reference ? "reference: " : "library: ") << result.reason;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Models,
                         ::testing::Values("residual", "inverted", "branches", "attention", "quantised",
                                           "quantised_layers", "quantised_pairs"));

}  // namespace
}  // namespace hone::onnx
