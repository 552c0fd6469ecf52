// What Schedule::Apply does for each kind of step, on the list of stages. Internal to schedule/. Each function checks
// everything before it changes anything.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "schedule/schedule.h"

namespace hone::schedule {

// Stages and their inputs.
struct State {
  std::vector<Stage>* stages;
  std::vector<te::Tensor>* inputs;

  Stage* Find(const std::string& name) const;
  // kNotFound with a suggestion; kInvalid if the stage was inlined.
  Result<Stage*> Need(const std::string& name) const;
  // kInvalid if a tensor or stage has that name already.
  Status CheckNewName(const std::string& name) const;
  std::vector<Stage*> ReadersOf(const std::string& tensor) const;
};

// Steps on one stage's loops: split, fuse, reorder, vectorize, unroll, parallel, bind, pragma, prefetch, tensorize.
// (apply_axes.cc)
Status ApplyAxisStep(const Step& step, const State& state, Stage* stage);

// compute_at, compute_root, set_scope, storage_align, double_buffer. (apply_attach.cc)
Status ApplyAttachStep(const Step& step, const State& state, Stage* stage);
// Is every attached stage inside the loops of all that read it? (apply_attach.cc)
Status CheckAttachments(const State& state);
Result<ir::Scope> ParseScope(const std::string& text);

// Steps that rewrite computations: inline, cache_read, cache_write, relayout, rfactor. (apply_rewrite.cc)
Status ApplyRewriteStep(const Step& step, const State& state);

// The loop of that name; kNotFound with a suggestion, kInvalid if it was split or fused away.
Result<Axis*> NeedLoop(Stage* stage, const std::string& name);

// A stage in plain loops for a tensor.
Stage PlainStage(const te::Tensor& tensor);

}  // namespace hone::schedule
