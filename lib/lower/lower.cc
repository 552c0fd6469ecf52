#include "lower/lower.h"

#include "arith/simplify.h"
#include "lower/bounds.h"
#include "lower/loop_nest.h"
#include "lower/partition.h"
#include "lower/prefetch.h"
#include "lower/specialize.h"
#include "lower/storage.h"
#include "lower/unroll.h"
#include "lower/vectorize.h"

namespace hone::lower {

Result<ir::Function> Lower(const schedule::Schedule& schedule, const std::vector<te::Tensor>& args, const LowerOptions& options) {
  Bounds bounds;
  HONE_RETURN_IF_ERROR(InferBounds(schedule, &bounds));
  HONE_ASSIGN_OR_RETURN(ir::Function function, MakeLoopNest(schedule, &bounds, args, options.name));
  auto done = [&](const char* pass, const ir::Stmt& body) {
    if (body.same_as(function.body)) return;
    function.body = body;
    if (options.trace) options.trace(pass, function, options.trace_context);
  };
  if (options.trace) options.trace("loop_nest", function, options.trace_context);
  done("specialize", Specialize(function.body));
  done("partition", PartitionConditions(function.body));
  done("simplify", arith::SimplifyStmt(function.body));
  HONE_ASSIGN_OR_RETURN(ir::Stmt vectorized, VectorizeLoops(function.body));
  done("vectorize", vectorized);
  done("unroll", UnrollLoops(function.body));
  done("prefetch", InjectPrefetches(function.body));
  HONE_ASSIGN_OR_RETURN(ir::Stmt stored, AssignStorage(function.body));
  done("storage", stored);
  return function;
}

}  // namespace hone::lower
