#include "lower/lower.h"

#include "arith/simplify.h"
#include "ir/printer.h"
#include "ir/verifier.h"
#include "lower/bounds.h"
#include "lower/gpu_places.h"
#include "lower/passes.h"

namespace hone::lower {

namespace {

// Wraps each pass: verification.
class Steps {
 public:
  Steps(const LowerOptions& options, ir::Function* function) : options_(options), function_(*function) {}

  // Takes over the body that `pass` returned.
  Status Done(const char* pass, const Result<Stmt>& body) {
    HONE_RETURN_IF_ERROR(body.status());
    if (body->same_as(function_.body)) return Status::Ok();
    function_.body = *body;
    return Check(pass);
  }

  Status Check(const char* pass) {
    return options_.verify ? ir::Verify(function_).WithContext(std::string("bug in pass ") + pass) : Status::Ok();
  }

 private:
  const LowerOptions& options_;
  ir::Function& function_;
};

// Rejects steps that are only for GPUs.
Status CheckForCpu(const Schedule& schedule) {
  for (const Stage& stage : schedule.stages()) {
    for (const std::string& leaf : stage.leaf) {
      const Axis& axis = *stage.FindAxis(leaf);
      for (const auto& [key, value] : axis.pragmas) {
        if (key != kTensorizeMmaTf32) continue;
        return Status::Unsupported("axis `{}` of `{}` is tensorized with mma_tf32: only a GPU has that", leaf,
                                   stage.name());
      }
      const ForKind kind = axis.kind;
      if (!ir::IsBlockLoop(kind) && !ir::IsThreadLoop(kind) && kind != ir::ForKind::kVThread) continue;
      return Status::Unsupported("axis `{}` of `{}` is bound to {}: only a GPU has that", leaf, stage.name(),
                                 ir::ForKindName(kind));
    }
    if (stage.scope == ir::Scope::kShared)
      return Status::Unsupported("`{}` is in scope `shared`: only a GPU has that", stage.name());
  }
  return Status::Ok();
}

Status CheckForGpu(const Schedule& schedule) {
  for (const Stage& stage : schedule.stages()) {
    for (const std::string& leaf : stage.leaf) {
      for (const auto& [key, value] : stage.FindAxis(leaf)->pragmas) {
        if (key != kTensorizeDot4) continue;
        return Status::Unsupported("axis `{}` of `{}` is tensorized with dot4: only a CPU has that", leaf,
                                   stage.name());
      }
    }
  }
  return Status::Ok();
}

Result<ir::Function> LowerForGpu(const Schedule& schedule, const std::vector<te::Tensor>& args,
                                 const LowerOptions& options) {
  HONE_RETURN_IF_ERROR(CheckForGpu(schedule));
  const GpuPlaces places(schedule);
  HONE_RETURN_IF_ERROR(places.Check());
  Bounds bounds;
  InferBounds(schedule, &bounds, &places);
  FillBeyondEdges(schedule, places, &bounds);
  HONE_ASSIGN_OR_RETURN(ir::Function f, MakeLoopNest(schedule, &bounds, args, options.name, &places));
  Steps steps(options, &f);
  HONE_RETURN_IF_ERROR(steps.Check("loop_nest"));
  HONE_RETURN_IF_ERROR(steps.Done("vthread", SpreadVThreads(f.body)));
  HONE_RETURN_IF_ERROR(steps.Done("gpu_threads", HoistShared(f.body)));
  HONE_RETURN_IF_ERROR(steps.Done("double_buffer", DoubleBuffers(f.body)));
  HONE_RETURN_IF_ERROR(steps.Done("simplify", arith::SimplifyStmt(f.body)));
  HONE_RETURN_IF_ERROR(steps.Done("tensorize", Tensorize(f.body)));
  HONE_RETURN_IF_ERROR(steps.Done("barriers", PlaceBarriers(f.body)));
  HONE_RETURN_IF_ERROR(steps.Done("auto_unroll", AutoUnroll(f.body, /*cpu=*/false)));
  HONE_RETURN_IF_ERROR(steps.Done("vectorize", VectorizeLoops(f.body, /*whole_vectors=*/true)));
  HONE_RETURN_IF_ERROR(steps.Done("unroll", UnrollLoops(f.body)));
  HONE_RETURN_IF_ERROR(steps.Done("storage", AssignStorage(f.body)));
  if (options.verify) HONE_RETURN_IF_ERROR(ir::VerifyDevice(f).WithContext("bug in lowering"));
  return f;
}

}  // namespace

Result<ir::Function> Lower(const Schedule& schedule, const std::vector<te::Tensor>& args, const LowerOptions& options) {
  if (options.gpu) return LowerForGpu(schedule, args, options);
  HONE_RETURN_IF_ERROR(CheckForCpu(schedule));
  Bounds bounds;
  InferBounds(schedule, &bounds);
  HONE_ASSIGN_OR_RETURN(ir::Function f, MakeLoopNest(schedule, &bounds, args, options.name));
  Steps steps(options, &f);
  HONE_RETURN_IF_ERROR(steps.Check("loop_nest"));
  HONE_RETURN_IF_ERROR(steps.Done("specialize", Specialize(f.body)));
  HONE_RETURN_IF_ERROR(steps.Done("partition", PartitionConditions(f.body)));
  HONE_RETURN_IF_ERROR(steps.Done("simplify", arith::SimplifyStmt(f.body)));
  HONE_RETURN_IF_ERROR(steps.Done("tensorize", TensorizeDot4(f.body)));
  HONE_RETURN_IF_ERROR(steps.Done("auto_unroll", AutoUnroll(f.body, /*cpu=*/true)));
  HONE_RETURN_IF_ERROR(steps.Done("vectorize", VectorizeLoops(f.body)));
  HONE_RETURN_IF_ERROR(steps.Done("unroll", UnrollLoops(f.body)));
  HONE_RETURN_IF_ERROR(steps.Done("prefetch", InjectPrefetches(f.body)));
  HONE_RETURN_IF_ERROR(steps.Done("storage", AssignStorage(f.body)));
  return f;
}

}  // namespace hone::lower
