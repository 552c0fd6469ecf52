// Operator: how one kind of computation is built: its te DAG for each of its algorithms, templates that propose
// schedules, and how a target stores its operands. semantics/ defines its meaning.
//
// Storage on CPUs: activations [N,C,H,W] are blocked, NCHWc with the block B = Target::ChannelBlock(): physical shape
// [N, ceil(C/B), H, W, B]; lanes beyond C are zero, and every kernel writes zeros there. Tensors of other ranks, and
// those that the workload declares plain (`in=nchw`, `layout=plain`), are plain row-major; with `layout=nhwc` they are
// [N,H,W,C].
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "search/space/space.h"
#include "target/target.h"
#include "task/candidate.h"
#include "task/config.h"
#include "task/operand.h"
#include "task/workload.h"
#include "te/tensor.h"

namespace hone::op {

// The names of other layers that most operators use.
using ir::Expr;
using ir::Var;
using search::Knob;
using search::Space;
using te::Tensor;
using Vars = std::vector<Var>;  // the indices of an element

// What a kernel computes, as a te DAG. A candidate's steps say how.
struct Computation {
  // The placeholder of each operand except the outputs, in Operands order: data operands and raw constants. The prepare
  // function computes everything that depends only on constants (te::TensorNode::constant).
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  // Multiply-adds relative to semantics::Flop: below 1 for algorithms that save some (Winograd). Used to bound how fast
  // a machine can be.
  double arithmetic = 1;
  // The error that the algorithm may have beyond that of plain sums, for outputs of order 1. Of integers: 0 or 1 step.
  double rounding = 0;
};

// The minimum accuracy of a task's kernels: limits that a user sets, in addition to legality.
struct Numerics {
  // Winograd: allows algorithms whose largest error is at most that of F(m x m, 3x3) for this m (2, 4, 6); 0 forbids
  // all.
  int winograd = 6;
  bool tf32 = false;  // allows rounding the factors of products to 10 bits of mantissa, for the tensor cores of GPUs
  bool operator==(const Numerics&) const = default;
};
inline constexpr Numerics kAnyNumerics = {.winograd = 6, .tf32 = true};  // forbids nothing

using PointCost = std::function<std::vector<double>(const Config& config)>;
// A closed-form estimate of a point's cost (op/estimate/estimate.h).
struct Estimate {
  // Computes everything that depends only on the workload once, instead of at each of a hundred thousand points.
  PointCost (*bind)(const Workload& workload, const Target& target);
  std::vector<std::string> names;  // of the elements of `cost`, for people
};

class Template {
 public:
  virtual ~Template() = default;
  virtual const char* name() const = 0;  // stored in records: never changes
  virtual int version() const = 0;       // raise it when the space or the meaning of a config changes
  virtual Result<Space> MakeSpace(const Workload& workload, const Target& target) const = 0;
  // A sensible point without any tuning.
  virtual Result<Config> Default(const Space& space, const Workload& workload, const Target& target) const = 0;
  // Adds a rule "numerics" to a space of MakeSpace if `numerics` forbids some of its points; indices keep their
  // meaning.
  virtual void Limit(const Workload&, const Numerics&, Space*) const {}
  // REQUIRES: config is a legal point of MakeSpace.
  virtual Result<Candidate> Instantiate(const Workload& workload, const Target& target, const Config& config) const = 0;
  // Whether it is a single schedule, for workloads that have no template worth tuning.
  virtual bool fixed() const { return false; }
  // Null if the template has no estimate.
  virtual const Estimate* estimate() const { return nullptr; }
};

// All templates of an operator, for any workload, by the family of targets (target/kind.h).
using TemplateList = std::map<std::string_view, std::vector<const Template*>>;

// An algorithm of a workload. `name` is short and the same for all workloads.
struct OtherAlgorithm {
  std::string name;  // "m4"
  Algorithm algorithm;
};

class Operator {
 public:
  virtual ~Operator() = default;
  virtual const char* name() const = 0;
  // Checks that the workload makes sense (semantics::InferOutput) and that there is a kernel for it; else a one-line
  // error.
  virtual Status Check(const Workload& workload) const;
  // Inputs first (data and constants of the anchor, then of the epilogue: bias, residual), the output last. The weight
  // and the biases of a layer (semantics::Definition::layer) are constants, whatever the graph.
  virtual std::vector<Operand> Operands(const Workload& workload, const Target& target) const = 0;
  // Templates for this target, the preferred one first; at least one.
  virtual std::vector<const Template*> Templates(const Workload& workload, const Target& target) const = 0;
  // All templates that Templates may return, for any workload and target.
  virtual TemplateList AllTemplates() const = 0;
  // The workload by one of the operator's algorithms, with operands stored as in Operands. Returns kInvalid if the
  // workload has no such algorithm. Does not use templates. The target matters by its family, which has the algorithms,
  // and by its ChannelBlock; only `direct` also divides the pixels of a 1x1 convolution into rows for its threads.
  virtual Result<Computation> Compute(const Workload& workload, const Target& target,
                                      const Algorithm& algorithm) const = 0;
  // The algorithms whose computations sketches may be derived from, besides `direct`.
  virtual std::vector<OtherAlgorithm> OtherAlgorithms(const Workload&, const Target&) const { return {}; }
  // Computes the output from the other operands as semantics/ defines it, rounded to the output's type. `buffers` has
  // one per operand, in physical layout (constants plain). Once Interrupted() it may return before the output is
  // written.
  virtual void Reference(const Workload& workload, const Target& target, const std::vector<void*>& buffers) const = 0;
};

// The operator of that name; else kUnsupported with a suggestion.
Result<const Operator*> FindOperator(const std::string& name);
// The operator of a workload: by its name, or the operator of groups.
Result<const Operator*> FindOperator(const Workload& workload);
// The templates of a group's first member whose schedules fit the group, because what follows is element-wise. They
// take the first member as workload. Empty if the group has templates of its own, or if `workload` is no group.
std::vector<const Template*> FirstMemberTemplates(const Workload& workload, const Target& target);
// The name of an operand of a group's member: "weight" for the first, "then.weight" and "then2.weight" for those after
// it.
std::string MemberOperandName(const std::string& name, size_t member);
std::vector<std::string> OperatorNames();

// Parses, finds, checks and canonicalises a workload.
Result<Workload> ParseChecked(const std::string& workload_text);

// Operator::Compute of the workload's operator.
Result<Computation> Compute(const Workload& workload, const Target& target, const Algorithm& algorithm);
// Every template of Hone's own operators, once per name, without those of plugins.
const TemplateList& AllTemplates();
// Those for a family; empty for an unknown one.
const std::vector<const Template*>& AllTemplates(std::string_view family);

}  // namespace hone::op
