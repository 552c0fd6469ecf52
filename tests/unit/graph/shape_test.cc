// graph/shape.h against op/: both must give one answer, as extract plans with the first and build compiles by the
// second.
#include "graph/shape.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "op/operator.h"

namespace hone::graph {
namespace {

std::string ShapeOf(const std::string& text) {
  auto workload = Workload::Parse(text);
  EXPECT_TRUE(workload.ok()) << text;
  auto type = InferOutput(*workload);
  return type.ok() ? type->Text() : type.status().message();
}

// What is removed before op/ sees a graph.
const std::vector<std::string> kGraphOnly = {"batch_norm", "dropout"};

std::vector<std::string> Combinations() {
  std::vector<std::string> texts;
  for (const char* size : {"5,7", "12,12", "1,13"}) {
    for (const char* kernel : {"1,1", "3,3", "2,5"}) {
      for (const char* stride : {"", ", stride=2x2", ", stride=3x1", ", stride=2"}) {
        for (const char* pad : {"", ", pad=1,1,1,1", ", pad=0,1,1,0", ", pad=1"}) {
          const std::string window = std::string(stride) + pad;
          for (const char* more : {"", ", dilation=2x2", ", dilation=1x2"}) {
            texts.push_back(std::string("conv2d(f32[2,6,") + size + "], f32[4,6," + kernel + "]" + window + more + ")");
          }
          texts.push_back(std::string("conv2d(f32[2,6,") + size + "], f32[4,3," + kernel + "]" + window +
                          ", groups=2)");
          std::string cross = kernel;
          std::replace(cross.begin(), cross.end(), ',', 'x');
          for (const char* more : {"", ", ceil_mode=1", ", ceil_mode=0"}) {
            const std::string pool = std::string("_pool2d(f32[2,6,") + size + "], kernel=" + cross + window + more;
            texts.push_back("max" + pool + ")");
            texts.push_back("avg" + pool + ")");
            texts.push_back("avg" + pool + ", count_include_pad=1)");
          }
        }
      }
    }
    for (const char* op : {"relu", "relu6", "sigmoid", "tanh", "exp", "identity", "flatten", "block", "unblock",
                           "global_avg_pool", "pad2d"}) {
      texts.push_back(std::string(op) + "(f32[2,6," + size + "])");
    }
    texts.push_back(std::string("pad2d(f32[2,6,") + size + "], pad=0,1,2,3)");
    texts.push_back(std::string("pad2d(f32[2,6,") + size + "], pad=2)");
    texts.push_back(std::string("concat(f32[2,6,") + size + "], f32[2,3," + size + "])");
    for (const char* op : {"add", "mul"}) {
      texts.push_back(std::string(op) + "(f32[2,6," + size + "], f32[2,6," + size + "])");
    }
  }
  texts.insert(texts.end(), {"dense(f32[3,5], f32[7,5])", "softmax(f32[3,5])", "relu(f32[3,5])", "flatten(f32[3,5])"});
  return texts;
}

TEST(Shape, AgreesWithTheOperators) {
  std::vector<std::string> seen = kGraphOnly;
  int accepted = 0;
  for (const std::string& text : Combinations()) {
    auto workload = Workload::Parse(text);
    ASSERT_TRUE(workload.ok()) << text;
    auto op = op::FindOperator(workload->op);
    ASSERT_TRUE(op.ok()) << text;
    if (!(*op)->Check(*workload).ok()) continue;  // op/ refuses more than shapes: what it cannot build
    ++accepted;
    auto found = InferOutput(*workload);
    ASSERT_TRUE(found.ok()) << text << ": " << found.status().message();
    EXPECT_EQ(found->Text(), (*op)->OutputType(*workload).Text()) << text;
    // The canonical text is what a built library holds.
    EXPECT_EQ(InferOutput((*op)->Canonical(*workload))->Text(), found->Text()) << text;
    seen.push_back(workload->op);
  }
  EXPECT_GT(accepted, 500);
  // Neither side knows an operator that was not compared.
  for (const std::string& name : KnownOperators()) EXPECT_GT(std::count(seen.begin(), seen.end(), name), 0) << name;
  for (const std::string& name : op::OperatorNames()) EXPECT_GT(std::count(seen.begin(), seen.end(), name), 0) << name;
}

// 112 columns, windows of three with a stride of two: 56 of them, rounded up; 55 fit without.
TEST(Shape, CeilModeRoundsUp) {
  EXPECT_EQ(ShapeOf("max_pool2d(f32[1,8,13,112], kernel=3x3, stride=2x2)"), "f32[1,8,6,55]");
  EXPECT_EQ(ShapeOf("max_pool2d(f32[1,8,13,112], kernel=3x3, stride=2x2, ceil_mode=1)"), "f32[1,8,6,56]");
  // No window starts in the padding behind the input: {-1,0}, {1,2}, and not {3,4}.
  EXPECT_EQ(ShapeOf("max_pool2d(f32[1,8,3,3], kernel=2x2, stride=2x2, pad=1,1,1,1, ceil_mode=1)"), "f32[1,8,2,2]");
}

TEST(Shape, MistakesAreSaid) {
  EXPECT_NE(ShapeOf("max_pool2d(f32[1,8,3,3], kernel=2x2, ceil_mode=1,1)").find("ceil_mode"), std::string::npos);
  EXPECT_NE(ShapeOf("clip(f32[1,8])").find("identity(..) + clip(low,high)"), std::string::npos);
}

}  // namespace
}  // namespace hone::graph
