// Schedule::Apply for each kind of step, on the list of stages. Internal to schedule/. Each function checks everything
// before it changes anything.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "schedule/schedule.h"

namespace hone::schedule {

// Steps may come from a damaged or hostile file. These limits keep everything that lower/ computes from them far within
// 64 bits. Templates stay far below them.
inline constexpr int64_t kMostExtent = int64_t{1} << 40;    // of a loop, and of a factor
inline constexpr int64_t kMostElements = int64_t{1} << 32;  // of a tensor that a step creates
inline constexpr int64_t kMostAlign = 1 << 16;              // storage_align, elements
inline constexpr int64_t kMostDistance = int64_t{1} << 32;  // prefetch, bytes either way
inline constexpr int64_t kMostHint = 1 << 12;               // pragma

// Returns kInvalid if a tensor of this shape has more than kMostElements elements; the message calls it `name`.
Status CheckElements(const std::string& name, const std::vector<int64_t>& shape);

// The stages and their inputs.
struct State {
  std::vector<Stage>* stages;
  std::vector<te::Tensor>* inputs;

  Stage* Find(const std::string& name) const;
  // Returns kNotFound with a suggestion, or kInvalid if the stage was inlined.
  Result<Stage*> Need(const std::string& name) const;
  // Returns kInvalid if a tensor or stage already has that name, including constants that other constants read.
  Status CheckNewName(const std::string& name) const;
  std::vector<Stage*> ReadersOf(const std::string& tensor) const;
  std::map<std::string, std::vector<Stage*>> AllReaders() const;  // by tensor
};

// Steps on one stage's loops: split, fuse, reorder, vectorize, unroll, parallel, bind, pragma, prefetch, tensorize.
// (apply_axes.cc)
Status ApplyAxisStep(const Step& step, const State& state);

// compute_at, compute_root, set_scope, storage_align, double_buffer. (apply_attach.cc)
Status ApplyAttachStep(const Step& step, const State& state);
// Whether every attached stage is inside the loops of all its readers. (apply_attach.cc)
Status CheckAttachments(const State& state);
Result<ir::Scope> ParseScope(const std::string& text);

// Steps that rewrite computations: inline, cache_read, cache_write, relayout, rfactor. (apply_rewrite.cc)
Status ApplyRewriteStep(const Step& step, const State& state);

// The loop of that name. Returns kNotFound with a suggestion, or kInvalid if it was split or fused away.
Result<Axis*> NeedLoop(Stage* stage, const std::string& name);

// A stage that computes a tensor in plain loops.
Stage PlainStage(const te::Tensor& tensor);

}  // namespace hone::schedule
