// The schedule on a GPU of what needs no tuning: made from the te DAG alone, so that every operator has one.
//
// What is no reduction is written into its readers. The outputs, and reductions that are smaller than what reads them
// (a row's sum, read by all of the row), are kernels of their own: their axes are fused and split over blocks and
// threads, neighbours in memory being neighbouring threads. A reduction with as many values as the output is made where
// it is read, in a register; where there are few values of long reductions, by the threads of a warp together.
// Where the outputs are a kernel's constants, their axes are not fused but each has its own index of blocks.
#pragma once

#include <string>
#include <vector>

#include "op/fixed_template.h"
#include "op/operator.h"

namespace hone::op {

std::vector<Step> PlainGpuSteps(const std::vector<te::Tensor>& outputs, const DeviceLimits& limits);

// The te DAG of a CPU builder (its channel block is 1 there) under PlainGpuSteps, as "<op>_gpu".
class GpuPlainTemplate final : public Template {
 public:
  GpuPlainTemplate(std::string name, int version, FixedTemplate::Builder builder)
      : name_(std::move(name)), version_(version), builder_(builder) {}

  const char* name() const override { return name_.c_str(); }
  int version() const override { return version_; }
  Result<search::Space> MakeSpace(const Workload&, const Target&) const override { return search::Space(name_); }
  Result<Config> Default(const search::Space& space, const Workload&, const Target&) const override {
    return space.At(0);
  }
  Result<Instance> Instantiate(const Workload& workload, const Target& target, const Config&) const override;

 private:
  std::string name_;
  int version_;
  FixedTemplate::Builder builder_;
};

}  // namespace hone::op
