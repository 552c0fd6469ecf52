// Szegedy et al.: "Rethinking the Inception architecture for computer vision", 2015, as torchvision's inception_v3 in
// inference (299x299, without the auxiliary classifier).

#include "graph/network_builder.h"

namespace hone::graph {
namespace {

class Inception {
 public:
  explicit Inception(int64_t batch) : net_("inception_v3", 1), batch_(batch) {}

  Graph Build() {
    std::string x = net_.Input("data", {batch_, 3, 299, 299});
    x = Conv("Conv2d_1a_3x3", x, 32, {{3}, {2}});
    x = Conv("Conv2d_2a_3x3", x, 32, {{3}});
    x = Conv("Conv2d_2b_3x3", x, 64, {{3}, {1}, {1}});
    x = net_.MaxPool("maxpool1", x, {{3}, {2}});
    x = Conv("Conv2d_3b_1x1", x, 80, {});
    x = Conv("Conv2d_4a_3x3", x, 192, {{3}});
    x = net_.MaxPool("maxpool2", x, {{3}, {2}});
    x = A("Mixed_5b", x, 32);
    x = A("Mixed_5c", x, 64);
    x = A("Mixed_5d", x, 64);
    x = B("Mixed_6a", x);
    x = C("Mixed_6b", x, 128);
    x = C("Mixed_6c", x, 160);
    x = C("Mixed_6d", x, 160);
    x = C("Mixed_6e", x, 192);
    x = D("Mixed_7a", x);
    x = E("Mixed_7b", x);
    x = E("Mixed_7c", x);
    x = net_.Unary("dropout", "dropout", net_.Unary("avgpool", "global_avg_pool", x));
    return net_.Finish({net_.Dense("fc", net_.Unary("flatten", "flatten", x), 1000)});
  }

 private:
  std::string Conv(const std::string& name, const std::string& data, int64_t channels, const WindowShape& window) {
    return net_.Relu(name + ".relu", net_.BatchNorm(name + ".bn", net_.Conv(name, data, channels, window)));
  }
  // The average counts the padding, as PyTorch's does by default.
  std::string PoolBranch(const std::string& name, const std::string& data, int64_t channels) {
    const std::string pooled = net_.AvgPool(name + ".pool", data, {{3}, {1}, {1}}, {.count_include_pad = true});
    return Conv(name + ".branch_pool", pooled, channels, {});
  }

  std::string A(const std::string& name, const std::string& x, int64_t pool_channels) {
    const std::string one = Conv(name + ".branch1x1", x, 64, {});
    std::string five = Conv(name + ".branch5x5_1", x, 48, {});
    five = Conv(name + ".branch5x5_2", five, 64, {{5}, {1}, {2}});
    std::string three = Conv(name + ".branch3x3dbl_1", x, 64, {});
    three = Conv(name + ".branch3x3dbl_2", three, 96, {{3}, {1}, {1}});
    three = Conv(name + ".branch3x3dbl_3", three, 96, {{3}, {1}, {1}});
    return net_.Concat(name, {one, five, three, PoolBranch(name, x, pool_channels)});
  }

  std::string B(const std::string& name, const std::string& x) {
    const std::string three = Conv(name + ".branch3x3", x, 384, {{3}, {2}});
    std::string twice = Conv(name + ".branch3x3dbl_1", x, 64, {});
    twice = Conv(name + ".branch3x3dbl_2", twice, 96, {{3}, {1}, {1}});
    twice = Conv(name + ".branch3x3dbl_3", twice, 96, {{3}, {2}});
    return net_.Concat(name, {three, twice, net_.MaxPool(name + ".branch_pool", x, {{3}, {2}})});
  }

  std::string C(const std::string& name, const std::string& x, int64_t inner) {
    const WindowShape row = {{1, 7}, {1}, {0, 3}}, column = {{7, 1}, {1}, {3, 0}};
    const std::string one = Conv(name + ".branch1x1", x, 192, {});
    std::string seven = Conv(name + ".branch7x7_1", x, inner, {});
    seven = Conv(name + ".branch7x7_2", seven, inner, row);
    seven = Conv(name + ".branch7x7_3", seven, 192, column);
    std::string twice = Conv(name + ".branch7x7dbl_1", x, inner, {});
    twice = Conv(name + ".branch7x7dbl_2", twice, inner, column);
    twice = Conv(name + ".branch7x7dbl_3", twice, inner, row);
    twice = Conv(name + ".branch7x7dbl_4", twice, inner, column);
    twice = Conv(name + ".branch7x7dbl_5", twice, 192, row);
    return net_.Concat(name, {one, seven, twice, PoolBranch(name, x, 192)});
  }

  std::string D(const std::string& name, const std::string& x) {
    std::string three = Conv(name + ".branch3x3_1", x, 192, {});
    three = Conv(name + ".branch3x3_2", three, 320, {{3}, {2}});
    std::string seven = Conv(name + ".branch7x7x3_1", x, 192, {});
    seven = Conv(name + ".branch7x7x3_2", seven, 192, {{1, 7}, {1}, {0, 3}});
    seven = Conv(name + ".branch7x7x3_3", seven, 192, {{7, 1}, {1}, {3, 0}});
    seven = Conv(name + ".branch7x7x3_4", seven, 192, {{3}, {2}});
    return net_.Concat(name, {three, seven, net_.MaxPool(name + ".branch_pool", x, {{3}, {2}})});
  }

  // The nested concatenations of the original are one here: the channels come in the same order.
  std::string E(const std::string& name, const std::string& x) {
    const WindowShape row = {{1, 3}, {1}, {0, 1}}, column = {{3, 1}, {1}, {1, 0}};
    const std::string one = Conv(name + ".branch1x1", x, 320, {});
    const std::string three = Conv(name + ".branch3x3_1", x, 384, {});
    const std::string three_a = Conv(name + ".branch3x3_2a", three, 384, row);
    const std::string three_b = Conv(name + ".branch3x3_2b", three, 384, column);
    std::string twice = Conv(name + ".branch3x3dbl_1", x, 448, {});
    twice = Conv(name + ".branch3x3dbl_2", twice, 384, {{3}, {1}, {1}});
    const std::string twice_a = Conv(name + ".branch3x3dbl_3a", twice, 384, row);
    const std::string twice_b = Conv(name + ".branch3x3dbl_3b", twice, 384, column);
    return net_.Concat(name, {one, three_a, three_b, twice_a, twice_b, PoolBranch(name, x, 192)});
  }

  NetworkBuilder net_;
  int64_t batch_;
};

}  // namespace

Graph BuildInceptionV3(int64_t batch) { return Inception(batch).Build(); }

}  // namespace hone::graph
