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
    ModelMaker m;
    m.Input("x", {2});
    m.Floats("rows", {kMany, 0}, {});
    m.Floats("row", {1, 0}, {});
    m.Floats("few", {kMany - (1 << 24), 0}, {});
    m.Ints("last", {-1});
    m.Ints("first", {INT64_MIN});
    m.Ints("axis", {0});
    m.Ints("back", {-1});
    m.Ints("places", {3, 5});
    m.Ints("shape", {kMany, 0});
    m.Ints("pads", {1 << 24, 0, 0, 0});
    m.Node(row.op, row.inputs, "made");
    m.Node("Size", {"made"}, "count");
    m.Node("Cast", {"count"}, "number").Set("to", pb::TensorProto::FLOAT);
    m.Node("Add", {"x", "number"}, "y");
    m.Output("y");
    const int64_t before = PeakMebibytes();
    const auto model = Must(ImportBytes(m));
    EXPECT_LE(PeakMebibytes() - before, 512);  // a table of the first axis takes 4096
    ASSERT_EQ(model.graph.nodes.size(), 1u);
    EXPECT_EQ(model.values.at(model.graph.nodes[0].inputs[1]).Doubles(), std::vector<double>{0});
  }
}

// 2^29 groups of no channels: each would have a scale.
TEST(EmptyConstant, GroupsOfNoChannelsAreRefused) {
  ModelMaker m(21);
  m.Input("z", {2});
  m.Floats("x", {1, 0, 1}, {});
  m.Floats("scale", {0}, {});
  m.Node("GroupNormalization", {"x", "scale", "scale"}, "made").Set("num_groups", kMany);
  m.Node("Concat", {"z", "made"}, "y");
  m.Output("y");
  EXPECT_EQ(Refusal(m), "node `made_node` (GroupNormalization, opset 21): 536870912 groups do not fit [1,0,1]");
}

}  // namespace
}  // namespace hone::onnx
