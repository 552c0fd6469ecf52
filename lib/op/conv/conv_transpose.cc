// conv_transpose2d, conv_transpose3d (x[N,C,..], weight[C,O/groups,K..], stride=, pad=, dilation=, groups=,
// output_pad=0) + epilogue: the gradient of a convolution. Plain.
//
// phase_plane.h describes the computation: "pad" is the plane, "acc" the sums of each phase, and "out" takes its
// elements from there.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "op/conv/conv2d_te.h"
#include "op/conv/phase_plane.h"
#include "op/defined_operator.h"
#include "op/epilogue.h"
#include "op/estimate/parts.h"
#include "op/operators.h"
#include "op/shapes.h"
#include "op/steps.h"
#include "semantics/semantics.h"
#include "semantics/window.h"
#include "target/caches.h"

namespace hone::op {
namespace {

// The sums. Each image, group and phase has `rows` output channels x `columns` of the plane.
struct SumShape {
  int64_t images, groups, phases, rows, columns, channels, taps;  // taps: of all phases
  double WeightBytes() const { return 4 * D(channels * taps * rows); }
};

// A register tile of `rows` output channels x `vectors` along the plane. Threads share tiles of rows, which all phases
// and then the output take from there; or tiles of columns, where the output waits for all.
struct SumTile {
  int64_t rows = 1, vectors = 1;
  bool by_columns = false;
};

// The tile with the fewest estimated cycles of the busiest thread: two multiply-adds and two loads a cycle, four cycles
// until a sum can be added to again, and reading operands again from the cache that holds them.
SumTile BestTile(const SumShape& s, const Target& target) {
  const int64_t threads = std::max(target.threads, 1), vectors = CeilDiv(s.columns, target.FloatLanes());
  const double steps = D(s.channels * s.taps), data = 4 * D(s.channels * s.columns), weights = s.WeightBytes();
  const double all = 4 * D(s.images * s.groups * s.phases * s.rows * s.columns);
  SumTile best;
  double least = INFINITY;
  for (int64_t r = 1; r <= std::min<int64_t>(s.rows, 12); ++r) {
    if (s.groups > 1 && s.rows % r != 0) continue;  // a tile belongs to one group
    for (int64_t v = 1; v <= std::min<int64_t>(vectors, 8) && r * v + v < target.vector_registers; ++v) {
      const int64_t rows = CeilDiv(s.rows, r), columns = CeilDiv(vectors, v);
      const auto step = [&](int64_t width) {  // a vector that is not aligned counts as two loads
        return width == 0 ? 0 : 0.5 + std::max({D(r * width) / 2, D(2 * width + r) / 2, 4.0});
      };
      const double sums = steps * D(rows) * (D(vectors / v) * step(v) + step(vectors % v));
      for (const bool by_columns : {false, true}) {
        const int64_t tasks = by_columns ? columns : rows * (s.rows % r == 0 ? s.images * s.groups : 1);
        const double memory = by_columns ? kCaches.Read(weights * D(columns), weights) + kCaches.Read(2 * all, all)
                                         : kCaches.Read(data * D(rows * s.phases), data);
        const double busiest = D(CeilDiv(tasks, threads) * threads) / D(tasks);
        const double cost = (std::max(sums, memory) + 0.2 * std::min(sums, memory)) * busiest;
        if (cost < least) best = {r, v, by_columns}, least = cost;
      }
    }
  }
  return best;
}

std::vector<std::string> Named(const char* prefix, size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.push_back(prefix + std::to_string(i));
  return names;
}

std::vector<std::string> Joined(std::vector<std::string> names, const std::vector<std::string>& more) {
  names.insert(names.end(), more.begin(), more.end());
  return names;
}

// Channels of a block: its input stays in the first cache for all taps of a phase.
int64_t ChannelsAtATime(int64_t channels) {
  int64_t block = std::min<int64_t>(channels, 16);
  while (channels % block != 0) --block;
  return block < 8 ? channels : block;
}

// A tile reads its weights in order: [group][tile][phase..][block of channels][tap..][channel][row]. If phases have
// unequal numbers of taps, that would store zeros: then [group][tile][tap of the window..][channel][row].
Step StoreWeight(const SumShape& s, const std::vector<PhaseAxis>& axes, int64_t rows) {
  const bool even = std::all_of(axes.begin(), axes.end(), [](const PhaseAxis& a) { return a.kernel % a.step() == 0; });
  const int64_t block = even ? ChannelsAtATime(s.channels) : s.channels;
  std::vector<std::string> parts, taps;
  if (s.groups > 1) parts.push_back(fmt::format("d0/{}", s.channels));
  parts.push_back(fmt::format("d1/{}", rows));
  for (size_t i = 0; i < axes.size(); ++i) {
    if (even) parts.push_back(fmt::format("d{}%{}", 2 + i, axes[i].step()));
    taps.push_back(fmt::format("d{}/{}", 2 + i, even ? axes[i].step() : 1));
  }
  parts.push_back(fmt::format("d0/{}", block));
  if (s.groups > 1) parts.back() += fmt::format("%{}", s.channels / block);
  parts = Joined(parts, taps);
  return Relayout("weight", Joined(parts, {fmt::format("d0%{}", block), fmt::format("d1%{}", rows)}), "weight.packed");
}

// "acc" is computed at `place` of "out", or before it by all threads.
std::vector<Step> SumSteps(const SumShape& s, const SumTile& tile, size_t rank, const std::string& place) {
  const std::vector<std::string> phases = Named("r", rank), taps = Named("t", rank);
  std::vector<std::string> order = Joined({"n", "g", "o.o"}, phases);
  order.insert(tile.by_columns ? order.begin() : order.end(), "f.o");
  std::vector<Step> steps = {CacheWrite("acc", "register", "acc.sums"), Split("acc", "o", {tile.rows}, {"o.o", "o.i"}),
                             Split("acc", "f", {tile.vectors}, {"f.o", "f.i"}),
                             Reorder("acc", Joined(order, {"o.i", "f.i", "v"}))};
  steps.push_back(tile.by_columns ? Parallel("acc", "f.o") : ComputeAt("acc", "out", place));
  const int64_t block = ChannelsAtATime(s.channels), unroll = block % 2 == 0 ? 2 : 1;
  Append(&steps,
         {Vectorize("acc", "v"), Unroll("acc", "o.i"), Unroll("acc", "f.i"), ComputeAt("acc.sums", "acc", order.back()),
          Split("acc.sums", "c", {block / unroll, unroll}, {"c.o", "c.m", "c.i"}),
          Reorder("acc.sums",
                  Joined(Joined(Joined({"c.o"}, taps), {"c.m", "c.i", "n", "g"}), Joined(phases, {"o", "f", "v"}))),
          Vectorize("acc.sums", "v")});
  AppendUnrolls(&steps, "acc.sums", {"o", "f", "c.i"});
  if (s.WeightBytes() > kCaches.l2_bytes / 2) steps.push_back(Prefetch("acc.sums", "weight.packed", "c.m", 2048));
  return steps;
}

// "pad": the plane of each image and channel.
Tensor MakePlane(const PhasePlane& p, const Tensor& data) {
  const std::vector<int64_t>& in = data.shape();
  return te::Compute("pad", {in[0], in[1], p.size()}, {"n", "c", "l"}, [&](const Vars& x) {
    std::vector<Expr> at(in.size(), x[0]);
    at[1] = x[1];
    Expr rest = x[2], inside;
    for (size_t i = p.axes.size(); i-- > 0;) {
      const PhaseAxis& a = p.axes[i];
      const Expr place = i > 0 ? rest % a.pitch : rest - p.front;
      inside = WithinExtent(place, i > 0 ? 0 : -p.front, i > 0 ? a.pitch - 1 : p.rows - 1 - p.front, a.size, inside);
      at[2 + i] = place + a.start;
      rest = rest / a.pitch;
    }
    return ZeroOutside(inside, data(at));
  });
}

// "acc" [n, group, phase.., o, f, v]: the sums of a phase at place f * lanes + v of the plane.
Tensor MakeSums(const PhasePlane& p, const SumShape& s, const Tensor& plane, const Tensor& weight, int64_t lanes) {
  const size_t rank = p.axes.size();
  const std::vector<std::string> taps = Named("t", rank);
  std::vector<int64_t> shape = {s.images, s.groups};
  std::vector<ir::IterVar> reduce;
  for (size_t i = 0; i < rank; ++i) {
    shape.push_back(p.axes[i].phases);
    reduce.push_back(te::ReduceAxis(p.axes[i].taps, taps[i]));
  }
  shape.insert(shape.end(), {s.rows, p.outputs / lanes, lanes});
  reduce.push_back(te::ReduceAxis(s.channels, "c"));
  return te::Compute("acc", shape, Joined(Joined({"n", "g"}, Named("r", rank)), {"o", "f", "v"}), [&](const Vars& x) {
    const Expr channel = x[1] * s.channels + reduce.back().var;
    Expr exists, place = x[3 + rank] * lanes + x[4 + rank] + p.front * p.stride[0];
    std::vector<Expr> tap = {channel, x[2 + rank]};
    for (size_t i = 0; i < rank; ++i) {
      const Expr phase = x[2 + i], t = reduce[i].var;
      exists = BothOf(exists, p.axes[i].Exists(phase, t));
      place = place + p.axes[i].Place(phase, t) * p.stride[i];
      tap.push_back(p.axes[i].Tap(phase, t));
    }
    return te::Sum(ZeroOutside(exists, plane(x[0], channel, place) * weight(tap)), reduce);
  });
}

// The sum of an element of the output [n, o, x0, ..].
Expr SumAt(const PhasePlane& p, const SumShape& s, const Tensor& acc, const Vars& x, int64_t lanes) {
  const size_t rank = p.axes.size();
  std::vector<Expr> at = {x[0], x[1] / s.rows};
  Expr place = Expr(0);
  for (size_t i = 0; i < rank; ++i) {
    at.push_back(x[2 + i] % p.axes[i].stride);
    place = place + x[2 + i] / p.axes[i].stride * p.stride[i];
  }
  at.insert(at.end(), {x[1] % s.rows, place / lanes, place % lanes});
  // Vectors along the last axis: it chooses among those of its phases. As an index, the phase would be another place
  // for each lane.
  constexpr int64_t kMostVectors = 4;
  Expr value = acc(at);
  if (p.axes.back().phases > kMostVectors) return value;
  const Expr phase = at[1 + rank];
  for (int64_t r = 0; r < p.axes.back().phases; ++r) {
    at[1 + rank] = r;
    value = r == 0 ? acc(at) : ir::MakeSelect(ir::Eq(phase, r), acc(at), value);
  }
  return value;
}

Result<FixedKernel> BuildTransposed(const Workload& w, const Target& target) {
  const int64_t groups = semantics::Whole(w, "groups", 1), lanes = target.FloatLanes();
  const std::vector<int64_t>&in = w.inputs[0].shape, shape = semantics::InferOutput(w)->shape;
  const semantics::Window win = *semantics::TransposedWindowOf(w);
  const PhasePlane p = PhasePlane::Of(win, lanes);
  SumShape s{in[0], groups, 1, w.inputs[1].shape[1], p.outputs, in[1] / groups, semantics::Product(win.kernel)};
  for (const PhaseAxis& a : p.axes) s.phases *= a.phases;
  const Tensor weight = te::Placeholder("weight", w.inputs[1].shape);
  const Tensor data = te::Placeholder("data", p.as_it_is ? std::vector<int64_t>{in[0], in[1], p.outputs} : in);
  const Tensor acc = MakeSums(p, s, p.as_it_is ? data : MakePlane(p, data), weight, lanes);
  const EpilogueTensors epilogue = MakeEpilogueTensors(w, shape, shape[1], 0);
  const std::vector<std::string> spatial = Named("x", win.rank());
  const Tensor out = te::Compute("out", shape, Joined({"n", "o"}, spatial), [&](const Vars& x) {
    return PlainEpilogue(w, epilogue, SumAt(p, s, acc, x, lanes), x);
  });
  FixedKernel kernel{{epilogue.After({data, weight}), {out}}, {}};

  const SumTile tile = BestTile(s, target);
  std::vector<Step> steps = {Split("out", "o", {tile.rows}, {"o.o", "o.i"})};
  std::vector<std::string> order = {"o.o", "n", "o.i"};
  for (size_t i = 0; i + 1 < win.rank(); ++i) {
    const std::string position = spatial[i] + ".m", phase = spatial[i] + ".r";
    steps.push_back(Split("out", spatial[i], {win.stride[i]}, {position, phase}));
    order = Joined(order, {position, phase});
  }
  Append(&steps, {Split("out", spatial.back(), {lanes}, {"v.o", "v.i"}), Reorder("out", Joined(order, {"v.o", "v.i"})),
                  Vectorize("out", "v.i")});
  // A loop in which a tail begins must not be fused with others, or lowering could not cut the tail off.
  const bool whole = shape[1] % tile.rows == 0;
  if (whole) steps.push_back(Fuse("out", {"o.o", "n"}, "task"));
  steps.push_back(Parallel("out", whole ? "task" : "o.o"));
  steps.push_back(StoreWeight(s, p.axes, tile.rows));
  Append(&steps, SumSteps(s, tile, win.rank(), whole ? "task" : "n"));
  if (!p.as_it_is) {
    std::vector<int64_t> pitches;
    for (size_t i = 1; i < p.axes.size(); ++i) pitches.push_back(p.axes[i].pitch);
    Append(&steps, {Split("pad", "l", pitches, Named("l", win.rank())), Fuse("pad", {"n", "c"}, "task"),
                    Parallel("pad", "task")});
  }
  kernel.steps = std::move(steps);
  return kernel;
}

}  // namespace

std::vector<const Operator*> TransposedConvOperators() {
  return {
      new FixedOperator("conv_transpose2d", 3, BuildTransposed),  // never destroyed
      new FixedOperator("conv_transpose3d", 3, BuildTransposed),
  };
}

}  // namespace hone::op
