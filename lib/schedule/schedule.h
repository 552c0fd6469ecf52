// Schedule: how a DAG of tensors is computed. Its state starts as "every stage separately, in plain loops", and steps
// (task/step.h) change it. Apply checks a step against the state and performs it, or returns a one-line error and
// leaves the state unchanged. lower/ reads the state.
//
// Steps rewrite computations (inlining, caching), so the reads of a DAG may refer to several versions of a tensor:
// inside a schedule, the name identifies a tensor.
//
// Constant computations (te::TensorNode::constant) are not stages of the kernel: Prepare() makes a separate schedule
// for them, and the kernel reads each of them that it needs as a placeholder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/stmt.h"
#include "task/step.h"
#include "te/tensor.h"

namespace hone::schedule {

// How axes derive from others. schedule/relation.h has the equations.
struct SplitRelation {
  std::string parent, outer, inner;
  int64_t factor = 1;  // extent of inner; if it does not divide, the last `inner` is shorter
};
struct FuseRelation {
  std::string outer, inner, fused;
};
struct Relation {
  enum class Kind { kSplit, kFuse } kind;
  SplitRelation split;
  FuseRelation fuse;
};

struct Axis {
  std::string name;
  int64_t extent = 0;  // of the whole tensor; an attached stage iterates over less
  int64_t stride = 1;  // step in the axis that was split, or in the outermost of several
  bool reduce = false;
  ir::ForKind kind = ir::ForKind::kSerial;
  std::vector<std::pair<std::string, int64_t>> pragmas;
};

struct PrefetchNote {
  std::string tensor, axis;
  int64_t distance = 0;  // bytes
  int64_t level = 1;     // cache level: 2 skips the first one
};

// Rounds the stride of `axis` (elements) up to the next s with s % factor == offset.
struct StorageAlign {
  std::string axis;
  int64_t factor = 1, offset = 0;
};

enum class AttachKind { kRoot, kInline, kAt };

struct Stage {
  te::Tensor tensor;                // its current computation (after cache and rfactor rewrites)
  std::vector<Axis> axes;           // all axes by name, both roots and derived ones
  std::vector<std::string> leaf;    // the loops, outermost first
  std::vector<Relation> relations;  // in order of creation
  AttachKind attach = AttachKind::kRoot;
  std::string at_stage, at_axis;  // for kAt
  // Unset: lower chooses (argument for outputs, workspace at root, scratch inside a parallel loop).
  std::optional<ir::Scope> scope;
  std::vector<PrefetchNote> prefetches;
  std::vector<StorageAlign> aligns;
  bool double_buffer = false;
  bool output = false;

  const std::string& name() const { return tensor.name(); }
  const Axis* FindAxis(const std::string& name) const;
  bool reduction() const { return !tensor.node()->reduce_axes.empty(); }
};

class Schedule {
 public:
  // The plain schedule of the DAG with these `outputs`.
  static Result<Schedule> Create(const std::vector<te::Tensor>& outputs);

  // Without effect if it fails.
  Status Apply(const Step& step);
  // Stops at the first failure, with the steps before it applied; the message gives its number and text.
  Status ApplyAll(const std::vector<Step>& steps);

  // Stages with a computation, producers first, without placeholders and constants.
  const std::vector<Stage>& stages() const { return stages_; }
  const Stage* Find(const std::string& name) const;
  // The kernel's inputs in DAG order: placeholders, and constant computations treated as placeholders.
  const std::vector<te::Tensor>& inputs() const { return inputs_; }
  const std::vector<te::Tensor>& outputs() const { return outputs_; }
  // The kernel's arguments: for each of `operands` (placeholders of the DAG), the operand itself if the kernel reads
  // it, and the constants computed from it; then constants computed from no operand, then the outputs. An operand that
  // nothing reads is an argument as well.
  std::vector<te::Tensor> Arguments(const std::vector<te::Tensor>& operands) const;
  // All steps applied so far.
  const std::vector<Step>& history() const { return history_; }

 private:
  Status Change(const Step& step);  // if it fails, the schedule is in no defined state

  std::vector<Stage> stages_;
  std::vector<te::Tensor> inputs_, outputs_;
  std::vector<Step> history_;
};

// The constant computations that the kernel reads, which a separate function computes once.
std::vector<te::Tensor> PreparedConstants(const Schedule& kernel);
// Their plain schedule, vectorised along the last axis and parallel along the first. Empty if there are none.
Result<std::optional<Schedule>> PrepareSchedule(const Schedule& kernel);

}  // namespace hone::schedule
