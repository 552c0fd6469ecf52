#include "sketch/windows.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "arith/linear.h"
#include "base/integers.h"
#include "base/text.h"
#include "search/space/rules.h"
#include "sketch/lines.h"
#include "sketch/stage_cycles.h"
#include "target/caches.h"

namespace hone::sketch {
namespace {

constexpr int64_t kMostTile = 14, kMostCode = 160;  // taps of an unrolled row x pixels

struct Windows {
  te::Tensor output;  // keeps the nodes
  const te::TensorNode *out = nullptr, *sum = nullptr;
  std::vector<const te::TensorNode*> beside;  // stages that the output reads as well
  std::vector<ir::IterVar> outer;             // axes of the output before the pixels
  int64_t pixels = 1, vector = 1;             // extents of the last two axes
  int64_t taps = 1, row_taps = 1;             // of a window, and of its last axis
  bool border = false;                        // some positions are outside
  int64_t registers = 32;
  int threads = 1;
  double bytes = 0;   // that are read and written
  double cycles = 0;  // of a tap of a vector

  int64_t Rows() const { return outer.empty() ? 1 : outer.back().extent; }
  int64_t Images() const {
    int64_t images = 1;
    for (size_t i = 0; i + 1 < outer.size(); ++i) images *= outer[i].extent;
    return images;
  }
};

// Whether the last axis is one vector of `node`, and the pixels have an index of their own.
bool IsVector(const te::TensorNode& node) {
  const ir::Var &lane = node.axes.back().var, &pixel = node.axes[node.axes.size() - 2].var;
  bool fits = true;
  ForEachAccess(node, [&](const ir::Access& access) {
    int pixels = 0;
    for (size_t i = 0; i < access.indices.size(); ++i) {
      const auto lanes = arith::StrideOf(access.indices[i], lane), columns = arith::StrideOf(access.indices[i], pixel);
      const bool last = i + 1 == access.indices.size();
      fits = fits && lanes && columns && (*lanes == 0 || (last && access.indices[i].same_as(lane)));
      if (columns && *columns != 0) ++pixels;
    }
    fits = fits && pixels <= 1;
  });
  return fits;
}

std::optional<Windows> WindowsOf(const te::Tensor& output, const Target& target) {
  Windows w{.output = output, .out = output.node()};
  if (w.out->axes.size() < 2) return {};
  for (const te::Tensor& t : te::TopologicalOrder({output})) {
    const te::TensorNode& node = *t.node();
    if (!IsStage(node)) {
      w.bytes += 4 * Real(ElementsOf(node.shape));
      continue;
    }
    if (node.type != DType::Float(32)) return {};
    if (!node.reduce_axes.empty()) {
      if (w.sum != nullptr) return {};
      w.sum = &node;
    } else if (&node != w.out) {
      if (node.axes.empty() || node.axes.size() >= w.out->axes.size()) return {};
      w.beside.push_back(&node);
    }
  }
  if (w.sum == nullptr || w.sum->axes.size() != w.out->axes.size() || !IsVector(*w.sum)) return {};
  bool plain = true;
  ForEachAccess(*w.sum, [&](const ir::Access& access) { plain = plain && !IsStage(te::NodeOf(access)); });
  if (w.out != w.sum) {
    ForEachAccess(*w.out, [&](const ir::Access& access) {
      if (access.tensor.get() != w.sum) return;
      for (size_t i = 0; i < access.indices.size(); ++i) {
        plain = plain && access.indices[i].same_as(w.out->axes[i].var);
      }
    });
  }
  if (!plain) return {};
  w.outer.assign(w.out->axes.begin(), w.out->axes.end() - 2);
  w.pixels = w.out->axes[w.out->axes.size() - 2].extent;
  w.vector = w.out->axes.back().extent;
  if (w.vector != target.FloatLanes()) return {};
  for (const ir::IterVar& axis : w.sum->reduce_axes) w.taps *= axis.extent;
  w.row_taps = w.sum->reduce_axes.back().extent;
  ir::Walk(w.sum->body, ir::Overloaded{[&](const ir::Select&) { w.border = true; }, [](const auto&) {}});
  w.cycles = StageCycles().Of(*w.sum);
  w.registers = target.vector_registers;
  w.threads = std::max(target.threads, 1);
  w.bytes += 4 * Real(ElementsOf(w.out->shape));
  return w;
}

class WindowLines : LineWriter {
 public:
  WindowLines(const Windows& windows, Sketch* sketch) : LineWriter(sketch), w_(windows) {}

  void AddAll() {
    const std::string& out = w_.out->name;
    const std::string pixels = w_.out->axes[w_.out->axes.size() - 2].var.name(), lane = w_.out->axes.back().var.name();
    std::string sum = w_.sum->name;
    if (w_.out == w_.sum) {
      sum = out + ".tile";
      Add("cache_write {} register -> {}", out, sum);
    }
    Names outer;
    for (const ir::IterVar& axis : w_.outer) outer.push_back(axis.var.name());
    if (!outer.empty()) {
      Add("split {0} {1} [{{rows}}] -> {1}.o {1}.i", out, outer.back());
      outer.back() += ".o";
    }
    Add("split {0} {1} [{{tile}}] -> {1}.o {1}.i", out, pixels);
    std::string task = pixels + ".o";
    if (outer.size() > 1) Add("fuse {} {} -> task", out, Join(outer, " "));
    if (!outer.empty()) task = outer.size() > 1 ? "task" : outer[0];
    if (When("threads", "rows")) Add("parallel {} {}", out, task);
    Always();
    Add("vectorize {} {}", out, lane);
    Add("unroll {} {}.i", out, pixels);
    Add("compute_at {} {} {}.o", sum, out, pixels);
    if (w_.out != w_.sum) Add("set_scope {} register", sum);
    Names loops;
    for (const ir::IterVar& axis : w_.sum->reduce_axes) loops.push_back(axis.var.name());
    const std::string last_tap = loops.back();
    loops.push_back(w_.sum->axes[w_.sum->axes.size() - 2].var.name());
    loops.push_back(w_.sum->axes.back().var.name());
    Add("reorder {} {}", sum, Join(loops, " "));
    Add("vectorize {} {}", sum, loops.back());
    Add("unroll {} {}", sum, loops[loops.size() - 2]);
    if (When("taps", "unrolled")) Add("unroll {} {}", sum, last_tap);
    Always();
    if (outer.empty()) return;
    for (const te::TensorNode* stage : w_.beside) Add("compute_at {} {} {}", stage->name, out, task);
  }

 private:
  const Windows& w_;
};

double TasksOf(const Windows& w, const Config& config) {
  return Real(w.Images() * CeilDiv(w.Rows(), w.outer.empty() ? 1 : config.Number("rows")));
}

std::vector<double> WindowCost(const Windows& w, const Config& config) {
  constexpr double kLaunch = 2500, kTask = 30, kTile = 8, kLatency = 4, kTest = 3;
  const int64_t tile = config.Number("tile");
  const bool unrolled = config.Word("taps") == "unrolled";
  const double tiles = Real(w.Images() * w.Rows() * CeilDiv(w.pixels, tile));
  double tap = std::max(Real(tile) * w.cycles, kLatency);
  if (!unrolled) tap += 1 + (w.border ? kTest * Real(tile) : 0);
  const double tasks = TasksOf(w, config);
  const double compute = tiles * (kTile + Real(w.taps) * tap) + tasks * kTask;
  const double work = compute + 0.3 * kCaches.Read(w.bytes, w.bytes);
  if (config.Word("threads") == "all") return {std::log(work), std::log(work)};
  const double imbalance = search::Imbalance(static_cast<int64_t>(tasks), 1, tasks, w.threads);
  return {std::log(work * imbalance / w.threads + kLaunch), std::log(work)};
}

}  // namespace

std::optional<Sketch> WindowTiles(const te::Tensor& output, const Target& target) {
  const std::optional<Windows> found = WindowsOf(output, target);
  if (!found) return {};
  const Windows& w = *found;
  Sketch sketch;
  sketch.name = "windows";
  const auto numbers = [&](const char* name, std::vector<int64_t> values) {
    sketch.decisions.push_back(search::Knob::Choice(name, std::move(values)));
  };
  const auto words = [&](const char* name, const Names& values) {
    sketch.decisions.push_back(search::Knob::Words(name, values));
  };
  numbers("tile", search::EvenParts(w.pixels, std::min(kMostTile, w.registers - 2)));
  if (!w.outer.empty()) {
    std::vector<int64_t> rows = {w.Rows()};
    for (int64_t parts = w.threads; parts <= 8 * int64_t{w.threads}; parts *= 2) {
      if (const int64_t part = CeilDiv(w.Rows(), parts); part < rows.back()) rows.push_back(part);
    }
    numbers("rows", rows);
  }
  const bool fits = w.row_taps <= kMostCode;
  words("taps", fits ? Names{"unrolled", "loop"} : Names{"loop"});
  words("threads", w.threads > 1 && !w.outer.empty() ? Names{"rows", "all"} : Names{"all"});
  sketch.rules.push_back({"code size", [w](const Config& config) {
                            const int64_t code = w.row_taps * config.Number("tile");
                            return search::Unless(config.Word("taps") == "loop" || code <= kMostCode,
                                                  "a row of the window and {} pixels are {} operations, at most {}",
                                                  config.Number("tile"), code, kMostCode);
                          }});
  WindowLines(w, &sketch).AddAll();
  sketch.cost = [w](const Config& config) { return WindowCost(w, config); };
  return sketch;
}

}  // namespace hone::sketch
