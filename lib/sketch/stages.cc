#include "sketch/stages.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "arith/linear.h"
#include "base/integers.h"
#include "base/text.h"
#include "search/space/rules.h"
#include "sketch/lines.h"
#include "sketch/stage_cycles.h"
#include "target/caches.h"

namespace hone::sketch {
namespace {

struct Nest {
  const te::TensorNode* stage = nullptr;
  std::vector<ir::IterVar> axes;  // those of extent 1 first, as vectors run along the last one
  int64_t lanes = 1;              // of its vectors
  int64_t rows = 1;               // the product of all axes but the last
  double cycles = 0, again = 0;   // for a vector: with other stages stored, and computed again
  double scattered = 0;           // vectors that are read lane by lane
  double bytes = 0;               // of what it reads

  bool Reduces() const { return !stage->reduce_axes.empty(); }
  int64_t Last() const { return axes.empty() ? 1 : axes.back().extent; }
  int64_t Vectors() const { return CeilDiv(Last(), lanes); }
  bool Tail() const { return Last() % lanes != 0; }
  // Iterations of the reduction.
  int64_t Steps() const {
    int64_t steps = 1;
    for (const ir::IterVar& axis : stage->reduce_axes) steps *= axis.extent;
    return steps;
  }
};

struct Nests {
  te::Tensor output;        // keeps the nodes
  std::vector<Nest> nests;  // each after those that it reads; the output is the last one
  int threads = 1;

  const Nest& out() const { return nests.back(); }
  bool Inner() const {
    return std::any_of(nests.begin(), nests.end() - 1, [](const Nest& n) { return !n.Reduces(); });
  }
  // Whether element-wise stages are computed again in their readers.
  bool Again(const Config& config) const { return Inner() && config.Word("elements") == "again"; }
  // Whether tasks are chunks of the axis before the last one, which is a single vector.
  bool Chunked() const { return out().Vectors() == 1 && out().axes.size() > 1 && Before() > 1; }
  // Even parts, for up to 16 tasks a thread.
  std::vector<int64_t> Chunks() const {
    std::vector<int64_t> chunks = {Before()};
    for (int64_t parts = threads; parts <= 16 * int64_t{threads}; parts *= 2) {
      if (const int64_t chunk = CeilDiv(Before(), parts); chunk < chunks.back()) chunks.push_back(chunk);
    }
    return chunks;
  }
  // Whether tasks are tiles of the last two axes, so that the lines of what is read across are used while they are
  // near.
  bool Tiled() const {
    return out().scattered > 0 && !out().Reduces() && out().Vectors() > 1 && out().axes.size() > 1 && Before() > 1;
  }
  int64_t Before() const { return out().axes[out().axes.size() - 2].extent; }
};

// The number of vectors that are read one lane at a time, as those do not lie side by side.
double Scattered(const Nest& nest) {
  double reads = 0;
  if (nest.axes.empty()) return reads;
  const ir::Var& last = nest.axes.back().var;
  ForEachAccess(*nest.stage, [&](const ir::Access& access) {
    bool scattered = false;
    for (size_t i = 0; i < access.indices.size(); ++i) {
      const int64_t stride = arith::StrideOf(access.indices[i], last).value_or(nest.lanes);
      const bool innermost = i + 1 == access.indices.size();
      scattered = scattered || (stride != 0 && !(innermost && stride == 1));
    }
    reads += scattered;
  });
  return reads;
}

Nests NestsOf(const te::Tensor& output, const Target& target) {
  Nests all{.output = output};
  all.threads = std::max(target.threads, 1);
  StageCycles again;
  for (const te::Tensor& t : te::TopologicalOrder({output})) {
    const te::TensorNode& node = *t.node();
    if (!IsStage(node)) continue;
    Nest nest{&node, node.axes};
    std::ranges::stable_partition(nest.axes, [](const ir::IterVar& axis) { return axis.extent == 1; });
    for (const te::Tensor& read : te::InputsOf(t)) nest.bytes += 4 * Real(ElementsOf(read.shape()));
    nest.lanes = target.FloatLanes();
    while (nest.lanes > nest.Last()) nest.lanes /= 2;
    nest.rows = ElementsOf(t.shape()) / nest.Last();
    nest.scattered = Scattered(nest);
    nest.cycles = StageCycles().Of(node);
    nest.again = again.Of(node);
    if (!nest.Reduces()) again.Set(node.name, nest.again);
    all.nests.push_back(nest);
  }
  return all;
}

struct NestCycles {
  double work = 0, shared = 0;  // of one core for everything; of the busiest thread
};

// A nest's loops at a point. Each fused axis costs a division an iteration.
NestCycles CyclesOf(const Nests& all, const Nest& nest, const Config& config) {
  constexpr double kLaunch = 2500, kRound = 1.5, kFused = 8;
  const bool is_out = &nest == &all.out(), again = all.Again(config);
  const std::string threads = config.Word("threads");
  const int64_t width = is_out ? config.Number("vectors") : 1;
  const int64_t rounds = nest.rows * CeilDiv(nest.Vectors(), width);
  // A lane is near if its line was used by the row before.
  const bool near = !all.Tiled() || !is_out || config.Number("tile") > 1;
  const double vector = (again ? nest.again : nest.cycles) + nest.scattered * Real(nest.lanes) * (near ? 1 : 2);
  double compute = Real(rounds) * (kRound + Real(width * nest.Steps()) * vector);
  const double elements = Real(ElementsOf(nest.stage->shape));
  const double memory = kCaches.Read(nest.bytes, nest.bytes) + 2 * kCaches.Read(4 * elements, 4 * elements);
  int64_t pieces = nest.rows;
  if (is_out && (all.Chunked() || all.Tiled())) {
    const int64_t part = config.Number(all.Tiled() ? "tile" : "chunk");
    pieces = nest.rows / all.Before() * CeilDiv(all.Before(), part);
  } else if (threads == "vectors" && (nest.rows == 1 || !nest.Tail())) {
    pieces = rounds;
    compute += kFused * Real(rounds) * Real(std::ssize(nest.axes) - 1);
  }
  const double work = std::max(compute, memory) + 0.2 * std::min(compute, memory);
  if (threads == "all" || nest.axes.empty()) return {work, work};
  return {work, work * search::Imbalance(pieces, 1, Real(pieces), all.threads) / all.threads + kLaunch};
}

std::vector<double> StageCost(const Nests& all, const Config& config) {
  const bool again = all.Again(config);
  NestCycles sum;
  for (const Nest& nest : all.nests) {
    if (again && !nest.Reduces() && &nest != &all.out()) continue;
    const NestCycles cycles = CyclesOf(all, nest, config);
    sum.work += cycles.work, sum.shared += cycles.shared;
  }
  return {std::log(sum.shared), std::log(sum.work)};
}

class NestLines : LineWriter {
 public:
  NestLines(const Nests& nests, Sketch* sketch) : LineWriter(sketch), all_(nests) {}

  void AddAll() {
    if (When("elements", "again")) {
      for (size_t i = 0; i + 1 < all_.nests.size(); ++i) {
        if (!all_.nests[i].Reduces()) Add("inline {}", all_.nests[i].stage->name);
      }
    }
    for (const Nest& nest : all_.nests) {
      Always();
      const bool element = !nest.Reduces() && &nest != &all_.out();
      if (!element || When("elements", "stored")) AddNest(nest);
    }
  }

 private:
  void AddNest(const Nest& nest) {
    const std::string& name = nest.stage->name;
    if (nest.axes.empty()) return;
    Names outer = NamesOf(nest.axes);
    const std::string last = outer.back();
    outer.pop_back();
    const bool is_out = &nest == &all_.out();
    const std::string sums = name + ".sums";
    if (nest.Reduces()) Add("cache_write {} register -> {}", name, sums);
    if (NamesOf(nest.stage->axes) != NamesOf(nest.axes)) Add("reorder {} {}", name, Join(NamesOf(nest.axes), " "));
    Add("split {0} {1} [{2},{3}] -> {1}.o {1}.v {1}.i", name, last, is_out ? "{vectors}" : "1", nest.lanes);
    Add("unroll {} {}.v", name, last);
    Add("vectorize {} {}.i", name, last);
    const std::string vectors = last + ".o";
    if (is_out && (all_.Chunked() || all_.Tiled())) {
      const std::string rows = outer.back();
      Add("split {0} {1} [{{{2}}}] -> {1}.o {1}.i", name, rows, all_.Tiled() ? "tile" : "chunk");
      if (all_.Tiled()) Add("reorder {0} {1}.o {2}.o {1}.i {2}.v {2}.i", name, rows, last);
      outer.back() += ".o";
    }
    const std::vector<Condition> always = conditions_;
    if (When("threads", "rows")) Share(name, outer);
    conditions_ = always;
    if (When("threads", "vectors")) {
      Names both = outer;
      both.push_back(vectors);
      Share(name, nest.Tail() && nest.rows > 1 ? outer : both);
    }
    conditions_ = always;
    if (nest.Reduces()) AddSums(nest, sums, vectors);
  }

  // Threads share the fused loops.
  void Share(const std::string& name, const Names& loops) {
    if (loops.empty()) return;
    if (loops.size() > 1) Add("fuse {} {} -> task", name, Join(loops, " "));
    Add("parallel {} {}", name, loops.size() > 1 ? "task" : loops[0]);
  }

  void AddSums(const Nest& nest, const std::string& sums, const std::string& vectors) {
    const std::string& name = nest.stage->name;
    Names order = NamesOf(nest.axes);
    const std::string last = order.back();
    order.pop_back();
    for (const ir::IterVar& axis : nest.stage->reduce_axes) order.push_back(axis.var.name());
    Add("split {0} {1} [{2}] -> {1}.v {1}.i", sums, last, nest.lanes);
    order.push_back(last + ".v");
    order.push_back(last + ".i");
    Add("reorder {} {}", sums, Join(order, " "));
    Add("unroll {} {}.v", sums, last);
    Add("vectorize {} {}.i", sums, last);
    // The loop over vectors may be part of a fused one.
    const std::vector<Condition> always = conditions_;
    const bool fused = !(nest.Tail() && nest.rows > 1);
    for (const std::string& shared : Values("threads", "all")) {
      conditions_ = always;
      When("threads", shared);
      const bool in_task = shared == "vectors" && fused;
      Add("compute_at {} {} {}", sums, name, in_task && nest.axes.size() > 1 ? "task" : vectors);
    }
    conditions_ = always;
  }

  const Nests& all_;
};

}  // namespace

Sketch StageNests(const te::Tensor& output, const Target& target) {
  const Nests all = NestsOf(output, target);
  const Nest& out = all.out();
  Sketch sketch;
  sketch.name = "stages";
  const auto numbers = [&](const char* name, std::vector<int64_t> values) {
    sketch.decisions.push_back(search::Knob::Choice(name, std::move(values)));
  };
  numbers("vectors", search::NoLarger(out.Vectors(), {1, 2, 4}));
  Names threads = {"all"};
  if (all.threads > 1) threads = all.Chunked() || all.Tiled() ? Names{"rows", "all"} : Names{"rows", "vectors", "all"};
  sketch.decisions.push_back(search::Knob::Words("threads", threads));
  if (all.Chunked()) numbers("chunk", all.Chunks());
  if (all.Tiled()) numbers("tile", search::NoLarger(all.Before(), {1, 8, 16, 32}));
  if (all.Inner())
    sketch.decisions.push_back(
        search::Knob::Words("elements", MayComputeAgain(output) ? Names{"stored", "again"} : Names{"stored"}));
  NestLines(all, &sketch).AddAll();
  sketch.cost = [all](const Config& config) { return StageCost(all, config); };
  return sketch;
}

}  // namespace hone::sketch
