#include <fmt/format.h>

#include "base/text.h"
#include "common/expect.h"
#include "graph/graph.h"
#include "graph/networks.h"
#include "graph/normalise.h"

namespace hone::graph {
namespace {

const char* const kGood = R"json({"version": 1, "name": "tiny", "seed": 1,
  "inputs": [{"name": "data", "shape": [1,3,4,4]}], "outputs": ["r"],
  "parameters": [{"name": "w", "shape": [2,3,1,1], "init": "he", "fan_in": 3}],
  "nodes": [{"name": "c", "workload": "conv2d(f32[1,3,4,4], f32[2,3,1,1])", "inputs": ["data", "w"]},
            {"name": "r", "workload": "relu(f32[1,2,4,4])", "inputs": ["c"]}]})json";

TEST(GraphJson, BuiltInNetworksRoundTrip) {
  for (const std::string& name : NetworkNames()) {
    for (bool normal : {false, true}) {
      Graph graph = *BuildNetwork(name, 2);
      if (normal) graph.layout = Layout::kChannelsLast;
      if (normal) {
        ASSERT_TRUE(Normalise(&graph).ok());
      }
      EXPECT_TRUE(Must(ParseGraph(GraphText(graph), "x")) == graph);
    }
  }
}

TEST(GraphJson, NodesMayStandInAnyOrder) {
  std::string text = kGood;
  EXPECT_EQ(Must(ParseGraph(text, "g")).nodes[1].name, "r");
}

TEST(GraphJson, MistakesAreNamed) {
  // A change to the good text, and part of the expected message.
  struct {
    const char *from, *to, *expected;
  } const table[] = {
      {"\"version\": 1", "\"version\": 3", "version 3"},
      {"\"name\": \"data\",", "\"name\": \"data\", \"type\": \"f16\",",
       "f16[1,3,4,4]; f32, u8, i8 and i32 are supported"},
      {"\"version\": 1", "\"version\": 0", "/version"},
      {"\"seed\": 1,", "", "/seed: missing"},
      {"\"seed\": 1", "\"sead\": 1", "/seed: missing"},
      {"\"seed\": 1,", "\"seed\": 1, \"output\": 3,", "did you mean `outputs`"},
      {"\"tiny\"", "\"../tiny\"", "/name"},
      {"\"seed\": 1,", "\"seed\": 1, \"layout\": \"nwhc\",", "/layout: `nwhc` is no layout; did you mean `nhwc`?"},
      {"relu(f32[1,2,4,4])", "relo(f32[1,2,4,4])", "did you mean `relu`"},
      {"relu(f32[1,2,4,4])", "relu(f32[1,2,4,5])", "must be f32[1,2,4,5], but `c` is f32[1,2,4,4]"},
      {"relu(f32[1,2,4,4])", "relu(f32[1,2,4,4]", "/nodes/1/workload"},
      {"relu(f32[1,2,4,4])", "max_pool2d(f32[1,2,4,4], kernel=9x9)", "no output"},
      {"f32[2,3,1,1])", "f32[2,4,1,1])", "do not fit with groups=1"},
      {"[\"data\", \"w\"]", "[\"data\", \"v\"]", "no tensor `v`"},
      {"[\"data\", \"w\"]", "[\"dota\", \"w\"]", "did you mean `data`"},
      {"[\"data\", \"w\"]", "[\"data\"]", "takes 2 operands, found 1"},
      {"[\"c\"]", "[\"r\"]", "cycle"},
      {"[\"r\"]", "[\"x\"]", "output `x`"},
      {"[\"r\"]", "[\"r\", \"r\"]", "stands twice"},
      {"[\"r\"]", "[]", "no output"},
      {"\"name\": \"w\"", "\"name\": \"c\"", "two tensors are named `c`"},
      {"\"he\"", "\"hee\"", "expected he, uniform, constant"},
      {"\"fan_in\": 3", "\"fan_in\": 0", "fan_in"},
      {"\"fan_in\": 3", "\"fan_in\": 3.5", "expected an integer"},
      {"[2,3,1,1], \"init\"", "[2,3,0,1], \"init\"", "/parameters/0/shape"},
      {"\"he\", \"fan_in\": 3", "\"fold_weight\", \"from\": [\"a\",\"b\",\"c\"], \"epsilon\": 1e-5",
       "not a parameter listed before"},
      {"\"he\", \"fan_in\": 3", "\"slice\", \"from\": [\"a\"], \"begin\": [0,0,0,0]", "not a parameter listed before"},
      {"\"fan_in\": 3}",
       R"("fan_in": 3}, {"name": "v", "shape": [2,3,1,1], "init": "slice", "from": ["w"], "begin": [0,0,1,0]})",
       "not a part of its source `w`"},
      {"\"he\", \"fan_in\": 3", "\"slice\", \"from\": [], \"begin\": [0,0,0,0]", "takes 1 source"},
      {"[1,3,4,4]}", "[1,3,4000000000,4000000000]}", "too large"},
      {"\"seed\": 1,", "\"seed\": 1, \"plugins\": [{\"file\": \"/x.so\", \"digest\": \"0\"}],",
       "plugins are not loaded"},
  };
  for (const auto& row : table) {
    ASSERT_THAT(std::string(kGood), HasSubstr(row.from)) << row.from;
    auto graph = ParseGraph(ReplaceAll(kGood, row.from, row.to), "g.json");
    ASSERT_FALSE(graph.ok()) << row.to;
    EXPECT_THAT(graph.status().message(), HasSubstr(row.expected)) << row.to << " gave: ";
    EXPECT_EQ(graph.status().message().rfind("g.json", 0), 0u) << graph.status().message();
    EXPECT_THAT(graph.status().message(), Not(HasSubstr("\n")));
  }
}

// Element types, and values in the file, make it version 2; version 1 is written without them.
TEST(GraphJson, HasElementTypes) {
  const std::string text = R"json({"version": 2, "name": "bytes", "seed": 1,
    "inputs": [{"name": "x", "type": "u8", "shape": [1,2]}], "outputs": ["y"],
    "parameters": [{"name": "w", "type": "i8", "shape": [1,2], "init": "values", "values": [3, -200]},
                   {"name": "m", "shape": [1], "init": "constant", "value": 0.5},
                   {"name": "l", "type": "i8", "shape": [3], "init": "values", "values": [1, -128, 127]}],
    "nodes": [{"name": "y", "workload": "dense(u8[1,2], i8[1,2]) + requant(i8)", "inputs": ["x", "w", "m", "l"]}]})json";
  const Graph graph = Must(ParseGraph(text, "g"));
  EXPECT_EQ(graph.FindType("y")->Text(), "i8[1,1]");
  EXPECT_TRUE(Must(ParseGraph(GraphText(graph), "g")) == graph);
  EXPECT_THAT(GraphText(graph), HasSubstr("\"version\": 2"));
  EXPECT_THAT(GraphText(Must(ParseGraph(kGood, "g"))), HasSubstr("\"version\": 1"));
  EXPECT_EQ(Must(MakeParameters(graph, nullptr)).at("w").Doubles(), std::vector<double>({3, -128}));
  std::string few = text;
  few.replace(few.find("[3, -200]"), 9, "[3]");
  EXPECT_THAT(ParseGraph(few, "g").status().message(),
              HasSubstr("parameter `w`: i8[1,2] has 2 elements, but there are 1"));
}

// Limits are checked before allocating: 2 GiB per tensor, 16 GiB of parameters.
TEST(GraphJson, SizesHaveLimits) {
  const auto dense = [](int64_t units, int more) {
    std::string others;
    for (int i = 0; i < more; ++i) {
      others += fmt::format(R"(, {{"name": "p{}", "shape": [67108864,8], "init": "constant", "value": 0}})", i);
    }
    return ParseGraph(fmt::format(R"json({{"version": 1, "name": "big", "seed": 1,
      "inputs": [{{"name": "data", "shape": [1,8]}}], "outputs": ["d"],
      "parameters": [{{"name": "w", "shape": [{0},8], "init": "he", "fan_in": 8}}{1}],
      "nodes": [{{"name": "d", "workload": "dense(f32[1,8], f32[{0},8])", "inputs": ["data", "w"]}}]}})json",
                                  units, others),
                      "g.json");
  };
  EXPECT_TRUE(dense(67108864, 7).ok()) << dense(67108864, 7).status().message();
  for (const int64_t units : {int64_t{67108865}, int64_t{134217728}}) {
    const auto one = dense(units, 0);
    EXPECT_THAT(one.status().message(), HasSubstr("parameter `w`: f32["));
    EXPECT_THAT(one.status().message(), HasSubstr("2 GiB"));
  }
  const auto sum = dense(8, 8);
  EXPECT_THAT(sum.status().message(), HasSubstr("parameter `p7`: with it"));
}

}  // namespace
}  // namespace hone::graph
