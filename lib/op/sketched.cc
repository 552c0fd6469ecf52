#include "op/sketched.h"

#include <utility>

namespace hone::op {

std::optional<sketch::Sketch> FindSketch(const std::string& name, const Workload& workload, const Target& target) {
  const Result<Computation> computation = Compute(workload, target, Algorithm());
  if (!computation.ok()) return {};
  for (sketch::Sketch& sketch : sketch::MakeSketches(computation->outputs, target)) {
    if (sketch.name == name) return std::move(sketch);
  }
  return {};
}

Result<sketch::Sketch> SketchTemplate::SketchOf(const Workload& workload, const Target& target) const {
  std::optional<sketch::Sketch> sketch = FindSketch(name_, workload, target);
  if (!sketch) return Status::Unsupported("{} has no sketch `{}` for {}", workload.Text(), name_, target.Text());
  return std::move(*sketch);
}

Result<Space> SketchTemplate::MakeSpace(const Workload& workload, const Target& target) const {
  HONE_ASSIGN_OR_RETURN(const sketch::Sketch sketch, SketchOf(workload, target));
  return sketch::SpaceOf(sketch);
}

Result<Config> SketchTemplate::Default(const Space& space, const Workload& workload, const Target& target) const {
  HONE_ASSIGN_OR_RETURN(const sketch::Sketch sketch, SketchOf(workload, target));
  return sketch::BestByEstimate(sketch, space);
}

Result<Candidate> SketchTemplate::Instantiate(const Workload& workload, const Target& target,
                                              const Config& config) const {
  HONE_ASSIGN_OR_RETURN(const sketch::Sketch sketch, SketchOf(workload, target));
  HONE_ASSIGN_OR_RETURN(std::vector<Step> steps, sketch::StepsOf(sketch, config));
  return Candidate{{}, std::move(steps)};
}

const Template& SumsTemplate() {
  static const SketchTemplate t("sums", 1,
                                {[](const Workload& workload, const Target& target) -> PointCost {
                                   const auto sketch = FindSketch("sums", workload, target);
                                   return sketch ? sketch->cost : PointCost();
                                 },
                                 {"cycles", "tile", "memory", "loops", "imbalance"}});
  return t;
}

}  // namespace hone::op
