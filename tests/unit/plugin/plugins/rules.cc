// Rules that are wrong in one way each.
#include "search/space/rules.h"

#include <cmath>
#include <stdexcept>

#include "plugin/plugin.h"
#include "te/tensor.h"

namespace {

using hone::Config;
using hone::Target;
using hone::sketch::Sketch;
using Constants = std::vector<std::string>;
namespace te = hone::te;

Sketch Named(const te::Tensor& output, const std::string& step) {
  Sketch sketch;
  sketch.decisions = {hone::search::Knob::Choice("part", {4, 8})};
  sketch.lines = {{{}, "split out " + output.node()->axes.back().var.name() + " [" + step + "] -> o i"}};
  return sketch;
}

std::optional<Sketch> Throws(const te::Tensor&, const Constants&, const Target&) {
  throw std::runtime_error("no rule");
}
std::optional<Sketch> NoSteps(const te::Tensor&, const Constants&, const Target&) { return Sketch(); }
std::optional<Sketch> NoDecision(const te::Tensor& output, const Constants&, const Target&) {
  return Named(output, "{par}");
}
std::optional<Sketch> NoAxis(const te::Tensor& output, const Constants&, const Target&) {
  Sketch sketch = Named(output, "{part}");
  sketch.lines.push_back({{}, "vectorize out lanes"});
  return sketch;
}
std::optional<Sketch> TooMany(const te::Tensor& output, const Constants&, const Target&) {
  Sketch sketch = Named(output, "{part}");
  sketch.lines.resize(10001, sketch.lines[0]);
  return sketch;
}
// Its rule and its cost throw for some points only.
std::optional<Sketch> Moody(const te::Tensor& output, const Constants&, const Target&) {
  Sketch sketch = Named(output, "{part}");
  sketch.rules = {{"mood", [](const Config& config) -> hone::search::Rejection {
                     if (config.Number("part") == 4) throw std::runtime_error("not four");
                     return {};
                   }}};
  sketch.cost = [](const Config& config) -> std::vector<double> {
    return {config.Number("part") == 8 ? std::nan("") : throw 7};
  };
  return sketch;
}

}  // namespace

HONE_SKETCH_RULE(throws) { rule->derive = Throws; }
HONE_SKETCH_RULE(no_steps) { rule->derive = NoSteps; }
HONE_SKETCH_RULE(no_decision) { rule->derive = NoDecision; }
HONE_SKETCH_RULE(no_axis) { rule->derive = NoAxis; }
HONE_SKETCH_RULE(too_many) { rule->derive = TooMany; }
HONE_SKETCH_RULE(moody) { rule->derive = Moody; }
