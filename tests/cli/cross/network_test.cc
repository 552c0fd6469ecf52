// Networks that are built here for AArch64: they compute the right values there.
#include "base/json.h"
#include "base/rng.h"
#include "cross_folder.h"
#include "graph/network_builder.h"
#include "quantise/samples.h"

namespace hone {
namespace {

// A residual block, a depthwise convolution, two branches, a pool, a classifier; 3x3 convolutions that Winograd takes.
graph::Graph Small() {
  graph::NetworkBuilder net("small", 3);
  std::string x = net.Relu("stem.relu", net.ConvBn("stem", net.Input("data", {1, 3, 17, 15}), 20, {{3}, {2}, {1}}));
  x = net.Relu("block", net.Add("sum", net.ConvBn("side", x, 20, {{3}, {1}, {1}}), x));
  x = net.Relu("depthwise", net.ConvBn("dw", x, 20, {{3}, {1}, {1}}, 20));
  const std::string a = net.Relu("a.relu", net.ConvBn("a", x, 5, {}));
  x = net.Concat("joined", {a, net.Relu("b.relu", net.ConvBn("b", x, 6, {}))});
  x = net.Unary("gap", "global_avg_pool", net.MaxPool("pool", x, {{2}, {2}, {0}}));
  return net.Finish({net.Dense("fc", net.Unary("flat", "flatten", x), 7)});
}

class CrossNetwork : public CrossFolder {};

TEST_F(CrossNetwork, Float32IsRightWithAnyNumberOfThreads) {
  Write("small.json", graph::GraphText(Small()));
  const CommandResult built = ExpectOk(Build("small", "a53"));
  ExpectHas(built.err, {"1 kernel with a residual", "not asked", "libnet.so: "});
  const std::string one = Outputs("small.a53", "cortex-a53", 1);
  EXPECT_LT(Verify("small.a53", one), 2e-5);
  for (const int threads : {2, 3}) EXPECT_EQ(Outputs("small.a53", "cortex-a53", threads), one) << threads;
  // It needs no version of the C library, and nothing else.
  const std::string dynamic = RunOk({"readelf", "-dV", "small.a53/libnet.so"});
  ExpectHas(dynamic, {"No version information"});
  Words needed;
  for (const std::string& line : Split(dynamic, '\n')) {
    if (line.find("(NEEDED)") != std::string::npos) needed.push_back(SplitWords(line).back());
  }
  EXPECT_EQ(needed, (Words{"[libc.so.6]", "[libpthread.so.0]"}));
}

// Integers have one right value, whatever the machine, its instructions and the number of threads.
TEST_F(CrossNetwork, IntegersAreTheBytesOfX86) {
  Write("float.json", graph::GraphText(Small()));
  Write("here.json", "{\"kind\": \"cpu\", \"threads\": 2}");
  Rng rng(5);
  std::vector<float> values(4 * 3 * 17 * 15);
  for (float& v : values) v = static_cast<float>(rng.UniformDouble() * 2 - 1);
  Write("data.npy", quantise::NpyText({4, 3, 17, 15}, values));
  ExpectOk(Run({Tool("hone-quantise"), "--network", "float.json", "--target", "here.json", "--data", "data.npy",
                "--graph", "bytes.json", "--parameters", "bytes.params", "--report", "report.json"}));
  graph::Graph graph = Must(graph::ReadGraph(Path("bytes.json"), nullptr));
  int products = 0;
  for (const graph::Node& node : graph.nodes) {
    if (node.output.type.is_float() || graph.outputs[0] == node.name) continue;
    // Behind it, bytes are made of floats.
    if (node.name.find("gap") != std::string::npos || node.name.find("flat") != std::string::npos) continue;
    if (node.name.find("fc") != std::string::npos) continue;
    products += node.workload.op == "conv2d";
    graph.outputs.push_back(node.name);
  }
  EXPECT_GE(products, 5);
  std::erase(graph.outputs, "fc");
  Write("bytes.json", graph::GraphText(graph));
  const Words parameters = {"--parameter-file", "bytes.params"};
  ExpectOk(Build("bytes", "here", parameters));
  const std::string expected = Outputs("bytes.here", "", 2);
  for (const auto& [target, cpu] : {std::pair("a53", "cortex-a53"), std::pair("a76", "max")}) {
    ExpectOk(Build("bytes", target, parameters));
    for (const int threads : {1, 2, 3}) {
      const std::string folder = std::string("bytes.") + target;
      EXPECT_EQ(Outputs(folder, cpu, threads), expected) << target << " " << threads;
    }
  }
}

TEST_F(CrossNetwork, CreateReportsACpuWithoutTheFeatures) {
  Write("small.json", graph::GraphText(Small()));
  ExpectOk(Build("small", "a76"));
  EXPECT_EQ(ReadJson("small.a76/manifest.json")["checked_cpu_features"], (Words{"dotprod", "fullfp16"}));
  const CommandResult without = RunLibrary("small.a76", "cortex-a53", 1);
  EXPECT_EQ(without.status.code, HONE_NET_E_CPU);
  ExpectHas(without.err, {"this CPU or operating system lacks instructions"});
  EXPECT_LT(Verify("small.a76", Outputs("small.a76", "max", 2)), 2e-5);
}

// They need neither compiler nor emulator.
class CrossTools : public CrossFolder {
 protected:
  void SetUp() override { WriteTarget("a53", "cortex-a53", 2); }
  const Words reason_ = {"this machine is x86_64 and cannot run code for aarch64; run this on such a machine"};
};

TEST_F(CrossTools, RefuseFirstWhereTheyRunCode) {
  Write("small.json", graph::GraphText(Small()));
  ExpectOk(Run({Tool("hone-extract"), "--network", "small.json", "--target", "a53.json", "--graph", "g.json", "--tasks",
                "tasks.json", "--task-dir", "tasks"}));
  const std::string task = ReadJson("tasks.json")["tasks"][0]["id"].get<std::string>();
  Write("tune.json", R"({"version": 1, "trials": 2})");
  const std::string before = Snapshot(".");
  ExpectRefused(Run({Tool("hone-tune"), "--task", "tasks/" + task + ".task.json", "--db", "db/t.db", "--settings",
                     "tune.json", "--stamp", "t.stamp"}),
                2, reason_);
  ExpectRefused(Run({Tool("hone-quantise"), "--network", "small.json", "--target", "a53.json", "--graph", "q.json",
                     "--parameters", "q.params", "--report", "q.report"}),
                2, reason_);
  ExpectRefused(Run({Tool("hone-confirm"), "--graph", "g.json", "--target", "a53.json", "--best", "best.json", "--out",
                     "out.json", "--choice", "choice.json"}),
                2, reason_);
  EXPECT_EQ(Snapshot("."), before);
}

TEST_F(CrossNetwork, HoneBenchRefusesWhatCannotRunHere) {
  Write("small.json", graph::GraphText(Small()));
  Write("here.json", "{\"kind\": \"cpu\", \"threads\": 2}");
  ExpectOk(Build("small", "a53"));
  ExpectOk(Build("small", "here"));
  const std::string before = Snapshot(".");
  const std::string reason = "small.a53: this machine is x86_64 and cannot run code for aarch64";
  ExpectRefused(Run({Tool("hone-bench"), "--lib", "small.a53", "--out", "bench.json"}), 2, {reason});
  ExpectRefused(Run({Tool("hone-bench"), "--lib", "small.here", "--baseline", "small.a53"}), 2, {reason});
  EXPECT_EQ(Snapshot("."), before);
}

// examples/deploy_c with the cross compiler.
TEST_F(CrossNetwork, TheExampleIsCrossBuilt) {
  Write("small.json", graph::GraphText(Small()));
  ExpectOk(Build("small", "a53"));
  RunOk({"make", "-f", std::string(HONE_SOURCE_DIR) + "/examples/deploy_c/Makefile", "LIB=small.a53", "NET=net",
         "OUT=deploy", "CC=aarch64-linux-gnu-gcc"});
  const std::string outputs = Outputs("small.a53", "cortex-a53", 2);
  std::vector<float> scores(7);
  std::memcpy(scores.data(), outputs.data(), outputs.size());
  const long best = std::max_element(scores.begin(), scores.end()) - scores.begin();
  const CommandResult top = Emulate("cortex-a53", {Path("deploy"), "small.a53/net.params", "inputs"});
  EXPECT_TRUE(StartsWith(ExpectOk(top).out, fmt::format("1. class {},", best))) << top.out;
}

}  // namespace
}  // namespace hone
