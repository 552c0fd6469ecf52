#include "op/conv/phase_plane.h"

#include <algorithm>
#include <numeric>

#include "base/integers.h"
#include "op/conv/conv2d_te.h"

namespace hone::op {

using ir::Expr;

PhaseAxis PhaseAxis::Of(const semantics::Window& w, size_t i) {
  PhaseAxis a{.stride = w.stride[i], .dilation = w.dilation[i], .before = w.before[i], .kernel = w.kernel[i]};
  a.positions = CeilDiv(w.out[i], a.stride), a.phases = std::min(a.stride, w.out[i]);
  a.common = std::gcd(a.stride, a.dilation);
  a.inverse = 1 % a.step();
  while ((a.inverse * (a.dilation / a.common) - 1) % a.step() != 0) ++a.inverse;
  std::vector<int64_t> counts(static_cast<size_t>(a.phases));
  int64_t least = INT64_MAX, most = INT64_MIN;  // places that are read, relative to m
  for (int64_t k = 0; k < a.kernel; ++k) {
    const int64_t at = k * a.dilation - a.before, phase = (at % a.stride + a.stride) % a.stride;
    if (phase >= a.phases) continue;
    a.taps = std::max(a.taps, ++counts[static_cast<size_t>(phase)]);
    least = std::min(least, (phase - at) / a.stride), most = std::max(most, (phase - at) / a.stride);
  }
  a.all = std::all_of(counts.begin(), counts.end(), [&](int64_t count) { return count == a.taps; });
  if (a.taps == 0) a.taps = 1, a.all = false, least = most = 0;
  const int64_t end = a.positions + most;
  a.start = std::clamp<int64_t>(least, 0, w.in[i] - 1);
  a.size = std::max<int64_t>(std::min(end, w.in[i]) - a.start, 1);
  a.front = std::max<int64_t>(a.start - least, 0), a.back = std::max<int64_t>(end - a.start - a.size, 0);
  a.farthest = most - a.start;
  a.pitch = std::max(a.size + std::max(a.front, a.back), a.positions);
  return a;
}

// k * dilation = phase + before modulo stride, for the least k.
Expr PhaseAxis::First(const Expr& phase) const { return (phase + before) / common * inverse % step(); }

Expr PhaseAxis::Exists(const Expr& phase, const Expr& t) const {
  if (all) return Expr();
  const Expr inside = Tap(phase, t) < kernel;
  return common == 1 ? inside : ir::Eq((phase + before) % common, 0) && inside;
}

Expr PhaseAxis::Place(const Expr& phase, const Expr& t) const {
  const Expr place = phase + before - First(phase) * dilation + stride * dilation;  // not negative
  return place / stride - t * (dilation / common) - (dilation + start);
}

PhasePlane PhasePlane::Of(const semantics::Window& w, int64_t lanes) {
  PhasePlane p;
  const size_t rank = w.rank();
  p.stride.assign(rank, 1);
  for (size_t i = 0; i < rank; ++i) p.axes.push_back(PhaseAxis::Of(w, i));
  for (size_t i = rank - 1; i-- > 0;) p.stride[i] = p.stride[i + 1] * p.axes[i + 1].pitch;
  const int64_t places = p.axes[0].positions * p.stride[0];
  int64_t farthest = 0;
  for (size_t i = 0; i < rank; ++i) {
    const PhaseAxis& a = p.axes[i];
    p.as_it_is = p.as_it_is && a.front + a.back == 0 && a.size == w.in[i] && a.pitch == a.size && a.positions == a.size;
    p.front = std::max(p.front, i == 0 ? a.front : a.front > 0 ? p.axes[0].front + 1 : 0);
    farthest += std::max<int64_t>(a.farthest, 0) * p.stride[i];
  }
  p.as_it_is = p.as_it_is && places % lanes == 0;
  p.outputs = RoundUp(places, lanes);
  p.rows = p.front + CeilDiv(p.outputs + farthest, p.stride[0]);
  return p;
}

}  // namespace hone::op
