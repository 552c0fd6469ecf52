// Finding alternatives, putting them into a graph, and choosing them.
#include "graph/alternatives.h"

#include "common/expect.h"
#include "graph/graph.h"
#include "graph/network_builder.h"
#include "graph/normalise.h"
#include "graph/reference.h"

namespace hone::graph {
namespace {

// Here, convolution and pool can be one kernel, as can two or three convolutions if the middle one is depthwise.
Result<Workload> Legal(const std::string& text) {
  HONE_ASSIGN_OR_RETURN(Workload workload, Workload::Parse(text));
  const std::vector<Workload> parts = workload.Parts();
  const auto depthwise = [](const Workload& w) { return w.op == "conv2d" && w.Numbers("groups", {1})[0] > 1; };
  if (parts.size() == 1) return workload;
  if (parts.size() == 2 && parts[0].op == "conv2d" && parts[1].op == "max_pool2d") return workload;
  if (parts.size() == 2 && parts[1].op == "conv2d" && depthwise(parts[0])) return workload;
  if (parts.size() == 3 && parts[2].op == "conv2d" && depthwise(parts[1])) return workload;
  return Status::Unsupported("no such chain");
}

// conv1 -> pool -> expand -> dw -> project (+ pool's output as residual) -> second -> gap -> flat -> fc; `second` reads
// project twice.
Graph Network() {
  NetworkBuilder net("small", 3);
  std::string x = net.Relu("r1", net.Conv("conv1", net.Input("data", {1, 3, 12, 12}), 8, {{3}, {1}, {1}}));
  x = net.MaxPool("pool", x, {{2}, {2}, {0}});
  std::string y = net.Relu("re", net.Conv("expand", x, 16, {}));
  y = net.Relu("rd", net.Conv("dw", y, 16, {{3}, {1}, {1}}, {16}));
  x = net.Add("sum", net.Conv("project", y, 8, {}), x);
  x = net.Relu("r2", net.Add("twice", net.Conv("second", x, 8, {}), x));
  Graph graph = net.Finish({net.Dense("fc", net.Unary("flat", "flatten", net.Unary("gap", "global_avg_pool", x)), 5)});
  Must(Normalise(&graph));
  return graph;
}

std::vector<std::vector<std::string>> Places(const std::vector<Alternative>& alternatives) {
  std::vector<std::vector<std::string>> places;
  for (const Alternative& a : alternatives) places.push_back(a.replaces);
  return places;
}

const Alternative* Find(const std::vector<Alternative>& alternatives, const std::vector<std::string>& replaces) {
  for (const Alternative& a : alternatives) {
    if (a.replaces == replaces) return &a;
  }
  return nullptr;
}

// Expects equal outputs of both graphs on the same input.
void ExpectSameMeaning(const Graph& a, const Graph& b) {
  std::vector<float> data(static_cast<size_t>(a.inputs[0].type.Elements()));
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i % 17) / 8 - 1;
  const auto run = [&](const Graph& graph) {
    const auto parameters = Must(MakeParameters(graph, nullptr));
    return Must(RunReference(graph, parameters, {{"data", TensorData(data)}}, 1)).at(graph.outputs[0]);
  };
  EXPECT_EQ(run(a), run(b));
}

// x -> fc -> swish (fc and its sigmoid) -> twice -> norm, which adds what `twice` has and reads it again.
TEST(Alternatives, GroupsCloseOverTensorsThatOnlyTheyRead) {
  Graph graph = Must(ParseGraph(R"json({"version": 1, "name": "groups", "seed": 1,
      "inputs": [{"name": "data", "shape": [4,8]}], "outputs": ["norm"],
      "parameters": [{"name": "w", "shape": [8,8], "init": "he", "fan_in": 8},
                     {"name": "b", "shape": [8], "init": "uniform", "low": -1, "high": 1}],
      "nodes": [{"name": "fc", "workload": "dense(f32[4,8], f32[8,8]) + bias", "inputs": ["data", "w", "b"]},
                {"name": "gate", "workload": "sigmoid(f32[4,8])", "inputs": ["fc"]},
                {"name": "swish", "workload": "mul(f32[4,8], f32[4,8])", "inputs": ["fc", "gate"]},
                {"name": "twice", "workload": "add(f32[4,8], f32[4,8])", "inputs": ["swish", "swish"]},
                {"name": "weights", "workload": "softmax(f32[4,8])", "inputs": ["twice"]},
                {"name": "norm", "workload": "mul(f32[4,8], f32[4,8])", "inputs": ["weights", "twice"]}]})json",
                                "g"));
  std::vector<std::string> tried;
  const auto legal = [&](const std::string& text) -> Result<Workload> {
    tried.push_back(text);
    return Workload::Parse(text);
  };
  // Not `fc, gate, swish`, which `twice` only makes larger, nor groups that leave out a reader of `twice`.
  const auto found = FindAlternatives(graph, legal);
  EXPECT_EQ(Places(found), (std::vector<std::vector<std::string>>{{"fc", "gate", "swish", "twice"},
                                                                  {"fc", "gate", "swish", "twice", "weights", "norm"},
                                                                  {"gate", "swish", "twice"},
                                                                  {"gate", "swish", "twice", "weights", "norm"},
                                                                  {"weights", "norm"}}));
  ASSERT_EQ(found.size(), 5u);
  EXPECT_EQ(found[1].by[0].workload.Text(),
            "t0 = dense(f32[4,8], f32[8,8]) + bias -> t1 = sigmoid(f32[4,8]) -> t2 = mul(t0:f32[4,8], t1:f32[4,8]) -> "
            "t3 = add(t2:f32[4,8], t2:f32[4,8]) -> t4 = softmax(f32[4,8]) -> mul(t4:f32[4,8], t3:f32[4,8])");
  EXPECT_EQ(found[1].by[0].inputs, (std::vector<std::string>{"data", "w", "b"}));
  ExpectSameMeaning(graph, Must(WithAlternatives(graph, {found[1]})));
  // A layer after other operators would be tuned once more.
  EXPECT_FALSE(std::any_of(tried.begin(), tried.end(),
                           [](const std::string& text) { return text.find("-> dense") != std::string::npos; }));
}

// A step of the integers in the middle of a group is no error of a float behind it.
TEST(Alternatives, AGroupEndsWhereItQuantisesComputedFloats) {
  const Graph graph = Must(ParseGraph(R"json({"version": 2, "name": "steps", "seed": 1,
      "inputs": [{"name": "data", "shape": [6,8]}], "outputs": ["last"],
      "parameters": [{"name": "s", "shape": [1], "init": "values", "values": [0.1]},
                     {"name": "z", "type": "u8", "shape": [1], "init": "values", "values": [3]}],
      "nodes": [{"name": "first", "workload": "sigmoid(f32[6,8])", "inputs": ["data"]},
                {"name": "q", "workload": "quantise(f32[6,8], f32[1], u8[1])", "inputs": ["first", "s", "z"]},
                {"name": "d", "workload": "dequantise(u8[6,8], f32[1], u8[1])", "inputs": ["q", "s", "z"]},
                {"name": "last", "workload": "tanh(f32[6,8])", "inputs": ["d"]}]})json",
                                      "g"));
  EXPECT_EQ(Places(FindAlternatives(graph, Workload::Parse)),
            (std::vector<std::vector<std::string>>{{"first", "q"}, {"q", "d", "last"}}));
}

// A reshape costs nothing alone, so it is in the middle of a group or not at all.
TEST(Alternatives, ReshapesCostNothing) {
  const Graph graph = Must(ParseGraph(R"json({"version": 1, "name": "heads", "seed": 1,
      "inputs": [{"name": "data", "shape": [6,8]}], "outputs": ["joined"],
      "parameters": [{"name": "w", "shape": [12,8], "init": "he", "fan_in": 8}],
      "nodes": [{"name": "fc", "workload": "dense(f32[6,8], f32[12,8])", "inputs": ["data", "w"]},
                {"name": "split", "workload": "reshape(f32[6,12], shape=6,3,4)", "inputs": ["fc"]},
                {"name": "heads", "workload": "transpose(f32[6,3,4], perm=1,0,2)", "inputs": ["split"]},
                {"name": "joined", "workload": "reshape(f32[3,6,4], shape=18,4)", "inputs": ["heads"]}]})json",
                                      "g"));
  const auto found = FindAlternatives(graph, Workload::Parse);
  EXPECT_EQ(Places(found), (std::vector<std::vector<std::string>>{{"fc", "split", "heads"}}));
  std::vector<std::string> timed;
  for (const Node* node : NodesToTime(graph, found)) timed.push_back(node->name);
  EXPECT_EQ(timed, (std::vector<std::string>{"fc", "heads"}));
  const auto chosen = Must(ChooseAlternatives(graph, found, [](const Workload& w) -> std::optional<double> {
    if (w.op == "reshape") return std::nullopt;
    return w.chain() ? 2.5 : w.op == "dense" ? 2 : 1;
  }));
  EXPECT_EQ(chosen.taken, (std::vector<size_t>{0}));
  EXPECT_EQ(chosen.alone_seconds, 3);
  EXPECT_EQ(chosen.chosen_seconds, 2.5);
}

TEST(Alternatives, AreFoundWhereANodeHasOneReader) {
  const Graph graph = Network();
  const auto found = FindAlternatives(graph, Legal);
  // conv1's other layout and its pool; the three of the bottleneck, and its last two. Not `project -> second`, whose
  // tensor is read twice, nor `expand -> dw`, which is not a legal chain here. The sum's residual also has two readers.
  EXPECT_EQ(Places(found),
            (std::vector<std::vector<std::string>>{{"r1"}, {"r1", "pool"}, {"re", "rd", "sum"}, {"rd", "sum"}}));
  const Alternative* three = Find(found, {"re", "rd", "sum"});
  ASSERT_NE(three, nullptr);
  ASSERT_EQ(three->by.size(), 1u);
  EXPECT_EQ(three->by[0].name, "sum");
  // Data and parameters of the first, then of the others without the tensors between them, the residual last.
  EXPECT_EQ(three->by[0].inputs.front(), "pool");
  EXPECT_EQ(three->by[0].inputs.back(), "pool");
  EXPECT_EQ(three->by[0].output.shape, (std::vector<int64_t>{1, 8, 6, 6}));
}

TEST(Alternatives, AFirstLayerMayReadBlocksAndBack) {
  const Graph graph = Network();
  const auto found = FindAlternatives(graph, Legal);
  const Alternative* layout = Find(found, {"r1"});
  ASSERT_NE(layout, nullptr);
  ASSERT_EQ(layout->by.size(), 2u);
  EXPECT_EQ(layout->by[0].workload.Text(), "block(f32[1,3,12,12])");
  EXPECT_EQ(layout->by[0].inputs, (std::vector<std::string>{"data"}));
  EXPECT_EQ(layout->by[1].workload.Find("in"), nullptr);
  EXPECT_EQ(layout->by[1].inputs[0], layout->by[0].name);
  const auto blocked = Must(WithAlternatives(graph, {*layout}));
  EXPECT_EQ(blocked.nodes.size(), graph.nodes.size() + 1);
  ExpectSameMeaning(graph, blocked);
  // From there, the way back is an alternative, which removes the transform.
  const auto again = FindAlternatives(blocked, Legal);
  const Alternative* back = Find(again, {"r1"});
  ASSERT_NE(back, nullptr);
  const auto plain = Must(WithAlternatives(blocked, {*back}));
  EXPECT_EQ(plain.nodes.size(), graph.nodes.size());
  EXPECT_EQ(plain.FindNode("r1")->workload, graph.FindNode("r1")->workload);
}

TEST(Alternatives, AGraphWithThemMeansTheSame) {
  const Graph graph = Network();
  const auto found = FindAlternatives(graph, Legal);
  const auto with = Must(WithAlternatives(graph, {*Find(found, {"r1", "pool"}), *Find(found, {"re", "rd", "sum"})}));
  EXPECT_EQ(with.nodes.size(), graph.nodes.size() - 3);
  ExpectSameMeaning(graph, with);
  Graph normal = with;
  ASSERT_TRUE(Normalise(&normal).ok());
  EXPECT_EQ(normal, with);
}

TEST(Alternatives, WhatDoesNotFitIsRefused) {
  const Graph graph = Network();
  const auto found = FindAlternatives(graph, Legal);
  const Alternative three = *Find(found, {"re", "rd", "sum"}), two = *Find(found, {"rd", "sum"});
  const auto message = [&](const std::vector<Alternative>& taken) {
    return WithAlternatives(graph, taken).status().message();
  };
  EXPECT_THAT(message({three, two}), HasSubstr("another one replaces `rd`"));
  Alternative wrong = two;
  wrong.replaces[0] = "nobody";
  EXPECT_THAT(message({wrong}), HasSubstr("no node `nobody`"));
  wrong = two;
  wrong.by.back().name = "other";
  EXPECT_THAT(message({wrong}), HasSubstr("must have the name"));
  wrong = two;
  wrong.by.back().inputs[0] = "nothing";
  EXPECT_THAT(message({wrong}), HasSubstr("nothing"));
}

// Times by hand: each choice follows from two sums.
TEST(Choose, TakesWhatIsLessInSum) {
  const Graph graph = Network();
  const auto found = FindAlternatives(graph, Legal);
  std::map<std::string, double> seconds;
  for (const Node* node : NodesToTime(graph, found)) seconds[node->workload.Text()] = 10;
  for (const Alternative& a : found) {
    for (const Node& node : a.by) seconds[node.workload.Text()] = 100;
  }
  const auto choose = [&] {
    return ChooseAlternatives(graph, found, [&](const Workload& w) -> std::optional<double> {
      auto at = seconds.find(w.Text());
      if (at == seconds.end()) return std::nullopt;
      return at->second;
    });
  };
  const auto taken = [&] {
    const auto chosen = Must(choose());
    std::vector<std::vector<std::string>> places;
    for (const size_t i : chosen.taken) places.push_back(found[i].replaces);
    return places;
  };
  using Lists = std::vector<std::vector<std::string>>;
  EXPECT_EQ(NodesToTime(graph, found).size(), 5u);  // r1, pool, re, rd, sum
  EXPECT_EQ(taken(), Lists{});
  EXPECT_EQ(choose()->alone_seconds, 50);
  EXPECT_EQ(choose()->chosen_seconds, 50);

  const auto text = [&](const Lists::value_type& place) { return Find(found, place)->by.back().workload.Text(); };
  seconds[text({"re", "rd", "sum"})] = 29;  // against 30
  EXPECT_EQ(taken(), (Lists{{"re", "rd", "sum"}}));
  EXPECT_EQ(choose()->chosen_seconds, 49);
  seconds[text({"rd", "sum"})] = 18;  // 10 + 18 against 29
  EXPECT_EQ(taken(), (Lists{{"rd", "sum"}}));
  EXPECT_EQ(choose()->chosen_seconds, 48);
  // The other layout counts only with the cost of its transform.
  seconds[text({"r1"})] = 5;
  seconds["block(f32[1,3,12,12])"] = 5;
  EXPECT_EQ(taken(), (Lists{{"rd", "sum"}}));
  seconds["block(f32[1,3,12,12])"] = 4;
  EXPECT_EQ(taken(), (Lists{{"r1"}, {"rd", "sum"}}));
  // Without a measurement, an alternative takes no part.
  seconds.erase(text({"rd", "sum"}));
  EXPECT_EQ(taken(), (Lists{{"r1"}, {"re", "rd", "sum"}}));
}

}  // namespace
}  // namespace hone::graph
