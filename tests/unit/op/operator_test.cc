// Operators themselves: which workloads they accept, their canonical text, shapes, FLOP and operands. Expected values
// by hand.
#include "op/operator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/expect.h"
#include "ir/printer.h"
#include "op/numerics.h"
#include "semantics/semantics.h"
#include "unit/op/kernel_grid.h"

namespace hone::op {
namespace {

Target Avx512() {
  return Target{.triple = "x86_64-unknown-linux-gnu",
                .cpu = "x86-64-v4",
                .threads = 2,
                .vector_bytes = 64,
                .vector_registers = 32};
}

bool HasBatch(const char* text) {
  const Workload w = *Workload::Parse(text);
  Result<const Operator*> op = FindOperator(w);
  EXPECT_TRUE(op.ok()) << text;
  return op.ok() && semantics::HasBatch(w);
}

TEST(Operator, ABatchIsTheFirstAxisOfThoseThatHaveImages) {
  for (const char* text :
       {"conv2d(f32[4,3,8,8], f32[4,3,3,3])", "dense(f32[4,8], f32[2,8])", "max_pool2d(f32[4,3,8,8], kernel=2x2)",
        "global_avg_pool(f32[4,3,8,8])", "conv3d(f32[4,3,8,8,8], f32[4,3,3,3,3])", "pad2d(f32[4,3,8,8], pad=1)",
        "conv_transpose2d(f32[4,3,8,8], f32[3,4,3,3])", "lrn(f32[4,3,8,8], size=3)", "flatten(f32[4,3,8,8])",
        "conv2d(f32[4,16,8,8], f32[16,16,3,3], pad=1,1,1,1) -> max_pool2d(f32[4,16,8,8], kernel=2x2)"}) {
    EXPECT_TRUE(HasBatch(text)) << text;
  }
  for (const char* text :
       {"matmul(f32[4,8], f32[8,2])", "relu(f32[4,8])", "softmax(f32[4,8])", "transpose(f32[4,8], perm=1,0)"}) {
    EXPECT_FALSE(HasBatch(text)) << text;
  }
}

// Algorithms are a name and numbers read from files: those that do not fit the workload are rejected.
TEST(Operator, RefusesAlgorithmsThatAWorkloadDoesNotHave) {
  const Target cuda = *Target::Parse("cuda -arch=sm_80");
  const char* layer = "conv2d(f32[1,16,14,14], f32[16,16,3,3], pad=1,1,1,1)";
  const struct {
    const char *workload, *good, *bad;
    const Target& target;
  } cases[] = {
      {layer, "winograd(m=4, tiles=18)", "winograd(m=4, tiles=15)", Avx512()},
      {layer, "winograd(m=4, tiles=16)", "winograd(m=7, tiles=16)", Avx512()},
      {layer, "direct", "winograd(tiles=16, m=4)", Avx512()},
      {layer, "direct", "direct(m=4)", Avx512()},
      {layer, "direct", "gemm(k=144, parts=1)", Avx512()},
      {layer, "grouped", "lanes(pad=0)", Avx512()},
      {"conv2d(f32[1,16,14,14], f32[16,1,3,3], pad=1,1,1,1, groups=16)", "lanes(pad=1)", "lanes(pad=2)", Avx512()},
      {"conv2d(f32[1,16,14,14], f32[16,1,3,3], groups=16)", "lanes(pad=0)", "lanes(pad=1)", Avx512()},
      {"conv2d(f32[1,57,14,14], f32[38,3,3,3], groups=19)", "grouped", "direct", Avx512()},
      {"relu(f32[16])", "direct", "winograd(m=2)", Avx512()},
      {"matmul(f32[4,8], f32[8,2])", "direct", "batches", cuda},
      {"matmul(f32[2,4,8], f32[2,8,2])", "batches", "direct(k=1)", cuda},
      {layer, "winograd(m=6)", "winograd(m=3)", cuda},
      {layer, "gemm(k=144, parts=1)", "gemm(k=143, parts=1)", cuda},
      {layer, "gemm(k=80, parts=2)", "gemm(k=80, parts=200)", cuda},
      {layer, "gemm_tf32(k=144, parts=1, filters=16, pixels=200)", "gemm_tf32(k=144, parts=1, filters=16, pixels=195)",
       cuda},
  };
  for (const auto& c : cases) {
    const Workload w = *ParseChecked(c.workload);
    const Result<Computation> good = Compute(w, c.target, *Algorithm::Parse(c.good));
    EXPECT_TRUE(good.ok()) << c.good << ": " << good.status().message();
    const Status bad = Compute(w, c.target, *Algorithm::Parse(c.bad)).status();
    EXPECT_EQ(bad.kind(), StatusKind::kInvalid) << c.bad << " of " << c.workload;
  }
  const Status unknown = Compute(*ParseChecked(layer), cuda, {"winograt", {{"m", 4}}}).status();
  EXPECT_EQ(unknown.message(), "conv2d has no algorithm `winograt` for this target; did you mean `winograd`?");
}

// All tensors of a computation as text.
std::string DagText(const Computation& computation) {
  std::string text;
  for (const Tensor& t : te::TopologicalOrder(computation.outputs)) {
    text += fmt::format("{} [{}]{}", t.name(), fmt::join(t.shape(), ","), t.node()->constant ? " constant" : "");
    for (const ir::IterVar& axis : t.node()->axes) text += " " + axis.var.name();
    if (t.node()->body.defined()) text += " = " + ir::ToString(t.node()->body);
    text += "\n";
  }
  return text;
}

// Its pixels are divided into rows for the target's threads.
bool IsPointwise(const Workload& w) {
  const std::vector<int64_t>& weight = w.inputs.back().shape;
  return w.op.starts_with("conv") && std::all_of(weight.begin() + 2, weight.end(), [](int64_t x) { return x == 1; });
}

// Threads, registers, instructions and limits are matters of the schedule.
TEST(Operator, ComputationsDependOnTheTargetOnlyByStorage) {
  Target narrow = Avx512();
  narrow.cpu = "znver4", narrow.threads = 7, narrow.vector_registers = 16, narrow.features = {"fma"};
  const std::pair<Target, Target> pairs[] = {
      {Avx512(), narrow},
      {*Target::Parse("cuda -arch=sm_80"),
       *Target::Parse("opencl -threads=64 -block=64x64x64 -shared=16384 -registers=16384 -vector=4")}};
  std::vector<std::string> layers = OddLayers();
  layers.push_back(
      "conv2d(f32[1,16,8,8], f32[16,16,3,3], pad=1,1,1,1) -> max_pool2d(f32[1,16,8,8], kernel=2x2, stride=2x2)");
  layers.push_back("matmul(f32[2,32,16], f32[2,16,32])");
  std::set<std::string> algorithms;
  for (const auto& [one, other] : pairs) {
    for (const std::string& text : layers) {
      const Workload w = Must(ParseChecked(text));
      const Operator* op = Must(FindOperator(w));
      std::vector<Algorithm> each;
      for (const Template* t : op->Templates(w, one)) {
        const Result<Config> config = t->Default(Must(t->MakeSpace(w, one)), w, one);
        if (!config.ok()) continue;  // no point of AutoTVM's is legal for some shapes
        each.push_back(Must(t->Instantiate(w, one, *config)).algorithm);
      }
      for (const OtherAlgorithm& more : op->OtherAlgorithms(w, one)) each.push_back(more.algorithm);
      for (const Algorithm& algorithm : each) {
        algorithms.insert(algorithm.name);
        Target second = other;
        if (IsPointwise(w)) second.threads = one.threads;
        EXPECT_EQ(DagText(Must(Compute(w, one, algorithm))), DagText(Must(Compute(w, second, algorithm)))) << text;
      }
    }
  }
  EXPECT_EQ(algorithms, (std::set<std::string>{"batches", "direct", "gemm", "gemm_tf32", "grouped", "lanes", "pixels",
                                               "skip", "winograd"}));
}

// A computation has its constants as they are given, with zeros beyond their end: steps store them another way.
TEST(Operator, ProductsOnGpusReadWeightsAsTheyAre) {
  const Target cuda = *Target::Parse("cuda -arch=sm_80");
  const Workload w = *ParseChecked("conv2d(f32[1,16,14,14], f32[17,16,3,3], pad=1,1,1,1)");
  for (const auto& [algorithm, shape] : {std::pair("gemm(k=144, parts=1)", std::vector<int64_t>{17, 144}),
                                         {"gemm(k=80, parts=2)", {17, 160}},
                                         {"gemm_tf32(k=144, parts=1, filters=32, pixels=200)", {32, 144}},
                                         {"winograd(m=4)", {6, 6, 16, 17}}}) {
    const Computation c = Must(Compute(w, cuda, *Algorithm::Parse(algorithm)));
    std::vector<std::vector<int64_t>> constants;
    for (const Tensor& t : te::TopologicalOrder(c.outputs)) {
      if (t.node()->constant) constants.push_back(t.shape());
    }
    EXPECT_EQ(constants, (std::vector<std::vector<int64_t>>{shape})) << algorithm;
  }
}

// Limits apply to an algorithm whatever template proposed it.
TEST(Operator, NumericsForbidAlgorithms) {
  const Algorithm winograd{"winograd", {{"m", 4}, {"tiles", 20}}}, tf32{"gemm_tf32", {}};
  EXPECT_FALSE(Forbidden({}, winograd).has_value());
  EXPECT_FALSE(Forbidden({.winograd = 0}, Algorithm()).has_value());
  EXPECT_EQ(Forbidden({.winograd = 2}, winograd), "m=4 is less exact than m=2");
  EXPECT_EQ(Forbidden({.winograd = 0}, winograd), "winograd is off");
  EXPECT_TRUE(Forbidden({}, {"winograd", {}}).has_value()) << "of an unknown size";
  EXPECT_EQ(Forbidden({}, tf32), "tf32 is off");
  EXPECT_FALSE(Forbidden({.tf32 = true}, tf32).has_value());
}

TEST(Operator, CanonicalTextLeavesOutDefaults) {
  const std::pair<const char*, const char*> cases[] = {
      {"conv2d(f32[1,3,8,8], f32[4,3,3,3], groups=1, dilation=1x1, pad=0,0,0,0, stride=1x1)",
       "conv2d(f32[1,3,8,8], f32[4,3,3,3])"},
      {"conv2d(f32[1,3,8,8], f32[4,3,3,3], pad=1, stride=2) + bias + relu",
       "conv2d(f32[1,3,8,8], f32[4,3,3,3], stride=2x2, pad=1,1,1,1) + bias + relu"},
      {"conv2d(f32[1,3,8,8], f32[4,3,3,3], in=nchw, dilation=2x1)",
       "conv2d(f32[1,3,8,8], f32[4,3,3,3], dilation=2x1, in=nchw)"},
      {"conv2d(f32[1,3,8,8], f32[4,3,3,3], in=blocked)", "conv2d(f32[1,3,8,8], f32[4,3,3,3])"},
      {"max_pool2d(f32[1,4,8,8], stride=2x2, kernel=2, ceil_mode=0)",
       "max_pool2d(f32[1,4,8,8], kernel=2x2, stride=2x2)"},
      {"dense(f32[1,8], f32[4,8]) + bias", "dense(f32[1,8], f32[4,8]) + bias"},
      {"pad2d(f32[1,4,2,2], pad=1)", "pad2d(f32[1,4,2,2], pad=1,1,1,1)"},
      {"leaky_relu(f32[4], alpha=0.0100)", "leaky_relu(f32[4])"},
      {"elu(f32[4], alpha=2.50e0)", "elu(f32[4], alpha=2.5)"},
      {"clip(f32[4], high=1e2, low=-0.5)", "clip(f32[4], low=-0.5, high=100)"},
      {"resize(f32[1,4], scale=1,2.5, mode=linear, out=1,10)", "resize(f32[1,4], out=1,10, mode=linear, scale=1,2.5)"},
      {"concat(f32[1,4], f32[1,2], axis=1)", "concat(f32[1,4], f32[1,2])"},
      {"reduce_sum(f32[3,4], keep=0, axes=1)", "reduce_sum(f32[3,4], axes=1)"},
      {"max_pool3d(f32[1,4,8,8,8], stride=2, kernel=2)", "max_pool3d(f32[1,4,8,8,8], kernel=2x2x2, stride=2x2x2)"},
  };
  for (auto [given, canonical] : cases) {
    Workload w = Must(ParseChecked(given));
    EXPECT_EQ(w.Text(), canonical);
    EXPECT_EQ(Must(ParseChecked(w.Text())).Text(), canonical);
  }
}

TEST(Operator, RefusesWhatMakesNoSense) {
  const std::pair<const char*, const char*> cases[] = {
      {"convd(f32[1,3,8,8], f32[4,3,3,3])", "did you mean `conv2d`"},
      {"conv2d(f32[1,3,8,8])", "takes 2 to 4 tensors, not 1"},
      {"conv2d(f32[3,8,8], f32[4,3,3,3])", "must have 4 axes"},
      {"conv2d(f32[1,3,8,8], f32[4,3,3])", "must have 4 axes"},
      {"conv2d(f32[1,3,8,8], f32[4,2,3,3])", "do not fit"},
      {"conv2d(f32[1,6,8,8], f32[4,2,3,3], groups=3)", "do not fit"},
      {"conv2d(f32[1,3,2,8], f32[4,3,3,3])", "no output"},
      {"conv2d(f32[1,3,4,4], f32[4,3,3,3], dilation=2x2)", "no output"},
      {"conv2d(f32[1,3,8,8], f32[4,3,3,3], strid=2x2)", "did you mean `stride`"},
      {"conv2d(f32[1,3,8,8], f32[4,3,3,3], stride=0x1)", "must be in 1"},
      {"conv2d(f32[1,3,8,8], f32[4,3,3,3], pad=1,1)", "`pad` takes 4 numbers"},
      {"conv2d(f32[1,3,8,8], f32[4,3,3,3], pad=-1,0,0,0)", "must be in 0"},
      {"conv2d(f32[1,3,8,8], f32[4,3,3,3], in=nhwc)", "is one of blocked, nchw"},
      {"conv2d(f32[1,3,8,8], f32[4,3,3,3], stride=wide)", "takes whole numbers"},
      {"conv2d(f32[1,100000,100000,100000], f32[4,100000,1,1])", "more than 2^29"},
      {"conv2d(f32[1,64,30000,30000], f32[4,64,1,1])", "more than 2^29"},
      {"conv2d(f32[1,1,8,8], f32[1,1,1,1], pad=60000,60000,60000,60000)", "more than 2^29"},
      {"conv2d(f64[1,3,8,8], f64[4,3,3,3])", "f32, u8 and i8 are supported"},
      {"dense(f32[1,8], f32[4,9])", "differ in their second axis"},
      {"dense(f32[1,8], f32[4,8], groups=2)", "unknown attribute `groups`"},
      {"max_pool2d(f32[1,4,8,8])", "`kernel` is missing"},
      {"max_pool2d(f32[1,4,8,8], kernel=3x3, count_include_pad=1)", "unknown attribute"},
      {"max_pool2d(f32[1,4,8,8], kernel=2x2, pad=2,0,0,0)", "smaller than the kernel"},
      {"max_pool2d(f32[1,4,2,2], kernel=3x3)", "no output"},
      {"max_pool2d(f32[1,4,8,8], kernel=2x2) + relu", "takes no epilogue"},
      {"avg_pool2d(f32[1,4,8,8], kernel=2x2, ceil_mode=2)", "must be in 0 .. 1"},
      {"softmax(f32[1,4]) + bias", "takes no epilogue"},
      {"softmax(f32[1,4,2], axis=3)", "`axis` must be one of 0 .. 2"},
      {"softmax(f32[])", "has no axes"},
      {"flatten(f32[7])", "at least two axes"},
      {"concat(f32[1,4,8,8], f32[1,4,8,7])", "differ in more than"},
      {"concat()", ""},
      {"add(f32[1,4], f32[1,5])", "differ in shape"},
      {"identity(f32[4]) + bias", "needs an output with channels"},
      {"relu(f32[4], alpha=1)", "unknown attribute `alpha`"},
      {"leaky_relu(f32[4], alfa=1)", "unknown attribute `alfa`"},
      {"leaky_relu(f32[4], alpha=wide)", "takes numbers"},
      {"leaky_relu(f32[4], alpha=-inf)", "takes numbers"},
      {"relu(f32[1,2,3,4], layout=nhcw)", "is one of plain, nhwc"},
      {"mul(f32[2,3], f32[3]) + relu", "an epilogue needs"},
      {"conv3d(f32[1,3,4,4,4], f32[4,2,3,3,3])", "do not fit"},
      {"conv3d(f32[1,3,2,4,4], f32[4,3,3,3,3])", "no output"},
      {"max_pool3d(f32[1,3,4,4,4])", "`kernel` is missing"},
  };
  for (auto [text, says] : cases) {
    Result<Workload> w = ParseChecked(text);
    ASSERT_FALSE(w.ok()) << text;
    EXPECT_THAT(w.status().message(), HasSubstr(says)) << text;
    EXPECT_THAT(w.status().message(), Not(HasSubstr("\n")));
  }
}

// Before building, as the kernel contains its indices as code.
TEST(Operator, GathersOfIndicesWithoutOrderAreRefusedByTheirCheck) {
  for (auto [count, fits] : {std::pair(1000, true), std::pair(1100, false)}) {  // two indices a run
    std::string text = "gather(f32[1009], indices=";
    for (int i = 0; i < count; ++i) text += (i ? "," : "") + std::to_string(17 * i * i % 1009);
    const Result<Workload> w = ParseChecked(text + ", shape=" + std::to_string(count) + ")");
    EXPECT_EQ(w.ok(), fits) << w.status().message();
    if (!fits) {
      EXPECT_EQ(w.status().message(), "gather: indices without order, more than 512 runs of them");
    }
  }
}

TEST(Operator, ZeroExtentsAreRefusedEvenWithoutTheParser) {
  Workload w;
  w.op = "conv2d";
  w.inputs = {{DType::Float(32), {1, 0, 4, 4}}, {DType::Float(32), {4, 0, 1, 1}}};
  EXPECT_THAT((*FindOperator("conv2d"))->Check(w).message(), HasSubstr("at least 1"));
}

TEST(Operator, OutputShapesAndFlop) {
  struct Case {
    const char* text;
    std::vector<int64_t> shape;
    double flop;
  };
  const Case cases[] = {
      // 2 * 64 * 56 * 56 * 64 * 9, bias and relu one each.
      {"conv2d(f32[1,64,56,56], f32[64,64,3,3], pad=1) + bias + relu", {1, 64, 56, 56}, 231211008.0 + 2 * 200704},
      {"conv2d(f32[1,3,224,224], f32[64,3,7,7], stride=2, pad=3, in=nchw)", {1, 64, 112, 112}, 236027904.0},
      {"conv2d(f32[2,4,7,5], f32[6,2,3,2], groups=2, stride=2x1, pad=0,1,2,0, dilation=2x1)", {2, 6, 3, 5}, 180.0 * 24},
      {"dense(f32[1,512], f32[1000,512]) + bias", {1, 1000}, 1025000.0},
      {"max_pool2d(f32[1,64,112,112], kernel=3x3, stride=2x2, pad=1)", {1, 64, 56, 56}, 200704.0 * 9},
      {"max_pool2d(f32[1,1,6,6], kernel=3x3, stride=2x2)", {1, 1, 2, 2}, 36},
      {"max_pool2d(f32[1,1,6,6], kernel=3x3, stride=2x2, ceil_mode=1)", {1, 1, 3, 3}, 81},
      // Rounding up would give three, but the third would start in the padding at the end.
      {"max_pool2d(f32[1,1,4,4], kernel=2x2, stride=3x3, pad=0,0,1,1, ceil_mode=1)", {1, 1, 2, 2}, 16},
      {"global_avg_pool(f32[3,17,5,3])", {3, 17, 1, 1}, 51 * 15},
      {"flatten(f32[3,17,5,3])", {3, 255}, 0},
      {"concat(f32[1,3,2,2], f32[1,4,2,2])", {1, 7, 2, 2}, 0},
      {"pad2d(f32[1,3,2,2], pad=1,2,3,4)", {1, 3, 6, 8}, 0},
  };
  for (const Case& c : cases) {
    Workload w = Must(ParseChecked(c.text));
    EXPECT_EQ(semantics::InferOutput(w)->shape, c.shape) << c.text;
    EXPECT_DOUBLE_EQ(semantics::Flop(w), c.flop) << c.text;
  }
}

TEST(Operator, OperandsInOrderWithTheirStorage) {
  Workload w = Must(ParseChecked("conv2d(f32[2,17,8,8], f32[33,17,3,3], pad=1) + bias + add + relu"));
  std::vector<Operand> o = (*FindOperator("conv2d"))->Operands(w, Avx512());
  ASSERT_EQ(o.size(), 5u);
  const char* names[] = {"data", "weight", "bias", "residual", "out"};
  for (size_t i = 0; i < o.size(); ++i) EXPECT_EQ(o[i].name, names[i]);
  EXPECT_EQ(o[0].physical, (std::vector<int64_t>{2, 2, 8, 8, 16}));
  EXPECT_EQ(o[1].physical, (std::vector<int64_t>{33, 17, 3, 3}));
  EXPECT_EQ(o[1].role, OperandRole::kConstant);
  EXPECT_EQ(o[2].physical, std::vector<int64_t>{33});
  EXPECT_EQ(o[3].physical, (std::vector<int64_t>{2, 3, 8, 8, 16}));
  EXPECT_EQ(o[3].role, OperandRole::kData);
  EXPECT_EQ(o[4].PhysicalElements(), 2 * 3 * 8 * 8 * 16);
  Result<Workload> plain = ParseChecked("conv2d(f32[2,17,8,8], f32[33,17,3,3], in=nchw)");
  EXPECT_EQ((*FindOperator("conv2d"))->Operands(*plain, Avx512())[0].physical, (std::vector<int64_t>{2, 17, 8, 8}));
}

// References read and write blocks of channels; semantics tests what operators compute.
std::vector<float> RunReference(const char* text, std::vector<std::vector<float>> buffers) {
  Workload w = Must(ParseChecked(text));
  Target t;
  t.vector_bytes = 16;  // blocks of 4
  std::vector<void*> pointers;
  for (std::vector<float>& b : buffers) pointers.push_back(b.data());
  (*FindOperator(w.op))->Reference(w, t, pointers);
  return buffers.back();
}

TEST(Reference, Convolution) {
  // One channel, 3x3 image 1..9, 2x2 kernel {1,2,3,4}: by hand; lane 0 of the block of 4 holds the channel.
  std::vector<float> out = RunReference("conv2d(f32[1,1,3,3], f32[1,1,2,2], in=nchw) + bias + relu",
                                        {{1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 2, 3, 4}, {-40}, std::vector<float>(16, -1)});
  EXPECT_EQ(out, (std::vector<float>{0, 0, 0, 0, 7, 0, 0, 0, 27, 0, 0, 0, 37, 0, 0, 0}));
  // Groups: two channels, each with its own 1x1 filter.
  out = RunReference("conv2d(f32[1,2,1,1], f32[2,1,1,1], groups=2)",
                     {{3, 5, 0, 0}, {10, 100}, std::vector<float>(4, -1)});
  EXPECT_EQ(out, (std::vector<float>{30, 500, 0, 0}));
}

TEST(Reference, OfOtherLayouts) {
  EXPECT_EQ(RunReference("dense(f32[1,2], f32[3,2]) + bias", {{1, 2}, {1, 0, 0, 1, 1, 1}, {10, 20, 30}, {0, 0, 0}}),
            (std::vector<float>{11, 22, 33}));
  EXPECT_EQ(RunReference("flatten(f32[1,2,1,2])", {{1, 3, 0, 0, 2, 4, 0, 0}, std::vector<float>(4)}),
            (std::vector<float>{1, 2, 3, 4}));
}

}  // namespace
}  // namespace hone::op
