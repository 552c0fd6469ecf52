#include "sketch/sums.h"

#include <utility>

#include "search/space/rules.h"
#include "sketch/lines.h"
#include "sketch/sum_tiles.h"

namespace hone::sketch {

constexpr int64_t kNearBytes = 1 << 17;  // constants that stay near a core need no prefetch

static void AddDecisions(const SumLoops& l, Sketch* sketch) {
  const auto numbers = [&](const char* name, std::vector<int64_t> values) {
    sketch->decisions.push_back(search::Knob::Choice(name, std::move(values)));
  };
  const auto words = [&](const char* name, const Names& values) {
    if (values.size() > 1) sketch->decisions.push_back(search::Knob::Words(name, values));
  };
  numbers("rows", l.RowValues());
  if (l.outer_rows) numbers("outer_rows", l.OuterRowValues());
  numbers("vectors", l.VectorValues());
  numbers("block_rows", l.BlockRowValues());
  numbers("block_vectors", l.BlockVectorValues());
  Names orders = {"rows", "vectors"};
  if (l.outer_rows) orders.push_back("between");
  words("order", orders);
  if (l.OtherTasks() > 1) words("others", {"apart", "inside"});
  Names reduce = {"window"};
  if (!l.window.empty() && l.channels.size() > 1) reduce.push_back("channels");
  if (!l.window.empty()) {
    for (size_t i = reduce.size(); i-- > 0;) reduce.push_back(reduce[i] + ".taps");
  }
  words("reduce", reduce);
  const int64_t steps = l.InnerSteps();
  numbers("unroll", search::NoLarger(steps, steps == 2 || steps == 3 ? std::vector<int64_t>{1, steps}
                                                                     : std::vector<int64_t>{1, 4, 8}));
  if (l.ConstantBytes() >= kNearBytes) words("prefetch", {"none", "tile"});
  if (l.nest.source.defined()) words("copy", {"task", "once"});
  if (l.far) words("panel", {"none", "tile"});
  // A padded copy of a plain input of bytes is near.
  const bool near = l.products > 1 && l.nest.source.defined();
  if (l.window.empty() || (l.FarChannels() && !near)) words("fetch", {"none", "tile"});
}

std::optional<Sketch> SumTiles(const te::Tensor& output, const std::vector<std::string>& constants,
                               const Target& target) {
  const std::optional<SumLoops> loops = SumLoopsOf(output, constants, target);
  if (!loops || !loops->nest.SourceReadsArguments()) return {};
  Sketch sketch;
  sketch.name = "sums";
  AddDecisions(*loops, &sketch);
  AddSumRules(*loops, &sketch);
  AddSumLines(*loops, &sketch);
  sketch.cost = [l = *loops, reader = SumReader(sketch.decisions)](const Config& config) {
    return SumCost(l, reader.Read(config));
  };
  return sketch;
}

}  // namespace hone::sketch
