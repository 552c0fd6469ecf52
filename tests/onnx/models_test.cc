// Models of tests/data/onnx through the whole chain, compared with onnxruntime's results.
#include <gtest/gtest.h>

#include "backend_case.h"

namespace hone::onnx {
namespace {

class Models : public ::testing::TestWithParam<const char*> {};

TEST_P(Models, AgreeWithOnnxruntime) {
  for (const bool reference : {true, false}) {
    const CaseResult result = RunCase(std::string("tests/data/onnx/") + GetParam(), reference);
    EXPECT_EQ(result.outcome, Outcome::kPassed) << (reference ? "reference: " : "library: ") << result.reason;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Models, ::testing::Values("residual", "inverted", "branches", "attention"));

}  // namespace
}  // namespace hone::onnx
