#include "lower/lower.h"

#include "arith/simplify.h"
#include "ir/verifier.h"
#include "lower/bounds.h"
#include "lower/loop_nest.h"
#include "lower/partition.h"
#include "lower/prefetch.h"
#include "lower/specialize.h"
#include "lower/storage.h"
#include "lower/unroll.h"
#include "lower/vectorize.h"

namespace hone::lower {

namespace {

// What happens around each pass.
class Steps {
 public:
  Steps(const LowerOptions& options, ir::Function* function) : options_(options), function_(*function) {}

  // Takes over what `pass` made of the body.
  Status Done(const char* pass, const Result<ir::Stmt>& body) {
    HONE_RETURN_IF_ERROR(body.status());
    if (body->same_as(function_.body)) return Status::Ok();
    function_.body = *body;
    return Check(pass);
  }

  Status Check(const char* pass) {
    if (options_.trace) options_.trace(pass, function_, options_.trace_context);
    return options_.verify ? ir::Verify(function_).WithContext(std::string("bug in pass ") + pass) : Status::Ok();
  }

 private:
  const LowerOptions& options_;
  ir::Function& function_;
};

}  // namespace

Result<ir::Function> Lower(const schedule::Schedule& schedule, const std::vector<te::Tensor>& args,
                           const LowerOptions& options) {
  Bounds bounds;
  HONE_RETURN_IF_ERROR(InferBounds(schedule, &bounds));
  HONE_ASSIGN_OR_RETURN(ir::Function f, MakeLoopNest(schedule, &bounds, args, options.name));
  Steps steps(options, &f);
  HONE_RETURN_IF_ERROR(steps.Check("loop_nest"));
  HONE_RETURN_IF_ERROR(steps.Done("specialize", Specialize(f.body)));
  HONE_RETURN_IF_ERROR(steps.Done("partition", PartitionConditions(f.body)));
  HONE_RETURN_IF_ERROR(steps.Done("simplify", arith::SimplifyStmt(f.body)));
  HONE_RETURN_IF_ERROR(steps.Done("vectorize", VectorizeLoops(f.body)));
  HONE_RETURN_IF_ERROR(steps.Done("unroll", UnrollLoops(f.body)));
  HONE_RETURN_IF_ERROR(steps.Done("prefetch", InjectPrefetches(f.body)));
  HONE_RETURN_IF_ERROR(steps.Done("storage", AssignStorage(f.body)));
  return f;
}

}  // namespace hone::lower
