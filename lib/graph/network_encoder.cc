// One layer of a transformer's encoder: Vaswani et al.: "Attention is all you need", 2017, with its layer norms behind
// the additions (post-norm), and gelu in the feed-forward part, as BERT-base has it (Devlin et al.: "BERT: pre-training
// of deep bidirectional transformers for language understanding", 2018) and PyTorch's TransformerEncoderLayer with
// activation="gelu".

#include <fmt/format.h>

#include <cmath>

#include "graph/network_builder.h"

namespace hone::graph {
namespace {

constexpr int64_t kHeads = 12, kWidth = 768, kHeadWidth = kWidth / kHeads;

// Rows are the tokens of all sequences: dense layers and norms need nothing else.
class Encoder {
 public:
  Encoder(int64_t batch, int64_t length)
      : net_(length == 128 ? "encoder" : fmt::format("encoder-{}", length), 1), batch_(batch), length_(length) {}

  Graph Build() {
    const std::string data = net_.Input("data", {batch_, length_, kWidth});
    std::string x = net_.Op("tokens", "reshape", {data}, {Numbers("shape", {batch_ * length_, kWidth})});
    x = Norm("norm1", net_.Add("add1", net_.Dense("output", Attention(x), kWidth), x));
    const std::string wide = net_.Unary("gelu", "gelu", net_.Dense("feed1", x, 4 * kWidth));
    x = Norm("norm2", net_.Add("add2", net_.Dense("feed2", wide, kWidth), x));
    return net_.Finish({net_.Op("encoded", "reshape", {x}, {Numbers("shape", {batch_, length_, kWidth})})});
  }

 private:
  static Attribute Numbers(const char* name, std::vector<int64_t> values) { return {name, std::move(values), ',', ""}; }

  std::string Norm(const std::string& name, const std::string& x) {
    net_.Parameter(name + ".scale", {kWidth}, {.kind = InitKind::kUniform, .low = 0.8, .high = 1.2});
    net_.Parameter(name + ".bias", {kWidth}, {.kind = InitKind::kUniform, .low = -0.2, .high = 0.2});
    return net_.Op(name, "layer_norm", {x, name + ".scale", name + ".bias"});
  }

  // The heads of a dense layer, with the axes (sequence, token, head, channel) in the order `perm`.
  std::string Heads(const std::string& name, const std::string& x, std::vector<int64_t> perm) {
    const std::string split =
        net_.Op(name + ".split", "reshape", {x}, {Numbers("shape", {batch_, length_, kHeads, kHeadWidth})});
    return net_.Op(name + ".heads", "transpose", {split}, {Numbers("perm", std::move(perm))});
  }

  // softmax(q k^T / sqrt(width of a head)) v. Like PyTorch, scales q, which is smaller than the product.
  std::string Attention(const std::string& x) {
    const double root = std::sqrt(static_cast<double>(kHeadWidth));
    net_.Parameter("scale", {1}, {.kind = InitKind::kConstant, .low = 1 / root});
    std::string q = net_.Op("query.scaled", "mul", {net_.Dense("query", x, kWidth), "scale"});
    q = Heads("query", q, {0, 2, 1, 3});
    const std::string k = Heads("key", net_.Dense("key", x, kWidth), {0, 2, 3, 1});
    const std::string v = Heads("value", net_.Dense("value", x, kWidth), {0, 2, 1, 3});
    const std::string weights = net_.Unary("weights", "softmax", net_.Op("scores", "matmul", {q, k}));
    const std::string mixed = net_.Op("mixed", "matmul", {weights, v});
    const std::string rows = net_.Op("mixed.tokens", "transpose", {mixed}, {Numbers("perm", {0, 2, 1, 3})});
    return net_.Op("mixed.joined", "reshape", {rows}, {Numbers("shape", {batch_ * length_, kWidth})});
  }

  NetworkBuilder net_;
  int64_t batch_, length_;
};

}  // namespace

Graph BuildEncoder(int64_t batch, int64_t length) { return Encoder(batch, length).Build(); }

}  // namespace hone::graph
