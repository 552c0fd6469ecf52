// Invented tasks for tests of tuners: spaces whose times are a formula, so that the best point is known.
#pragma once

#include "base/rng.h"
#include "common/expect.h"
#include "ir/stmt.h"
#include "search/space/space.h"
#include "search/tuner/auto_tuner.h"

namespace hone::search {

inline std::vector<int64_t> Numbers(int64_t first, size_t count) {
  std::vector<int64_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

// A task of one template.
inline TaskSpace TaskOf(Space space) {
  TaskSpace task;
  task.Add(std::move(space));
  return task;
}

// 8 x 8 x 8 x 8 points. Those with a * b <= 24 are legal.
inline TaskSpace SurfaceSpace() {
  Space space("surface");
  for (const char* name : {"a", "b", "c", "d"}) space.Add(Knob::Choice(name, Numbers(1, 8)));
  space.AddRule({"product", [](const Config& c) -> std::optional<std::string> {
                   if (c.Number("a") * c.Number("b") <= 24) return std::nullopt;
                   return "a * b is over 24";
                 }});
  return TaskOf(std::move(space));
}

// 12 x 10 points of which those with a + b divisible by 3 are legal: 40 of them.
inline TaskSpace SmallSpace() {
  Space space("small");
  space.Add(Knob::Choice("a", Numbers(0, 12)));
  space.Add(Knob::Choice("b", Numbers(0, 10)));
  space.AddRule({"third", [](const Config& c) -> std::optional<std::string> {
                   if ((c.Number("a") + c.Number("b")) % 3 == 0) return std::nullopt;
                   return "a + b is not divisible by 3";
                 }});
  return TaskOf(std::move(space));
}
inline std::vector<PointIndex> LegalOfSmall() {
  std::vector<PointIndex> legal;
  for (uint64_t i = 0; i < 120; ++i) {
    if ((i % 12 + i / 12) % 3 == 0) legal.push_back(i);
  }
  return legal;
}

// Seconds: a valley along a * b = 18, deepest at c = 6, d = 2, with 1 ms there (a = 3, b = 6 and a = 6, b = 3).
inline double SurfaceSeconds(const Config& config) {
  const double ab = static_cast<double>(config.Number("a") * config.Number("b"));
  const double c = static_cast<double>(config.Number("c")), d = static_cast<double>(config.Number("d"));
  return 1e-3 * (1 + std::abs(std::log2(ab / 18)) + 0.1 * (c - 6) * (c - 6) + 0.2 * std::abs(d - 2));
}

inline Outcome OkOutcome(const Config& config, double seconds) {
  return Outcome{.config = config, .state = TrialState::kOk, .median = seconds};
}
inline Outcome Failed(const Config& config, TrialError error = TrialError::kCompile) {
  return Outcome{.config = config, .error = error};
}

using Measure = std::function<Outcome(const Config&)>;
inline Outcome OnSurface(const Config& config) { return OkOutcome(config, SurfaceSeconds(config)); }
inline Outcome EqualTimes(const Config& config) { return OkOutcome(config, 1e-3); }

// The time of the fastest point that works.
inline double BestSeconds(const TaskSpace& space, const std::vector<PointIndex>& tried, const Measure& measure) {
  double best = std::numeric_limits<double>::infinity();
  for (const PointIndex index : tried) {
    const Outcome o = measure(space.At(index));
    if (o.state == TrialState::kOk) best = std::min(best, o.median);
  }
  return best;
}

// Continues `history` up to `trials` trials, requesting `batch` at a time.
inline std::vector<PointIndex> Propose(Tuner* tuner, const TaskSpace& space, const Measure& measure, size_t trials,
                                       size_t batch = 16, const std::vector<PointIndex>& history = {}) {
  std::vector<PointIndex> all, next = history;
  while (true) {
    std::vector<Outcome> outcomes;
    for (const PointIndex index : next) outcomes.push_back(measure(space.At(index)));
    tuner->Update(outcomes);
    all.insert(all.end(), next.begin(), next.end());
    const size_t room = std::min(batch, trials - all.size());
    next = room > 0 ? tuner->NextBatch(static_cast<int>(room)) : std::vector<PointIndex>();
    EXPECT_LE(next.size(), room);
    if (next.empty()) return all;
  }
}

// A whole search by the tuner `auto`.
inline std::vector<PointIndex> Search(const TaskSpace& space, const Measure& measure, size_t trials, uint64_t seed = 1,
                                      const TunerContext& context = {}) {
  AutoTuner tuner(space, seed, context);
  return Propose(&tuner, space, measure, trials);
}

// Loops whose lengths are the knobs' numbers, for tuners that look at loops.
inline Result<ir::Function> SurfaceLoops(const Workload&, const Config& config) {
  const ir::Buffer out = ir::Buffer::Make("out", DType::Float(32), 1 << 20, ir::Scope::kArgument, true);
  std::vector<ir::Var> vars;
  ir::Expr index(0);
  for (const KnobValue& value : config.values) {
    vars.emplace_back(value.name);
    index = index * ir::Expr(16) + vars.back();
  }
  ir::Stmt body = ir::MakeStore(out, index, ir::Imm(DType::Float(32), 1));
  for (size_t i = vars.size(); i-- > 0;) {
    const auto& numbers = config.values[i].numbers;
    body =
        ir::MakeFor(vars[i], ir::Expr(0), ir::Expr(numbers.empty() ? 1 : numbers[0] + 1), ir::ForKind::kSerial, body);
  }
  return ir::Function{"f", {out}, body};
}

inline TunerContext SurfaceContext() { return TunerContext{.loops = SurfaceLoops}; }

// A context with an estimate that has one part.
template <typename F>
TunerContext Estimating(F estimate) {
  TunerContext context;
  context.workload.op = "surface";
  context.estimate = [estimate](const Workload&) {
    return [estimate](const Config& config) { return std::vector<double>{estimate(config)}; };
  };
  return context;
}

// Outcomes of every `step`th legal point of a space, with times from `seconds`.
template <typename F>
Donor DonorOf(const TaskSpace& space, uint64_t step, F seconds) {
  Donor donor;
  donor.workload.op = "surface";
  for (uint64_t i = 0; i < space.size(); i += step) {
    if (!space.Reject(i)) donor.outcomes.push_back(OkOutcome(space.At(i), seconds(space.At(i))));
  }
  return donor;
}

}  // namespace hone::search
