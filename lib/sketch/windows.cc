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
constexpr int64_t kMostWeighted = 640;              // .. times a weight, copies for the borders included

struct Windows {
  te::Tensor output;  // keeps the nodes
  const te::TensorNode *out = nullptr, *sum = nullptr;
  std::vector<const te::TensorNode*> beside;  // stages that the output reads as well
  std::vector<ir::IterVar> outer;             // axes of the output before the pixels
  int64_t pixels = 1, vector = 1;             // extents of the last two axes
  int64_t taps = 1;                           // of a window
  bool border = false;                        // some positions are outside
  // A constant that the reduction multiplies by, and its dimension with the lanes; null without one.
  const te::TensorNode* weight = nullptr;
  size_t lanes_at = 0;
  int64_t columns = 0;  // vectors of a row that the taps of a tile of one pixel share, if lanes change their order
  int64_t step = 1;     // columns from one pixel to the next
  int64_t registers = 32;
  int threads = 1;
  double bytes = 0;   // that are read and written
  double cycles = 0;  // of a tap of a vector

  // The first of the reduce axes that `unrolled` unrolls: the columns of a window, and with a weight all but the rows.
  size_t Unrolled() const { return weight != nullptr ? 1 : sum->reduce_axes.size() - 1; }
  int64_t RowTaps() const {
    int64_t taps = 1;
    for (size_t i = Unrolled(); i < sum->reduce_axes.size(); ++i) taps *= sum->reduce_axes[i].extent;
    return taps;
  }
  // Whether a tile may have two rows, which share what their windows have in common.
  bool HasTallTiles() const { return weight != nullptr && !outer.empty() && Rows() > 1; }
  // Registers of a tile: sums, a weight, a factor; with lanes in another order, the columns that its taps share.
  int64_t Registers(int64_t tile, int64_t tall) const {
    const int64_t shared = columns == 0 ? 0 : (tile - 1) * step + sum->reduce_axes.back().extent - 1;
    return tile * tall + 2 + shared;
  }
  int64_t TileRows(const Config& config) const { return HasTallTiles() ? config.Number("tall") : 1; }
  int64_t MostCode() const { return weight != nullptr ? kMostWeighted : kMostCode; }
  // Unrolled operations of a tile. At the borders of a row and of the window's rows, it has code of its own.
  int64_t Code(int64_t tile, bool window) const {
    if (weight == nullptr) return RowTaps() * tile;
    const int64_t copies = !border ? 1 : (tile < pixels ? 3 : 1) * (window ? 3 : 1);
    return (window ? taps : RowTaps()) * tile * copies;
  }
  int64_t Rows() const { return outer.empty() ? 1 : outer.back().extent; }
  int64_t Vector() const { return sum->axes.back().extent; }
  int64_t Images() const {
    int64_t images = 1;
    for (size_t i = 0; i + 1 < outer.size(); ++i) images *= outer[i].extent;
    return images;
  }
};

// Whether a constant has the lanes side by side along a dimension, and is the same for all pixels.
bool IsWeight(const ir::Access& access, const ir::Var& lane, const ir::Var& pixel, size_t* lanes_at) {
  int with_lanes = 0;
  for (size_t i = 0; i < access.indices.size(); ++i) {
    const auto lanes = arith::StrideOf(access.indices[i], lane);
    if (!lanes || arith::StrideOf(access.indices[i], pixel) != 0) return false;
    if (*lanes == 0) continue;
    if (*lanes != 1) return false;
    *lanes_at = i, ++with_lanes;
  }
  return with_lanes == 1;
}

// Whether the last axis is one vector of the reduction, and the pixels have an index of their own. Notes the weight.
bool IsVector(const std::vector<std::string>& constants, Windows* w) {
  const te::TensorNode& node = *w->sum;
  const ir::Var &lane = node.axes.back().var, &pixel = node.axes[node.axes.size() - 2].var;
  bool fits = true, lane_read = false;
  ForEachAccess(node, [&](const ir::Access& access) {
    int pixels = 0;
    const te::TensorNode& read = te::NodeOf(access);
    if (ElementsOf(read.shape) == 1) return;  // a zero point
    if (read.constant || std::ranges::count(constants, read.name) != 0) {
      fits = fits && (w->weight == nullptr || w->weight == &read) && IsWeight(access, lane, pixel, &w->lanes_at);
      w->weight = &read;
      return;
    }
    for (size_t i = 0; i < access.indices.size(); ++i) {
      const auto lanes = arith::StrideOf(access.indices[i], lane), columns = arith::StrideOf(access.indices[i], pixel);
      const bool last = i + 1 == access.indices.size();
      // Another order of the lanes stays in the vector.
      const bool within = last && (access.indices[i].same_as(lane) || (!lanes && read.shape.back() == w->Vector()));
      fits = fits && columns && (within || (lanes && *lanes == 0));
      if (within && !access.indices[i].same_as(lane)) w->columns = 1;
      lane_read = lane_read || within;
      if (columns && *columns != 0) w->step = *columns;
      if (columns && *columns != 0) ++pixels;
    }
    fits = fits && pixels <= 1;
  });
  // Otherwise all lanes read the same value: a sum over channels.
  return fits && (w->weight == nullptr || lane_read);
}

std::optional<Windows> WindowsOf(const te::Tensor& output, const std::vector<std::string>& constants,
                                 const Target& target) {
  Windows w{.output = output, .out = output.node()};
  if (w.out->axes.size() < 2) return {};
  for (const te::Tensor& t : te::TopologicalOrder({output})) {
    const te::TensorNode& node = *t.node();
    if (!IsStage(node)) {
      w.bytes += Real(node.type.bytes() * ElementsOf(node.shape));
      continue;
    }
    if (!node.reduce_axes.empty()) {
      if (w.sum != nullptr) return {};
      w.sum = &node;
    } else if (&node != w.out) {
      if (node.axes.empty() || node.axes.size() >= w.out->axes.size()) return {};
      w.beside.push_back(&node);
    }
  }
  if (w.sum == nullptr || w.sum->axes.size() != w.out->axes.size() || !IsVector(constants, &w)) return {};
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
  ir::Walk(w.sum->body,
           ir::Overloaded{[&](const ir::Select&) { w.border = true; },
                          [&](const ir::Call& call) { w.border = w.border || call.fn == ir::Intrinsic::kIfThenElse; },
                          [](const auto&) {}});
  w.cycles = StageCycles().Of(*w.sum);
  w.registers = target.vector_registers;
  w.threads = std::max(target.threads, 1);
  w.bytes += Real(w.out->type.bytes() * ElementsOf(w.out->shape));
  return w;
}

class WindowLines : LineWriter {
 public:
  WindowLines(const Windows& windows, Sketch* sketch) : LineWriter(sketch), w_(windows) {}

  void AddAll() {
    const std::string& out = w_.out->name;
    const std::string pixels = w_.out->axes[w_.out->axes.size() - 2].var.name(), lane = w_.out->axes.back().var.name();
    std::string sum = w_.sum->name;
    if (w_.weight != nullptr) Store();
    if (w_.out == w_.sum) {
      sum = out + ".tile";
      Add("cache_write {} register -> {}", out, sum);
    }
    Names outer;
    for (const ir::IterVar& axis : w_.outer) outer.push_back(axis.var.name());
    const std::string row = outer.empty() ? "" : outer.back();
    if (w_.HasTallTiles()) {
      Add("split {0} {1} [{{rows}},{{tall}}] -> {1}.o {1}.t {1}.i", out, row);
    } else if (!outer.empty()) {
      Add("split {0} {1} [{{rows}}] -> {1}.o {1}.i", out, row);
    }
    if (!outer.empty()) outer.back() += ".o";
    Add("split {0} {1} [{{tile}}] -> {1}.o {1}.i", out, pixels);
    if (w_.HasTallTiles()) {
      Add("reorder {0} {1}.t {2}.o {1}.i {2}.i {3}", out, row, pixels, lane);
      Add("unroll {} {}.i", out, row);
    }
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
    const Names taps = loops;
    if (w_.HasTallTiles()) {
      loops.push_back(w_.sum->axes[w_.sum->axes.size() - 3].var.name());
      Add("unroll {} {}", sum, loops.back());
    }
    loops.push_back(w_.sum->axes[w_.sum->axes.size() - 2].var.name());
    loops.push_back(w_.sum->axes.back().var.name());
    Add("reorder {} {}", sum, Join(loops, " "));
    Add("vectorize {} {}", sum, loops.back());
    Add("unroll {} {}", sum, loops[loops.size() - 2]);
    for (size_t i = 0; i < taps.size(); ++i) {
      for (const char* unrolled : {"unrolled", "window"}) {
        const bool inside = i >= w_.Unrolled() || unrolled == std::string("window");
        if (inside && When("taps", unrolled)) Add("unroll {} {}", sum, taps[i]);
        Always();
      }
    }
    if (outer.empty()) return;
    for (const te::TensorNode* stage : w_.beside) Add("compute_at {} {} {}", stage->name, out, task);
  }

 private:
  // Blocks of lanes outermost, then the dimensions in the order of the reduction, then the lanes.
  void Store() {
    const size_t rank = w_.weight->shape.size();
    Names parts = {fmt::format("d{}/{}", w_.lanes_at, w_.vector)};
    std::vector<bool> stored(rank);
    stored[w_.lanes_at] = true;
    ForEachAccess(*w_.sum, [&](const ir::Access& access) {
      if (&te::NodeOf(access) != w_.weight) return;
      for (const ir::IterVar& axis : w_.sum->reduce_axes) {
        for (size_t i = 0; i < rank; ++i) {
          if (stored[i] || !access.indices[i].same_as(axis.var)) continue;
          parts.push_back(fmt::format("d{}", i));
          stored[i] = true;
        }
      }
    });
    for (size_t i = 0; i < rank; ++i) {
      if (!stored[i]) parts.push_back(fmt::format("d{}", i));
    }
    Add("relayout {0} {1} d{2}%{3} -> {0}.packed", w_.weight->name, Join(parts, " "), w_.lanes_at, w_.vector);
  }

  const Windows& w_;
};

double TasksOf(const Windows& w, const Config& config) {
  return Real(w.Images() * CeilDiv(w.Rows(), w.outer.empty() ? 1 : config.Number("rows")));
}

std::vector<double> WindowCost(const Windows& w, const Config& config) {
  constexpr double kLaunch = 2500, kTask = 30, kTile = 8, kLatency = 4, kTest = 3;
  const int64_t tall = w.TileRows(config), tile = config.Number("tile");
  const bool unrolled = config.Word("taps") != "loop";
  const auto tap = [&](int64_t width) {
    const double cycles = std::max(Real(width * tall) * w.cycles, kLatency);
    return unrolled ? cycles : cycles + 1 + (w.border ? kTest * Real(width * tall) : 0);
  };
  // The last tile of a row may be a part of one. Without a weight, it counts as a whole one.
  const int64_t rest = w.weight != nullptr ? w.pixels % tile : 0, whole = CeilDiv(w.pixels - rest, tile);
  const double row =
      Real(whole) * (kTile + Real(w.taps) * tap(tile)) + (rest > 0 ? kTile + Real(w.taps) * tap(rest) : 0);
  const double tasks = TasksOf(w, config);
  const double compute = Real(w.Images() * CeilDiv(w.Rows(), tall)) * row + tasks * kTask;
  const double work = compute + 0.3 * kCaches.Read(w.bytes, w.bytes);
  if (config.Word("threads") == "all") return {std::log(work), std::log(work)};
  const double imbalance = search::Imbalance(static_cast<int64_t>(tasks), 1, tasks, w.threads);
  return {std::log(work * imbalance / w.threads + kLaunch), std::log(work)};
}

}  // namespace

std::optional<Sketch> WindowTiles(const te::Tensor& output, const std::vector<std::string>& constants,
                                  const Target& target) {
  const std::optional<Windows> found = WindowsOf(output, constants, target);
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
  // With a weight, neighbouring taps keep columns in registers as well; with bytes, also the zero point.
  const int64_t half = w.registers / 2 - (w.sum->type.is_float() ? 0 : 1);
  const int64_t free = w.weight != nullptr ? half : w.registers - 2;
  numbers("tile", search::EvenParts(w.pixels, std::min(kMostTile, free)));
  if (!w.outer.empty()) {
    std::vector<int64_t> rows = {w.Rows()};
    for (int64_t parts = w.threads; parts <= 8 * int64_t{w.threads}; parts *= 2) {
      if (const int64_t part = CeilDiv(w.Rows(), parts); part < rows.back()) rows.push_back(part);
    }
    numbers("rows", rows);
  }
  if (w.HasTallTiles()) numbers("tall", {1, 2});
  const bool fits = w.RowTaps() <= w.MostCode();
  Names taps = fits ? Names{"unrolled", "loop"} : Names{"loop"};
  if (w.weight != nullptr && w.taps <= w.MostCode()) taps.insert(taps.begin() + 1, "window");
  words("taps", taps);
  words("threads", w.threads > 1 && !w.outer.empty() ? Names{"rows", "all"} : Names{"all"});
  sketch.rules.push_back({"code size", [w](const Config& config) {
                            const std::string& taps = config.Word("taps");
                            const int64_t tile = config.Number("tile");
                            const int64_t code = w.Code(tile, taps == "window") * w.TileRows(config);
                            return search::Unless(taps == "loop" || code <= w.MostCode(),
                                                  "the unrolled taps of {} pixels are {} operations, at most {}", tile,
                                                  code, w.MostCode());
                          }});
  if (w.border && w.weight != nullptr && !w.outer.empty()) {
    sketch.rules.push_back({"border", [w](const Config& config) {
                              return search::Unless(
                                  config.Word("taps") != "window" || config.Number("rows") == w.Rows(),
                                  "tasks meet the border in different rows");
                            }});
  }
  if (w.HasTallTiles()) {
    sketch.rules.push_back({"rows", [w](const Config& config) -> search::Rejection {
                              const int64_t rows = config.Number("rows");
                              if (w.TileRows(config) == 1) return {};
                              if (w.border && config.Word("taps") != "window") {
                                return "the rows of a tile meet the border in different rounds";
                              }
                              if (rows < w.Rows() && (rows % 2 != 0 || w.Rows() % rows != 0)) {
                                return "tiles of two rows do not come out even in tasks";
                              }
                              return {};
                            }});
    sketch.rules.push_back({"registers", [w](const Config& config) {
                              const int64_t tile = config.Number("tile"), need = w.Registers(tile, w.TileRows(config));
                              return search::Unless(need <= w.registers || tile == 1, "needs {} of {} registers", need,
                                                    w.registers);
                            }});
  }
  WindowLines(w, &sketch).AddAll();
  sketch.cost = [w](const Config& config) { return WindowCost(w, config); };
  return sketch;
}

}  // namespace hone::sketch
