// Constants without elements: a few bytes of a file may declare [2^29,0], and nothing of that size may be allocated.
#include <sys/resource.h>

#include "run_model.h"

namespace hone::onnx {
namespace {

constexpr int64_t kMany = int64_t{1} << 29;

int64_t PeakMebibytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

// y = x + the number of elements that `op` makes from an empty tensor.
TEST(EmptyConstant, OfManyRowsTakesNoMemory) {
  struct Row {
    const char* op;
    std::vector<std::string> inputs;
  };
  const Row rows[] = {
      {"Transpose", {"rows"}},        {"Slice", {"rows", "last", "first", "axis", "back"}},
      {"Gather", {"rows", "places"}}, {"Expand", {"row", "shape"}},
      {"Pad", {"few", "pads"}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.op);
    ModelMaker m = ModelMaker::Parse(R"(
        x[2]; last = {-1}; first = {-9223372036854775808}; axis = {0}; back = {-1}; places = {3, 5};
        shape = {536870912, 0}; pads = {16777216, 0, 0, 0};
        count = Size(made); number = Cast(count) to=1; y = Add(x, number); -> y)");
    m.Floats("rows", {kMany, 0}, {});
    m.Floats("row", {1, 0}, {});
    m.Floats("few", {kMany - (1 << 24), 0}, {});
    m.Node(row.op, row.inputs, "made");
    const int64_t before = PeakMebibytes();
    const auto model = Must(ImportBytes(m));
    EXPECT_LE(PeakMebibytes() - before, 512);  // a table of the first axis takes 4096
    ASSERT_EQ(model.graph.nodes.size(), 1u);
    EXPECT_EQ(model.values.at(model.graph.nodes[0].inputs[1]).Doubles(), std::vector<double>{0});
  }
}

// 2^29 groups of no channels: each would have a scale.
TEST(EmptyConstant, GroupsOfNoChannelsAreRefused) {
  ModelMaker m = ModelMaker::Parse(
      "z[2]; made = GroupNormalization(x, scale, scale) num_groups=536870912; y = Concat(z, made); -> y", 21);
  m.Floats("x", {1, 0, 1}, {});
  m.Floats("scale", {0}, {});
  EXPECT_EQ(Refusal(m), "node `made_node` (GroupNormalization, opset 21): 536870912 groups do not fit [1,0,1]");
}

}  // namespace
}  // namespace hone::onnx
