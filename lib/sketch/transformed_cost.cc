// The legal points of the rule `transformed`, and its estimate: cycles of one core with two multiply-adds and two loads
// each cycle, and four cycles until a sum can be added to again.
#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <utility>

#include "base/integers.h"
#include "search/space/rules.h"
#include "sketch/transformed_nest.h"
#include "target/caches.h"

namespace hone::sketch {
namespace {

constexpr int64_t kScratch = 4 << 20;  // bytes of a task; the estimate says what more than a core keeps costs
constexpr double kSlowest = 1.5;       // points whose estimated time is longer by this factor are not worth a trial
constexpr double kStart = 500, kTile = 12;

double Num(int64_t x) { return static_cast<double>(x); }

// One step of a register tile; wide ones wait briefly for their constants.
double StepTime(int64_t rows, int64_t vectors) {
  return std::max({Num(rows * vectors) / 2, Num(rows + vectors) / 2, 4.0}) + 0.25 + 0.25 * Num(vectors);
}

int64_t TasksOf(const TransformedSum& t, const TransformPoint& p) {
  return t.Vectors() / p.channels * (t.Tiles() / p.block);
}

// Cycles of one task, and bytes of constants that the busiest thread reads.
struct Parts {
  double steps = 0, tiles = 0, transforms = 0, again = 0, first = 0;
};

Parts PartsOf(const TransformedSum& t, const TransformPoint& p) {
  const double lanes = Num(t.sum.lanes), elements = Num(t.Elements()), groups = Num(p.channels / p.vectors);
  const double inputs = Num(t.Channels()) / lanes;  // vectors
  Parts parts;
  const int64_t full = p.block / p.rows, rest = p.block % p.rows;
  const double round = Num(full) * StepTime(p.rows, p.vectors) + (rest > 0 ? StepTime(rest, p.vectors) : 0);
  const double rounds = groups * elements * Num(full + (rest > 0));
  parts.steps = groups * elements * Num(t.Channels()) * round;
  parts.tiles = rounds * (kTile + Num(t.Channels()) / Num(p.unroll) * 0.15) + groups * elements * Num(p.block);

  const double in_bytes = 4 * elements * Num(t.Channels() * p.block);
  const double out_bytes = 4 * elements * Num(p.block * (p.by_channel ? p.vectors : p.channels)) * lanes;
  const double constants = 4 * elements * Num(t.Channels() * p.channels) * lanes;
  // All tiles of a register tile's constants are multiplied before the next ones.
  const double near = in_bytes / elements + out_bytes / elements;
  parts.again = 0.35 * kCaches.Read(in_bytes * groups, in_bytes + (p.by_channel ? constants / groups : near));
  const double tasks = std::ceil(Num(TasksOf(t, p)) / t.sum.threads);  // of the busiest thread
  const double shares = std::min(tasks, Num(t.Vectors() / p.channels));
  parts.again += (tasks - shares) / tasks * kCaches.Read(constants, constants + in_bytes + out_bytes) * 0.35;
  parts.first = shares / tasks * constants / kCaches.l3_rate * (p.far ? 0.5 : p.prefetch ? 0.7 : 1.0);

  const double work = 0.5 * Num(t.Longest()) + 0.5;  // a vector of elements: additions, and what goes through memory
  const double spill = p.by_channel ? 0.3 : out_bytes > 32768 ? 1.0 : 0.5;
  const double input = inputs * Num(p.block) * elements * (work + (t.source.defined() ? 1.5 : 0));
  const double output = Num(p.channels * p.block) * (elements * (work + spill) + Num(t.Pixels()) * 2.5);
  parts.transforms = input + output;
  return parts;
}

double CyclesOf(const TransformedSum& t, const TransformPoint& p) {
  const Parts parts = PartsOf(t, p);
  const double task = parts.steps + parts.tiles + parts.transforms + parts.again + parts.first + kStart;
  return task * std::ceil(Num(TasksOf(t, p)) / t.sum.threads);
}

search::Rejection Shape(const TransformedSum& t, const TransformPoint& p) {
  if (p.channels % p.vectors != 0) return "a task's vectors of channels do not come out even";
  if (p.rows > p.block || CeilDiv(p.block, CeilDiv(p.block, p.rows)) != p.rows) return "no even part of a task's tiles";
  const int64_t need = p.rows * p.vectors + p.vectors + 1;
  return search::Unless(need <= t.sum.registers, "needs {} of {} registers", need, t.sum.registers);
}

// The reach of the best points, to which rules are relative, so that each sum has a legal point.
class TransformLimits {
 public:
  TransformLimits(const TransformedSum& t, std::vector<search::Knob> decisions)
      : t_(t), decisions_(std::move(decisions)) {}

  struct Reach {
    double imbalance = INFINITY, cycles = INFINITY;
    int64_t scratch = INT64_MAX;
  };
  const Reach& Get() {
    std::call_once(once_, [this] { Find(); });
    return reach_;
  }

 private:
  void Find() {
    search::Space space("transformed");
    for (const search::Knob& knob : decisions_) space.Add(knob);
    std::vector<TransformPoint> points;
    for (PointIndex i = 0; i < space.size(); ++i) {
      const TransformPoint p = TransformPoint::Of(space.At(i));
      if (!Shape(t_, p)) points.push_back(p);
    }
    for (const auto& p : points) reach_.scratch = std::min(reach_.scratch, TransformedScratch(t_, p));
    reach_.scratch = std::max(reach_.scratch, kScratch);
    std::erase_if(points, [&](const auto& p) { return TransformedScratch(t_, p) > reach_.scratch; });
    for (const auto& p : points) reach_.imbalance = std::min(reach_.imbalance, TransformedImbalance(t_, p));
    reach_.imbalance = std::max(1.25, reach_.imbalance * 1.02);
    for (const auto& p : points) {
      if (TransformedImbalance(t_, p) <= reach_.imbalance) reach_.cycles = std::min(reach_.cycles, CyclesOf(t_, p));
    }
  }

  const TransformedSum t_;
  const std::vector<search::Knob> decisions_;
  std::once_flag once_;
  Reach reach_;
};

}  // namespace

int64_t TransformedScratch(const TransformedSum& t, const TransformPoint& p) {
  const int64_t outputs = (p.by_channel ? p.vectors : p.channels) * t.sum.lanes;
  return 4 * t.Elements() * p.block * (t.Channels() + outputs);
}

double TransformedImbalance(const TransformedSum& t, const TransformPoint& p) {
  return search::Imbalance(TasksOf(t, p), Num(p.channels * p.block), Num(t.Vectors() * t.count), t.sum.threads);
}

void AddTransformedRules(const TransformedSum& t, Sketch* sketch) {
  const auto add = [&](const char* name, std::function<search::Rejection(const TransformPoint&)> rule) {
    sketch->rules.push_back({name, [rule = std::move(rule)](const Config& c) { return rule(TransformPoint::Of(c)); }});
  };
  add("shape", [t](const TransformPoint& p) { return Shape(t, p); });
  const auto limits = std::make_shared<TransformLimits>(t, sketch->decisions);
  add("scratch", [t, limits](const TransformPoint& p) {
    const int64_t bytes = TransformedScratch(t, p), most = limits->Get().scratch;
    return search::Unless(bytes <= most, "{} KB of scratch for each thread, at most {}", bytes >> 10, most >> 10);
  });
  add("parallel", [t, limits](const TransformPoint& p) {
    return search::TooUneven(TransformedImbalance(t, p), limits->Get().imbalance, t.sum.threads);
  });
  add("form", [](const TransformPoint& p) {
    return search::Unless(p.by_channel || p.channels > p.vectors,
                          "one register tile of channels a task: as `channels`");
  });
  sketch->cores = {{{"rows", "vectors", "block", "channels", "form"}, sketch->rules}};
  add("prefetch", [t](const TransformPoint& p) {
    return search::Unless(!p.far || p.by_channel || p.channels == t.Vectors(),
                          "the constants of a task of {} of {} vectors are not one stream", p.channels, t.Vectors());
  });
  add("estimate", [t, limits](const TransformPoint& p) {
    const double slower = CyclesOf(t, p) / limits->Get().cycles;
    return search::Unless(slower <= kSlowest, "estimated {:.1f} times slower than other points", slower);
  });
}

std::vector<double> TransformedCost(const TransformedSum& t, const TransformPoint& p) {
  const Parts parts = PartsOf(t, p);
  const auto share = [&](double part) { return std::log1p(part / parts.steps); };
  return {std::log(CyclesOf(t, p)), share(parts.tiles), share(parts.transforms),
          share(parts.again),       share(parts.first), std::log(TransformedImbalance(t, p))};
}

}  // namespace hone::sketch
