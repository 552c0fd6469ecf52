#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "op/conv/conv2d_winograd_space.h"
#include "op/conv/cook_toom.h"
#include "op/shapes.h"

namespace hone::op {
namespace {

// Bytes that a core reads per cycle. Weights come from memory once in each run: in between, a network has used the
// caches for its other layers.
constexpr double kFromL2 = 40, kFromL3 = 10, kFromMemory = 7;
constexpr double kLevel2Bytes = 1.5 * (1 << 20);
constexpr double kNotHidden = 0.65;  // share of the shorter of arithmetic and memory reads that does not overlap

// Cycles of one reduction step of a register tile of `tiles` tiles; wide ones wait briefly for their weights.
double ProductCycles(int64_t ocv, int64_t tiles) {
  const double fma = static_cast<double>(ocv * tiles) / 2, loads = static_cast<double>(ocv + tiles) / 2;
  return std::max({fma, loads, 4.0}) + 0.25 + 0.25 * static_cast<double>(ocv);
}

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

double WinogradCycles(const WinogradLayer& l, const WinogradPoint& p) {
  const WinogradTiles k = l.Tiles(p.m);
  const double ic = static_cast<double>(l.ic_blocks * l.lanes), elements = static_cast<double>(k.ah * k.aw);
  const double phases = static_cast<double>(k.sh * k.sw), block = static_cast<double>(p.block);
  const double oc = static_cast<double>(p.oc_block), vector_bytes = 4.0 * static_cast<double>(l.lanes);

  // Products of one task.
  const int64_t full = p.block / p.tiles, rest = p.block % p.tiles;
  double step = static_cast<double>(full) * ProductCycles(p.ocv, p.tiles), rounds = static_cast<double>(full);
  if (rest > 0) step += ProductCycles(p.ocv, rest), rounds += 1;
  const double groups = oc / static_cast<double>(p.ocv);
  double products = groups * (static_cast<double>(k.Products()) * ic * step + elements * (rounds * 12 + block));

  // Weights: a task reads its part of the channels. The part that an earlier task of the thread has read is near if it
  // fits into the second-level cache; the rest comes from memory.
  const double part = static_cast<double>(k.Products()) * ic * oc * vector_bytes;
  const double v_bytes = elements * phases * ic * block * 4, m_bytes = elements * block * vector_bytes;
  const double near = v_bytes + m_bytes * (p.by_channel ? static_cast<double>(p.ocv) : oc);
  const int64_t parts = l.oc_blocks / p.oc_block, tasks = CeilDiv(k.count, p.block) * parts;
  const int64_t rounds_of_tasks = CeilDiv(tasks, l.threads);
  const double first = static_cast<double>(std::min(rounds_of_tasks, parts)) * part;
  const double again = static_cast<double>(rounds_of_tasks) * part - first;
  if (near > kLevel2Bytes) products *= 1 + 0.3 * (near / kLevel2Bytes - 1);
  const double arithmetic = static_cast<double>(rounds_of_tasks) * products +
                            0.2 * again / (near + first <= kLevel2Bytes ? kFromL2 : kFromL3);
  const double memory = first / kFromMemory;
  // In this order, products of all channels wait for the last one: they go to the second-level cache and back.
  const double spill = p.by_channel ? 0.3 : (m_bytes * oc > 32768 ? 1.0 : 0.5);

  // Transforms of one or two axes: longer ones do more work per element, and also store and load it.
  const double work = 0.5 * static_cast<double>(std::max(k.ah, k.aw)) + 0.5;
  const double pad_rows = std::min(static_cast<double>(k.rows), block / static_cast<double>(k.columns) + 1) *
                              static_cast<double>(k.mh * k.sh) +
                          static_cast<double>(k.rh);
  const double padding = pad_rows * static_cast<double>(std::min(k.columns, p.block) * k.mw * k.sw + k.rw);
  const double input = static_cast<double>(l.ic_blocks) * (block * phases * elements * work + padding * 1.5);
  const double output = oc * block * (elements * (work + spill) + static_cast<double>(k.mh * k.mw) * 2.5);
  return std::max(arithmetic, memory) + kNotHidden * std::min(arithmetic, memory) +
         static_cast<double>(rounds_of_tasks) * (input + output + 300);
}

double WinogradError(const WinogradAxis& rows, const WinogradAxis& columns, int64_t channels) {
  const double products = static_cast<double>(channels * rows.phases * columns.phases);
  return kMeasured * kHalfUnit * std::sqrt(products * KnownEnlargement(rows) * KnownEnlargement(columns));
}

}  // namespace hone::op
