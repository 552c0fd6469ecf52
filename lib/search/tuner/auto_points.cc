#include "search/tuner/auto_points.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "search/tuner/auto_model.h"

namespace hone::search {
namespace {

// The columns of one knob.
struct Encoding {
  size_t first = 0, columns = 0;
  bool numeric = true;
  std::vector<float> low, high;  // of each column, over the knob's values
  size_t main = 0;               // first of the columns for the similarity of values
  std::vector<float> alike;      // values x values: entries of these columns; empty if there are too many
};

constexpr size_t kMostWords = 24;
constexpr double kMainWeight = 1.8;  // 1 / (length over which a knob's values differ), as a share of its range

float Log2Of(int64_t v) { return std::log2(1.0F + static_cast<float>(std::llabs(v))); }

// The lower triangle whose product with its transpose is the n x n covariance of `alike`.
template <typename Alike>
std::vector<float> Root(size_t n, const Alike& alike) {
  constexpr double kJitter = 1e-6;
  std::vector<double> root(n * n, 0);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double sum = alike(i, j) + (i == j ? kJitter : 0);
      for (size_t k = 0; k < j; ++k) sum -= root[i * n + k] * root[j * n + k];
      root[i * n + j] = i == j ? std::sqrt(std::max(sum, kJitter)) : sum / root[j * n + j];
    }
  }
  return {root.begin(), root.end()};
}

class Encoder {
 public:
  Encoder(const Space& space, size_t first) : space_(space), next_(first) {
    for (const Knob& knob : space.knobs()) Add(knob);
  }

  size_t columns() const { return next_; }

  // Assigns each knob columns for the similarity of its values, from `first` on; returns the first column after them.
  size_t AddMains(size_t first) {
    next_ = first;
    for (size_t k = 0; k < encodings_.size(); ++k) {
      const size_t n = space_.knobs()[k].size();
      if (n < 2 || n > kMostWords || next_ + n > GaussianModel::kMostColumns - 3) continue;
      encodings_[k].main = next_;
      encodings_[k].alike = Root(n, [&](size_t a, size_t b) { return Alike(k, a, b); });
      next_ += n;
    }
    return next_;
  }

  void Write(PointIndex index, float* row) const {
    space_.VisitDigits(index, [&](size_t k, size_t digit) {
      const Knob& knob = space_.knobs()[k];
      const Encoding& e = encodings_[k];
      WriteMain(e, knob, digit, row);
      if (e.columns == 0) return;
      if (!e.numeric) {
        const size_t column = e.columns == 1 ? 0 : digit;
        row[e.first + column] = e.columns == 1 ? static_cast<float>(digit) : 0.7F;
        return;
      }
      for (size_t c = 0; c < e.columns; ++c) WriteNumber(e, c, Part(knob, digit, c), row);
    });
  }

 private:
  static void WriteMain(const Encoding& e, const Knob& knob, size_t digit, float* row) {
    const size_t n = e.alike.empty() ? 0 : knob.size();
    for (size_t c = 0; c < n; ++c) row[e.main + c] = e.alike[digit * n + c];
  }

  static void WriteNumber(const Encoding& e, size_t column, int64_t number, float* row) {
    const float range = e.high[column] - e.low[column];
    if (range > 0) row[e.first + column] = (Log2Of(number) - e.low[column]) / range;
  }

  // The similarity of two values of knob `k`, 0 to 1.
  double Alike(size_t k, size_t a, size_t b) const {
    const Knob& knob = space_.knobs()[k];
    const Encoding& e = encodings_[k];
    if (a == b) return 1;
    if (!e.numeric) return 0;
    double squared = 0;
    for (size_t c = 0; c < e.columns; ++c) {
      const float range = e.high[c] - e.low[c];
      const double d = range > 0 ? kMainWeight * (Log2Of(Part(knob, a, c)) - Log2Of(Part(knob, b, c))) / range : 0;
      squared += d * d;
    }
    return (1 - AutoPoints::kSame) * Matern52(squared);
  }

  static int64_t Part(const Knob& knob, size_t digit, size_t part) {
    const std::vector<int64_t>& numbers = knob.value(digit).numbers;
    return numbers[knob.kind() == KnobKind::kSplit ? part + 1 : part];
  }

  void Add(const Knob& knob) {
    Encoding e;
    e.first = next_;
    if (knob.size() > 1) {
      e.numeric =
          (knob.kind() == KnobKind::kOther && !knob.value(0).numbers.empty()) || knob.kind() == KnobKind::kSplit;
      if (e.numeric) {
        e.columns = knob.kind() == KnobKind::kSplit ? knob.value(0).numbers.size() - 1 : 1;
        e.low.assign(e.columns, INFINITY);
        e.high.assign(e.columns, -INFINITY);
        for (size_t d = 0; d < knob.size(); ++d) {
          for (size_t c = 0; c < e.columns; ++c) {
            const float v = Log2Of(Part(knob, d, c));
            e.low[c] = std::min(e.low[c], v);
            e.high[c] = std::max(e.high[c], v);
          }
        }
      } else {
        e.columns = knob.size() == 2 ? 1 : knob.size();
        if (e.columns > kMostWords) e.columns = 0;  // orders of many axes: too many to learn each separately
      }
    }
    if (next_ + e.columns >= GaussianModel::kMostColumns) e.columns = 0;  // keep one for the estimate's slope
    next_ += e.columns;
    encodings_.push_back(std::move(e));
  }

  const Space& space_;
  size_t next_;
  std::vector<Encoding> encodings_;
};

// Makes the mean of each column over the rows of a template 0: only differences matter.
void Center(AutoPoints* points, size_t t) {
  AutoPoints::Template& info = points->templates[t];
  info.means.assign(points->columns, 0);
  if (info.begin == info.end) return;
  const size_t columns = points->columns;
  std::vector<double> sums(columns, 0);
  for (size_t r = info.begin; r < info.end; ++r) {
    const float* row = points->row(r);
    for (size_t c = 0; c < columns; ++c) sums[c] += row[c];
  }
  for (size_t c = 0; c < columns; ++c) {
    info.means[c] = static_cast<float>(sums[c] / static_cast<double>(info.end - info.begin));
  }
  for (size_t r = info.begin; r < info.end; ++r) {
    float* row = points->values.data() + r * columns;
    for (size_t c = 0; c < columns; ++c) row[c] -= info.means[c];
  }
}

std::vector<PointIndex> Sample(const TaskSpace& space, const TunerContext& context, uint64_t seed, size_t rows) {
  Rng rng(Mix64(seed ^ 0x6175746fULL));
  std::set<PointIndex> found;
  for (size_t misses = 0; found.size() < rows && misses < 4 * rows;) {
    const std::optional<PointIndex> index = space.SampleLegal(rng);
    if (!index) break;
    if (!found.insert(*index).second) ++misses;
  }
  for (const PointIndex index : context.defaults) {
    if (index < space.size() && !space.Reject(index)) found.insert(index);
  }
  return {found.begin(), found.end()};
}

Encoder EncoderOf(const AutoPoints& points, const Space& space, size_t t) {
  Encoder encoder(space, points.templates[t].estimates);
  encoder.AddMains(points.mains);
  return encoder;
}

// Writes a row of template `t` before its columns are centered. `index` is in the template's space.
void WriteRow(const Encoder& encoder, PointIndex index, const std::vector<double>& estimate, size_t t, size_t row,
              AutoPoints* points) {
  float* out = points->values.data() + row * points->columns;
  if (!estimate.empty() && estimate.size() == points->templates[t].estimates) {
    points->log_cost[row] = static_cast<float>(estimate[0]);
    for (size_t e = 0; e < estimate.size(); ++e) out[e] = static_cast<float>(estimate[e]);
    out[points->slope] = AutoPoints::kSlope * points->log_cost[row];
  }
  encoder.Write(index, out);
}

}  // namespace

size_t AutoPoints::Find(PointIndex wanted) const {
  const auto end = index.begin() + static_cast<std::ptrdiff_t>(sorted);
  const auto at = std::lower_bound(index.begin(), end, wanted);
  if (at != end && *at == wanted) return static_cast<size_t>(at - index.begin());
  const auto later = added.find(wanted);
  return later != added.end() ? later->second : rows();
}

void AutoPoints::Truncate(size_t rows) {
  for (size_t r = rows; r < index.size(); ++r) added.erase(index[r]);
  index.resize(rows);
  log_cost.resize(rows);
  values.resize(rows * columns);
  template_of.resize(rows);
}

AutoPoints MakeAutoPoints(const TaskSpace& space, const TunerContext& context, uint64_t seed, uint64_t most_points,
                          size_t most_rows) {
  AutoPoints points;
  std::optional<std::vector<PointIndex>> legal = space.LegalIndices(most_points);
  points.complete = legal && legal->size() <= most_rows;
  points.index = points.complete ? std::move(*legal) : Sample(space, context, seed, most_rows);
  points.sorted = points.rows();

  std::vector<Encoder> encoders;
  std::vector<std::vector<double>> estimates(points.rows());
  const PointCost cost = context.estimate ? context.estimate(context.workload) : nullptr;
  size_t row = 0;
  for (const Space& s : space.spaces()) {
    const PointIndex offset = space.offset(points.templates.size());
    AutoPoints::Template t;
    t.name = s.template_name();
    t.begin = row;
    for (; row < points.rows() && points.index[row] - offset < s.size(); ++row) {
      points.template_of.push_back(static_cast<uint8_t>(points.templates.size()));
      if (cost) estimates[row] = cost(s.At(points.index[row] - offset));
    }
    t.end = row;
    if (t.end > t.begin && !estimates[t.begin].empty()) t.estimates = estimates[t.begin].size();
    encoders.emplace_back(s, t.estimates);
    t.columns = encoders.back().columns();
    points.columns = std::max(points.columns, t.columns);
    points.templates.push_back(t);
  }
  points.slope = points.columns;
  const auto whole = [](size_t columns) { return (columns + 3) / 4 * 4; };  // rows of whole vectors
  points.mains = points.columns = whole(points.columns + 1);
  for (Encoder& e : encoders) points.columns = std::max(points.columns, whole(e.AddMains(points.mains)));
  // Reserves space, so that most later additions need not copy.
  points.values.reserve((points.rows() + (points.complete ? 0 : most_rows / 32)) * points.columns);
  points.values.assign(points.rows() * points.columns, 0);
  points.log_cost.assign(points.rows(), 0);
  for (size_t t = 0; t < points.templates.size(); ++t) {
    for (size_t r = points.templates[t].begin; r < points.templates[t].end; ++r) {
      WriteRow(encoders[t], points.index[r] - space.offset(t), estimates[r], t, r, &points);
    }
    Center(&points, t);
  }
  return points;
}

void AddPoints(const TaskSpace& space, const TunerContext& context, const std::vector<PointIndex>& indices,
               AutoPoints* points) {
  if (indices.empty()) return;
  const PointCost cost = context.estimate ? context.estimate(context.workload) : nullptr;
  std::vector<Encoder> encoders;
  for (size_t t = 0; t < points->templates.size(); ++t) encoders.push_back(EncoderOf(*points, space.spaces()[t], t));
  for (const PointIndex index : indices) {
    if (index >= space.size() || points->Find(index) < points->rows()) continue;
    const auto [t, own] = space.Find(index);
    const AutoPoints::Template& info = points->templates[t];
    if (info.begin == info.end) continue;  // its columns have no means and its estimate no scale
    std::vector<double> estimate;
    if (cost) estimate = cost(space.spaces()[t].At(own));
    const size_t row = points->rows();
    points->added[index] = row;
    points->index.push_back(index);
    points->template_of.push_back(static_cast<uint8_t>(t));
    points->log_cost.push_back(0);
    points->values.resize(points->values.size() + points->columns, 0);
    WriteRow(encoders[t], own, estimate, t, row, points);
    for (size_t c = 0; c < points->columns; ++c) points->values[row * points->columns + c] -= info.means[c];
  }
}

}  // namespace hone::search
