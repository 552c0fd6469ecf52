// A template of chains from the layer that it schedules.
#pragma once

#include <map>
#include <string>

#include "op/chain/chain.h"
#include "op/estimate/parts.h"
#include "op/knobs.h"

namespace hone::op {

// `Layer` is made of a workload and a target. It has kName, AddTo (knobs and rules), Preferred (the knobs' values of a
// sensible point) and Build (a candidate).
template <typename Layer>
class ChainTemplate final : public Template {
 public:
  const char* name() const override { return Layer::kName; }
  int version() const override { return 1; }
  const Estimate* estimate() const override { return &ChainEstimate(); }
  Result<Space> MakeSpace(const Workload& workload, const Target& target) const override {
    Space space(name());
    Layer(workload, target).AddTo(&space);
    return space;
  }
  Result<Config> Default(const Space& space, const Workload& workload, const Target& target) const override {
    return LegalNear(space, Layer(workload, target).Preferred());
  }
  Result<Candidate> Instantiate(const Workload& workload, const Target& target, const Config& config) const override {
    return Layer(workload, target).Build(ChainStages(workload, target), config);
  }
};

}  // namespace hone::op
