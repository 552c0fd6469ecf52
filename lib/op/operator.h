// Operator: how one kind of computation is built: its te DAG by each of its algorithms, templates that propose
// schedules, and how a target stores its operands. What it means stands in semantics/.
//
// Storage on CPUs: activations [N,C,H,W] are blocked, NCHWc with the block B = Target::ChannelBlock(): physical shape
// [N, ceil(C/B), H, W, B]; lanes beyond C hold zeros, and every kernel writes zeros there. Tensors of other ranks, and
// those that the workload says are plain (`in=nchw`), are plain row-major.
#pragma once

#include <functional>
#include <map>
#include <memory>
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

// What a kernel computes: a te DAG. How it is computed is said by a candidate's steps.
struct Computation {
  // The placeholder of each operand but the outputs, in Operands order: data operands and raw constants. What depends
  // on constants alone (te::TensorNode::constant) is computed by the prepare function.
  std::vector<te::Tensor> inputs;
  std::vector<te::Tensor> outputs;
  // Multiply-adds in proportion to semantics::Flop: below 1 for algorithms that save some (Winograd). What a machine
  // cannot do faster than is decided by it.
  double arithmetic = 1;
  // The error that the algorithm may have beyond that of plain sums, for outputs of order 1.
  double rounding = 0;
};

// How exact a task's kernels must be at least: limits that a user sets, beyond what is legal.
struct Numerics {
  // Winograd: algorithms whose largest error is at most that of F(m x m, 3x3) for this m (2, 4, 6); 0: none at all.
  int winograd = 6;
  bool tf32 = false;  // factors of products may be rounded to 10 bits of mantissa, for the tensor cores of GPUs
  bool operator==(const Numerics&) const = default;
};

using PointCost = std::function<std::vector<double>(const Config& config)>;
// A closed form of what a point costs (op/estimate/estimate.h).
struct Estimate {
  // What depends on the workload alone is computed here, once, and not at each of a hundred thousand points.
  PointCost (*bind)(const Workload& workload, const Target& target);
  std::vector<std::string> names;  // of the elements of `cost`, for people
};

class Template {
 public:
  virtual ~Template() = default;
  virtual const char* name() const = 0;  // stored in records: never changes
  virtual int version() const = 0;       // raised when the space or what a config means changes
  virtual Result<search::Space> MakeSpace(const Workload& workload, const Target& target) const = 0;
  // A sensible point without any tuning.
  virtual Result<Config> Default(const search::Space& space, const Workload& workload, const Target& target) const = 0;
  // Adds a rule "numerics" to a space of MakeSpace if `numerics` forbids some of its points; what an index means stays.
  virtual void Limit(const Workload&, const Numerics&, search::Space*) const {}
  // REQUIRES: config is a legal point of MakeSpace.
  virtual Result<Candidate> Instantiate(const Workload& workload, const Target& target, const Config& config) const = 0;
  // Null: this template has none.
  virtual const Estimate* estimate() const { return nullptr; }
};

// What an operator may be built with, whatever the workload, by the family of targets (target/kind.h).
using TemplateList = std::map<std::string_view, std::vector<const Template*>>;

class Operator {
 public:
  virtual ~Operator() = default;
  virtual const char* name() const = 0;
  // Does the workload make sense (semantics::InferOutput), and is there a kernel for it? One line if not.
  virtual Status Check(const Workload& workload) const;
  // Inputs first (data and constants of the anchor, then of the epilogue: bias, residual), the output last.
  virtual std::vector<Operand> Operands(const Workload& workload, const Target& target) const = 0;
  // Templates for this target, the preferred one first; at least one.
  virtual std::vector<const Template*> Templates(const Workload& workload, const Target& target) const = 0;
  // All that Templates may name, for any workload and target.
  virtual TemplateList AllTemplates() const = 0;
  // The workload by one of the operator's algorithms; operands are stored as Operands says. kInvalid if the workload
  // has no such algorithm. Templates are not asked.
  virtual Result<Computation> Compute(const Workload& workload, const Target& target,
                                      const Algorithm& algorithm) const = 0;
  // The values that semantics/ defines, rounded to the output's type, of the other operands. `buffers`: one an operand,
  // physical layout (constants plain). Once Interrupted() it may return before the output is written.
  virtual void Reference(const Workload& workload, const Target& target, const std::vector<void*>& buffers) const = 0;
  // False for what has one schedule only (pooling, elementwise): it is built, but is not a tuning task.
  virtual bool Tunable(const Workload& workload) const = 0;
};

// The operator of that name; kUnsupported with a suggestion otherwise.
Result<const Operator*> FindOperator(const std::string& name);
// The operator of a workload: that of its name, or the one of chains.
Result<const Operator*> FindOperator(const Workload& workload);
// What an operand of a chain's member is named: "weight" of the first, "then.weight" and "then2.weight" of those after
// it.
std::string MemberOperandName(const std::string& name, size_t member);
std::vector<std::string> OperatorNames();

// Parses, finds, checks, canonicalises.
Result<Workload> ParseChecked(const std::string& workload_text);

// The union of the spaces of a workload's templates, in the order of Templates(). Points that `numerics` forbids are
// rejected by a rule; indices do not depend on it.
Result<search::TaskSpace> MakeTaskSpace(const Workload& workload, const Target& target, const Numerics& numerics = {});
// The default point of the first template, as a config of the union.
Result<Config> DefaultConfig(const Workload& workload, const Target& target);
// By the template named in the config; kInvalid if this workload has none of that name on this target, or if the config
// is no legal point of it.
Result<Candidate> Instantiate(const Workload& workload, const Target& target, const Config& config);
// The same for many configs: looks them up in `space`, which is MakeTaskSpace(workload, target).
Result<Candidate> Instantiate(const Workload& workload, const Target& target, const search::TaskSpace& space,
                              const Config& config);
// As Operator::Compute of the workload's operator.
Result<Computation> Compute(const Workload& workload, const Target& target, const Algorithm& algorithm);
// Every template of Hone's own operators, one of each name; those of plugins are not among them.
const TemplateList& AllTemplates();
// Those for a family; none for an unknown one.
const std::vector<const Template*>& AllTemplates(std::string_view family);

}  // namespace hone::op
