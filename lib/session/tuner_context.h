// A tuner's knowledge of a task in addition to its space.
#pragma once

#include "search/space/space.h"
#include "search/tuner/context.h"
#include "target/target.h"
#include "task/workload.h"

namespace hone::session {

// The workload, the target, the operator's estimate, the loops of a point and, for CUDA, larger groups.
search::TunerContext ContextOf(const Workload& workload, const Target& target);

// As above, plus each template's default that is legal in `space` (the union of op::MakeTaskSpace), which must outlive
// the context.
search::TunerContext MakeTunerContext(const Workload& workload, const Target& target, const search::TaskSpace& space);

}  // namespace hone::session
