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
    const double step = std::string_view(GetParam()) == "quantised" ? 0.0501 : 0;
    const CaseResult result = RunCase(std::string("tests/data/onnx/") + GetParam(), reference, step);
    EXPECT_EQ(result.outcome, Outcome::kPassed) << (reference ? "reference: " : "library: ") << result.reason;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Models,
                         ::testing::Values("residual", "inverted", "branches", "attention", "quantised",
                                           "quantised_layers"));

}  // namespace
}  // namespace hone::onnx
