// max_pool2d(f32[N,C,H,W], kernel=KHxKW, stride=1x1, pad=0,0,0,0, dilation=1x1, ceil_mode=0), avg_pool2d (also
// count_include_pad=0), and the same for [N,C,D,H,W]: max_pool3d, avg_pool3d. Blocked. lib/semantics/windows.cc has the
// definition.
//
// OH = floor((H + top + bottom - KH) / stride) + 1; with ceil_mode=1 it is rounded up, but a window that would start in
// the padding behind the input is dropped. pad < kernel, so that every window contains an element. An average divides
// by the number of elements inside the input, or with count_include_pad=1 inside the padded input.
#include "op/defined_operator.h"
#include "op/knobs.h"
#include "op/operators.h"
#include "op/plain_te.h"
#include "op/pool/pool_te.h"
#include "op/shapes.h"
#include "op/steps.h"
#include "semantics/semantics.h"
#include "semantics/window.h"

namespace hone::op {

constexpr int64_t kUnrolledWindow = 160;  // limit of window columns x pixels of a tile to unroll

// A task is some rows of one block of channels. A window's columns are unrolled, and its rows are a loop, so that
// positions outside the input cost nothing: the tiles at the left and right border have separate code, and rows above
// and below are skipped. A window too wide for that needs a test for each element.
static Result<FixedKernel> BuildPool(const Workload& w, const Target& target) {
  const std::vector<int64_t>& in = w.inputs[0].shape;
  const semantics::Window window = *semantics::WindowOf(w);
  const int lanes = target.ChannelBlock();
  Tensor data = te::Placeholder("data", BlockedShape(in, lanes));
  PoolStages stages = MakePoolStages(w, data, "", "out");
  FixedKernel kernel{{{data}, {stages.out}}, {}};
  const bool deep = window.rank() == 3;
  const int64_t height = window.out[window.rank() - 2], width = window.out.back();
  const int64_t images = in[0] * CeilDiv(in[1], lanes) * (deep ? window.out[0] : 1);
  const int64_t rows = CeilDiv(height, images >= int64_t{2} * target.threads ? 1 : 2 * target.threads);
  const int64_t tile = EvenParts(width, 8).front();
  std::vector<std::string> outer = {"n", "co"}, order = {"kh", "kw", "ow", "ci"};
  if (deep) outer.push_back("od"), order.insert(order.begin(), "kd");
  outer.push_back("oh.o");
  kernel.steps = {
      Split("out", "oh", {rows}, {"oh.o", "oh.i"}),
      Split("out", "ow", {tile}, {"ow.o", "ow.i"}),
      Fuse("out", outer, "task"),
      Parallel("out", "task"),
      Vectorize("out", "ci"),
      Unroll("out", "ow.i"),
      ComputeAt("acc", "out", "ow.o"),
      SetScope("acc", "register"),
      Reorder("acc", order),
      Vectorize("acc", "ci"),
      Unroll("acc", "ow"),
  };
  if (window.kernel.back() * tile <= kUnrolledWindow) kernel.steps.push_back(Unroll("acc", "kw"));
  if (stages.columns.defined()) kernel.steps.push_back(ComputeAt("columns", "out", "task"));
  return kernel;
}

// global_avg_pool, global_max_pool (f32[N,C,..]) -> [N,C,1,..], any rank from 3; blocked with four or five axes. A NaN
// makes its channel's maximum NaN.
static Result<FixedKernel> BuildGlobalPool(const Workload& w, const Target& target) {
  const std::vector<int64_t>& in = w.inputs[0].shape;
  const int lanes = target.ChannelBlock();
  const int64_t pixels = semantics::Product(in, 2, in.size());
  const bool plain = semantics::InputLayout(w, 0) == Layout::kPlain;
  ReduceAxes axes{{in[0] * in[1], pixels}, {false, true}};
  if (!plain) axes = {{in[0] * CeilDiv(in[1], lanes), pixels, lanes}, {false, true, false}};
  const Tensor data = te::Placeholder("data", axes.extents);
  const auto read = [&](const std::vector<Expr>& at) { return data(at); };
  if (w.op == "global_max_pool") return FixedKernel{{{data}, {ReduceOver("out", ir::Reducer::kMax, axes, read)}}, {}};
  const Tensor sum = ReduceOver("sum", ir::Reducer::kSum, axes, read);
  const Tensor out = ElementWise("out", axes.Kept(), [&](const std::vector<Expr>& at) {
    return sum(at) * Float(1.0 / static_cast<double>(pixels));
  });
  return FixedKernel{{{data}, {out}}, {}};
}

std::vector<const Operator*> PoolOperators() {
  return {
      new FixedOperator("max_pool2d", 2, BuildPool),  // never destroyed
      new FixedOperator("avg_pool2d", 2, BuildPool),
      new FixedOperator("max_pool3d", 2, BuildPool),
      new FixedOperator("avg_pool3d", 2, BuildPool),
      new SketchedOperator("global_avg_pool", 3, BuildGlobalPool),
      new SketchedOperator("global_max_pool", 4, BuildGlobalPool),
  };
}

}  // namespace hone::op
