// Schedule: how a DAG of tensors is computed: a state that starts as "every stage by itself, in plain loops" and
// changes by steps (task/step.h). Apply checks a step against the state and performs it, or says in one line why it
// cannot and leaves the state as it was. The state is read by lower/.
//
// Steps rewrite computations (inlining, caching), so a tensor may stand in several versions behind the reads of a DAG:
// inside a schedule a tensor is known by its name.
//
// Constant computations (te::TensorNode::constant) are not stages of the kernel: Prepare() gives their own schedule,
// and the kernel reads each of them that it needs as a placeholder.
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

// How axes come from others. Equations are in schedule/relation.h.
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
  int64_t extent = 0;  // when the whole tensor is computed; an attached stage runs through less
  int64_t stride = 1;  // what one round adds to the axis that it was split from, the outermost of several
  bool reduce = false;
  ir::ForKind kind = ir::ForKind::kSerial;
  std::vector<std::pair<std::string, int64_t>> pragmas;
};

struct PrefetchNote {
  std::string tensor, axis;
  int64_t distance = 0;  // bytes
  int64_t level = 1;     // of the caches: 2 leaves the first one alone
};

// The stride of `axis` (elements) becomes the next s with s % factor == offset.
struct StorageAlign {
  std::string axis;
  int64_t factor = 1, offset = 0;
};

enum class AttachKind { kRoot, kInline, kAt };

struct Stage {
  te::Tensor tensor;                // its computation (after cache and rfactor rewrites)
  std::vector<Axis> axes;           // every axis ever, by name: roots and derived
  std::vector<std::string> leaf;    // the loops, outermost first
  std::vector<Relation> relations;  // in order of creation
  AttachKind attach = AttachKind::kRoot;
  std::string at_stage, at_axis;  // of kAt
  std::optional<ir::Scope>
      scope;  // unset: decided by lower (argument for outputs, workspace at root, scratch inside a parallel loop)
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
  // The plain schedule of the DAG that ends in `outputs`.
  static Result<Schedule> Create(const std::vector<te::Tensor>& outputs);

  Status Apply(const Step& step);
  Status ApplyAll(
      const std::vector<Step>& steps);  // stops at the first failure; the message names the step's number and text

  // Stages with a computation, producers first; placeholders and constants are not among them.
  const std::vector<Stage>& stages() const { return stages_; }
  const Stage* Find(const std::string& name) const;
  // The kernel's inputs: placeholders, and constant computations as if they were, in DAG order.
  const std::vector<te::Tensor>& inputs() const { return inputs_; }
  const std::vector<te::Tensor>& outputs() const { return outputs_; }
  // The kernel's arguments: for each of `operands` (placeholders of the DAG) what the kernel reads of it, which is the
  // operand itself or constants that are computed from it; then constants that are computed from no operand, then the
  // outputs. An operand that nothing reads is an argument as well.
  std::vector<te::Tensor> Arguments(const std::vector<te::Tensor>& operands) const;
  // All steps applied so far.
  const std::vector<Step>& history() const { return history_; }

 private:
  std::vector<Stage> stages_;
  std::vector<te::Tensor> inputs_, outputs_;
  std::vector<Step> history_;
};

// The constant computations that the kernel reads: what a function of their own computes once.
std::vector<te::Tensor> PreparedConstants(const Schedule& kernel);
// Their plain schedule, vectorised along the last axis and parallel along the first. Empty if there are none.
Result<std::optional<Schedule>> PrepareSchedule(const Schedule& kernel);

}  // namespace hone::schedule
