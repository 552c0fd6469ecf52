#include "sketch/gpu_rows.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/integers.h"
#include "base/text.h"
#include "search/space/rules.h"
#include "sketch/gpu_cost.h"
#include "sketch/lines.h"
#include "sketch/row_stages.h"
#include "sketch/stage_cycles.h"

namespace hone::sketch {
namespace {

constexpr int kAtOnce = 4;  // turns of a loop that are unrolled

struct GpuRows {
  RowStages p;
  DeviceLimits limits;
  std::string split;  // the kept axis of the output that a block has several indices of
  int64_t split_extent = 1;
  bool full = false;  // whether the output has a value for each element

  bool Again(const Config& config) const { return p.Inner() && config.Word("elements") == "again"; }
  int64_t Rows() const { return ElementsOf(p.kept); }
  int64_t Reductions() const {
    return std::ranges::count_if(p.stages, [](const RowStage& stage) { return stage.reduction; });
  }
};

search::GpuUse UseOf(const GpuRows& all, const Config& config) {
  const int64_t lanes = config.Number("lanes"), rows = config.Number("rows");
  search::GpuUse use;
  use.threads[all.p.across ? 1 : 0] = lanes, use.threads[all.p.across ? 0 : 1] = rows;
  use.blocks[0] = all.Rows() / all.split_extent * CeilDiv(all.split_extent, rows);
  const auto stored = [](const RowStage& stage) { return stage.full; };
  const int64_t inner = all.Again(config) ? 0 : std::count_if(all.p.stages.begin() + 1, all.p.stages.end(), stored);
  use.shared_bytes = 4 * rows * all.p.Length() * inner;
  use.shared_bytes += 4 * all.Reductions() * rows * (lanes > 1 ? lanes + 1 : 1);
  use.registers = KernelRegisters(8, CeilDiv(all.p.Length(), lanes), lanes * rows, all.limits);
  return use;
}

std::vector<double> RowsCost(const GpuRows& all, const Config& config) {
  const int64_t lanes = config.Number("lanes"), rows = config.Number("rows");
  const double turns = Real(CeilDiv(all.p.Length(), lanes)),
               output = Real(all.Rows() * (all.full ? all.p.Length() : 1));
  KernelWork work{.threads = Real(CeilDiv(all.Rows(), rows) * rows * lanes), .block = Real(rows * lanes)};
  work.operations = 0;
  for (const RowStage& stage : all.p.stages) {
    const bool inner = &stage != &all.p.stages[0] && stage.full;
    if (inner && all.Again(config)) continue;
    work.operations +=
        2 * (all.Again(config) ? stage.again : stage.cycles) * (stage.full || stage.reduction ? turns : 1);
    if (stage.reduction) work.rounds += turns;
    if (stage.reduction && lanes > 1) work.meetings += 1 + std::log2(Real(lanes));
    if (inner) work.shared += 8 * turns;
  }
  // Threads read whole sectors of 8 floats.
  const double together = Real(std::min<int64_t>(all.p.across ? rows : lanes, 8));
  work.bytes = (all.p.bytes + 4 * output) * (all.p.bytes > 4 * output || all.full ? 8 / together : 1);
  GpuCost cost(all.limits);
  cost.Add(work);
  return cost.Estimate();
}

class RowBlockLines : LineWriter {
 public:
  RowBlockLines(const GpuRows& all, Sketch* sketch) : LineWriter(sketch), all_(all) {}

  void AddAll() {
    RowStage home = all_.p.stages[0];
    std::vector<RowStage> inside(all_.p.stages.begin() + 1, all_.p.stages.end());
    if (When("elements", "again")) {
      for (const RowStage& stage : inside) {
        if (stage.full) Add("inline {}", stage.name);
      }
    }
    Always();
    if (home.reduction) {
      inside.insert(inside.begin(), home);
      Add("cache_write {0} register -> {0}.row", home.name);
      inside[0].name += ".row";
      home.others.clear();
    }
    Names outer = home.kept;
    std::erase(outer, all_.split);
    Add("split {0} {1} [{{rows}}] -> {1}.block {1}.row", home.name, all_.split);
    outer.push_back(all_.split + ".block");
    Names loops = outer;
    loops.push_back(all_.split + ".row");
    loops.insert(loops.end(), home.others.begin(), home.others.end());
    Add("reorder {} {}", home.name, Join(loops, " "));
    if (outer.size() > 1) Add("fuse {} {} -> block", home.name, Join(outer, " "));
    Add("bind {} {} blockIdx.x", home.name, outer.size() > 1 ? "block" : outer[0]);
    Add("bind {} {}.row threadIdx.{}", home.name, all_.split, all_.p.across ? 'x' : 'y');
    if (home.full) Share(home);
    for (const RowStage& stage : inside) {
      Always();
      if (stage.full && !When("elements", "stored")) continue;
      if (stage.full || stage.reduction) Share(stage);
      Add("compute_at {} {} {}.row", stage.name, home.name, all_.split);
      if (!stage.full) Add("set_scope {} register", stage.name);
    }
  }

 private:
  // Threads share the elements of a row.
  void Share(const RowStage& stage) {
    Names loops = stage.kept;
    loops.insert(loops.end(), stage.others.begin(), stage.others.end());
    const bool home = stage.name == all_.p.stages[0].name;
    if (!home && loops.size() > 1) Add("reorder {} {}", stage.name, Join(loops, " "));
    std::string all = stage.others.back();
    if (stage.others.size() > 1) Add("fuse {} {} -> element", stage.name, Join(stage.others, " ")), all = "element";
    Add("split {} {} [{{lanes}}] -> element.turn element.lane", stage.name, all);
    Add("bind {} element.lane threadIdx.{}", stage.name, all_.p.across ? 'y' : 'x');
    // Without a limit, compilers unroll long loops, which took 15 s for a kernel of softmax.
    Add("pragma {} element.turn unroll {}", stage.name, kAtOnce);
  }

  const GpuRows& all_;
};

}  // namespace

std::optional<Sketch> GpuRowBlocks(const te::Tensor& output, const Target& target) {
  std::optional<RowStages> found = RowStagesOf(output);
  if (!found) return {};
  for (const te::Tensor& t : te::TopologicalOrder({output})) {  // what is illegal is said of one length
    int64_t length = 1;
    for (const ir::IterVar& axis : t.node()->reduce_axes) length *= axis.extent;
    if (length != 1 && length != found->Length()) return {};
  }
  GpuRows all{std::move(*found), target.limits, "", 1, false};
  const RowStage& out = all.p.stages[0];
  all.full = out.full;
  // The last kept axis, whose neighbours threads have if the elements of a row do not lie side by side; else the
  // longest.
  for (const ir::IterVar& axis : output.node()->axes) {
    const std::string& name = axis.var.name();
    if (std::ranges::count(out.kept, name) == 0) continue;
    if (all.p.across ? name == out.kept.back() : all.split.empty() || axis.extent > all.split_extent) {
      all.split = name, all.split_extent = axis.extent;
    }
  }
  Sketch sketch;
  sketch.name = "gpu_rows";
  const auto numbers = [&](const char* name, int64_t most, std::vector<int64_t> values) {
    std::erase_if(values, [&](int64_t value) { return value > 1 && value >= 2 * most; });
    sketch.decisions.push_back(search::Knob::Choice(name, values));
  };
  const std::vector<int64_t> powers = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024};
  // A block may have more threads than its rows have elements, or there might be no block of a warp.
  const int64_t warp = target.limits.warp_size;
  numbers("lanes", std::max(all.p.Length(), warp), powers);
  numbers("rows", all.split_extent, powers);
  if (all.p.Inner()) {
    const bool again = MayComputeAgain(output);
    sketch.decisions.push_back(search::Knob::Words("elements", again ? Names{"again", "stored"} : Names{"stored"}));
  }
  RowBlockLines(all, &sketch).AddAll();
  sketch.use = [all](const Config& config) { return UseOf(all, config); };
  sketch.rules.push_back(search::DeviceRule(target, sketch.use));
  sketch.cost = [all](const Config& config) { return RowsCost(all, config); };
  return sketch;
}

}  // namespace hone::sketch
