#include "op/gpu/template.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "op/knobs.h"
#include "op/shapes.h"
#include "op/steps.h"
#include "search/autotvm/autotvm_space.h"

namespace hone::op {

// Loads in flight per thread. With all iterations at once, every iteration's address would occupy registers.
constexpr int64_t kFetchesAtATime = 4;

static Result<Space> KnobsOfAutoTvm(const char* name, const Workload& workload) {
  HONE_ASSIGN_OR_RETURN(const search::AutoTvmShape shape, search::AutoTvmShapeOf(workload));
  return search::AutoTvmSpace(name, shape);
}

Result<Space> GpuTemplate::MakeSpace(const Workload& workload, const Target& target) const {
  HONE_ASSIGN_OR_RETURN(
      Space space, parts_.knobs != nullptr ? parts_.knobs(workload, target) : KnobsOfAutoTvm(parts_.name, workload));
  space.AddRule(search::DeviceRule(target, parts_.use(workload)));
  if (!parts_.thread_knobs.empty()) {
    search::SampleByThreads(parts_.thread_knobs, parts_.thread_part, target.limits, &space);
  }
  return space;
}

Result<Config> GpuTemplate::Default(const Space& space, const Workload& workload, const Target& target) const {
  return search::GpuDefault(space, target, parts_.use(workload));
}

Step SplitFour(const std::string& stage, const std::string& axis, const std::vector<int64_t>& parts) {
  return Split(stage, axis, {parts[1], parts[2], parts[3]}, {axis + ".b", axis + ".v", axis + ".t", axis + ".i"});
}

std::vector<std::vector<int64_t>> ProductShares(int64_t extent, const std::vector<int64_t>& vthreads, int64_t most) {
  std::vector<std::vector<int64_t>> shares;
  for (int64_t v : vthreads) {
    for (int64_t t : {4, 8, 16, 32}) {
      for (int64_t i : {1, 2, 4, 8}) {
        if (v * t * i > most || v * t * i >= 2 * std::max<int64_t>(RoundUp(extent, 4), 8)) continue;
        shares.push_back({-1, v, t, i});
      }
    }
  }
  return shares;
}

std::vector<int64_t> ProductRounds(int64_t depth) {
  std::vector<int64_t> rounds = {4, 8, 16, 32};
  std::erase_if(rounds, [&](int64_t k) { return k >= 2 * depth && k != 4; });
  return rounds;
}

void MapProduct(const std::string& stage, const std::string& batch, const std::string& y,
                const std::vector<int64_t>& y_parts, const std::string& x, const std::vector<int64_t>& x_parts,
                std::vector<Step>* steps) {
  Append(steps, {SplitFour(stage, y, y_parts), SplitFour(stage, x, x_parts)});
  std::vector<std::string> order;
  if (!batch.empty()) order.push_back(batch);
  for (const char* part : {".b", ".v", ".t", ".i"}) order.push_back(y + part), order.push_back(x + part);
  steps->push_back(Reorder(stage, order));
  if (!batch.empty()) steps->push_back(Bind(stage, batch, "blockIdx.z"));
  for (const auto& [axis, place] :
       {std::pair(y + ".b", "blockIdx.y"), std::pair(x + ".b", "blockIdx.x"), std::pair(y + ".v", "vthread"),
        std::pair(x + ".v", "vthread"), std::pair(y + ".t", "threadIdx.y"), std::pair(x + ".t", "threadIdx.x")}) {
    steps->push_back(Bind(stage, axis, place));
  }
}

void FetchTogether(const std::string& stage, const std::vector<std::string>& axes, const int64_t (&threads)[3],
                   int64_t vector, std::vector<Step>* steps) {
  std::string all = axes[0];
  if (axes.size() > 1) {
    all = "fetch";
    steps->push_back(Fuse(stage, axes, all));
  }
  steps->push_back(Split(stage, all, {threads[2], threads[1], threads[0], vector},
                         {"fetch.turn", "fetch.z", "fetch.y", "fetch.x", "fetch.vector"}));
  if (threads[2] > 1) steps->push_back(Bind(stage, "fetch.z", "threadIdx.z"));
  if (threads[1] > 1) steps->push_back(Bind(stage, "fetch.y", "threadIdx.y"));
  steps->push_back(Bind(stage, "fetch.x", "threadIdx.x"));
  if (vector > 1) steps->push_back(Vectorize(stage, "fetch.vector"));
  steps->push_back(PragmaStep(stage, "fetch.turn", "unroll", kFetchesAtATime));
}

void AddStages(const std::string& stage, int64_t stages, std::vector<Step>* steps) {
  if (stages < 2) return;
  steps->push_back(DoubleBuffer(stage));
  if (stages > 2) steps->push_back(PragmaStep(stage, "fetch.turn", "stages", stages));
}

void FetchShared(const SharedCopy& copy, const std::string& tensor, const std::vector<std::string>& axes,
                 int64_t vector, std::vector<Step>* steps) {
  const std::string stage = copy.name + ".shared";
  Append(steps, {CacheRead(tensor, "shared", {copy.reader}, stage), ComputeAt(stage, copy.reader, "k.o")});
  FetchTogether(stage, axes, copy.threads, vector, steps);
  AddStages(stage, copy.stages, steps);
}

void FetchWeights(const SharedCopy& copy, const std::string& weight, std::vector<std::string> outer, int dimension,
                  int64_t filters, bool vectors, std::vector<Step>* steps) {
  const bool fill = vectors && filters % kFilterVector != 0;
  outer.push_back(fill ? fmt::format("d{}/{}", dimension, kFilterVector) : fmt::format("d{}", dimension));
  if (fill) outer.push_back(fmt::format("d{}%{}", dimension, kFilterVector));
  std::vector<std::string> axes;
  for (size_t i = 0; i < outer.size(); ++i) axes.push_back(fmt::format("p{}", i));
  steps->push_back(Relayout(weight, outer, "weight.packed"));
  FetchShared(copy, "weight.packed", axes, vectors ? kFilterVector : 1, steps);
}

void AddUnrollKnob(const std::string& rounds, Space* space) {
  space->Add(search::Knob::Choice("unroll", {1, 2, 4, 8}));
  space->AddRule({"unroll", [rounds](const Config& config) {
                    const int64_t at_once = config.Number("unroll"), all = config.Number(rounds);
                    return Unless(at_once <= all, "{} of {} rounds", at_once, all);
                  }});
}

Step UnrollRounds(const std::string& stage, const std::string& axis, const Config& config) {
  return PragmaStep(stage, axis, "unroll", config.Number("unroll"));
}

void AddUnrollNotes(const std::string& stage, const std::string& axis, const Config& config, std::vector<Step>* steps) {
  const int64_t most = config.Number("auto_unroll_max_step");
  if (most > 0) steps->push_back(PragmaStep(stage, axis, "auto_unroll_max_step", most));
  steps->push_back(PragmaStep(stage, axis, "unroll_explicit", config.Number("unroll_explicit")));
}

}  // namespace hone::op
