// Templates whose spaces are sketches: derived from the workload's computation by a rule of lib/sketch.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "op/operator.h"
#include "sketch/sketch.h"

namespace hone::op {

// The sketch of that name for the computation `direct` of a workload; nothing if no rule makes one.
std::optional<sketch::Sketch> FindSketch(const std::string& name, const Workload& workload, const Target& target);

// The points of the sketch that has the template's name. The default is the best one by the sketch's estimate.
class SketchTemplate final : public Template {
 public:
  SketchTemplate(std::string name, int version, Estimate estimate)
      : name_(std::move(name)), version_(version), estimate_(std::move(estimate)) {}

  const char* name() const override { return name_.c_str(); }
  int version() const override { return version_; }
  Result<Space> MakeSpace(const Workload& workload, const Target& target) const override;
  Result<Config> Default(const Space& space, const Workload& workload, const Target& target) const override;
  Result<Candidate> Instantiate(const Workload& workload, const Target& target, const Config& config) const override;
  const Estimate* estimate() const override { return &estimate_; }

 private:
  Result<sketch::Sketch> SketchOf(const Workload& workload, const Target& target) const;

  std::string name_;
  int version_;
  Estimate estimate_;
};

// Tiles of sums in registers (sketch/sums.h).
const Template& SumsTemplate();

}  // namespace hone::op
