// A template for CPUs from the layer that it schedules.
#pragma once

#include "op/operator.h"

namespace hone::op {

// A layer is made by Layer::Of(workload, target). It has MakeSpace(name), Default(space) and Build(workload, target,
// config), each as in Template.
template <typename Layer>
class LayerTemplate final : public Template {
 public:
  LayerTemplate(const char* name, int version, const Estimate* estimate)
      : name_(name), version_(version), estimate_(estimate) {}

  const char* name() const override { return name_; }
  int version() const override { return version_; }
  const Estimate* estimate() const override { return estimate_; }
  Result<Space> MakeSpace(const Workload& workload, const Target& target) const override {
    return Layer::Of(workload, target).MakeSpace(name_);
  }
  Result<Config> Default(const Space& space, const Workload& workload, const Target& target) const override {
    return Layer::Of(workload, target).Default(space);
  }
  Result<Candidate> Instantiate(const Workload& workload, const Target& target, const Config& config) const override {
    return Layer::Of(workload, target).Build(workload, target, config);
  }

 private:
  const char* const name_;
  const int version_;
  const Estimate* const estimate_;
};

}  // namespace hone::op
