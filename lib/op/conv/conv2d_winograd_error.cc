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

}  // namespace hone::op
