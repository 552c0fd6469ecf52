#include "op/conv/conv2d_winograd.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "op/conv/conv2d_winograd_space.h"
#include "op/conv/conv2d_winograd_te.h"
#include "op/defined_operator.h"
#include "op/epilogue.h"
#include "op/estimate/parts.h"
#include "op/layer_template.h"
#include "op/numerics.h"
#include "op/shapes.h"
#include "op/steps.h"
#include "semantics/window.h"

namespace hone::op {
namespace {

// Transforms with more elements go through memory between their two halves: registers cannot hold them, and loops make
// a quarter of the code.
constexpr int64_t kElementsInRegisters = 16;

constexpr int64_t kNearBytes = 4096;  // ahead, into the first-level cache
constexpr int64_t kFarBytes = 32768;  // ahead, into the second-level cache; with less, the core waits for memory

class Scheduler {
 public:
  Scheduler(const WinogradLayer& l, const WinogradPoint& p)
      : l_(l), p_(p), k_(l.Tiles(p.m)), rolled_(k_.both() && k_.ah * k_.aw > kElementsInRegisters) {}

  std::vector<Step> Steps() {
    Weights();
    Tasks();
    Outputs();
    Products();
    Inputs();
    return std::move(steps_);
  }

 private:
  void Add(const std::vector<Step>& steps) { Append(&steps_, steps); }

  // [i][j][tile of output channels][p][q][ic][ocv * lanes], or with the tile first: one stream per register tile.
  void Weights() {
    const int64_t width = p_.ocv * l_.lanes;
    const std::string tile = fmt::format("d5/{}", width);
    std::vector<std::string> parts = {"d0", "d1", "d2", "d3", "d4", fmt::format("d5%{}", width)};
    parts.insert(parts.begin() + (p_.by_channel ? 0 : 2), tile);
    Add({Relayout("weight.transformed", parts, "weight.packed")});
    // Stores its source in the same way, so that vectors stay vectors.
    Add({Relayout("weight.taps", {fmt::format("d3/{}", width), "d0", "d1", "d2", fmt::format("d3%{}", width)},
                  "weight.taps.packed")});
  }

  void Tasks() {
    Add({Split("out", "oh", {k_.mh / l_.pool}, {"ty", "y"}), Split("out", "ow", {k_.mw / l_.pool}, {"tx", "x"}),
         Split("out", "oco", {p_.oc_block}, {"oco.b", "oco.r"}), Split("out", "oco.r", {p_.ocv}, {"oco.o", "oco.i"}),
         Reorder("out", {"n", "ty", "tx", "oco.b", "oco.o", "oco.i", "y", "x", "oci"}),
         Fuse("out", {"n", "ty", "tx"}, "t"), Split("out", "t", {p_.block}, {"t.b", "t.i"}),
         Reorder("out", {"t.b", "oco.b", "oco.o", "t.i", "oco.i", "y", "x", "oci"}),
         Fuse("out", {"t.b", "oco.b"}, "task"), Parallel("out", "task"), Vectorize("out", "oci")});
    if (k_.count % p_.block != 0) {
      // Fused loops keep their extents, and a test skips missing tiles: the last task needs no code of its own.
      Add({Fuse("out", {"t.i", "oco.i"}, "tile.loop")});
      tile_loop_ = "tile.loop";
    }
  }

  void Outputs() {
    const bool along_h = k_.aw == 1;
    if (l_.MakesTiles(p_.m)) {  // computes the whole tile, and stores the existing part
      Add({Fuse("out", {"y", "x"}, "yx")});
      std::string place = tile_loop_;
      if (along_h) {
        Add({Unroll("out", "yx")});
      } else {
        Add({Split("out", "yx", {k_.mw / l_.pool}, {"yx.y", "yx.x"}), Unroll("out", "yx.x")});
        if (!rolled_) Add({Unroll("out", "yx.y")});
        if (rolled_) place = "yx.y";
      }
      Add({ComputeAt("tile", "out", place), SetScope("tile", "register"), Vectorize("tile", "ci")});
    }
    const char* stage = l_.MakesTiles(p_.m) ? "tile" : "out";
    if (!rolled_ || along_h || l_.pool > 1) Add({Unroll(stage, "y")});
    Add({Unroll(stage, "x")});
    if (!k_.both()) return;
    Add({ComputeAt("mrow", "out", tile_loop_), SetScope("mrow", rolled_ ? "scratch" : "register")});
    if (!rolled_) Add({Unroll("mrow", "j")});
    Add({Reorder("mrow", {"j", "co", "t", "y", "ci"}), Unroll("mrow", "y"), Vectorize("mrow", "ci")});
  }

  void Products() {
    Add({ComputeAt("m", "out", p_.by_channel ? "oco.o" : "task"), AlignElements("m"),
         Split("m", "co", {p_.ocv}, {"co.o", "co.i"}), Split("m", "t", {p_.tiles}, {"t.o", "t.i"}),
         Reorder("m", {"i", "j", "co.o", "t.o", "t.i", "co.i", "ci"}), Vectorize("m", "ci")});
    AppendUnrolls(&steps_, "m", {"t.i", "co.i"});
    Add({ComputeAt("acc", "m", "t.o"), SetScope("acc", "register"),
         Split("acc", "ii", {p_.UnrollIc()}, {"ii.o", "ii.i"}),
         Reorder("acc", {"i", "j", "p", "q", "io", "ii.o", "ii.i", "t", "co", "ci"}), Vectorize("acc", "ci")});
    AppendUnrolls(&steps_, "acc", {"ii.i", "t", "co"});
    if (p_.prefetch == WinogradPrefetch::kNear) Add({Prefetch("acc", "weight.packed", "ii.o", kNearBytes)});
    if (p_.prefetch == WinogradPrefetch::kFar) {
      // The elements form one stream: while all tiles use the weights of one, those of a later one are fetched.
      const int64_t element = l_.ic_blocks * k_.sh * k_.sw * l_.lanes * p_.ocv * l_.lanes * 4;
      Add({Prefetch("m", "weight.packed", "co.o", RoundUp(kFarBytes, element))});
      steps_.back().values.push_back(2);
    }
  }

  void Inputs() {
    const bool along_h = k_.aw == 1;
    Add({ComputeAt("v", "out", "task"), AlignElements("v"), Reorder("v", {"co", "p", "q", "t", "i", "j", "ci"}),
         Vectorize("v", "ci")});
    if (!rolled_ || along_h) Add({Unroll("v", "i")});
    Add({Unroll("v", "j")});
    if (k_.both()) {
      Add({ComputeAt("vrow", "v", "t"), SetScope("vrow", rolled_ ? "scratch" : "register")});
      if (!rolled_) Add({Unroll("vrow", "b")});
      Add({Reorder("vrow", {"b", "co", "p", "q", "t", "i", "ci"}), Unroll("vrow", "i"), Vectorize("vrow", "ci")});
    }
    if (l_.NeedsPad(p_.m)) Add({ComputeAt("pad", "v", "co"), Vectorize("pad", "ci")});
  }

  // An odd number of vectors between transformed elements.
  Step AlignElements(const char* stage) const { return AlignStorage(stage, "j", 2 * l_.lanes, l_.lanes); }

  const WinogradLayer& l_;
  const WinogradPoint& p_;
  const WinogradTiles k_;
  const bool rolled_;
  std::string tile_loop_ = "oco.i";  // the innermost loop of out over tiles and channel vectors
  std::vector<Step> steps_;
};

// For a convolution, or for one followed by a pool (WinogradPoolApplies).
struct PooledLayer : WinogradLayer {
  static PooledLayer Of(const Workload& workload, const Target& target) {
    PooledLayer l{WinogradLayer::Of(workload, target)};
    if (workload.chain()) {
      l.pool = workload.then[0].Numbers("kernel", {1})[0];
      l.pool_max = workload.then[0].op == "max_pool2d";
    }
    return l;
  }
  Space MakeSpace(const char* name) const { return WinogradSpace(*this, name); }
  Result<Config> Default(const Space& space) const { return WinogradDefault(space, *this); }
  static void Limit(const Numerics& numerics, Space* space) {
    LimitWinograd(
        numerics, [](const Config& c) { return c.Number("m"); }, space);
  }
  Candidate Build(const Workload&, const Target&, const Config& config) const {
    const WinogradPoint p = WinogradPoint::Of(config);
    return {{"winograd", {{"m", p.m}, {"tiles", RoundUp(Tiles(p.m).count, p.block)}}}, Scheduler(*this, p).Steps()};
  }
};

// Whether Winograd's stages support the shape, regardless of m.
bool HasShape(const Workload& workload) {
  const Conv2dShape s = Conv2dShape::Of(workload);
  if (s.plain_input || s.groups != 1 || s.dh != 1 || s.dw != 1) return false;
  return s.sh == s.sw && (s.sh == 1 || (s.sh == 2 && s.kh > 1 && s.kw > 1));
}

bool HasShapeWithPool(const Workload& chain) {
  const std::vector<Workload> parts = chain.Parts();
  if (parts.size() != 2 || parts[0].HasEpilogue(EpilogueKind::kAdd) || !HasShape(parts[0])) return false;
  const Conv2dShape s = Conv2dShape::Of(parts[0]);
  const semantics::Window p = *semantics::WindowOf(parts[1]);
  const semantics::Shape none = {0, 0}, one = {1, 1}, two = {2, 2};
  const bool window = p.kernel == two && p.stride == two && p.dilation == one && p.before == none && p.after == none;
  return window && s.sh == 1 && s.kh > 1 && s.kw > 1 && s.oh % 2 == 0 && s.ow % 2 == 0;
}

}  // namespace

bool WinogradApplies(const Workload& workload, const Target& target) {
  return HasShape(workload) && !WinogradLayer::Of(workload, target).Sizes().empty();
}

// A number of tiles that threads can share, if that takes at most 4 % more than there are.
static int64_t EvenTiles(int64_t count, int threads) {
  for (const int64_t parts : {2 * threads, threads}) {
    const int64_t tiles = RoundUp(count, parts);
    if ((tiles - count) * 25 <= count) return tiles;
  }
  return count;
}

std::vector<OtherAlgorithm> WinogradAlgorithms(const Workload& workload, const Target& target) {
  std::vector<OtherAlgorithm> algorithms;
  if (!HasShape(workload)) return algorithms;
  const WinogradLayer l = WinogradLayer::Of(workload, target);
  for (const int64_t m : l.Sizes()) {
    algorithms.push_back(
        {fmt::format("m{}", m), {"winograd", {{"m", m}, {"tiles", EvenTiles(l.Tiles(m).count, l.threads)}}}});
  }
  return algorithms;
}

Result<Computation> ComputeWinograd(const Workload& workload, const Target& target, const Algorithm& algorithm) {
  const PooledLayer l = PooledLayer::Of(workload, target);
  const int64_t m = algorithm.Number("m", 0);
  if (!(workload.chain() ? HasShapeWithPool(workload) : HasShape(workload)) || !l.Computes(m) ||
      !CoversExtent(algorithm, "tiles", l.Tiles(m).count)) {
    return NotComputedBy(algorithm, workload);
  }
  const Conv2dShape& s = l.s;
  const int lanes = static_cast<int>(l.lanes);
  HONE_ASSIGN_OR_RETURN(const WinogradTransforms t, MakeTransforms(l.Tiles(m)));
  const Tensor data = te::Placeholder("data", {s.n, l.ic_blocks, s.h, s.w, l.lanes});
  const Tensor raw = te::Placeholder("weight", workload.inputs[1].shape);
  const EpilogueTensors epilogue = MakeEpilogueTensors(workload, {s.n, l.oc_blocks, s.oh, s.ow, l.lanes}, s.o, lanes);
  const Tensor out = MakeWinograd(l, m, algorithm.Number("tiles", 0), t, data, raw, [&](Expr value, const Vars& at) {
    return BlockedEpilogue(workload, epilogue, std::move(value), at, s.o, lanes);
  });
  return Computation{epilogue.After({data, raw}), {out}, std::min(1.0, l.Work(m)), WinogradErrorBound(m)};
}

const Template& Conv2dWinograd() {
  static const LayerTemplate<PooledLayer> t("conv2d_winograd", 4, &WinogradEstimate());
  return t;
}

bool WinogradPoolApplies(const Workload& chain, const Target& target) {
  return HasShapeWithPool(chain) && !WinogradLayer::Of(chain.Parts()[0], target).Sizes().empty();
}

const Template& ChainWinogradPool() {
  static const LayerTemplate<PooledLayer> t("chain_winograd_pool", 5, &WinogradEstimate());
  return t;
}

}  // namespace hone::op
