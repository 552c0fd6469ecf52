#include <set>

#include "base/rng.h"
#include "common/expect.h"
#include "graph/graph.h"
#include "graph/network_builder.h"
#include "graph/normalise.h"
#include "graph/reference.h"
#include "semantics/semantics.h"

namespace hone::graph {
namespace {

std::string Ops(const Graph& graph) {
  std::string text;
  for (const Node& node : graph.nodes) {
    text += text.empty() ? "" : " ";
    text += node.name + "=" + node.workload.op;
    for (const EpilogueOp& op : node.workload.epilogue) {
      text += op.kind == EpilogueKind::kBias ? "+bias" : op.kind == EpilogueKind::kAdd ? "+add" : "+act";
    }
  }
  return text;
}

// A small random residual network with everything that the passes look for.
Graph RandomNetwork(uint64_t seed) {
  Rng rng(seed);
  NetworkBuilder net("random", seed);
  const int64_t channels = 3 + static_cast<int64_t>(rng.UniformInt(6));
  std::string x = net.Input("data", {1 + static_cast<int64_t>(rng.UniformInt(2)), 3, 9, 11});
  x = net.Relu("r0", net.BatchNorm(
                         "b0", net.Conv("c0", x, channels, {{3}, {1 + static_cast<int64_t>(rng.UniformInt(2))}, {1}})));
  for (int i = 1; i < 4; ++i) {
    const std::string n = std::to_string(i);
    const int64_t kernel = rng.UniformInt(2) ? 3 : 1;
    std::string y = net.BatchNorm("b" + n, net.Conv("c" + n, x, channels, {{kernel}, {1}, {kernel / 2}}));
    if (rng.UniformInt(2)) y = net.Unary("d" + n, "dropout", y);
    if (rng.UniformInt(2)) y = net.Relu("r" + n, y);
    // A second branch from the same x, of the same shape as y.
    if (rng.UniformInt(2)) {
      std::string z = net.Unary("i" + n, "identity", y);
      std::string w = net.BatchNorm("s" + n, net.Conv("t" + n, y, channels, {}));
      y = rng.UniformInt(2) ? net.Add("a" + n, z, w) : net.Add("a" + n, w, rng.UniformInt(2) ? x : z);
      y = net.Relu("o" + n, y);
    }
    x = y;
  }
  if (rng.UniformInt(2)) return net.Finish({x});
  x = net.Unary("flat", "flatten", net.Unary("gap", "global_avg_pool", x));
  return net.Finish({net.Dense("fc", x, 5)});
}

TensorValues Evaluate(const Graph& graph) {
  std::map<std::string, TensorData> inputs;
  Rng rng(3);
  for (const GraphInput& input : graph.inputs) {
    TensorData& data = inputs[input.name] = TensorData(input.type);
    for (float& v : data.as<float>()) v = static_cast<float>(rng.UniformDouble() * 2 - 1);
  }
  auto values = Must(MakeParameters(graph, nullptr));
  return Must(RunReference(graph, values, inputs, 2));
}

void ExpectSameValues(const TensorValues& found, const TensorValues& expected, double tolerance = 1e-5) {
  ASSERT_EQ(found.size(), expected.size());
  for (const auto& [name, values] : expected) {
    ASSERT_EQ(found.at(name).size(), values.size()) << name;
    for (size_t i = 0; i < values.size(); ++i)
      ASSERT_NEAR(found.at(name)[i], values[i], tolerance * (1 + std::abs(values[i]))) << name << " " << i;
  }
}

TEST(Passes, KeepWhatRandomNetworksCompute) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Graph graph = RandomNetwork(seed);
    SCOPED_TRACE(Ops(graph));
    const TensorValues expected = Evaluate(graph);
    Must(Normalise(&graph));
    ExpectSameValues(Evaluate(graph), expected);
    // A second run changes nothing.
    Graph again = graph;
    Must(Normalise(&again));
    EXPECT_EQ(GraphText(again), GraphText(graph));
  }
}

std::set<Layout> LayoutsIn(const Graph& graph) {
  std::set<Layout> layouts;
  for (const Node& node : graph.nodes) {
    if (semantics::HasLayouts(node.output)) layouts.insert(semantics::OutputLayout(node.workload));
  }
  return layouts;
}

TEST(Layouts, ChangeWhatNoRandomNetworkComputes) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    Graph blocked = RandomNetwork(seed);
    SCOPED_TRACE(Ops(blocked));
    const TensorValues expected = Evaluate(blocked);
    Must(Normalise(&blocked));
    for (const Layout layout : {Layout::kPlain, Layout::kChannelsLast}) {
      Graph direct = RandomNetwork(seed);
      Must(Normalise(&direct, layout));
      EXPECT_EQ(direct.layout, layout);
      EXPECT_EQ(LayoutsIn(direct), std::set<Layout>{layout});
      ExpectSameValues(Evaluate(direct), expected);
      Graph again = direct;
      Must(Normalise(&again));
      EXPECT_EQ(GraphText(again), GraphText(direct));
      // From one to another, and back.
      Must(Normalise(&again, Layout::kBlocked));
      EXPECT_EQ(GraphText(again), GraphText(blocked));
      Must(Normalise(&again, layout));
      EXPECT_EQ(GraphText(again), GraphText(direct));
    }
  }
}

// A softmax has no form for channels last; both of its readers use one transform of its output, and the convolution and
// the output use its input as it is.
TEST(Layouts, TransformsStandOnlyBetweenLayouts) {
  for (const bool outer : {false, true}) {
    NetworkBuilder net("n", 1);
    const std::string c = net.Conv("c", net.Input("data", {1, 4, 5, 5}), 4, {});
    const std::string s = net.Op("s", "softmax", {c}), t = net.Op("t", "softmax", {s});
    const std::string x = net.Conv("x", t, 4, {}), y = net.Conv("y", t, 4, {});
    Graph graph = net.Finish(outer ? std::vector<std::string>{x, y, t} : std::vector<std::string>{x, y, c});
    Must(Normalise(&graph, Layout::kChannelsLast));
    const std::string inner = outer ? "t.nhwc" : "t";
    EXPECT_EQ(Ops(graph), outer ? "c=conv2d c.plain=channels_first s=softmax t.nhwc=softmax t=channels_last x=conv2d "
                                  "y=conv2d"
                                : "c=conv2d c.plain=channels_first s=softmax t=softmax t.nhwc=channels_last x=conv2d "
                                  "y=conv2d");
  }
}

TEST(Layouts, BadInputIsRefused) {
  auto graph = Must(ParseGraph(R"json({"version": 1, "name": "n", "seed": 1, "outputs": ["y"],
    "inputs": [{"name": "x", "shape": [1, 3, 4, 4]}], "parameters": [],
    "nodes": [{"name": "y", "workload": "relu(f32[1,3,4,4], layout=nhwc)", "inputs": ["x"]}]})json",
                               "n.json"));
  EXPECT_EQ(Normalise(&graph).message(),
            "node `y`: relu has channels last, but the graph's `layout` is blocked, not nhwc");
  auto group = Must(ParseGraph(R"json({"version": 1, "name": "n", "seed": 1, "outputs": ["y"],
    "inputs": [{"name": "x", "shape": [1, 3, 4, 4]}], "parameters": [],
    "nodes": [{"name": "y", "workload": "relu(f32[1,3,4,4]) -> exp(f32[1,3,4,4])", "inputs": ["x"]}]})json",
                               "n.json"));
  EXPECT_THAT(Normalise(&group, Layout::kPlain).message(),
              HasSubstr("node `y` is a group, whose layout cannot change"));
  EXPECT_EQ(LayoutNamed("nwhc").status().message(), "`nwhc` is no layout; did you mean `nhwc`?");
}

TEST(FoldBatchNorm, OnlyWhereNobodyElseReads) {
  NetworkBuilder net("n", 1);
  std::string x = net.Input("data", {1, 3, 5, 5});
  std::string c = net.Conv("c", x, 4, {});
  Graph graph = net.Finish({net.Add("a", net.BatchNorm("b", c), c)});
  EXPECT_TRUE(FoldBatchNorm(&graph));
  EXPECT_EQ(Ops(graph), "c=conv2d b=conv2d+bias a=add");
}

TEST(FoldBatchNorm, StatisticsThatAreComputedAreRefused) {
  NetworkBuilder net("n", 1);
  std::string c = net.Conv("c", net.Input("data", {1, 3, 5, 5}), 4, {});
  Graph graph = net.Finish({net.BatchNorm("b", c)});
  graph.inputs.push_back({"mean", {DType::Float(32), {4}}});
  graph.nodes[1].inputs[3] = "mean";
  EXPECT_FALSE(FoldBatchNorm(&graph));
  Status status = Normalise(&graph);
  EXPECT_EQ(status.kind(), StatusKind::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr("`b`"));
}

TEST(FuseEpilogue, AdditionJoinsTheOperandThatRunsLast) {
  NetworkBuilder net("n", 1);
  std::string x = net.Input("data", {1, 4, 5, 5});
  std::string early = net.Conv("early", x, 4, {});
  std::string late = net.Conv("late", x, 4, {{3}, {1}, {1}});
  Graph graph = net.Finish({net.Relu("r", net.Add("a", late, early))});
  EXPECT_TRUE(FuseEpilogue(&graph));
  EXPECT_EQ(Ops(graph), "early=conv2d r=conv2d+add+act");
  EXPECT_EQ(graph.nodes[1].inputs[2], "early");
  EXPECT_EQ(graph.nodes[1].inputs[1], "late.weight");
  EXPECT_TRUE(CheckGraph(&graph).ok());
}

TEST(FuseEpilogue, NotBehindAnActivationAndNotTwice) {
  NetworkBuilder net("n", 1);
  std::string x = net.Input("data", {1, 4, 5, 5});
  std::string c = net.Relu("r1", net.Relu("r0", net.Conv("c", x, 4, {})));
  Graph graph = net.Finish({net.Add("a", c, c)});
  EXPECT_TRUE(FuseEpilogue(&graph));
  EXPECT_EQ(Ops(graph), "r0=conv2d+act r1=relu a=add");
}

TEST(FuseEpilogue, AClipKeepsItsBounds) {
  auto graph = Must(ParseGraph(R"json({"version": 1, "name": "n", "seed": 1, "outputs": ["y"],
    "inputs": [{"name": "x", "shape": [1, 3]}],
    "parameters": [{"name": "w", "shape": [2, 3], "init": "uniform", "low": -1, "high": 1}],
    "nodes": [{"name": "d", "workload": "dense(f32[1,3], f32[2,3])", "inputs": ["x", "w"]},
              {"name": "y", "workload": "identity(f32[1,2]) + clip(-0.25,0.5)", "inputs": ["d"]}]})json",
                               "n.json"));
  const TensorValues expected = Evaluate(graph);
  Must(Normalise(&graph));
  ASSERT_EQ(graph.nodes.size(), 1u);
  EXPECT_EQ(graph.nodes[0].workload.Text(), "dense(f32[1,3], f32[2,3]) + clip(-0.25,0.5)");
  EXPECT_EQ(Evaluate(graph), expected);
}

TEST(FuseEpilogue, AReluJoinsUnlessWhatItReadsIsAnOutput) {
  for (const bool output : {false, true}) {
    NetworkBuilder net("n", 1);
    const std::string c = net.Conv("c", net.Input("data", {1, 4, 5, 5}), 4, {});
    const std::string r = net.Unary("r", "relu6", c);
    Graph graph = net.Finish(output ? std::vector<std::string>{c, r} : std::vector<std::string>{r});
    EXPECT_EQ(FuseEpilogue(&graph), !output);
    EXPECT_EQ(Ops(graph), output ? "c=conv2d r=relu6" : "r=conv2d+act");
    EXPECT_EQ(graph.nodes[0].workload.HasEpilogue(EpilogueKind::kRelu6), !output);
  }
}

TEST(DropIdentity, ReadersReadTheSource) {
  NetworkBuilder net("n", 1);
  std::string c = net.Conv("c", net.Input("data", {1, 4, 5, 5}), 4, {});
  std::string p = net.MaxPool("p", net.Unary("i", "identity", net.Unary("d", "dropout", c)), {});
  Graph graph = net.Finish({net.Relu("r", p)});
  EXPECT_TRUE(DropIdentity(&graph));
  EXPECT_EQ(Ops(graph), "c=conv2d r=relu");
  EXPECT_FALSE(DropIdentity(&graph));
}

TEST(DropIdentity, OutputsKeepTheirNames) {
  NetworkBuilder net("n", 1);
  std::string c = net.Conv("c", net.Input("data", {1, 4, 5, 5}), 4, {});
  std::string r = net.Relu("r", c);
  Graph graph = net.Finish({net.Unary("out", "dropout", c), r});
  EXPECT_TRUE(DropIdentity(&graph));
  EXPECT_EQ(Ops(graph), "out=conv2d r=relu");
  EXPECT_EQ(graph.nodes[1].inputs[0], "out");
  EXPECT_EQ(graph.outputs, (std::vector<std::string>{"out", "r"}));
}

TEST(DeadCode, DropsNodesAndParametersThatNothingNeeds) {
  NetworkBuilder net("n", 1);
  std::string x = net.Input("data", {1, 4, 5, 5});
  net.Conv("unused", x, 8, {});
  Graph graph = net.Finish({net.Conv("c", x, 4, {})});
  EXPECT_TRUE(DropDeadCode(&graph));
  EXPECT_EQ(Ops(graph), "c=conv2d");
  ASSERT_EQ(graph.parameters.size(), 1u);
  EXPECT_EQ(graph.parameters[0].name, "c.weight");
}

TEST(AssignLayout, BlocksOnceAtEntryAndUnblocksAtExit) {
  NetworkBuilder net("n", 1);
  std::string x = net.Input("data", {1, 4, 5, 5});
  std::string c = net.Conv("c", x, 4, {});
  std::string a = net.Add("a", c, net.Relu("r", x));
  Graph graph = net.Finish({net.Add("out", a, x)});
  EXPECT_TRUE(AssignLayout(&graph));
  EXPECT_EQ(Ops(graph), "c=conv2d r=relu r.blocked=block a=add data.blocked=block out.blocked=add out=unblock");
  EXPECT_EQ(graph.nodes[0].workload.Find("in")->word, "nchw");
  EXPECT_EQ(graph.nodes[1].workload.Text(), "relu(f32[1,4,5,5], layout=plain)");
  EXPECT_EQ(graph.nodes[5].inputs[1], "data.blocked");
  EXPECT_TRUE(CheckGraph(&graph).ok());
  EXPECT_FALSE(AssignLayout(&graph));
}

Graph Made(std::vector<GraphInput> inputs, std::vector<std::string> outputs,
           const std::vector<std::tuple<const char*, const char*, std::vector<std::string>>>& nodes) {
  Graph graph{.name = "n", .inputs = std::move(inputs), .outputs = std::move(outputs)};
  for (const auto& [name, workload, from] : nodes) graph.nodes.push_back({name, *Workload::Parse(workload), from, {}});
  return graph;
}

void AddUniform(const std::string& name, const std::vector<int64_t>& shape, Graph* graph) {
  Parameter p{name, {DType::Float(32), shape}, {}};
  p.init.kind = InitKind::kUniform;
  p.init.low = 0.5, p.init.high = 2;
  graph->parameters.push_back(p);
}

// Taps that no output sees inside the input go, also those of one side, of one axis and of groups; all others stay.
TEST(DropTapsInPadding, KeepsWhatConvolutionsCompute) {
  const struct {
    const char *before, *after;
  } cases[] = {
      {"conv2d(f32[1,2,5,4], f32[3,2,3,3], pad=12, dilation=12x12)", "conv2d(f32[1,2,5,4], f32[3,2,1,1])"},
      {"conv2d(f32[1,2,5,4], f32[3,2,3,3], pad=5, dilation=5x5)", "conv2d(f32[1,2,5,4], f32[3,2,1,1])"},
      {"conv2d(f32[1,2,5,4], f32[3,2,3,3], pad=4, dilation=4x4)",
       "conv2d(f32[1,2,5,4], f32[3,2,3,1], pad=4,0,4,0, dilation=4x1)"},
      {"conv2d(f32[1,2,1,1], f32[3,2,3,3], pad=1)", "conv2d(f32[1,2,1,1], f32[3,2,1,1])"},
      {"conv2d(f32[1,4,6,6], f32[6,2,3,2], pad=9,1,9,0, dilation=9x1, groups=2)",
       "conv2d(f32[1,4,6,6], f32[6,2,1,2], pad=0,1,0,0, groups=2)"},
      {"conv3d(f32[1,2,1,4,4], f32[3,2,3,3,3], pad=1, stride=1x2x1)",
       "conv3d(f32[1,2,1,4,4], f32[3,2,1,3,3], stride=1x2x1, pad=0,1,1,0,1,1)"},
      // All of its outputs lie left of the input, where the second tap begins: it cannot do without the first.
      {"conv2d(f32[1,2,6,6], f32[3,2,1,2], pad=0,7,0,0, dilation=1x9)", nullptr},
      {"conv2d(f32[1,2,6,6], f32[3,2,3,3], pad=1)", nullptr},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.before);
    const Workload w = Must(Workload::Parse(c.before));
    Graph graph = Made({{"x", w.inputs[0]}}, {"y"}, {{"y", c.before, {"x", "w"}}});
    AddUniform("w", w.inputs[1].shape, &graph);
    Must(CheckGraph(&graph));
    const TensorValues before = Evaluate(graph);
    EXPECT_EQ(DropTapsInPadding(&graph), c.after != nullptr);
    EXPECT_EQ(graph.nodes[0].workload.Text(), c.after != nullptr ? c.after : w.Text());
    Must(CheckGraph(&graph));
    EXPECT_EQ(Evaluate(graph), before);
    EXPECT_EQ(Must(ParseGraph(GraphText(graph), "graph")), graph);
    EXPECT_FALSE(DropTapsInPadding(&graph));
  }
}

// A plain-only operator between blocked ones gets its input unblocked and its output blocked; plain tensors stay plain
// up to the output.
TEST(AssignLayout, PlainOperatorsBetweenBlockedOnes) {
  Graph graph = Made({{"x", {DType::Float(32), {1, 32, 4, 4}}}}, {"s"},
                     {{"p", "max_pool2d(f32[1,32,4,4], kernel=2x2)", {"x"}},
                      {"e", "exp(f32[1,32,3,3])", {"p"}},
                      {"t", "transpose(f32[1,32,3,3], perm=0,1,3,2)", {"e"}},
                      {"r", "relu(f32[1,32,3,3])", {"t"}},
                      {"q", "max_pool2d(f32[1,32,3,3], kernel=2x2)", {"r"}},
                      {"b", "add(f32[1,32,3,3], f32[1,32,3,3])", {"r", "e"}},
                      {"m", "reduce_mean(f32[1,32,2,2], axes=2,3)", {"q"}},
                      {"v", "reduce_sum(f32[1,32,3,3], axes=2,3)", {"b"}},
                      {"s", "add(f32[1,32], f32[1,32])", {"m", "v"}}});
  ASSERT_TRUE(CheckGraph(&graph).ok());
  EXPECT_TRUE(AssignLayout(&graph));
  EXPECT_EQ(Ops(graph),
            "x.blocked=block p=max_pool2d e=exp e.plain=unblock t=transpose r=relu r.blocked=block q=max_pool2d b=add "
            "q.plain=unblock m=reduce_mean b.plain=unblock v=reduce_sum s=add");
  EXPECT_TRUE(CheckGraph(&graph).ok());
  EXPECT_FALSE(AssignLayout(&graph));
}

TEST(AssignLayout, ElementwiseChainsOnPlainTensorsStayPlain) {
  Graph graph = Made({{"x", {DType::Float(32), {1, 3, 4, 4}}}}, {"c"},
                     {{"a", "sub(f32[1,3,4,4], f32[1,3,4,4])", {"x", "x"}},
                      {"b", "sigmoid(f32[1,3,4,4])", {"a"}},
                      {"c", "mul(f32[1,3,4,4], f32[1,3,4,4])", {"b", "a"}}});
  ASSERT_TRUE(CheckGraph(&graph).ok());
  EXPECT_TRUE(AssignLayout(&graph));
  EXPECT_EQ(Ops(graph), "a=sub b=sigmoid c=mul");
  EXPECT_FALSE(AssignLayout(&graph));
}

TEST(FuseEpilogue, ClipsAndVolumesButNoBroadcasting) {
  NetworkBuilder net("n", 1);
  Graph graph = net.Finish({net.Conv("c", net.Input("data", {1, 3, 5, 5}), 4, {})});
  Parameter p{"p", {DType::Float(32), {4, 1, 1}}, {}};
  graph.parameters.push_back(p);
  graph.nodes.push_back({"a", *Workload::Parse("add(f32[1,4,5,5], f32[4,1,1])"), {"c", "p"}, {}});
  graph.nodes.push_back({"q", *Workload::Parse("clip(f32[1,4,5,5], low=-0.5, high=2)"), {"a"}, {}});
  graph.outputs = {"q"};
  Graph other = graph;
  // c's only reader is the addition, which broadcasts: nothing may be fused into it.
  EXPECT_FALSE(FuseEpilogue(&graph));
  other.nodes.erase(other.nodes.begin() + 1);
  other.nodes[1].inputs = {"c"};
  EXPECT_TRUE(FuseEpilogue(&other));
  ASSERT_EQ(other.nodes.size(), 1u);
  EXPECT_THAT(other.nodes[0].workload.Text(), HasSubstr(" + clip(-0.5,2)"));
}

// A transposed convolution of 4 channels, a batch norm of its output, and parameters that are not round numbers.
Graph TransposedWithNorm(std::vector<std::string> outputs = {"y"}) {
  Graph graph =
      Made({{"x", {DType::Float(32), {2, 4, 3, 2}}}}, std::move(outputs),
           {{"c", "conv_transpose2d(f32[2,4,3,2], f32[4,3,2,2], stride=2x2, groups=2)", {"x", "w"}},
            {"y", "batch_norm(f32[2,6,6,4], f32[6], f32[6], f32[6], f32[6], epsilon=0.5)", {"c", "g", "b", "m", "v"}}});
  AddUniform("w", {4, 3, 2, 2}, &graph);
  for (const char* name : {"g", "b", "m", "v"}) AddUniform(name, {6}, &graph);
  return graph;
}

// Into the weight [in, channels / groups, ..] and a bias, which may exist already.
TEST(FoldBatchNorm, BehindATransposedConvolution) {
  for (const bool biased : {false, true}) {
    SCOPED_TRACE(biased ? "with a bias" : "without");
    Graph graph = TransposedWithNorm();
    if (biased) {
      AddUniform("bias", {6}, &graph);
      graph.nodes[0].workload.epilogue = {{EpilogueKind::kBias, 0, 0}};
      graph.nodes[0].inputs.push_back("bias");
    }
    Must(CheckGraph(&graph));
    const TensorValues before = Evaluate(graph);
    EXPECT_TRUE(FoldBatchNorm(&graph));
    EXPECT_EQ(Ops(graph), "y=conv_transpose2d+bias");
    Must(CheckGraph(&graph));
    ExpectSameValues(Evaluate(graph), before);
    EXPECT_EQ(Must(ParseGraph(GraphText(graph), "graph")), graph);
  }
}

// Another reader needs the convolution unchanged, and its epilogue precedes the norm.
TEST(FoldBatchNorm, LeavesTransposedConvolutionsThatOthersReadOrThatHaveAnEpilogue) {
  Graph read = TransposedWithNorm({"y", "c"});
  Must(CheckGraph(&read));
  EXPECT_TRUE(FoldBatchNorm(&read));
  EXPECT_EQ(Ops(read), "c=conv_transpose2d y=conv2d+bias");
  Graph activated = TransposedWithNorm();
  Must(CheckGraph(&activated));
  activated.nodes[0].workload.epilogue = {{EpilogueKind::kRelu, 0, 0}};
  EXPECT_TRUE(FoldBatchNorm(&activated));
  EXPECT_EQ(Ops(activated), "c=conv_transpose2d+act y=conv2d+bias");
}

// Without a convolution it becomes x * scale + shift: on images in one kernel, with the activation that follows.
TEST(FoldBatchNorm, AloneScalesAndShifts) {
  for (const auto& [shape, ops] : {std::pair<std::string, std::string>{"2,3,2,2", "z=conv2d+bias+act"},
                                   {"2,1,2,2", "z=conv2d+bias+act"},
                                   {"2,3,4", "y.scaled=mul y=add z=relu"},
                                   {"2,3,2,2,2", "y.scaled=mul y=add z=relu"}}) {
    SCOPED_TRACE(shape);
    const std::string type = "f32[" + shape + "]";
    const TensorType data = Must(Workload::Parse("relu(" + type + ")")).inputs[0];
    const std::string channels = "f32[" + std::to_string(data.shape[1]) + "]";
    const std::string norm = fmt::format("batch_norm({0}, {1}, {1}, {1}, {1}, epsilon=0.5)", type, channels);
    const std::string relu = "relu(" + type + ")";
    Graph graph =
        Made({{"x", data}}, {"z"}, {{"y", norm.c_str(), {"x", "g", "b", "m", "v"}}, {"z", relu.c_str(), {"y"}}});
    for (const char* name : {"g", "b", "m", "v"}) AddUniform(name, {data.shape[1]}, &graph);
    Must(CheckGraph(&graph));
    const TensorValues before = Evaluate(graph);
    EXPECT_TRUE(FoldBatchNorm(&graph));
    FuseEpilogue(&graph);
    EXPECT_EQ(Ops(graph), ops);
    Must(CheckGraph(&graph));
    ExpectSameValues(Evaluate(graph), before, 1e-6);
  }
}

}  // namespace
}  // namespace hone::graph
