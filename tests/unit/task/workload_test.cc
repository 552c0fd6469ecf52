#include "task/workload.h"

#include "base/hash.h"
#include "common/expect.h"

namespace hone {
namespace {

TEST(Workload, TextReadsBack) {
  for (const char* text : {
           "conv2d(f32[1,64,56,56], f32[64,64,3,3], stride=1x1, pad=1,1,1,1) + bias + add + relu",
           "conv2d(f32[1,3,224,224], f32[64,3,7,7], stride=2x2, pad=3,3,3,3, in=nchw) + bias + relu",
           "dense(f32[1,512], f32[1000,512]) + bias",
           "add(f32[1,64,56,56], f32[1,64,56,56])",
           "relu(f32[7]) + clip(-1.5,6)",
           "softmax(f32[3,1000])",
           "conv2d(f32[1,8,4,4], f32[8,1,3,3], groups=8) + relu6",
           "conv2d(f32[1,3,8,8], f32[4,3,3,3]) + bias + relu -> max_pool2d(f32[1,4,6,6], kernel=2x2, stride=2x2)",
           "conv2d(f32[1,3,8,8], f32[4,3,1,1]) + relu -> conv2d(f32[1,4,8,8], f32[4,1,3,3], groups=4) + clip(-1,6) -> "
           "conv2d(f32[1,4,6,6], f32[3,4,1,1]) + bias + add",
       }) {
    EXPECT_EQ(Must(Workload::Parse(text)).Text(), text);
  }
}

TEST(Workload, SpacesDoNotMatter) {
  Workload w = Must(Workload::Parse(" dense( f32[1,512],f32[ 1000,512 ] )+bias "));
  EXPECT_EQ(w.Text(), "dense(f32[1,512], f32[1000,512]) + bias");
  EXPECT_EQ(w.AnchorText(), "dense(f32[1,512], f32[1000,512])");
}

TEST(Workload, PartsAreThere) {
  Workload w = Must(Workload::Parse("conv2d(f32[1,64,56,56], f32[64,64,3,3], stride=2x1, pad=1,2,3,4) + bias + relu"));
  EXPECT_EQ(w.op, "conv2d");
  EXPECT_EQ(w.inputs[1].shape, (std::vector<int64_t>{64, 64, 3, 3}));
  EXPECT_EQ(w.Numbers("stride", {1, 1}), (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(w.Numbers("pad", {}), (std::vector<int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(w.Numbers("groups", {1}), (std::vector<int64_t>{1}));
  EXPECT_TRUE(w.HasEpilogue(EpilogueKind::kBias));
  EXPECT_FALSE(w.HasEpilogue(EpilogueKind::kAdd));
}

TEST(Workload, BadTextsAreRefusedAtTheirPlace) {
  struct Case {
    const char* text;
    const char* part;  // of the message
  };
  for (const Case& c : {
           Case{"", "operator's name"},
           Case{"conv2d", "column 7"},
           Case{"conv2d(f32[1,64)", "`]`"},
           Case{"conv2d(f99[1])", "element type"},
           Case{"conv2d(f32[0])", "at least 1"},
           Case{"conv2d(f32[-4])", "at least 1"},
           Case{"conv2d(f32[99999999999999999999])", "whole number"},
           Case{"conv2d(stride=1, f32[1])", "tensors before attributes"},
           Case{"conv2d(f32[1], stride=1, stride=1)", "only once"},
           Case{"dense(f32[1]) + gelu", "epilogue"},
           Case{"dense(f32[1]) + clip(3,1)", "low at most high"},
           Case{"dense(f32[1]) bias", "the end"},
           Case{"dense(f32[1] f32[2])", "`,` or `)`"},
           Case{"dense(f32[1]) ->", "operator's name"},
           Case{"dense(f32[1]) - > relu(f32[1])", "-> workload"},
           Case{"dense(f32[1]) -> relu(f32[1]) + gelu", "epilogue"},
           Case{"dense(f32[1]) -> relu(axis=1)", "the output of the one before"},
           Case{"a(f32[1]) -> a(f32[1]) -> a(f32[1]) -> a(f32[1]) -> a(f32[1]) -> a(f32[1]) -> a(f32[1])",
                "at most 6 members"},
           Case{"relu(f32[1]) -> mul(t0:f32[1])", "column 21: expected the name of an earlier member, not `t0`"},
           Case{"x = relu(f32[1]) -> mul(x:f32[1], y:f32[1])", "column 34: expected the name of an earlier"},
           Case{"x = relu(f32[1]) -> mul(x:axis=1)", "column 31: expected an element type"},
           Case{"x = relu(f32[1]) -> x = mul(x:f32[1]) -> a(f32[1])", "named `x`"},
           Case{"x = relu(f32[1]) -> tanh(f32[1]) -> y = mul(x:f32[1])", "column 21: expected a member whose output"},
           Case{"x = relu(f32[1]) -> mul(size=1, x:f32[1])", "tensors before attributes"},
           Case{"x = -> relu(f32[1])", "operator's name"},
       }) {
    Result<Workload> w = Workload::Parse(c.text);
    ASSERT_FALSE(w.ok()) << c.text;
    EXPECT_THAT(w.status().message(), HasSubstr(c.part)) << c.text;
    EXPECT_THAT(w.status().message(), Not(HasSubstr("\n")));
  }
}

TEST(Workload, ChainsHaveParts) {
  const Workload w =
      *Workload::Parse("conv2d(f32[1,3,8,8], f32[4,3,3,3]) + relu -> max_pool2d(f32[1,4,6,6], kernel=2x2)");
  EXPECT_TRUE(w.chain());
  EXPECT_EQ(w.op, "conv2d");
  EXPECT_EQ(w.OperatorText(), "conv2d_max_pool2d");
  EXPECT_EQ(w.AnchorText(), "conv2d(f32[1,3,8,8], f32[4,3,3,3]) -> max_pool2d(f32[1,4,6,6], kernel=2x2)");
  const std::vector<Workload> parts = w.Parts();
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].Text(), "conv2d(f32[1,3,8,8], f32[4,3,3,3]) + relu");
  EXPECT_EQ(parts[1].Text(), "max_pool2d(f32[1,4,6,6], kernel=2x2)");
  EXPECT_EQ(parts[0].Parts(), std::vector<Workload>{parts[0]});
  EXPECT_FALSE(w == parts[0]);
  EXPECT_EQ(TaskId(w, "cpu").substr(0, 18), "conv2d_max_pool2d-");
  EXPECT_NE(TaskId(w, "cpu"), TaskId(parts[0], "cpu"));
}

// Names are those of the text's own places, and only where the first input of the next member is not meant.
TEST(Workload, GroupsHaveNames) {
  const Workload w = Must(Workload::Parse(
      "h = dense(f32[2,3], f32[4,3]) + bias -> s=sigmoid(f32[2,4]) -> u = mul(h:f32[2,4], s :f32[2,4]) -> "
      "tanh(u:f32[2,4])"));
  EXPECT_EQ(w.Text(),
            "t0 = dense(f32[2,3], f32[4,3]) + bias -> t1 = sigmoid(f32[2,4]) -> mul(t0:f32[2,4], t1:f32[2,4]) -> "
            "tanh(f32[2,4])");
  EXPECT_EQ(Must(Workload::Parse(w.Text())), w);
  EXPECT_EQ(w.Text().substr(w.ColumnOf(2) - 1, 4), "mul(");
  EXPECT_EQ(w.ColumnOf(0), 1u);
  EXPECT_EQ(w.Maker(1, 0), 0);
  EXPECT_EQ(w.Maker(2, 0), 0);
  EXPECT_EQ(w.Maker(2, 1), 1);
  EXPECT_EQ(w.Maker(3, 0), 2);
  EXPECT_EQ(w.Maker(0, 1), Workload::kOperand);
  EXPECT_EQ(w.Parts()[2].Text(), "mul(f32[2,4], f32[2,4])");
  EXPECT_EQ(w.AnchorText(),
            "t0 = dense(f32[2,3], f32[4,3]) -> t1 = sigmoid(f32[2,4]) -> mul(t0:f32[2,4], t1:f32[2,4]) -> "
            "tanh(f32[2,4])");
  // A name that changes nothing.
  EXPECT_EQ(Must(Workload::Parse("a = relu(f32[2]) -> mul(a:f32[2], f32[2])")).Text(),
            "relu(f32[2]) -> mul(f32[2], f32[2])");
  // The second input.
  EXPECT_EQ(Must(Workload::Parse("a = relu(f32[2]) -> mul(f32[2], a:f32[2])")).Text(),
            "t0 = relu(f32[2]) -> mul(f32[2], t0:f32[2])");
}

TEST(Workload, TaskIdDependsOnWorkloadAndTarget) {
  const Workload a = *Workload::Parse("dense(f32[1,512], f32[1000,512]) + bias");
  const Workload b = *Workload::Parse("dense(f32[1,512], f32[1000,512])");
  EXPECT_EQ(TaskId(a, "cpu").substr(0, 6), "dense-");
  EXPECT_EQ(TaskId(a, "cpu").size(), 6u + 16u);
  EXPECT_EQ(TaskId(a, "cpu"), "dense-" + Digest128(a.Text() + "|cpu").Hex().substr(0, 16));
  EXPECT_NE(TaskId(a, "cpu"), TaskId(b, "cpu"));
  EXPECT_NE(TaskId(a, "cpu"), TaskId(a, "cuda"));
}

TEST(Workload, InfiniteAttributes) {
  for (const char* text : {"pad(f32[4], value=-inf)", "pad(f32[4], value=inf, mode=constant)", "f(f32[4], a=-inf,1.5)",
                           "f(f32[4], a=1,-inf, b=3)", "f(f32[4], a=2,inf)"}) {
    const auto w = Must(Workload::Parse(text));
    EXPECT_EQ(w.Text(), text);
    EXPECT_EQ(*Workload::Parse(w.Text()), w);
  }
  EXPECT_EQ(Workload::Parse("f(f32[4], a=1,info=3)")->Find("info")->values, std::vector<int64_t>{3});
  for (const char* wrong : {"f(f32[4], a=--inf)", "f(f32[4], a=1inf)", "f(f32[4], a=-infinity)", "f(f32[4], a=-nan)"}) {
    EXPECT_FALSE(Workload::Parse(wrong).ok()) << wrong;
  }
}

// A list with a fractional number is one word, with each number in its shortest form.
TEST(Workload, RealAttributes) {
  auto w = Must(Workload::Parse("elu(f32[4], alpha=1.50, size=3, scale=1,2.5,-3e-2, mode=linear)"));
  EXPECT_EQ(w.Text(), "elu(f32[4], alpha=1.5, size=3, scale=1,2.5,-0.03, mode=linear)");
  EXPECT_EQ(w.Find("alpha")->word, "1.5");
  EXPECT_EQ(w.Numbers("size", {}), std::vector<int64_t>{3});
  EXPECT_EQ(Workload::Parse(w.Text())->Text(), w.Text());
  for (const char* wrong : {"elu(f32[4], alpha=1.5.2)", "elu(f32[4], alpha=1e)", "elu(f32[4], alpha=1.5,,2)",
                            "elu(f32[4], alpha=.)", "elu(f32[4], alpha=1e999)"}) {
    EXPECT_FALSE(Workload::Parse(wrong).ok()) << wrong;
  }
}

}  // namespace
}  // namespace hone
