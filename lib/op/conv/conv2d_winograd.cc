#include "op/conv/conv2d_winograd.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "op/conv/conv2d_winograd_te.h"
#include "op/conv/winograd_layer.h"
#include "op/defined_operator.h"
#include "op/epilogue.h"
#include "op/shapes.h"
#include "semantics/window.h"

namespace hone::op {
namespace {

bool HasShapeAlone(const Workload& workload) {
  const Conv2dShape s = Conv2dShape::Of(workload);
  if (s.plain_input || s.groups != 1 || s.dh != 1 || s.dw != 1) return false;
  return s.sh == s.sw && (s.sh == 1 || (s.sh == 2 && s.kh > 1 && s.kw > 1));
}

bool HasShapeWithPool(const Workload& chain) {
  const std::vector<Workload> parts = chain.Parts();
  if (parts.size() != 2 || parts[0].HasEpilogue(EpilogueKind::kAdd) || !HasShapeAlone(parts[0])) return false;
  const Conv2dShape s = Conv2dShape::Of(parts[0]);
  const semantics::Window p = *semantics::WindowOf(parts[1]);
  const semantics::Shape none = {0, 0}, one = {1, 1}, two = {2, 2};
  const bool window = p.kernel == two && p.stride == two && p.dilation == one && p.before == none && p.after == none;
  return window && s.sh == 1 && s.kh > 1 && s.kw > 1 && s.oh % 2 == 0 && s.ow % 2 == 0;
}

// Whether Winograd's stages support the shape, regardless of m.
bool HasShape(const Workload& workload) {
  return workload.chain() ? HasShapeWithPool(workload) : HasShapeAlone(workload);
}

}  // namespace

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
  const int threads = std::max(target.threads, 1);
  for (const int64_t m : l.Sizes()) {
    algorithms.push_back(
        {fmt::format("m{}", m), {"winograd", {{"m", m}, {"tiles", EvenTiles(l.Tiles(m).count, threads)}}}});
  }
  return algorithms;
}

Result<Computation> ComputeWinograd(const Workload& workload, const Target& target, const Algorithm& algorithm) {
  const WinogradLayer l = WinogradLayer::Of(workload, target);
  const int64_t m = algorithm.Number("m", 0);
  if (!HasShape(workload) || !l.Computes(m) || !CoversExtent(algorithm, "tiles", l.Tiles(m).count)) {
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

}  // namespace hone::op
