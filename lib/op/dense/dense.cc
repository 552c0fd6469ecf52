// dense(f32[N,K], f32[M,K]) + epilogue: out[n,m] = sum over k of data[n,k] * weight[m,k]; everything plain.
//
// Template dense_packed: weights packed as [M / (vectors*lanes)][K][vectors*lanes], so that each task reads one stream:
// with few rows of data the layer is bound by memory. Knobs: vectors (of outputs in a tile), tile_n (rows of data in a
// tile), k_parts (independent partial sums), unroll_k, prefetch (bytes ahead; 0 = none), task (tiles per task), ahead
// (with several rows and at least 1 MB of weights; "task": the next task's weights are fetched into the second-level
// cache while these are used). All rows use a tile of weights before the next is read. Rules: registers, code size, k
// parts, task, parallel, prefetch.
#include "op/gpu/dense.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "op/defined_operator.h"
#include "op/epilogue.h"
#include "op/estimate/parts.h"
#include "op/knobs.h"
#include "op/layer_template.h"
#include "op/operators.h"
#include "op/product.h"
#include "op/shapes.h"
#include "op/steps.h"

namespace hone::op {
namespace {

struct DenseLayer {
  int64_t n, k, m, lanes;
  int threads, registers;
  int64_t Tiles(int64_t vectors) const { return CeilDiv(m, vectors * lanes); }
  // The parallel loop: tiles of outputs, or tiles of rows if there are more of those. Never both, so that one loop's
  // counter identifies a short tile.
  bool by_rows() const { return n > m; }
  // Whether there are enough rows to hide the loading of weights, and enough weights to need it.
  bool far() const { return n > 1 && !by_rows() && m * k * 4 >= 1 << 20; }

  static DenseLayer Of(const Workload& w, const Target& target);
  Space MakeSpace(const char* name) const;
  Result<Config> Default(const Space& space) const;
  Candidate Build(const Workload& workload, const Target& target, const Config& config) const;
};

DenseLayer DenseLayer::Of(const Workload& w, const Target& target) {
  return {w.inputs[0].shape[0], w.inputs[0].shape[1],        w.inputs[1].shape[0],
          target.FloatLanes(),  std::max(target.threads, 1), target.vector_registers};
}

struct DensePoint {
  int64_t vectors, tile_n, k_parts, unroll_k, prefetch, task;
  bool ahead;
};

DensePoint DensePointOf(const Config& c) {
  return {c.Number("vectors"),
          c.Number("tile_n"),
          c.Number("k_parts"),
          c.Number("unroll_k"),
          c.Number("prefetch"),
          c.Number("task"),
          c.values.back().name == "ahead" && c.Word("ahead") == "task"};
}

double TaskImbalance(const DenseLayer& l, const DensePoint& p) {
  if (l.by_rows()) {
    return Imbalance(CeilDiv(l.n, p.tile_n), static_cast<double>(p.tile_n), static_cast<double>(l.n), l.threads);
  }
  int64_t tiles = l.Tiles(p.vectors);
  return Imbalance(CeilDiv(tiles, p.task), static_cast<double>(p.task), static_cast<double>(tiles), l.threads);
}

std::vector<int64_t> VectorValues(const DenseLayer& l) {
  std::vector<int64_t> values;
  for (int64_t v : {1, 2, 4, 8}) {
    if (v == 1 || v * l.lanes <= RoundUp(l.m, l.lanes)) values.push_back(v);
  }
  return values;
}

Space DenseLayer::MakeSpace(const char* name) const {
  const DenseLayer& l = *this;
  Space space(name);
  space.Add(Knob::Choice("vectors", VectorValues(l)));
  space.Add(Knob::Choice("tile_n", EvenParts(l.n, 14)));
  space.Add(Knob::Choice("k_parts", DivisorsAmong(l.k, {1, 2, 4})));
  space.Add(Knob::Choice("unroll_k", DivisorsAmong(l.k, {1, 2, 4, 8, 16})));
  space.Add(Knob::Choice("prefetch", {0, 1024, 4096}));
  space.Add(Knob::Choice("task", {1, 2, 4, 8}));
  if (l.far()) space.Add(Knob::Words("ahead", {"none", "task"}));
  auto add = [&](const char* name, std::function<Rejection(const DensePoint&)> rule) {
    space.AddRule({name, [rule = std::move(rule)](const Config& c) { return rule(DensePointOf(c)); }});
  };
  add("registers", [l](const DensePoint& p) {
    int64_t need = p.vectors * p.tile_n * p.k_parts + p.vectors + 1;
    return Unless(need <= l.registers, "needs {} of {} registers", need, l.registers);
  });
  add("code size", [](const DensePoint& p) {
    int64_t fmas = p.vectors * p.tile_n * p.unroll_k * p.k_parts;
    return Unless(fmas <= 400, "{} unrolled multiply-adds, at most 400", fmas);
  });
  add("k parts", [l](const DensePoint& p) -> Rejection {
    if (l.k % (p.k_parts * p.unroll_k) != 0) return fmt::format("k={} is not a multiple of k_parts * unroll_k", l.k);
    return {};
  });
  add("task", [l](const DensePoint& p) {
    int64_t outputs = p.task * p.vectors * l.lanes;
    return Unless(p.task == 1 || l.m % outputs == 0, "{} outputs a task do not divide {}", outputs, l.m);
  });
  double best = l.threads;
  for (int64_t v : VectorValues(l)) {
    for (int64_t n : EvenParts(l.n, 14)) best = std::min(best, TaskImbalance(l, {v, n, 1, 1, 0, 1, false}));
  }
  double limit = std::max(1.25, best * 1.02);
  add("parallel", [l, limit](const DensePoint& p) { return TooUneven(TaskImbalance(l, p), limit, l.threads); });
  add("prefetch", [l](const DensePoint& p) {
    return Unless(p.prefetch == 0 || l.m * l.k * 4 >= 1 << 17, "{} KB of weights need none", l.m * l.k * 4 >> 10);
  });
  return space;
}

// Stores "weight" as [tile][k][vectors * lanes], so that a tile reads it in order. If the sums are computed in k_parts
// parts, they run in `part`, and "acc" adds up the parts.
std::vector<Step> DenseSteps(const DenseLayer& l, const DensePoint& p) {
  const int64_t width = p.vectors * l.lanes;
  const std::string packed = "weight.packed", sums = p.k_parts > 1 ? "part" : "acc";
  const std::string place = l.by_rows() ? "m.t" : "n.o";
  std::vector<Step> steps = {
      Relayout("weight", {fmt::format("d0/{}", width), "d1", fmt::format("d0%{}", width)}, packed),
      Split("out", "m", {p.task * width}, {"m.b", "m.r"}),
      Split("out", "m.r", {width}, {"m.t", "m.w"}),
      Split("out", "m.w", {l.lanes}, {"m.v", "m.l"}),
      Split("out", "n", {p.tile_n}, {"n.o", "n.i"}),
      Reorder("out", l.by_rows() ? std::vector<std::string>{"n.o", "m.b", "m.t", "n.i", "m.v", "m.l"}
                                 : std::vector<std::string>{"m.b", "m.t", "n.o", "n.i", "m.v", "m.l"}),
      Parallel("out", l.by_rows() ? "n.o" : "m.b"),
      Vectorize("out", "m.l"),
      Unroll("out", "n.i"),
      Unroll("out", "m.v"),
  };
  std::vector<std::string> unrolled = {"k.i"};
  if (p.k_parts > 1) {
    Append(&steps,
           {Split("acc", "k", {p.k_parts}, {"k.s", "k.p"}), Rfactor("acc", "k.p", "part"),
            ComputeAt("acc", "out", place), SetScope("acc", "register"), Split("acc", "m", {l.lanes}, {"m.v", "m.l"}),
            Reorder("acc", {"k.p", "n", "m.v", "m.l"}), Vectorize("acc", "m.l")});
    AppendUnrolls(&steps, "acc", {"k.p", "n", "m.v"});
    steps.push_back(Split("part", "k.s", {p.unroll_k}, {"k.o", "k.i"}));
    unrolled.push_back("k.p");
  } else {
    steps.push_back(Split("acc", "k", {p.unroll_k}, {"k.o", "k.i"}));
  }
  for (const char* axis : {"n", "m.v"}) unrolled.push_back(axis);
  std::vector<std::string> order = {"k.o"};
  order.insert(order.end(), unrolled.begin(), unrolled.end());
  order.push_back("m.l");
  Append(&steps, {ComputeAt(sums, "out", place), SetScope(sums, "register"),
                  Split(sums, "m", {l.lanes}, {"m.v", "m.l"}), Reorder(sums, order), Vectorize(sums, "m.l")});
  AppendUnrolls(&steps, sums, unrolled);
  if (p.ahead) {
    steps.push_back(Prefetch("out", packed, "m.b", p.task * width * l.k * 4));
    steps.back().values.push_back(2);
  }
  if (p.prefetch > 0) steps.push_back(Prefetch(sums, packed, "k.o", p.prefetch));
  return steps;
}

Result<Config> DenseLayer::Default(const Space& space) const {
  int64_t vectors = 1;
  for (int64_t v : VectorValues(*this)) {
    if (v <= 4 && Tiles(v) >= int64_t{4} * threads) vectors = v;
  }
  int64_t tile_n = EvenParts(n, 6).front();
  // This tile's weights and the next one's share a second-level cache.
  if (far() && VectorValues(*this).size() > 1) vectors = 2, tile_n = EvenParts(n, (registers - 3) / 2).front();
  int64_t parts = tile_n == 1 ? DivisorsAmong(k, {1, 2}).back() : 1;
  return LegalNear(space, {{"vectors", vectors},
                           {"tile_n", tile_n},
                           {"k_parts", parts},
                           {"unroll_k", DivisorsAmong(k / parts, {1, 2, 4}).back()},
                           {"prefetch", int64_t{m * k * 4 >= 1 << 20 ? 4096 : 0}},
                           {"task", int64_t{1}},
                           {"ahead", "task"}});
}

Candidate DenseLayer::Build(const Workload&, const Target&, const Config& config) const {
  return {{}, DenseSteps(*this, DensePointOf(config))};
}

const Template& DensePacked() {
  static const LayerTemplate<DenseLayer> t("dense_packed", 3, &DenseEstimate());
  return t;
}

// "out": the epilogue over the sums.
Result<Computation> ComputeDense(const Workload& w, const Target& target, const Algorithm&) {
  const bool gpu = target.family() == kGpuFamily;
  const std::vector<std::string> axes = {gpu ? "i" : "n", gpu ? "j" : "m"};
  const int64_t n = w.inputs[0].shape[0], k = w.inputs[0].shape[1], m = w.inputs[1].shape[0];
  ProductOperands operands(w, {n, k}, {m, k});
  const EpilogueTensors epilogue = MakeEpilogueTensors(w, {n, m}, m, 0);
  const ir::IterVar r = te::ReduceAxis(k, "k");
  const Tensor sum = te::Compute(gpu ? "sums" : "acc", {n, m}, axes, [&](const Vars& x) {
    return te::Sum(operands.Times(operands.data()(x[0], r.var), operands.weight()(x[1], r.var)), {r});
  });
  const Tensor out = te::Compute("out", {n, m}, axes, [&](const Vars& x) {
    return PlainEpilogue(w, epilogue, operands.LessZero(sum(x[0], x[1]), x[1], m), x);
  });
  return Computation{epilogue.After(operands.inputs()), {out}};
}

}  // namespace

const Operator& Dense() {
  static const TunedOperator op(
      "dense",
      [](const Workload& w, const Target&) {
        return w.inputs[0].type.is_float() ? std::vector<const Template*>{&DensePacked()}
                                           : std::vector<const Template*>();
      },
      [](const Workload& w, const Target&) { return GpuDenseTemplates(w); },
      {{kCpuFamily, {&DensePacked()}}, {kGpuFamily, {&GpuDenseRows(), &GpuDenseLarge(), &GpuDenseSmall()}}},
      {{kCpuFamily, "direct", {}, ComputeDense}, {kGpuFamily, "direct", {}, ComputeDense}});
  return op;
}

}  // namespace hone::op
