#include "op/pool/pool.h"

#include "op/defined_operator.h"
#include "op/knobs.h"
#include "op/pool/pool_shape.h"
#include "op/pool/pool_te.h"
#include "op/shapes.h"

namespace hone::op {
namespace {

using te::Tensor;

constexpr int64_t kUnrolledWindow = 160;  // window columns x pixels of a tile that are written out

// One task is some rows of one block of channels. A window's columns are written out, and its rows are a loop, so that
// positions outside the input cost nothing: the tiles at the left and right border are code of their own, and rows
// above and below are left out. A window too wide for that is gone through with a test an element.
Result<Instance> BuildPool(const Workload& w, const Target& target) {
  PoolShape s = PoolShape::Of(w);
  int lanes = target.FloatLanes();
  int64_t blocks = CeilDiv(s.c, lanes);
  Tensor data = te::Placeholder("data", {s.n, blocks, s.h, s.w, lanes});
  PoolStages stages = MakePoolStages(w, data, "", "out");
  const Tensor& out = stages.out;
  Instance instance;
  instance.outputs = {out};
  instance.args = {data, out};
  instance.placeholders = {data};
  int64_t rows = CeilDiv(s.oh, s.n * blocks >= 2 * target.threads ? 1 : 2 * target.threads);
  int64_t tile = EvenParts(s.ow, 1, 8).front();
  instance.steps = {
      Split("out", "oh", {rows}, {"oh.o", "oh.i"}),
      Split("out", "ow", {tile}, {"ow.o", "ow.i"}),
      Fuse("out", {"n", "co", "oh.o"}, "task"),
      Parallel("out", "task"),
      Vectorize("out", "ci"),
      Unroll("out", "ow.i"),
      ComputeAt("acc", "out", "ow.o"),
      SetScope("acc", "register"),
      Reorder("acc", {"kh", "kw", "ow", "ci"}),
      Vectorize("acc", "ci"),
      Unroll("acc", "ow"),
  };
  if (s.kw * tile <= kUnrolledWindow) instance.steps.push_back(Unroll("acc", "kw"));
  if (stages.columns.defined()) instance.steps.push_back(ComputeAt("columns", "out", "task"));
  return instance;
}

}  // namespace

const Operator& MaxPool2d() {
  static const FixedOperator op("max_pool2d", 2, BuildPool);
  return op;
}
const Operator& AvgPool2d() {
  static const FixedOperator op("avg_pool2d", 2, BuildPool);
  return op;
}

}  // namespace hone::op
