// A rule of one's own: schedules for element-wise operators whose inputs have the shape of the output, such as relu or
// the sum of two tensors. All axes become one, and threads share pieces of it.
//
//   hone-extract --plugin flat_rule.so ..    or in a pipeline: plugin = "flat_rule.so"
//
// doc/internals/sketches.md explains rules. This one is an example: for such operators it is about as fast as `stages`.
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "arith/linear.h"
#include "plugin/plugin.h"
#include "search/space/rules.h"
#include "sketch/lines.h"
#include "te/stage.h"

namespace {

namespace ir = hone::ir;
namespace search = hone::search;
namespace te = hone::te;
using hone::Config;
using hone::Target;
using hone::sketch::LineWriter;
using hone::sketch::Sketch;

// Whether element (i, j, ..) of the output reads nothing but elements (i, j, ..) of its inputs.
bool ReadsItsOwnPlace(const te::Tensor& output) {
  const te::TensorNode& node = *output.node();
  bool own = node.reduce_axes.empty() && !node.axes.empty();
  te::ForEachAccess(node.body, [&](const ir::Access& access) {
    own = own && te::NodeOf(access).shape == node.shape && te::NodeOf(access).kind == te::TensorKind::kPlaceholder;
    for (size_t i = 0; own && i < access.indices.size(); ++i) {
      own = hone::arith::StrideOf(access.indices[i], node.axes[i].var) == 1;
    }
  });
  return own;
}

// Condition: ReadsItsOwnPlace.
// Effect: one loop over all elements. Decisions: the vectors in a round of its innermost loop, and its rounds in a
// task.
std::optional<Sketch> Flat(const te::Tensor& output, const std::vector<std::string>&, const Target& target) {
  if (!ReadsItsOwnPlace(output)) return {};
  int64_t elements = 1;
  std::string axes, all = output.node()->axes[0].var.name();
  for (const ir::IterVar& axis : output.node()->axes) {
    elements *= axis.extent;
    axes += " " + axis.var.name();
  }
  const int64_t lanes = target.FloatLanes();

  Sketch sketch{.name = "flat"};
  sketch.decisions = {search::Knob::Choice("vectors", {4, 1, 2}),
                      search::Knob::Choice("rounds", {16, 1, 64, 256, 1024})};
  LineWriter lines(&sketch);
  if (output.node()->axes.size() > 1) {
    all = "all";
    lines.Add("fuse {}{} -> all", output.name(), axes);
  }
  lines.Add("split {} {} [{{rounds}},{{vectors}},{}] -> task round vector lane", output.name(), all, lanes);
  lines.Add("parallel {} task", output.name());
  lines.Add("unroll {} vector", output.name());
  lines.Add("vectorize {} lane", output.name());

  const auto tasks = [=](const Config& config) {
    const int64_t task = config.Number("rounds") * config.Number("vectors") * lanes;
    return (elements + task - 1) / task;
  };
  const int64_t threads = target.threads;
  sketch.rules = {{"balance", [=](const Config& config) -> search::Rejection {
                     return search::Unless(tasks(config) >= threads || config.Number("rounds") == 1,
                                           "fewer tasks than threads, in rounds that could be tasks");
                   }}};
  // Two loads or a store for each vector, and about a hundred cycles for a task.
  sketch.cost = [=](const Config& config) {
    const double busiest = std::ceil(static_cast<double>(tasks(config)) / static_cast<double>(threads));
    const double vectors = static_cast<double>(config.Number("rounds") * config.Number("vectors"));
    return std::vector<double>{std::log(busiest * (100 + 2 * vectors + 2.0 * config.Number("rounds")))};
  };
  return sketch;
}

}  // namespace

HONE_SKETCH_RULE(flat) {
  rule->version = 1;
  rule->derive = Flat;
}
