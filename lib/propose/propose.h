// Who proposes a task's candidates: the templates of its operator, and the sketches that rules derive from its
// computation (sketch/sketch.h). This is the only place that knows both.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "op/operator.h"
#include "search/space/space.h"
#include "sketch/sketch.h"
#include "target/target.h"
#include "task/candidate.h"
#include "task/config.h"
#include "task/outcome.h"
#include "task/workload.h"

namespace hone::propose {

// A template or a sketch, for one workload and target.
class Proposer {
 public:
  Proposer(const op::Template& by, Workload workload, Target target);
  // A sketch of its algorithm's computation.
  Proposer(sketch::Sketch by, Workload workload, Target target, bool tuned = true);

  const std::string& name() const { return name_; }  // of its space: records contain it
  int version() const { return version_; }           // changes with the space, or with the meaning of a config
  const sketch::Sketch* sketch() const { return sketch_ ? &*sketch_ : nullptr; }  // null for a template
  // The first member of a group, for a template of that member.
  const Workload& workload() const { return workload_; }
  // False if its default is built and nothing is searched: a single schedule, or an operator that is not worth it.
  bool tuned() const { return tuned_; }

  // A rule rejects points that `numerics` forbids; indices do not depend on it.
  Result<search::Space> MakeSpace(const op::Numerics& numerics = op::kAnyNumerics) const;
  // A sensible point of MakeSpace without any tuning.
  Result<Config> Default(const search::Space& space) const;
  // Returns kInvalid if `config` is not a legal point of `space`, which is MakeSpace.
  Result<Candidate> Instantiate(const search::Space& space, const Config& config) const;

 private:
  std::string name_;
  int version_ = 0;
  bool tuned_;
  Workload workload_;
  Target target_;
  const op::Template* template_ = nullptr;
  std::optional<sketch::Sketch> sketch_;
};
using Proposers = std::vector<Proposer>;

enum class Mode { kBoth, kTemplates, kSketches };
// Sketches that a user wrote (sketch::ParseSketch).
using OwnSketches = std::vector<sketch::Sketch>;

// Why a user's sketch does not fit a workload.
struct Misfit {
  size_t applied = 0;  // steps of its first point before the one that fails
  std::string why;     // begins with the place of that step
};
// Nothing if the steps of `own` apply to the workload's computation at some point, among 1,000; or, if it has the name
// of a rule, if it narrows the task's sketch.
std::optional<Misfit> FindMisfit(sketch::Sketch own, const Workload& workload, const Target& target);

// The templates of the workload on the target, then the sketches that its operator's tasks use. If there is a sketch of
// Hone's own rules, a fixed schedule does not count. Then those of the user's sketches that fit. A user's sketch with
// the name of a rule is not added, but narrows the task's sketch of that name if it fits (sketch::Narrow). Returns
// kUnsupported if nothing is left, kInvalid if a user's sketch has the name of another proposer.
Result<Proposers> AllProposers(const Workload& workload, const Target& target, const OwnSketches& own = {});
// The proposers that `mode` wants, in the same order: they make up a task's space. Returns all of them if no
// wanted one computes `direct`, the only algorithm that limits on numerics never forbid.
Result<Proposers> ProposersOf(const Workload& workload, const Target& target, Mode mode = Mode::kBoth,
                              const OwnSketches& own = {});
// Why rules of plugins gave the task no sketch although they apply: they throw, or make a sketch whose steps do not. A
// line each.
std::vector<Status> RuleFailures(const Workload& workload, const Target& target);
// The plugins (plugin/plugin.h) with the workload's operators and those of its sketches' rules, by file.
std::set<std::string> PluginsOf(const Workload& workload, const Target& target);
// False if no proposer is tuned (pooling, elementwise): the workload is built, but is not a task.
bool Tunable(const Workload& workload, const Target& target);

// The union of the proposers' spaces, in their order.
Result<search::TaskSpace> MakeTaskSpace(const Proposers& proposers, const op::Numerics& numerics = op::kAnyNumerics);
Result<search::TaskSpace> MakeTaskSpace(const Workload& workload, const Target& target,
                                        const op::Numerics& numerics = op::kAnyNumerics);
// The default point of the first proposer, as a config of the union.
Result<Config> DefaultConfig(const Proposers& proposers);
Result<Config> DefaultConfig(const Workload& workload, const Target& target);
// Asks the proposer that the config names. Returns kInvalid if the task lacks that proposer, or if the config is not a
// legal point of it. `space` is the proposers' MakeTaskSpace.
Result<Candidate> Instantiate(const Proposers& proposers, const search::TaskSpace& space, const Config& config);
// The same with AllProposers.
Result<Candidate> Instantiate(const Workload& workload, const Target& target, const Config& config);
// The candidate that a trial was built from: the recorded one. But records do not name the algorithm `direct`, and
// older ones name no algorithm: for a trial of a template, Instantiate then decides, if this version of Hone still has
// the template and the point.
Result<Candidate> CandidateOf(const Workload& workload, const Target& target, const Outcome& outcome);

// Closed-form estimates of a point's cost (op/estimate/estimate.h), from the template or sketch that the config names.
// Empty if it has no estimate, or if the config is not a point of its space. The function must be used by one thread at
// a time.
op::PointCost EstimatesOf(const Workload& workload, const Target& target);

}  // namespace hone::propose
