#include "session/tuner_context.h"

#include "compile/backend.h"
#include "op/estimate/estimate.h"
#include "op/operator.h"

namespace hone::session {

search::TunerContext ContextOf(const Workload& workload, const Target& target) {
  search::TunerContext context;
  context.workload = workload;
  context.target = target;
  if (const auto backend = compile::FindBackend(target); backend.ok()) context.group = (*backend)->group();
  context.loops = [target](const Workload& w, const Config& config) { return compile::LowerLoops(w, target, config); };
  context.estimate = [target](const Workload& w) { return op::EstimatesOf(w, target); };
  return context;
}

search::TunerContext MakeTunerContext(const Workload& workload, const Target& target, const search::TaskSpace& space) {
  search::TunerContext context = ContextOf(workload, target);
  // Points of the task itself are many: their spaces are there already.
  context.loops = [&space, workload, target](const Workload& w, const Config& config) -> Result<ir::Function> {
    if (w != workload) return compile::LowerLoops(w, target, config);
    HONE_ASSIGN_OR_RETURN(const Candidate candidate, op::Instantiate(w, target, space, config));
    return compile::LowerLoops(w, target, candidate);
  };
  const auto op = op::FindOperator(workload);
  if (!op.ok()) return context;
  for (size_t s = 0; s < space.spaces().size(); ++s) {
    const search::Space& part = space.spaces()[s];
    for (const op::Template* t : (*op)->Templates(workload, target)) {
      if (part.template_name() != t->name()) continue;
      const auto point = t->Default(part, workload, target);
      if (point.ok() && !part.Reject(*point)) context.defaults.push_back(space.offset(s) + point->index);
    }
  }
  return context;
}

}  // namespace hone::session
