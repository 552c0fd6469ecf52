// graph/shape.h against op/: both must give one answer, as extract plans with the first and build compiles by the
// second.
#include "graph/shape.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "graph/graph.h"
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

// Of operators whose shape comes from lib/semantics on both sides: what it must be, by hand.
const std::pair<const char*, const char*> kByHand[] = {
    {"sub(f32[2,1,4], f32[3,1])", "f32[2,3,4]"},
    {"div(f32[], f32[5])", "f32[5]"},
    {"pow(f32[2,3], f32[])", "f32[2,3]"},
    {"min(f32[1], f32[1,1])", "f32[1,1]"},
    {"max(f32[4,1,2], f32[1,3,1])", "f32[4,3,2]"},
    {"prelu(f32[2,3,4,5], f32[3,1,1])", "f32[2,3,4,5]"},
    {"matmul(f32[2,3], f32[3,4])", "f32[2,4]"},
    {"matmul(f32[3], f32[3])", "f32[]"},
    {"matmul(f32[5,1,2,3], f32[4,3,7])", "f32[5,4,2,7]"},
    {"matmul(f32[3], f32[6,3,2])", "f32[6,2]"},
    {"reduce_sum(f32[2,3,4])", "f32[]"},
    {"reduce_mean(f32[2,3,4], axes=0,2)", "f32[3]"},
    {"reduce_max(f32[2,3,4], axes=1, keep=1)", "f32[2,1,4]"},
    {"reduce_min(f32[2,3], keep=1)", "f32[1,1]"},
    {"reduce_prod(f32[2,3], axes=0)", "f32[3]"},
    {"reduce_sum_square(f32[2,3], axes=1)", "f32[2]"},
    {"reduce_l1(f32[7], axes=0)", "f32[]"},
    {"reduce_l2(f32[7], axes=0, keep=1)", "f32[1]"},
    {"reduce_log_sum(f32[2,3], axes=1)", "f32[2]"},
    {"reduce_log_sum_exp(f32[2,3], axes=1)", "f32[2]"},
    {"log_softmax(f32[2,3,4], axis=1)", "f32[2,3,4]"},
    {"transpose(f32[2,3,4], perm=2,0,1)", "f32[4,2,3]"},
    {"reshape(f32[2,6], shape=3,4)", "f32[3,4]"},
    {"slice(f32[7,5], begin=1,4, end=6,-1, step=2,-3)", "f32[3,2]"},
    {"concat(f32[2,3], f32[4,3], axis=0)", "f32[6,3]"},
    {"pad(f32[2,3], low=1,0, high=0,2)", "f32[3,5]"},
    {"gather(f32[2,5,3], axis=1, indices=4,0,1,1, shape=2,2)", "f32[2,2,2,3]"},
    {"gather(f32[2,5], axis=1, indices=3)", "f32[2]"},
    {"expand(f32[3,1], shape=2,3,4)", "f32[2,3,4]"},
    {"lrn(f32[1,5,3,3], size=3)", "f32[1,5,3,3]"},
    {"instance_norm(f32[2,3,4], f32[3], f32[3])", "f32[2,3,4]"},
    {"layer_norm(f32[2,3,4], f32[3,4], f32[3,4], axis=1)", "f32[2,3,4]"},
    {"resize(f32[1,2,3,4], out=1,2,6,9, mode=linear)", "f32[1,2,6,9]"},
    // floor((5 + 2 - 3) / 2) + 1, (7 - 2) + 1, floor((6 + 1 - (2 - 1) * 3 - 1) / 3) + 1.
    {"conv3d(f32[2,4,5,7,6], f32[6,2,3,2,2], stride=2x1x3, pad=1,0,1,1,0,0, dilation=1x1x3, groups=2)",
     "f32[2,6,3,6,2]"},
    // (4 - 1) * 2 - 1 + (3 - 1) + 1 + 1, (5 - 1) * 1 + (2 - 1) * 2 + 1.
    {"conv_transpose2d(f32[1,4,4,5], f32[4,3,3,2], stride=2x1, pad=1,0,0,0, dilation=1x2, output_pad=1x0)",
     "f32[1,3,9,7]"},
    {"conv_transpose3d(f32[1,4,2,2,2], f32[4,3,2,2,2], stride=2x2x2, groups=2)", "f32[1,6,4,4,4]"},
    {"max_pool3d(f32[1,3,5,5,5], kernel=2x2x2, stride=2x2x2, ceil_mode=1)", "f32[1,3,3,3,3]"},
    {"avg_pool3d(f32[1,3,5,5,5], kernel=2x2x2, stride=2x2x2)", "f32[1,3,2,2,2]"},
    {"global_max_pool(f32[1,3,5])", "f32[1,3,1]"},
};

TEST(Shape, OfDefinedOperators) {
  for (auto [text, shape] : kByHand) EXPECT_EQ(ShapeOf(text), shape) << text;
}

TEST(Shape, AgreesWithTheOperators) {
  std::vector<std::string> seen = kGraphOnly;
  int accepted = 0;
  std::vector<std::string> texts = Combinations();
  for (auto [text, shape] : kByHand) texts.push_back(text);
  for (const char* op :
       {"sqrt",       "log",  "abs",        "neg",   "reciprocal", "erf",      "floor",        "ceil",
        "round",      "sign", "sin",        "cos",   "tan",        "asin",     "acos",         "atan",
        "sinh",       "cosh", "asinh",      "acosh", "atanh",      "softplus", "softsign",     "mish",
        "hard_swish", "gelu", "leaky_relu", "elu",   "celu",       "selu",     "hard_sigmoid", "thresholded_relu",
        "clip"}) {
    texts.push_back(std::string(op) + "(f32[2,3,4])");
  }
  for (const std::string& text : texts) {
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

TEST(Shape, OfChains) {
  EXPECT_EQ(ShapeOf("conv2d(f32[1,3,9,9], f32[8,3,3,3], stride=2x2) + bias -> max_pool2d(f32[1,8,4,4], kernel=2x2)"),
            "f32[1,8,3,3]");
  EXPECT_NE(ShapeOf("conv2d(f32[1,3,9,9], f32[8,3,3,3]) -> max_pool2d(f32[1,8,4,4], kernel=2x2)").find("f32[1,8,7,7]"),
            std::string::npos);
  EXPECT_NE(ShapeOf("conv2d(f32[1,3,9,9], f32[8,3,3,3]) -> relu(f32[1,8,7,7])").find("relu in a chain"),
            std::string::npos);
  // Those of the first, then of each that follows but its data: weights, biases, residuals.
  auto operands = [](const std::string& text) {
    std::string types;
    const std::vector<TensorType> all = *OperandTypes(*Workload::Parse(text));
    for (const TensorType& type : all) types += type.Text() + " ";
    return types;
  };
  EXPECT_EQ(
      operands("conv2d(f32[1,3,9,9], f32[8,3,3,3]) + add + bias -> conv2d(f32[1,8,7,7], f32[5,8,1,1]) + bias + add"),
      "f32[1,3,9,9] f32[8,3,3,3] f32[1,8,7,7] f32[8] f32[5,8,1,1] f32[5] f32[1,5,7,7] ");
  EXPECT_FALSE(OperandTypes(*Workload::Parse("conv2d(f32[1,3,2,2], f32[8,3,3,3]) -> max_pool2d(f32[1,8,1,1])")).ok());
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
  EXPECT_NE(ShapeOf("matmul(f32[2,3], f32[4,5])").find("do not fit"), std::string::npos);
  EXPECT_NE(ShapeOf("transpose(f32[2,3], perm=0,0)").find("perm"), std::string::npos);
  EXPECT_NE(ShapeOf("reshape(f32[2,3], shape=4)").find("elements"), std::string::npos);
  EXPECT_NE(ShapeOf("slice(f32[2,3], begin=0,3, end=2,3)").find("axis 1"), std::string::npos);
  EXPECT_NE(ShapeOf("gather(f32[2,3], indices=2)").find("outside"), std::string::npos);
  EXPECT_NE(ShapeOf("pad(f32[3], low=3, high=0, mode=reflect)").find("too short"), std::string::npos);
  EXPECT_NE(ShapeOf("reduce_sum(f32[3], axes=1)").find("axes"), std::string::npos);
  EXPECT_NE(ShapeOf("expand(f32[65536,1], shape=65536,65536)").find("more than 2^29"), std::string::npos);
}

}  // namespace
}  // namespace hone::graph
