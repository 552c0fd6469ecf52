#include "op/conv/winograd_layer.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "op/conv/cook_toom.h"
#include "op/shapes.h"

namespace hone::op {
namespace {

constexpr int64_t kMostTaps = 10;  // limit of a phase's taps, both axes together
constexpr double kHalfUnit = 0x1p-24;
constexpr double kMeasured = 2.15;

double Squares(const std::vector<Rational>& row, int64_t count) {
  double sum = 0;
  for (int64_t k = 0; k < count; ++k) {
    const double value = row[static_cast<size_t>(k)].value();
    sum += value * value;
  }
  return sum;
}

double Enlargement(const WinogradAxis& axis) {
  const int64_t r = CeilDiv(axis.taps, axis.phases), n = axis.m + r - 1;
  const int64_t full = axis.taps - (r - 1) * axis.phases;  // phases with r taps; the others have one less
  const CookToom t = *MakeCookToom(static_cast<int>(axis.m), static_cast<int>(r), GoodPoints(static_cast<int>(n)));
  double most = 0;
  for (const std::vector<Rational>& carries : t.at) {
    double sum = 0;
    for (size_t i = 0; i < t.g.size(); ++i) {
      const double taps = static_cast<double>(full) * Squares(t.g[i], r) +
                          static_cast<double>(axis.phases - full) * Squares(t.g[i], r - 1);
      sum += carries[i].value() * carries[i].value() * Squares(t.bt[i], n) * taps;
    }
    most = std::max(most, sum);
  }
  return most / static_cast<double>(axis.taps);
}

// Cached, as exact fractions take time and every query for a layer's templates needs it.
double KnownEnlargement(const WinogradAxis& axis) {
  static std::mutex mutex;
  static auto* known = new std::map<std::tuple<int64_t, int64_t, int64_t>, double>;
  const std::tuple<int64_t, int64_t, int64_t> key(axis.m, axis.taps, axis.phases);
  std::lock_guard<std::mutex> lock(mutex);
  const auto found = known->find(key);
  return found != known->end() ? found->second : known->emplace(key, Enlargement(axis)).first->second;
}

}  // namespace

double WinogradError(const WinogradAxis& rows, const WinogradAxis& columns, int64_t channels) {
  const double products = static_cast<double>(channels * rows.phases * columns.phases);
  return kMeasured * kHalfUnit * std::sqrt(products * KnownEnlargement(rows) * KnownEnlargement(columns));
}

WinogradLayer WinogradLayer::Of(const Workload& workload, const Target& target) {
  WinogradLayer l;
  l.s = Conv2dShape::Of(workload);
  l.lanes = target.ChannelBlock();
  l.ic_blocks = CeilDiv(l.s.c, l.lanes);
  l.oc_blocks = CeilDiv(l.s.o, l.lanes);
  if (workload.chain()) {
    l.pool = workload.then[0].Numbers("kernel", {1})[0];
    l.pool_max = workload.then[0].op == "max_pool2d";
  }
  return l;
}

WinogradTiles WinogradLayer::Tiles(int64_t m) const {
  WinogradTiles k;
  auto axis = [m](int64_t taps, int64_t stride, int64_t* mx, int64_t* r, int64_t* a, int64_t* phases, int64_t* full) {
    *mx = taps > 1 ? m : 1;
    *phases = taps > 1 ? stride : 1;
    *r = CeilDiv(taps, *phases);
    *full = taps % *phases == 0 ? *phases : taps % *phases;
    *a = *mx + *r - 1;
  };
  axis(s.kh, s.sh, &k.mh, &k.rh, &k.ah, &k.sh, &k.full_h);
  axis(s.kw, s.sw, &k.mw, &k.rw, &k.aw, &k.sw, &k.full_w);
  k.rows = CeilDiv(s.oh, k.mh), k.columns = CeilDiv(s.ow, k.mw);
  k.count = s.n * k.rows * k.columns;
  return k;
}

bool WinogradLayer::Ragged(int64_t m) const {
  const WinogradTiles k = Tiles(m);
  return s.oh % k.mh != 0 || s.ow % k.mw != 0;
}

int64_t WinogradLayer::Height(int64_t m) const {
  const WinogradTiles k = Tiles(m);
  return ((k.rows - 1) * k.mh + k.ah) * k.sh;
}

int64_t WinogradLayer::Width(int64_t m) const {
  const WinogradTiles k = Tiles(m);
  return ((k.columns - 1) * k.mw + k.aw) * k.sw;
}

double WinogradLayer::Work(int64_t m) const {
  const WinogradTiles k = Tiles(m);
  return static_cast<double>(k.count * k.Products()) / static_cast<double>(s.n * s.oh * s.ow * s.kh * s.kw);
}

double WinogradLayer::Error(int64_t m) const {
  const WinogradTiles k = Tiles(m);
  return WinogradError({k.mh, s.kh, k.sh}, {k.mw, s.kw, k.sw}, s.c);
}

bool WinogradLayer::Computes(int64_t m) const {
  const WinogradTiles one = Tiles(1);
  const int64_t r = std::max(one.rh, one.rw);
  if (r < 2 || r > 7 || m < 2 || m > 6) return false;
  // With more than ten elements, or more than eight in two dimensions, single precision is not accurate enough. It
  // is not for long windows on both axes either: F(2x2, 7x7) has fifteen times the error of F(2x2, 3x3).
  const bool exact = one.both() ? m + r - 1 <= 8 && one.rh + one.rw <= kMostTaps : m + r - 1 <= 10;
  const bool whole_windows = m % pool == 0;  // each tile contains whole windows of the following pool
  // Long sums are not accurate enough either, and sums over a stride's phases are four times as long: F(4x4) is
  // accurate enough for 7x7 with stride 2 up to about 250 channels, for 3x3 with stride 1 up to about 8000.
  return exact && whole_windows && Error(m) <= WinogradErrorBound(m);
}

std::vector<int64_t> WinogradLayer::Sizes() const {
  const WinogradTiles one = Tiles(1);
  const int64_t r = std::max(one.rh, one.rw);
  // 13 or 14 outputs need three tiles of 5, but four of 4.
  const bool fits = r == 3 && Work(5) < 0.95 * std::min(Work(4), Work(6));
  std::vector<int64_t> sizes;
  for (int64_t m : {2, 3, 4, 5, 6}) {
    const bool useful = m == 3 ? r == 7 : m == 5 ? fits : m == 6 ? r == 3 : true;
    if (useful && Computes(m) && Work(m) <= 0.9) sizes.push_back(m);
  }
  return sizes;
}

double WinogradErrorBound(int64_t m) { return m <= 2 ? 2e-5 : m <= 4 ? 1e-4 : 3e-4; }

}  // namespace hone::op
