// Sketches: schedules with open decisions. Rules derive them from a computation, whatever its operator.
// doc/internals/sketches.md describes them.
//
// A sketch is data. Its text, which `hone-tune --list-sketches` prints and ParseSketch reads:
//
//   sketch sums
//   decide i 6 4 2 1
//   decide order rows columns
//   split out i [{i}] -> i.o i.i
//   order=rows: reorder out i.o j.o i.i
//
// A second line `algorithm winograd(m=4, tiles=100)` says that the steps schedule that computation instead of `direct`.
// A line after the decisions is a schedule step (doc/reference/schedule.md), in which {i} stands for the value of
// decision `i`, and {i*64} for a product of decisions and numbers. With conditions (`order=rows i=4: `), it counts only
// if these decisions have these values. Blank lines and lines that begin with # do not count.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "search/space/gpu_use.h"
#include "search/space/space.h"
#include "sketch/core_sampler.h"
#include "target/target.h"
#include "task/candidate.h"
#include "task/step.h"
#include "te/tensor.h"

namespace hone::sketch {

struct Condition {
  std::string decision, value;
};

struct Line {
  std::vector<Condition> conditions;  // all must hold
  std::string step;
  std::string place;  // "mine.sketch:4:1", if it was read from a text
};

struct Sketch {
  std::string name;   // says the kind of computation, not its shape; records contain it
  std::string place;  // of the name, "mine.sketch:1:1", if it was read from a text
  Algorithm algorithm;  // of the computation that the steps schedule; the text has it unless it is `direct`
  std::vector<search::Knob> decisions;
  std::vector<Line> lines;
  int version = 0;  // the rule's; of a text: made from it, so that it changes with it
  bool plugin = false;  // a plugin's rule made it
  // Made by the rule, not part of the text.
  std::vector<search::Rule> rules;  // decisions that are illegal together
  std::vector<Core> cores;          // points are drawn among their legal combinations
  // The natural logarithm of the estimated cycles of the busiest thread, then features as in op/estimate/estimate.h,
  // for a point of SpaceOf.
  std::function<std::vector<double>(const Config& config)> cost;
  search::GpuUseOf use;  // of a sketch for GPUs: what a point's kernels need at most
};

std::string SketchText(const Sketch& sketch);
// `place` is the name of the text for messages, which have line and column. Returns kInvalid for a line that is neither
// a decision nor a step, a decision that is made twice or has no value, more than 2^63 combinations, a name in braces
// or in a condition that is no decision, and a condition with a value that the decision does not have.
Result<Sketch> ParseSketch(const std::string& text, const std::string& place);

// The points of a sketch. REQUIRES: the decisions have fewer than 2^128 combinations.
search::Space SpaceOf(const Sketch& sketch);
// The lines that count at a point, and the step of one of them. REQUIRES: `config` is a point of SpaceOf.
std::vector<const Line*> LinesOf(const Sketch& sketch, const Config& config);
Result<Step> StepOf(const Line& line, const Config& config);
// The steps of a point.
Result<std::vector<Step>> StepsOf(const Sketch& sketch, const Config& config);
// The sketch with the decisions of a point made: one value each, and the lines that count, without conditions.
Sketch Decided(const Sketch& sketch, const Config& config);
// The legal point with the least estimated cost, the first one of equals: of all points if there are at most 100,000;
// else of random ones, improved by changing one decision at a time. Returns kInvalid if there is no legal point among
// them.
Result<Config> BestByEstimate(const Sketch& sketch, const search::Space& space);

// The sketch with these decisions, which have some of its own values, and without the lines that can then not count.
Sketch WithDecisions(Sketch sketch, std::vector<search::Knob> decisions);
// The sketch `derived` with only the values of decisions that `text` has, a user's text of that name. Rules and cost
// stay, so indices differ but configurations mean the same. Returns kInvalid with a place in the text if it has a
// value, a decision or a step that `derived` lacks, or lacks a decision or a step that can count. `equal`: the steps
// before that.
Result<Sketch> Narrow(const Sketch& derived, const Sketch& text, size_t* equal);

// A rule derives a sketch from the output of a computation and the names of its arguments that are constants. Its
// header states condition and effect.
using DeriveFunction = std::optional<Sketch> (*)(const te::Tensor& output, const std::vector<std::string>& constants,
                                                 const Target& target);
struct DerivationRule {
  std::string name;    // of its sketches
  int version;         // raise it when the decisions, or what a point means, change
  std::string_view family;  // of targets (target/kind.h)
  DeriveFunction derive;
  std::string plugin = {};  // the file of the plugin that has it (sketch/user_rule.h); empty for Hone's own
  bool direct = true, others = false;  // applies to the algorithm `direct`; to other algorithms
};
// All rules, in the order of their sketches. Those of plugins are the last.
const std::vector<DerivationRule>& Rules();
void AddRule(DerivationRule rule);
// The rule whose sketches may have that name; null if there is none.
const DerivationRule* FindRule(std::string_view sketch);

// The sketches of the computation `direct`: one for each rule of the target's family that applies. A rule of a plugin
// that fails is left out, and its error is added to `failures`.
std::vector<Sketch> MakeSketches(const std::vector<te::Tensor>& outputs, const std::vector<std::string>& constants,
                                 const Target& target, std::vector<Status>* failures = nullptr);
// Those of the computation of another algorithm. Their names are the rule's and `suffix`, "transformed_m4".
std::vector<Sketch> MakeSketches(const std::vector<te::Tensor>& outputs, const std::vector<std::string>& constants,
                                 const Target& target, const Algorithm& algorithm, const std::string& suffix);

}  // namespace hone::sketch
