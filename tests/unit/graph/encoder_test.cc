// The built-in encoder against its paper's formulas, written out here.
#include <cmath>

#include "base/rng.h"
#include "common/expect.h"
#include "graph/networks.h"
#include "graph/normalise.h"
#include "graph/reference.h"
#include "semantics/semantics.h"

namespace hone::graph {
namespace {

constexpr size_t kWidth = 768, kHeads = 12, kHeadWidth = 64;
using Rows = std::vector<std::vector<double>>;

class Paper {
 public:
  explicit Paper(const ParameterValues& values) : values_(values) {}

  Rows Encode(const Rows& x) const {
    const Rows q = Dense("query", x), k = Dense("key", x), v = Dense("value", x);
    Rows mixed(x.size(), std::vector<double>(kWidth));
    for (size_t head = 0; head < kHeads; ++head) {
      for (size_t i = 0; i < x.size(); ++i) Mix(q, k, v, i, head * kHeadWidth, &mixed[i]);
    }
    const Rows y = Norm("norm1", Sum(Dense("output", mixed), x));
    Rows wide = Dense("feed1", y);
    for (auto& row : wide) {
      for (double& value : row) value = 0.5 * value * (1 + std::erf(value / std::sqrt(2.0)));
    }
    return Norm("norm2", Sum(Dense("feed2", wide), y));
  }

 private:
  static void Mix(const Rows& q, const Rows& k, const Rows& v, size_t i, size_t from, std::vector<double>* to) {
    std::vector<double> weights;
    double all = 0;
    for (const auto& key : k) {
      double score = 0;
      for (size_t c = from; c < from + kHeadWidth; ++c) score += q[i][c] * key[c];
      weights.push_back(std::exp(score / std::sqrt(static_cast<double>(kHeadWidth))));
      all += weights.back();
    }
    for (size_t j = 0; j < v.size(); ++j) {
      for (size_t c = from; c < from + kHeadWidth; ++c) (*to)[c] += weights[j] / all * v[j][c];
    }
  }

  std::span<const float> Values(const std::string& name) const { return values_.at(name).as<float>(); }

  Rows Dense(const std::string& name, const Rows& x) const {
    const auto weight = Values(name + ".weight"), bias = Values(name + ".bias");
    Rows out;
    for (const auto& row : x) {
      out.emplace_back();
      for (size_t unit = 0; unit < bias.size(); ++unit) {
        double sum = bias[unit];
        for (size_t c = 0; c < row.size(); ++c) sum += row[c] * weight[unit * row.size() + c];
        out.back().push_back(sum);
      }
    }
    return out;
  }

  static Rows Sum(Rows a, const Rows& b) {
    for (size_t i = 0; i < a.size(); ++i) {
      for (size_t c = 0; c < kWidth; ++c) a[i][c] += b[i][c];
    }
    return a;
  }

  Rows Norm(const std::string& name, Rows x) const {
    const auto scale = Values(name + ".scale"), bias = Values(name + ".bias");
    for (auto& row : x) {
      double mean = 0, variance = 0;
      for (double value : row) mean += value / kWidth;
      for (double value : row) variance += (value - mean) * (value - mean) / kWidth;
      for (size_t c = 0; c < kWidth; ++c) {
        row[c] = (row[c] - mean) / std::sqrt(variance + 1e-5) * scale[c] + bias[c];
      }
    }
    return x;
  }

  const ParameterValues& values_;
};

std::map<std::string, TensorData> RandomInput(const Graph& graph) {
  TensorData data(graph.inputs[0].type);
  Rng rng(3);
  for (float& v : data.as<float>()) v = static_cast<float>(rng.UniformDouble() * 2 - 1);
  return {{"data", data}};
}

void ExpectNear(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], expected[i], 1e-10) << i;
}

TEST(Encoder, ComputesThePapersFormulasForEachSequence) {
  const Graph graph = Must(BuildNetwork("encoder-3", 2));
  const ParameterValues values = Must(MakeParameters(graph, nullptr));
  const auto input = RandomInput(graph);
  const auto& data = input.at("data").as<float>();
  std::vector<double> expected;
  for (size_t sequence = 0; sequence < 2; ++sequence) {
    Rows x;
    for (size_t token = 0; token < 3; ++token) {
      const auto begin = data.begin() + static_cast<ptrdiff_t>((sequence * 3 + token) * kWidth);
      x.emplace_back(begin, begin + kWidth);
    }
    for (const auto& row : Paper(values).Encode(x)) expected.insert(expected.end(), row.begin(), row.end());
  }
  ExpectNear(Must(RunReference(graph, values, input, 2)).at("encoded"), expected);
}

TEST(Encoder, PassesKeepTheMeaning) {
  const Graph graph = Must(BuildNetwork("encoder-5", 1));
  Graph normalised = graph;
  Must(Normalise(&normalised));
  const auto input = RandomInput(graph);
  ExpectNear(Must(RunReference(normalised, Must(MakeParameters(normalised, nullptr)), input, 2)).at("encoded"),
             Must(RunReference(graph, Must(MakeParameters(graph, nullptr)), input, 2)).at("encoded"));
}

// BERT-base has 7,087,872 parameters a layer. A token meets each weight of a dense layer once, and all tokens twice.
TEST(Encoder, HasTheSizeOfALayerOfBert) {
  for (const auto& [name, length] : {std::pair{"encoder", 128}, {"encoder-197", 197}, {"encoder-1", 1}}) {
    const Graph graph = Must(BuildNetwork(name, 1));
    EXPECT_EQ(graph.name, name);
    EXPECT_EQ(graph.inputs[0].type.shape, (std::vector<int64_t>{1, length, 768}));
    EXPECT_EQ(graph.FindType(graph.outputs[0])->shape, (std::vector<int64_t>{1, length, 768}));
    int64_t parameters = 0, weights = 0;
    for (const Parameter& p : graph.parameters) {
      parameters += p.name == "scale" ? 0 : p.type.Elements();
      weights += p.type.shape.size() == 2 ? p.type.Elements() : 0;
    }
    EXPECT_EQ(parameters, 7087872);
    double flop = 0;
    for (const Node& node : graph.nodes) {
      if (node.workload.op == "matmul") flop += semantics::Flop(node.workload);
    }
    EXPECT_EQ(flop, 2.0 * 2 * length * length * 768);
    EXPECT_EQ(weights, 7077888);
  }
  EXPECT_EQ(Must(BuildNetwork("encoder-128", 1)), Must(BuildNetwork("encoder", 1)));
}

TEST(Encoder, HasEightKernelsWithChoices) {
  Graph graph = Must(BuildNetwork("encoder", 1));
  Must(Normalise(&graph));
  std::map<std::string, int> uses;
  for (const Node& node : graph.nodes) ++uses[node.workload.Text()];
  const std::map<std::string, int> expected = {{"dense(f32[128,768], f32[768,768]) + bias", 3},
                                               {"dense(f32[128,768], f32[768,768]) + bias + add", 1},
                                               {"dense(f32[128,768], f32[3072,768]) + bias", 1},
                                               {"dense(f32[128,3072], f32[768,3072]) + bias + add", 1},
                                               {"matmul(f32[1,12,128,64], f32[1,12,64,128])", 1},
                                               {"matmul(f32[1,12,128,128], f32[1,12,128,64])", 1},
                                               {"softmax(f32[1,12,128,128])", 1},
                                               {"layer_norm(f32[128,768], f32[768], f32[768])", 2}};
  for (const auto& [text, count] : expected) EXPECT_EQ(uses[text], count) << text;
  // Nothing else multiplies more than element by element; `block` would copy.
  for (const auto& [text, count] : uses) {
    if (expected.count(text)) continue;
    const std::string op = text.substr(0, text.find('('));
    EXPECT_TRUE(op == "gelu" || op == "mul" || op == "reshape" || op == "transpose") << text;
  }
}

TEST(Encoder, WrongLengthsAreRefused) {
  for (const char* name : {"encoder-0", "encoder-4097", "encoder-", "encoder-x", "encoder-0128", "encoder--1"}) {
    const std::string message = CheckNetworkName(name).message();
    EXPECT_EQ(message,
              std::string("no built-in network `") + name + "`; the length in `encoder-LENGTH` must be from 1 to 4096");
    EXPECT_EQ(BuildNetwork(name, 1).status().message(), message);
  }
  EXPECT_TRUE(BuildNetwork("encoder-4096", 1).ok());
  EXPECT_THAT(BuildNetwork("encoder-4096", 3).status().message(), HasSubstr("more than 2^29 elements"));
  EXPECT_THAT(CheckNetworkName("encoder128").message(), HasSubstr("did you mean `encoder`"));
}

}  // namespace
}  // namespace hone::graph
