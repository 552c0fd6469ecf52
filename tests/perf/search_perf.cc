// The cost of search itself, on one core: features of points, and learning from them.
//
//   search_perf [WORKLOAD]
//
// Prints knob rows per second, itervar and curve rows per second (including lowering) for the workload's space, the
// seconds of one fit of 1,000 rows and 10,000 predictions for each loss, and the time of `auto` per trial in the
// workload's space for a GPU; it considers 100,000 points of it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/rng.h"
#include "compile/compile.h"
#include "op/operator.h"
#include "search/cost/xgb_model.h"
#include "search/feature/knob_features.h"
#include "search/feature/loop_features.h"
#include "search/tuner/tuner.h"
#include "session/tuner_context.h"
#include "target/target.h"

namespace {

using namespace hone;  // NOLINT: a program, not a header

constexpr int kRepeats = 3;  // uses the best of these
constexpr int kLoopPoints = 200;

double Now() { return RealClock()->NowSeconds(); }

template <typename Body>
double BestSeconds(const Body& body) {
  double best = 1e30;
  for (int r = 0; r < kRepeats; ++r) {
    const double start = Now();
    body();
    best = std::min(best, Now() - start);
  }
  return best;
}

void PrintFit(const search::KnobFeatures& features, const std::vector<PointIndex>& points) {
  search::FitData data;
  data.rows.columns = features.columns();
  search::Matrix unseen;
  unseen.columns = features.columns();
  Rng rng(2);
  std::vector<float> row(features.columns());
  const std::pair<search::Matrix*, int> parts[] = {{&data.rows, 1000}, {&unseen, 10000}};
  for (const auto& [matrix, count] : parts) {
    for (int i = 0; i < count; ++i) {
      features.Write(points[rng.UniformInt(points.size())], row.data());
      matrix->Append(row);
    }
  }
  for (int i = 0; i < 1000; ++i) data.labels.push_back(static_cast<float>(rng.UniformDouble()));
  const std::pair<const char*, search::Loss> losses[] = {
      {"reg", search::Loss::kReg}, {"rank", search::Loss::kRank}, {"rank-binary", search::Loss::kRankBinary}};
  for (const auto& [name, loss] : losses) {
    auto model = search::MakeXgbModel({.loss = loss});
    if (!model.ok()) {
      fmt::print("{}\n", model.status().message());
      return;
    }
    double fit = 1e30, predict = 1e30;
    for (int r = 0; r < kRepeats; ++r) {
      const double start = Now();
      if (!(*model)->Fit(data).ok()) return;
      const double fitted = Now();
      if (!(*model)->Predict(unseen).ok()) return;
      fit = std::min(fit, fitted - start);
      predict = std::min(predict, Now() - fitted);
    }
    fmt::print("xgboost {:<12} fit of 1,000 rows x {} {:.3f} s, 10,000 predictions {:.3f} s, sum {:.3f} s\n", name,
               features.columns(), fit, predict, fit + predict);
  }
}

// Simulated times: a sum over the columns of a point's knobs, from which a search can learn. `group` is the number of
// trials planned at a time.
Status PrintAuto(const Workload& workload, int group) {
  HONE_ASSIGN_OR_RETURN(const Target target, Target::Parse("cuda -arch=sm_80 -multiprocessors=108"));
  HONE_ASSIGN_OR_RETURN(const search::TaskSpace space, op::MakeTaskSpace(workload, target));
  const search::KnobFeatures features(space);
  std::vector<float> row(features.columns()), weights(features.columns());
  Rng rng(3);
  for (float& weight : weights) weight = static_cast<float>(rng.Normal());
  search::TunerContext context = session::ContextOf(workload, target);
  context.group = group;
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<search::Tuner> tuner, search::MakeTuner("auto", space, 1, context));
  double seconds = 0;
  for (int trials = 0, shown = 64; shown <= 256;) {
    const double start = Now();
    const std::vector<PointIndex> batch = tuner->NextBatch(16);
    seconds += Now() - start;
    if (trials == 0) fmt::print("auto     {:>10.0f} ms before the first trial, groups of {}\n", 1e3 * seconds, group);
    if (batch.empty()) return Status::Invalid("the space is used up");
    std::vector<Outcome> outcomes;
    for (const PointIndex index : batch) {
      features.Write(index, row.data());
      Outcome outcome;
      outcome.config = space.At(index);
      outcome.state = TrialState::kOk;
      for (size_t c = 0; c < row.size(); ++c) {
        if (!std::isnan(row[c])) outcome.median += 0.1 * weights[c] * row[c];
      }
      outcome.median = std::exp(std::clamp(outcome.median, -3.0, 3.0)) * 1e-3;
      outcomes.push_back(std::move(outcome));
    }
    const double told = Now();
    tuner->Update(outcomes);
    seconds += Now() - told;
    trials += static_cast<int>(batch.size());
    if (trials < shown) continue;
    fmt::print("auto     {:>10.2f} ms a trial over {} trials\n", 1e3 * seconds / trials, trials);
    shown *= 2;
  }
  return Status();
}

Status Run(const std::string& text) {
  HONE_ASSIGN_OR_RETURN(const Target target, HostTarget());
  HONE_ASSIGN_OR_RETURN(const Workload workload, op::ParseChecked(text));
  HONE_ASSIGN_OR_RETURN(const search::TaskSpace space, op::MakeTaskSpace(workload, target));
  Rng rng(1);
  std::vector<PointIndex> points;
  while (points.size() < 10000) {
    const auto index = space.SampleLegal(rng);
    if (!index) return Status::Invalid("no legal point");
    points.push_back(*index);
  }
  const search::KnobFeatures features(space);
  std::vector<float> row(features.columns());
  float sum = 0;
  const double knob = BestSeconds([&] {
    for (const PointIndex index : points) {
      features.Write(index, row.data());
      sum += std::isnan(row[0]) ? 0 : row[0];
    }
  });
  fmt::print("knob     {:>10.0f} rows/s ({} columns, sum {})\n", 10000 / knob, features.columns(), sum);
  const double lower = BestSeconds([&] {
    for (int i = 0; i < kLoopPoints; ++i) (void)compile::LowerLoops(workload, target, space.At(points[i])).ok();
  });
  std::vector<ir::Function> functions;
  for (int i = 0; i < kLoopPoints; ++i) {
    auto function = compile::LowerLoops(workload, target, space.At(points[i]));
    if (function.ok()) functions.push_back(std::move(*function));
  }
  size_t itervar_columns = 0, curve_columns = 0;
  const double itervar = BestSeconds([&] {
    for (const auto& f : functions) itervar_columns = std::max(itervar_columns, search::ItervarFeatures(f).size());
  });
  const double curve = BestSeconds([&] {
    for (const auto& f : functions) curve_columns = std::max(curve_columns, search::CurveFeatures(f).size());
  });
  fmt::print("itervar  {:>10.0f} rows/s ({} columns; of a row's {:.0f} us lowering is {:.0f})\n",
             kLoopPoints / (lower + itervar), itervar_columns, 1e6 * (lower + itervar) / kLoopPoints,
             1e6 * lower / kLoopPoints);
  fmt::print("curve    {:>10.0f} rows/s ({} columns)\n", kLoopPoints / (lower + curve), curve_columns);
  PrintFit(features, points);
  HONE_RETURN_IF_ERROR(PrintAuto(workload, 4));  // as for CPUs
  return PrintAuto(workload, 16);                // as for CUDA
}

}  // namespace

int main(int argc, char** argv) {
  const Status status = Run(argc > 1 ? argv[1] : "conv2d(f32[1,64,56,56], f32[64,64,3,3], pad=1,1,1,1) + bias + relu");
  if (!status.ok()) fmt::print(stderr, "{}\n", status.message());
  return status.ok() ? 0 : 1;
}
