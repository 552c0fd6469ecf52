#include "common/expect.h"
#include "semantics/semantics.h"

namespace hone::semantics {
namespace {

std::string ShapeOf(const std::string& text) {
  auto workload = Must(Workload::Parse(text));
  auto type = InferOutput(workload);
  return type.ok() ? type->Text() : type.status().message();
}

// Expected shapes, by hand.
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
    // (12 + 1 - 2) / 2 + 1, (13 - (5 - 1) * 2 - 1) / 1 + 1.
    {"conv2d(f32[2,6,12,13], f32[4,3,2,5], stride=2x1, pad=0,0,1,0, dilation=1x2, groups=2)", "f32[2,4,6,5]"},
    {"conv2d(f32[1,3,9,9], f32[8,3,3,3], stride=2, pad=1, in=nchw)", "f32[1,8,5,5]"},
    {"conv2d(f32[2,6,12,13], f32[4,6,2,5], stride=2x1, pad=0,0,1,0, dilation=1x2, layout=nhwc)", "f32[2,4,6,5]"},
    {"dense(f32[3,5], f32[7,5]) + bias + relu", "f32[3,7]"},
    {"batch_norm(f32[2,3,4], f32[3], f32[3], f32[3], f32[3], epsilon=0.001)", "f32[2,3,4]"},
    {"dropout(f32[2,3])", "f32[2,3]"},
    {"pad2d(f32[2,6,5,7], pad=0,1,2,3)", "f32[2,6,7,11]"},
    {"pad2d(f32[2,6,5,7], pad=2)", "f32[2,6,9,11]"},
    {"flatten(f32[3,5,2,2])", "f32[3,20]"},
    {"block(f32[1,3,2,2])", "f32[1,3,2,2]"},
    {"unblock(f32[1,3,2,2,2])", "f32[1,3,2,2,2]"},
    {"identity(f32[2,3]) + relu", "f32[2,3]"},
};

TEST(Shape, ByHand) {
  for (auto [text, shape] : kByHand) {
    EXPECT_EQ(ShapeOf(text), shape) << text;
    EXPECT_EQ(ShapeOf(Canonical(*Workload::Parse(text)).Text()), shape) << text;  // stored in built libraries
  }
}

TEST(Shape, OfChains) {
  EXPECT_EQ(ShapeOf("conv2d(f32[1,3,9,9], f32[8,3,3,3], stride=2x2) + bias -> max_pool2d(f32[1,8,4,4], kernel=2x2)"),
            "f32[1,8,3,3]");
  EXPECT_THAT(ShapeOf("conv2d(f32[1,3,9,9], f32[8,3,3,3]) -> max_pool2d(f32[1,8,4,4], kernel=2x2)"),
              HasSubstr("f32[1,8,7,7]"));
  EXPECT_EQ(ShapeOf("conv2d(f32[1,3,9,9], f32[8,3,3,3]) -> relu(f32[1,8,7,7])"), "f32[1,8,7,7]");
  // The first member's operands, then each later one's except its data: weights, biases, residuals.
  auto operands = [](const std::string& text) {
    std::string types;
    const std::vector<TensorType> all = *OperandTypes(*Workload::Parse(text));
    EXPECT_EQ(OperandCount(*Workload::Parse(text)), all.size());
    for (const TensorType& type : all) types += type.Text() + " ";
    return types;
  };
  EXPECT_EQ(
      operands("conv2d(f32[1,3,9,9], f32[8,3,3,3]) + add + bias -> conv2d(f32[1,8,7,7], f32[5,8,1,1]) + bias + add"),
      "f32[1,3,9,9] f32[8,3,3,3] f32[1,8,7,7] f32[8] f32[5,8,1,1] f32[5] f32[1,5,7,7] ");
  EXPECT_EQ(operands("t0 = dense(f32[2,3], f32[4,3]) + bias -> t1 = tanh(t0:f32[2,4]) -> t2 = sub(f32[1], "
                     "t1:f32[2,4]) -> pow(t2:f32[2,4], t0:f32[2,4])"),
            "f32[2,3] f32[4,3] f32[4] f32[1] ");
  EXPECT_FALSE(OperandTypes(*Workload::Parse("conv2d(f32[1,3,2,2], f32[8,3,3,3]) -> max_pool2d(f32[1,8,1,1])")).ok());
}

// 112 columns, windows of three with a stride of two: 56 of them, rounded up; 55 fit without.
TEST(Shape, CeilModeRoundsUp) {
  EXPECT_EQ(ShapeOf("max_pool2d(f32[1,8,13,112], kernel=3x3, stride=2x2)"), "f32[1,8,6,55]");
  EXPECT_EQ(ShapeOf("max_pool2d(f32[1,8,13,112], kernel=3x3, stride=2x2, ceil_mode=1)"), "f32[1,8,6,56]");
  // No window starts in the padding behind the input: {-1,0}, {1,2}, but not {3,4}.
  EXPECT_EQ(ShapeOf("max_pool2d(f32[1,8,3,3], kernel=2x2, stride=2x2, pad=1,1,1,1, ceil_mode=1)"), "f32[1,8,2,2]");
}

TEST(Shape, MistakesAreSaid) {
  EXPECT_THAT(ShapeOf("conv2d(f32[1,3,9,9], f32[8,3,3,3], groups=2)"), HasSubstr("groups=2"));
  EXPECT_THAT(ShapeOf("conv2d(f32[1,3,9,9], f32[8,3,3,3], in=nchw, layout=nhwc)"), HasSubstr("leave out `in`"));
  EXPECT_THAT(ShapeOf("conv2d(f32[1,3,9,9], f32[8,3,3,3], layout=nhcw)"), HasSubstr("is one of plain, nhwc"));
  EXPECT_THAT(ShapeOf("lrn(f32[1,3,9,9], size=3, layout=plain)"), HasSubstr("is one of nhwc"));
  EXPECT_THAT(ShapeOf("softmax(f32[1,3,9,9], layout=nhwc)"), HasSubstr("unknown attribute `layout`"));
  EXPECT_THAT(ShapeOf("add(f32[1,3,9,9], f32[3,9,9], layout=nhwc)"), HasSubstr("has channels and pixels"));
  EXPECT_THAT(ShapeOf("dense(i16[1,3], i8[8,3])"), HasSubstr("f32, u8 and i8 are supported"));
  EXPECT_THAT(ShapeOf("batch_norm(f32[1,3], f32[3], f32[3], f32[2], f32[3])"), HasSubstr("input 3"));
  EXPECT_THAT(ShapeOf("block(f32[3,2])"), HasSubstr("4 or 5"));
  EXPECT_THAT(ShapeOf("add(f32[3,2], f32[2]) + relu"), HasSubstr("epilogue"));
  EXPECT_THAT(ShapeOf("max_pool2d(f32[1,8,3,3], kernel=2x2, ceil_mode=1,1)"), HasSubstr("ceil_mode"));
  EXPECT_THAT(ShapeOf("matmul(f32[2,3], f32[4,5])"), HasSubstr("do not fit"));
  EXPECT_THAT(ShapeOf("transpose(f32[2,3], perm=0,0)"), HasSubstr("perm"));
  EXPECT_THAT(ShapeOf("reshape(f32[2,3], shape=4)"), HasSubstr("elements"));
  EXPECT_THAT(ShapeOf("slice(f32[2,3], begin=0,3, end=2,3)"), HasSubstr("axis 1"));
  EXPECT_THAT(ShapeOf("gather(f32[2,3], indices=2)"), HasSubstr("outside"));
  EXPECT_THAT(ShapeOf("pad(f32[3], low=3, high=0, mode=reflect)"), HasSubstr("too short"));
  EXPECT_THAT(ShapeOf("reduce_sum(f32[3], axes=1)"), HasSubstr("axes"));
  EXPECT_THAT(ShapeOf("expand(f32[65536,1], shape=65536,65536)"), HasSubstr("more than 2^29"));
}

std::string Epilogue(const std::string& text) {
  Workload w{"x", {}, {}, {}};
  const std::optional<EpilogueOp> op = AsEpilogue(*Workload::Parse(text));
  if (!op) return "";
  w.epilogue = {*op};
  return w.Text();
}

TEST(Traits, WhatPassesAskFor) {
  for (const char* text : {"dropout(f32[2])", "identity(f32[2])", "reshape(f32[2,3], shape=2,3)",
                           "max_pool2d(f32[1,1,4,4], kernel=1x1)", "expand(f32[2,3], shape=2,3)"}) {
    EXPECT_TRUE(PassesOn(*Workload::Parse(text))) << text;
  }
  for (const char* text : {"relu(f32[2])", "identity(f32[2]) + relu", "reshape(f32[2,3], shape=3,2)",
                           "max_pool2d(f32[1,1,4,4], kernel=1x1, stride=2x2)", "flatten(f32[2,3])"}) {
    EXPECT_FALSE(PassesOn(*Workload::Parse(text))) << text;
  }
  EXPECT_THAT(Epilogue("relu(f32[2])"), HasSubstr("+ relu"));
  EXPECT_THAT(Epilogue("identity(f32[2]) + relu6"), HasSubstr("+ relu6"));
  EXPECT_THAT(Epilogue("clip(f32[2], low=0, high=3)"), HasSubstr("clip(0,3)"));
  EXPECT_THAT(Epilogue("add(f32[2], f32[2])"), HasSubstr("+ add"));
  for (const char* text : {"add(f32[2,2], f32[2])", "clip(f32[2], low=0)", "clip(f32[2], low=3, high=0)",
                           "relu(f32[2]) + relu", "sigmoid(f32[2])"}) {
    EXPECT_EQ(Epilogue(text), "") << text;
  }
}

// Layouts of the inputs, then of the output: `b` blocked, `p` plain.
std::string LayoutsOf(const Workload& w) {
  const auto letter = [](Layout layout) {
    return layout == Layout::kBlocked ? 'b' : layout == Layout::kPlain ? 'p' : 'l';
  };
  std::string text;
  for (size_t i = 0; i < w.inputs.size(); ++i) text += letter(InputLayout(w, i));
  return text + letter(OutputLayout(w));
}

TEST(Traits, HowMuchDataAnOutputSums) {
  const auto sums = [](const char* text) { return ProductsOfData(*Workload::Parse(text)); };
  EXPECT_EQ(sums("matmul(f32[2,3,5], f32[5,7])"), 5);
  EXPECT_EQ(sums("dense(f32[2,5], f32[7,5])"), 1);
  EXPECT_EQ(sums("reduce_sum(f32[2,3,5], axes=0,2)"), 10);
  EXPECT_EQ(sums("reduce_l2(f32[2,3,5], keep=1)"), 30);
  EXPECT_EQ(sums("reduce_mean(f32[2,3,5])"), 1);
  EXPECT_EQ(sums("reduce_max(f32[2,3,5])"), 1);
}

TEST(Layouts, OfInputsAndOutput) {
  const std::pair<const char*, const char*> cases[] = {{"conv2d(f32[1,3,8,8], f32[4,3,3,3])", "bpb"},
                                                       {"conv2d(f32[1,3,8,8], f32[4,3,3,3], in=nchw)", "ppb"},
                                                       {"conv2d(f32[1,3,8,8], f32[4,3,3,3], in=blocked)", "bpb"},
                                                       {"conv3d(f32[1,3,4,8,8], f32[4,3,3,3,3], in=ncdhw)", "ppb"},
                                                       {"dense(f32[1,8], f32[4,8])", "ppp"},
                                                       {"relu(f32[1,3,8,8])", "bb"},
                                                       {"relu(f32[1,3,8,8], layout=plain)", "pp"},
                                                       {"relu(f32[3,8,8])", "pp"},
                                                       {"mul(f32[1,3,8,8], f32[3,1,1])", "bpb"},
                                                       {"concat(f32[1,3,8,8], f32[1,3,8,8])", "bbb"},
                                                       {"concat(f32[1,3,8,8], f32[1,3,8,8], axis=2)", "ppp"},
                                                       {"flatten(f32[1,3,8,8])", "bp"},
                                                       {"block(f32[1,3,8,8])", "pb"},
                                                       {"unblock(f32[1,3,8,8])", "bp"},
                                                       {"channels_last(f32[1,3,8,8])", "pl"},
                                                       {"channels_first(f32[1,3,8,8])", "lp"},
                                                       {"transpose(f32[1,3,8,8], perm=0,2,3,1)", "pp"}};
  for (const auto& [text, expected] : cases) {
    const Workload w = *Workload::Parse(text);
    EXPECT_EQ(LayoutsOf(w), expected) << text;
    const bool transform = w.op == "block" || w.op == "unblock" || w.op.starts_with("channels_");
    EXPECT_EQ(IsTransform(w), transform) << text;
  }
}

TEST(Layouts, AreSaidByAnAttribute) {
  for (const char* text :
       {"conv2d(f32[1,3,8,8], f32[4,3,3,3], groups=1)", "relu(f32[1,3,8,8])", "flatten(f32[1,3,8,8])",
        "max_pool3d(f32[1,3,8,8,8], kernel=2x2x2)", "concat(f32[1,3,8,8], f32[1,2,8,8])"}) {
    Workload w = *Workload::Parse(text);
    EXPECT_EQ(StatedLayout(w), std::nullopt) << text;
    EXPECT_TRUE(AcceptsLayout(w, Layout::kBlocked)) << text;
    for (const Layout layout : {Layout::kPlain, Layout::kChannelsLast}) {
      EXPECT_TRUE(AcceptsLayout(w, layout)) << text;
      SetLayout(&w, layout);
      SetLayout(&w, layout);
      EXPECT_EQ(StatedLayout(*Workload::Parse(w.Text())), layout) << w.Text();
      EXPECT_EQ(InputLayout(w, 0), layout) << w.Text();
      EXPECT_EQ(OutputLayout(w), InferOutput(w)->shape.size() > 2 ? layout : Layout::kPlain) << w.Text();
    }
    SetLayout(&w, Layout::kBlocked);
    EXPECT_EQ(w.Text(), text);
  }
  // It has no blocked form.
  Workload lrn = *Workload::Parse("lrn(f32[1,3,8,8], size=3)");
  EXPECT_FALSE(AcceptsLayout(lrn, Layout::kBlocked));
  EXPECT_TRUE(AcceptsLayout(lrn, Layout::kPlain));
  SetLayout(&lrn, Layout::kChannelsLast);
  EXPECT_EQ(LayoutsOf(lrn), "ll");
  for (const char* text : {"softmax(f32[1,3,8,8])", "relu(f32[3,8,8])", "concat(f32[1,3,8,8], f32[1,3,8,8], axis=2)",
                           "add(f32[1,3,8,8], f32[3,8,8])"}) {
    EXPECT_FALSE(AcceptsLayout(*Workload::Parse(text), Layout::kChannelsLast)) << text;
  }
  EXPECT_TRUE(AcceptsLayout(*Workload::Parse("add(f32[3,1,1], f32[1,3,8,8])"), Layout::kChannelsLast));
}

TEST(Layouts, AConvolutionOfBlocksMayReadItsInputPlain) {
  Workload w = *Workload::Parse("conv3d(f32[1,3,8,8,8], f32[4,3,3,3,3])");
  const std::string text = w.Text();
  EXPECT_TRUE(MayReadPlain(w));
  SetReadsPlain(&w, true);
  EXPECT_EQ(w.Text(), "conv3d(f32[1,3,8,8,8], f32[4,3,3,3,3], in=ncdhw)");
  EXPECT_TRUE(ReadsPlain(w));
  EXPECT_EQ(LayoutsOf(w), "ppb");
  ForgetLayout(&w);
  EXPECT_EQ(w.Text(), text);
  SetLayout(&w, Layout::kChannelsLast);
  EXPECT_FALSE(MayReadPlain(w));
  EXPECT_FALSE(MayReadPlain(*Workload::Parse("max_pool2d(f32[1,3,8,8], kernel=2x2)")));
}

TEST(Layouts, ChannelsLastIsAShapeOfItsOwn) {
  EXPECT_EQ(StoredShape({2, 3, 5, 7}, Layout::kChannelsLast), (Shape{2, 5, 7, 3}));
  EXPECT_EQ(StoredShape({2, 3, 4, 5, 7}, Layout::kChannelsLast), (Shape{2, 4, 5, 7, 3}));
  EXPECT_EQ(StoredShape({2, 3, 5, 7}, Layout::kPlain), (Shape{2, 3, 5, 7}));
}

}  // namespace
}  // namespace hone::semantics
