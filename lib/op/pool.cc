#include "op/pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "op/knobs.h"
#include "op/pool_shape.h"
#include "op/pool_te.h"
#include "op/shapes.h"
#include "op/simple_operator.h"

namespace hone::op {
namespace {

using te::Tensor;

constexpr int64_t kUnrolled = 160;  // window columns x pixels of a tile that are written out

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
  if (s.kw * tile <= kUnrolled) instance.steps.push_back(Unroll("acc", "kw"));
  if (stages.columns.defined()) instance.steps.push_back(ComputeAt("columns", "out", "task"));
  return instance;
}

class PoolOperator final : public SimpleOperator {
 public:
  explicit PoolOperator(const char* name)
      : SimpleOperator(name, 2, BuildPool), max_(name == std::string("max_pool2d")) {}

  Status Check(const Workload& w) const override {
    HONE_RETURN_IF_ERROR(CheckInputs(w, 1));
    HONE_RETURN_IF_ERROR(CheckRank(w, 0, 4));
    std::vector<std::string> known = {"kernel", "stride", "pad", "dilation", "ceil_mode"};
    if (!max_) known.push_back("count_include_pad");
    HONE_RETURN_IF_ERROR(CheckAttributeNames(w, known));
    if (!w.Find("kernel")) return Status::Invalid(w.op + ": `kernel` is missing, for example kernel=3x3");
    HONE_RETURN_IF_ERROR(CheckNumbers(w, "kernel", 2, 1, 1 << 16));
    HONE_RETURN_IF_ERROR(CheckNumbers(w, "stride", 2, 1, 1 << 16));
    HONE_RETURN_IF_ERROR(CheckNumbers(w, "pad", 4, 0, 1 << 16));
    HONE_RETURN_IF_ERROR(CheckNumbers(w, "dilation", 2, 1, 1 << 16));
    HONE_RETURN_IF_ERROR(CheckNumbers(w, "ceil_mode", 1, 0, 1));
    HONE_RETURN_IF_ERROR(CheckNumbers(w, "count_include_pad", 1, 0, 1));
    HONE_RETURN_IF_ERROR(CheckNoEpilogue(w));
    PoolShape s = PoolShape::Of(w);
    if (std::max(s.pt, s.pb) > (s.kh - 1) * s.dh || std::max(s.pl, s.pr) > (s.kw - 1) * s.dw) {
      return Status::Invalid(w.op + ": the padding must be smaller than the kernel");
    }
    return CheckOutput(w, {s.n, s.c, s.oh, s.ow});
  }
  Workload Canonical(const Workload& w) const override {
    Workload c{w.op, w.inputs, {}, {}};
    AddCanonical(&c, "kernel", ExpandedNumbers(w, "kernel", 2, 1), 'x', -1);
    AddCanonical(&c, "stride", ExpandedNumbers(w, "stride", 2, 1), 'x', 1);
    AddCanonical(&c, "pad", ExpandedNumbers(w, "pad", 4, 0), ',', 0);
    AddCanonical(&c, "dilation", ExpandedNumbers(w, "dilation", 2, 1), 'x', 1);
    AddCanonical(&c, "ceil_mode", ExpandedNumbers(w, "ceil_mode", 1, 0), ',', 0);
    AddCanonical(&c, "count_include_pad", ExpandedNumbers(w, "count_include_pad", 1, 0), ',', 0);
    return c;
  }
  TensorType OutputType(const Workload& w) const override {
    PoolShape s = PoolShape::Of(w);
    return {w.inputs[0].type, {s.n, s.c, s.oh, s.ow}};
  }

 protected:
  double FlopPerOutput(const Workload& w) const override {
    PoolShape s = PoolShape::Of(w);
    return static_cast<double>(s.kh * s.kw);
  }
  std::vector<double> Evaluate(const Workload& w, const std::vector<std::vector<double>>& inputs) const override {
    PoolShape s = PoolShape::Of(w);
    std::vector<double> out;
    for (int64_t plane = 0; plane < s.n * s.c; ++plane) {
      const double* in = inputs[0].data() + plane * s.h * s.w;
      for (int64_t y = 0; y < s.oh; ++y) {
        for (int64_t x = 0; x < s.ow; ++x) out.push_back(Window(s, in, y * s.sh - s.pt, x * s.sw - s.pl));
      }
    }
    return out;
  }

 private:
  double Window(const PoolShape& s, const double* in, int64_t y0, int64_t x0) const {
    double sum = 0, most = -std::numeric_limits<double>::infinity();
    int64_t count = 0;
    for (int64_t y = y0; y < y0 + s.kh * s.dh; y += s.dh) {
      for (int64_t x = x0; x < x0 + s.kw * s.dw; x += s.dw) {
        bool inside = y >= 0 && y < s.h && x >= 0 && x < s.w;
        count += inside || (s.include_pad && y < s.h + s.pb && x < s.w + s.pr);
        if (!inside) continue;
        sum += in[y * s.w + x];
        const double value = in[y * s.w + x];
        if (std::isnan(value) || value > most) most = value;  // and a NaN stays
      }
    }
    return max_ ? most : sum / static_cast<double>(count);
  }

  bool max_;
};

}  // namespace

const Operator& MaxPool2d() {
  static const PoolOperator op("max_pool2d");
  return op;
}
const Operator& AvgPool2d() {
  static const PoolOperator op("avg_pool2d");
  return op;
}

}  // namespace hone::op
