#include "sketch/rows.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/integers.h"
#include "search/space/rules.h"
#include "sketch/lines.h"
#include "sketch/row_lines.h"
#include "sketch/stage_cycles.h"
#include "target/caches.h"

namespace hone::sketch {
namespace {

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

// Cycles of one core.
struct Cycles {
  double compute = 0, memory = 0;
};

// Arithmetic cycles of one stage. A step of a reduction has `width` vectors, and takes at least until its sums can be
// added to again.
double ComputeOf(const RowStages& p, const RowPoint& point, const RowStage& stage) {
  constexpr double kLatency = 5, kStep = 1.5, kHalve = 40;
  const double vectors = Real(CeilDiv(p.across ? p.kept.back() : p.reduced.back(), p.lanes));
  const double steps = std::ceil(vectors / Real(point.width));
  const double outer = Real(p.across ? p.Length() : p.Length() / p.reduced.back());
  const double vector = (point.again ? stage.again : stage.cycles) + 1;
  double row = (p.across ? vectors : 1) * vector;
  if (stage.full) row = outer * (vectors * vector + steps);
  if (stage.reduction) {
    row = outer * (std::max(vectors * vector, steps * kLatency) + steps * kStep);
    row += p.across ? steps : kHalve + 3 * Real(point.width);
  }
  return Real(p.Rows()) * row;
}

std::vector<double> RowCost(const RowStages& p, const RowPoint& point) {
  constexpr double kLaunch = 2500, kPiece = 20;
  const Shares shares = SharesOf(p, point);
  const int64_t tiles = p.across ? CeilDiv(p.kept.back(), point.width * p.lanes) : 1;
  const double elements = Real(p.Rows() * p.Length() * (p.across ? p.kept.back() : 1));
  // What stages of a row read again.
  const double near = p.bytes / Real(p.Rows() * tiles) * (!point.again && p.Inner() ? 2 : 1);
  Cycles all;
  double work = Real(p.Rows() * tiles) * kPiece;
  for (size_t i = 0; i < p.stages.size(); ++i) {
    const RowStage& stage = p.stages[i];
    if (i > 0 && stage.full && point.again) continue;
    Cycles cycles{ComputeOf(p, point, stage), 0};
    const bool first = i + 1 == p.stages.size() || point.parts;
    if (stage.full || stage.reduction) cycles.memory = kCaches.Read(p.bytes, first ? p.bytes : near);
    // A line is read before it is written, and leaves the cache some day.
    if (i == 0 && stage.full) cycles.memory += 2 * kCaches.Read(4 * elements, 4 * elements);
    work += std::max(cycles.compute, cycles.memory) + 0.2 * std::min(cycles.compute, cycles.memory);
    all.compute += cycles.compute, all.memory += cycles.memory;
  }
  const double imbalance = RowImbalance(p, point);
  const double launches = shares.pieces > 1 ? kLaunch * Real(shares.launches) : 0;
  const double cycles = work * imbalance / Real(p.threads) + launches;
  const auto share = [&](double part) { return std::log1p(part * Real(p.lanes) / elements); };
  return {std::log(cycles), share(all.compute), share(all.memory), share(launches), std::log(imbalance)};
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
  if (p.Inner()) words("elements", MayComputeAgain(output) ? Names{"stored", "again"} : Names{"stored"});
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
