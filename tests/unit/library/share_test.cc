// Tensors that share memory: parts of concatenations, sums over their residual.
#include "base/subprocess.h"
#include "graph/graph.h"
#include "graph/normalise.h"
#include "library/network_plan.h"
#include "library/sharing.h"
#include "small_network.h"

namespace hone::library {
namespace {

// A fire module and a nested concatenation: `first` and `last` channels beside 32 of another branch.
graph::Graph Branches(int64_t batch, int64_t first, int64_t last) {
  graph::NetworkBuilder net("branches", 5);
  const std::string data = net.Input("data", {batch, 3, 9, 9});
  const std::string x = net.Relu("r0", net.BatchNorm("b0", net.Conv("c0", data, 17, {{3}, {1}, {1}})));
  const std::string a = net.Relu("r1", net.Conv("c1", x, first, {}));
  const std::string b = net.Relu("r2", net.Conv("c2", x, 32, {{3}, {1}, {1}}));
  const std::string inner = net.Concat("inner", {a, b});
  const std::string c = net.Relu("r3", net.Conv("c3", inner, last, {}));
  const std::string outer = net.Concat("outer", {inner, c});
  const std::string y = net.MaxPool("pool", outer, {{3}, {2}, {0}});
  return net.Finish({net.Dense("fc", net.Unary("flat", "flatten", net.Unary("gap", "global_avg_pool", y)), 5)});
}

// y + f(y) twice, the second one with two readers: three sums, of which the first two may overwrite their residual.
graph::Graph Residuals() {
  graph::NetworkBuilder net("residuals", 6);
  std::string x = net.Relu("r0", net.Conv("c0", net.Input("data", {1, 3, 11, 7}), 19, {{3}, {1}, {1}}));
  x = net.Relu("r1", net.Add("a1", net.Conv("c1b", net.Conv("c1", x, 19, {{3}, {1}, {1}}), 19, {{3}, {1}, {1}}), x));
  x = net.Relu("r2", net.Add("a2", net.Conv("c2b", net.Conv("c2", x, 19, {}), 19, {}), x));
  const std::string y = net.Add("a3", net.Conv("c3", x, 19, {{3}, {1}, {1}}), x);  // x itself is what it convolves
  return net.Finish({net.Dense("fc", net.Unary("flat", "flatten", net.Unary("gap", "global_avg_pool", y)), 5)});
}

graph::Graph Prepared(graph::Graph graph) {
  EXPECT_TRUE(graph::Normalise(&graph).ok());
  EXPECT_TRUE(Canonicalise(&graph).ok());
  return graph;
}

BuiltLibrary Built(const graph::Graph& graph, bool share) {
  BuildInput input = HostInput(graph, "shared");
  input.share = {share, share};
  return Must(BuildLibrary(std::move(input)));
}

TimeReply Ran(const BuiltLibrary& built) {
  TempDir dir = *TempDir::Create();
  Must(WriteLibrary(built, dir.path()));
  TimeRequest request{.dir = dir.path(), .iterations = 3, .outputs = true};
  return Must(TimeNetwork(request));
}

// Expects that kernels compute the same bits wherever their tensors lie.
void ExpectTheSame(const graph::Graph& graph, size_t fewer_layers) {
  const BuiltLibrary shared = Built(graph, true), apart = Built(graph, false);
  EXPECT_LT(shared.arena_bytes, apart.arena_bytes);
  const TimeReply a = Ran(shared), b = Ran(apart);
  EXPECT_EQ(a.described.size() + fewer_layers, b.described.size());
  ASSERT_EQ(a.outputs.size(), 1u);
  EXPECT_EQ(a.outputs, b.outputs);
  TempDir dir = *TempDir::Create();
  const auto expected = Must(ReferenceOutputs(graph, nullptr, 1, 2, dir.Join("reference")));
  EXPECT_LT(RelativeError(a.outputs[0].Doubles(), expected[0]), 1e-4);
}

TEST(ConcatSlices, PartsLieBehindOneAnother) {
  const graph::Graph graph = Prepared(Branches(1, 16, 20));
  const ConcatSlices slices = FindConcatSlices(graph, *HostTarget());
  ASSERT_EQ(slices.wholes.size(), 2u);
  EXPECT_EQ(slices.wholes.at("inner"), 4 * 9 * 9 * 48);
  EXPECT_EQ(slices.Find("r2").whole, "outer");  // a part of a part
  EXPECT_EQ(slices.Find("r2").offset, 4 * 9 * 9 * 16);
  EXPECT_EQ(slices.Find("r3").offset, 4 * 9 * 9 * 48);
  EXPECT_EQ(slices.Find("pool").whole, "pool");
}

TEST(ConcatSlices, WhatDoesNotLieInOnePieceIsCopied) {
  const Target target = *HostTarget();
  // Zeros would lie between the parts; the outer one's first part is the inner one, which is ragged as well.
  EXPECT_TRUE(FindConcatSlices(Prepared(Branches(1, 17, 20)), target).wholes.empty());
  // The parts of the second image would follow the whole first one.
  EXPECT_TRUE(FindConcatSlices(Prepared(Branches(2, 16, 20)), target).wholes.empty());
}

TEST(ConcatSlices, WhatBelongsToOthersIsCopied) {
  const auto slices = [](const char* outputs, const char* second) {
    const std::string text = std::string(R"json({"version": 1, "name": "n", "seed": 3,
      "inputs": [{"name": "a", "shape": [1,16,4,4]}], "outputs": )json") +
                             outputs + R"json(, "parameters": [],
      "nodes": [{"name": "s", "workload": "sigmoid(f32[1,16,4,4])", "inputs": ["a"]},
        {"name": "t", "workload": "tanh(f32[1,16,4,4])", "inputs": ["s"]},
        {"name": "cat", "workload": "concat(f32[1,16,4,4], f32[1,16,4,4])", "inputs": ["s", ")json" +
                             second + R"json("]},
        {"name": "cat2", "workload": "concat(f32[1,16,4,4], f32[1,16,4,4])", "inputs": ["t", "s"]},
        {"name": "e1", "workload": "exp(f32[1,32,4,4])", "inputs": ["cat"]},
        {"name": "e2", "workload": "exp(f32[1,32,4,4])", "inputs": ["cat2"]}]})json";
    auto graph = Must(graph::ParseGraph(text, "n.json"));
    EXPECT_TRUE(Canonicalise(&graph).ok());  // without blocking, whose copies may be parts of a concatenation again
    return FindConcatSlices(graph, *HostTarget()).wholes;
  };
  // `s` can lie in only one of the two: the first.
  EXPECT_EQ(slices(R"(["e1", "e2"])", "t").size(), 1u);
  EXPECT_TRUE(slices(R"(["e1", "e2"])", "t").count("cat"));
  EXPECT_FALSE(slices(R"(["cat", "e1", "e2"])", "t").count("cat"));  // the caller's
  EXPECT_FALSE(slices(R"(["t", "e1", "e2"])", "t").count("cat"));    // a part is the caller's
  EXPECT_FALSE(slices(R"(["e1", "e2"])", "a").count("cat"));         // a part is an input
  EXPECT_FALSE(slices(R"(["e1", "e2"])", "s").count("cat"));         // twice the same
}

TEST(ShareBuffers, ConcatenationsVanish) { ExpectTheSame(Branches(1, 16, 20), 2); }

TEST(ShareBuffers, SumsLieOverTheirResidual) { ExpectTheSame(Residuals(), 0); }

TEST(ShareBuffers, OnlyTheLastReaderOverwrites) {
  const graph::Graph graph = Prepared(Residuals());
  const Target target = *HostTarget();
  NetworkPlan plan = *PlanNetwork(graph, target);
  const std::vector<bool> all(plan.workloads.size(), true);
  EXPECT_EQ(WriteInPlace(all, target, &plan), 2);
  for (const PlannedNode& node : plan.nodes) {
    const int residual = ResidualOperand(node.workload, target);
    if (residual < 0) continue;
    const bool over = node.operands.back().offset == node.operands[static_cast<size_t>(residual)].offset;
    EXPECT_EQ(over, node.name != "a3") << node.name;
  }
  NetworkPlan none = *PlanNetwork(graph, target);
  EXPECT_EQ(WriteInPlace(std::vector<bool>(none.workloads.size(), false), target, &none), 0);
}

TEST(ShareBuffers, OurKernelsWriteOnce) {
  const graph::Graph graph = Prepared(Residuals());
  const Target target = *HostTarget();
  const NetworkPlan plan = *PlanNetwork(graph, target);
  auto kernels = Must(CompileKernels(plan.workloads, target, nullptr, 2));
  const auto in_place = Must(InPlaceKernels(kernels, target));
  for (size_t i = 0; i < kernels.size(); ++i) {
    EXPECT_EQ(in_place[i], ResidualOperand(kernels[i].workload, target) >= 0) << kernels[i].workload.Text();
  }
}

// Hand-written kernels. All but one would be wrong in place: each adds 1 to 256 floats.
TEST(ShareBuffers, AKernelThatWritesTwiceIsFoundOut) {
  const Target target = *HostTarget();
  const Workload workload = *op::ParseChecked("conv2d(f32[1,16,4,4], f32[16,16,1,1]) + add");
  const int residual = ResidualOperand(workload, target);
  ASSERT_GE(residual, 0);
  const char* const bodies[] = {
      "for (int i = 0; i < 256; ++i) out[i] = in[i] + 1;",
      // The last tile begins early, to be a whole one.
      "for (int t = 0; t < 256; t += 24) for (int i = 0, at = t > 232 ? 232 : t; i < 24; ++i) out[at + i] = in[at + i] "
      "+ 1;",
      // Partial sums in the output.
      "for (int i = 0; i < 256; ++i) out[i] = 0.5f; for (int i = 0; i < 256; ++i) out[i] += in[i] + 0.5f;",
  };
  std::vector<NetworkKernel> kernels;
  TempDir dir = *TempDir::Create();
  for (const char* body : bodies) {
    NetworkKernel kernel{.workload = workload};
    kernel.compiled.kernel.symbol = "hone_k" + std::to_string(kernels.size());
    kernel.compiled.kernel_args = {{ArgSource::Kind::kOperand, residual}, {ArgSource::Kind::kOperand, residual + 1}};
    const std::string code = "void " + kernel.compiled.kernel.symbol +
                             "(void* const* b, const void* p, char* w, char* s) {\n  float* in = b[0];\n  float* out = "
                             "b[1];\n  (void)p; (void)w; (void)s;\n  " +
                             body + "\n}\n";
    ASSERT_TRUE(WriteFileAtomic(dir.Join("k.c"), code).ok());
    CommandOptions options{.cwd = dir.path()};
    auto result = Must(RunCommand({"cc", "-std=c99", "-O1", "-fPIC", "-c", "k.c", "-o", "k.o"}, options));
    ASSERT_TRUE(result.status.ok()) << result.err;
    kernel.compiled.object = *ReadFile(dir.Join("k.o"));
    kernels.push_back(std::move(kernel));
  }
  EXPECT_EQ(Must(InPlaceKernels(kernels, target)), (std::vector<bool>{true, false, false}));
}

}  // namespace
}  // namespace hone::library
