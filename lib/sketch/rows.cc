#include "sketch/rows.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/integers.h"
#include "search/space/rules.h"
#include "sketch/row_lines.h"
#include "target/caches.h"

namespace hone::sketch {
namespace {

double Real(int64_t x) { return static_cast<double>(x); }

struct RowPoint {
  int64_t width = 1;  // vectors of a reduction's step
  std::string threads;
  bool again = false, parts = false;
};

RowPoint RowPointOf(const RowStages& p, const Config& c) {
  RowPoint point{p.across ? c.Number("vectors") : c.Number("width") / p.lanes, c.Word("threads")};
  for (const KnobValue& value : c.values) {
    point.again = point.again || value.Text() == "again";
    point.parts = point.parts || value.Text() == "parts";
  }
  return point;
}

// Pieces of work that threads share, in each of `launches` loops.
struct Shares {
  int64_t pieces = 1, launches = 0;
};

Shares SharesOf(const RowStages& p, const RowPoint& point) {
  if (point.parts) {
    const int64_t loops =
        std::count_if(p.stages.begin(), p.stages.end(), [](const RowStage& s) { return s.reduction; });
    return {p.threads * p.Rows(), loops + p.stages[0].full};
  }
  if (point.threads == "rows") return {p.Rows(), 1};
  if (point.threads == "columns") return {CeilDiv(p.kept.back(), point.width * p.lanes), p.Rows()};
  return {};
}

double RowImbalance(const RowStages& p, const RowPoint& point) {
  const int64_t pieces = SharesOf(p, point).pieces;
  return search::Imbalance(pieces, 1, Real(pieces), static_cast<int>(p.threads));
}

// Cycles of one core for all stages: a step of a reduction, with `width` vectors, takes at least until its sums can be
// added to again.
double StagesOf(const RowStages& p, const RowPoint& point) {
  constexpr double kLatency = 5, kStep = 1.5, kHalve = 40;
  const int64_t vectors = p.across ? CeilDiv(p.kept.back(), p.lanes) : CeilDiv(p.reduced.back(), p.lanes);
  const int64_t steps = CeilDiv(vectors, point.width);
  const int64_t outer = p.across ? p.Length() : p.Length() / p.reduced.back();
  double row = 0;
  for (const RowStage& stage : p.stages) {
    if (point.again && stage.full && &stage != &p.stages[0]) continue;
    const double vector = (point.again ? stage.again : stage.cycles) + 1;
    if (stage.reduction) {
      row += Real(outer) * (std::max(Real(vectors) * vector, Real(steps) * kLatency) + Real(steps) * kStep);
      row += p.across ? Real(steps) : kHalve + 3 * Real(point.width);
    } else {
      row +=
          stage.full ? Real(outer) * (Real(vectors) * vector + Real(steps)) : (p.across ? Real(vectors) : 1) * vector;
    }
  }
  return Real(p.Rows()) * row;
}

std::vector<double> RowCost(const RowStages& p, const RowPoint& point) {
  constexpr double kLaunch = 2500, kPiece = 20;
  const double stages = StagesOf(p, point);
  const Shares shares = SharesOf(p, point);
  // All stages but the first read what is near, unless there are parts.
  const int64_t tiles = p.across ? CeilDiv(p.kept.back(), point.width * p.lanes) : 1;
  const double near = point.parts ? p.bytes : p.bytes / Real(p.Rows() * tiles) * (!point.again && p.Inner() ? 2 : 1);
  const double passes =
      Real(std::count_if(p.stages.begin(), p.stages.end(), [](const RowStage& s) { return s.reduction || s.full; }));
  const double memory = kCaches.Read(p.bytes, p.bytes) + (passes - 1) * kCaches.Read(p.bytes, near);
  const double loops = Real(p.Rows() * tiles) * kPiece;
  const double imbalance = RowImbalance(p, point);
  const double work = std::max(stages, memory) + 0.2 * std::min(stages, memory) + loops;
  const double launches = shares.pieces > 1 ? kLaunch * Real(shares.launches) : 0;
  const double cycles = work * imbalance / Real(p.threads) + launches;
  const double ideal = Real(p.Rows() * p.Length() * (p.across ? p.kept.back() : 1)) / Real(p.lanes);
  const auto share = [&](double part) { return std::log1p(part / ideal); };
  return {std::log(cycles), share(stages), share(memory), share(loops), share(launches), std::log(imbalance)};
}

}  // namespace

std::optional<Sketch> ReduceRows(const te::Tensor& output, const Target& target) {
  std::optional<RowStages> found = RowStagesOf(output);
  if (!found) return {};
  RowStages& p = *found;
  p.lanes = target.FloatLanes();
  p.threads = std::max(target.threads, 1);
  const int64_t last = p.across ? p.kept.back() : p.reduced.back();
  if (p.across) p.lanes = std::min(p.lanes, last);
  while (p.lanes > last) p.lanes /= 2;
  Sketch sketch;
  sketch.name = "rows";
  const auto words = [&](const char* name, const std::vector<std::string>& values) {
    sketch.decisions.push_back(search::Knob::Words(name, values));
  };
  if (p.across) {
    sketch.decisions.push_back(search::Knob::Choice("vectors", search::NoLarger(CeilDiv(last, p.lanes), {1, 2, 4, 8})));
  } else {
    const std::vector<int64_t> widths = {p.lanes, 2 * p.lanes, 4 * p.lanes};
    sketch.decisions.push_back(search::Knob::Choice("width", search::NoLarger(std::min(last, kMostWidth), widths)));
  }
  std::vector<std::string> threads;
  if (p.Rows() > 1) threads.push_back("rows");
  if (p.across) threads.push_back("columns");
  threads.push_back("one");
  words("threads", threads);
  if (p.Inner()) words("elements", {"stored", "again"});
  const bool idle = p.Rows() * (p.across ? CeilDiv(last, p.lanes) : 1) < p.threads;
  if (idle && p.reduced[0] >= p.threads * kMostWidth) words("order", {"together", "parts"});
  sketch.rules.push_back({"parts", [p, first = threads[0]](const Config& c) {
                            const RowPoint point = RowPointOf(p, c);
                            const bool legal = point.threads == first && (point.again || !p.Inner());
                            return search::Unless(legal || !point.parts, "all threads share each stage");
                          }});
  AddRowLines(p, &sketch);
  sketch.cost = [p](const Config& config) { return RowCost(p, RowPointOf(p, config)); };
  return sketch;
}

}  // namespace hone::sketch
