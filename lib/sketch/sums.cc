#include "sketch/sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/integers.h"
#include "base/text.h"
#include "ir/analysis.h"
#include "ir/walk.h"
#include "search/space/rules.h"
#include "target/caches.h"

namespace hone::sketch {
namespace {

double D(int64_t x) { return static_cast<double>(x); }

// A tensor that the sum reads, and which axes of the output its indices contain.
struct Read {
  bool rows = false, columns = false;
  int64_t others =
      1;  // the product of the extents of its other axes, reduced ones included: elements of a row and column
};

// The sum as the decisions see it. A tile has `rows` of the row axis and `columns` of the last one.
struct Sum {
  te::Tensor output;
  size_t row_axis = 0;
  int64_t rows = 1, columns = 1, steps = 1;  // steps: of the whole reduction
  int64_t others = 1;                        // outputs for each row and column: the other axes
  int64_t lanes = 1;
  int threads = 1, registers = 16;
  std::vector<Read> reads;
};

// The sum of `output`, or nothing if the rule does not apply.
std::optional<Sum> SumOf(const te::Tensor& output, const Target& target) {
  const te::TensorNode& node = *output.node();
  const auto* reduce = node.kind == te::TensorKind::kCompute ? node.body.as<ir::Reduce>() : nullptr;
  if (reduce == nullptr || reduce->reducer != ir::Reducer::kSum || node.type != DType::Float(32)) return {};
  if (node.axes.empty()) return {};
  Sum sum;
  sum.output = output;
  sum.lanes = target.FloatLanes();
  sum.threads = std::max(target.threads, 1);
  sum.registers = target.vector_registers;
  const ir::Var& last = node.axes.back().var;
  std::vector<const ir::Access*> accesses;
  bool streams = true;
  ir::Walk(reduce->body, [&](const auto& op) {
    if constexpr (std::is_same_v<std::decay_t<decltype(op)>, ir::Access>) accesses.push_back(&op);
    if constexpr (std::is_same_v<std::decay_t<decltype(op)>, ir::Select>) streams = false;
  });
  const auto uses = [](const ir::Access& access, const ir::Var& var) {
    return std::any_of(access.indices.begin(), access.indices.end(),
                       [&](const ir::Expr& index) { return ir::UsesVar(index, var); });
  };
  for (const ir::Access* access : accesses) {
    for (size_t i = 0; i < access->indices.size(); ++i) {
      const ir::Expr& index = access->indices[i];
      if (!ir::UsesVar(index, last)) continue;
      streams = streams && i + 1 == access->indices.size() && index.get() == ir::Expr(last).get();
    }
  }
  if (!streams || accesses.empty()) return {};
  const auto lacked = [&](const ir::Var& var) {
    return std::any_of(accesses.begin(), accesses.end(), [&](const ir::Access* a) { return !uses(*a, var); });
  };
  // The innermost axis before the last one that some tensor lacks. Otherwise the one before the last.
  std::optional<size_t> found;
  for (size_t i = node.axes.size() - 1; i-- > 0 && !found;) {
    if (lacked(node.axes[i].var)) found = i;
  }
  if (!found && !lacked(last)) return {};  // nothing is used again
  if (node.axes.size() == 1) return {};
  sum.row_axis = found.value_or(node.axes.size() - 2);
  sum.columns = node.axes.back().extent;
  sum.rows = node.axes[sum.row_axis].extent;
  for (size_t i = 0; i + 1 < node.axes.size(); ++i) sum.others *= i == sum.row_axis ? 1 : node.axes[i].extent;
  for (const ir::IterVar& axis : reduce->axes) sum.steps *= axis.extent;
  for (const ir::Access* access : accesses) {
    Read read{uses(*access, node.axes[sum.row_axis].var), uses(*access, last), 1};
    for (const ir::IterVar& axis : reduce->axes) read.others *= uses(*access, axis.var) ? axis.extent : 1;
    sum.reads.push_back(read);
  }
  return sum;
}

// Prefix of the orders in which threads share the other axes, not the tiles.
constexpr std::string_view kApart = "others.";

struct Point {
  int64_t rows, vectors, unroll;
  std::string order;
  bool by_columns() const { return EndsWith(order, "columns"); }
};

Point PointOf(const Config& c) { return {c.Number("rows"), c.Number("vectors"), c.Number("unroll"), c.Word("order")}; }

struct Tiles {
  int64_t rows, columns;
};
Tiles TilesOf(const Sum& s, const Point& p) {
  return {CeilDiv(s.rows, p.rows), CeilDiv(s.columns, p.vectors * s.lanes)};
}

// Tasks of the parallel loop.
int64_t TasksOf(const Sum& s, const Point& p) {
  if (StartsWith(p.order, kApart)) return s.others;
  return p.by_columns() ? TilesOf(s, p).columns : TilesOf(s, p).rows;
}

std::vector<std::string> OrdersOf(const Sum& s) {
  std::vector<std::string> orders = {"rows", "columns"};
  if (s.others > 1) orders.insert(orders.end(), {std::string(kApart) + "rows", std::string(kApart) + "columns"});
  return orders;
}

double ImbalanceOf(const Sum& s, const Point& p) {
  const int64_t tasks = TasksOf(s, p);
  return search::Imbalance(tasks, 1, D(tasks), s.threads);
}

// Registers: the sums, a vector of each tensor with columns, and one for a broadcast value.
int64_t RegistersOf(const Point& p) { return p.rows * p.vectors + p.vectors + 1; }

// Cycles of one core: two multiply-adds and two loads each cycle, four cycles until a sum can be added to again.
std::vector<double> Cost(const Sum& s, const Point& p) {
  constexpr double kLatency = 4, kTask = 300, kTile = 20;
  const auto tile = [&](int64_t rows, int64_t vectors) {
    double loads = 0;
    for (const Read& read : s.reads) loads += D((read.rows ? rows : 1) * (read.columns ? vectors : 1));
    return std::max({D(rows * vectors) / 2, loads / 2, kLatency});
  };
  const int64_t full_rows = s.rows / p.rows, last_rows = s.rows % p.rows;
  const int64_t width = p.vectors * s.lanes, full_columns = s.columns / width;
  const int64_t last_vectors = CeilDiv(s.columns % width, s.lanes);
  double step = 0;  // cycles of one step of the reduction, in all tiles
  const auto add = [&](int64_t count, int64_t rows, int64_t vectors) {
    if (count > 0 && rows > 0 && vectors > 0) step += D(count) * tile(rows, vectors);
  };
  add(full_rows * full_columns, p.rows, p.vectors);
  add(full_columns, last_rows, p.vectors);
  add(full_rows, p.rows, last_vectors);
  add(1, last_rows, last_vectors);
  const double sums = D(s.others) * D(s.steps) * step;
  // The inner loop over tiles reads some tensors again for each round of the outer one.
  const Tiles tiles = TilesOf(s, p);
  double memory = 0;
  for (const Read& read : s.reads) {
    const double whole = 4 * D(read.others) * (read.rows ? D(s.rows) : 1) * (read.columns ? D(s.columns) : 1);
    const bool again = p.by_columns() ? !read.columns : !read.rows;
    const double times = again ? D(p.by_columns() ? tiles.columns : tiles.rows) : 1;
    memory += D(s.others) * kCaches.Read(whole * times, whole);
  }
  const double loops =
      D(s.others) * D(tiles.rows * tiles.columns) * (kTile + D(p.rows * p.vectors) + 0.5 * D(s.steps) / D(p.unroll)) +
      D(TasksOf(s, p)) * kTask;
  const double imbalance = ImbalanceOf(s, p);
  const double cycles = (std::max(sums, memory) + 0.2 * std::min(sums, memory) + loops) * imbalance / s.threads;
  const double ideal = D(s.others) * D(s.rows) * D(CeilDiv(s.columns, s.lanes)) * D(s.steps) / 2;
  const auto share = [&](double part) { return std::log1p(part / ideal); };
  return {std::log(cycles), share(sums), share(memory), share(loops), std::log(imbalance)};
}

void AddRules(const Sum& s, Sketch* sketch) {
  const auto add = [&](const char* name, std::function<search::Rejection(const Point&)> rule) {
    sketch->rules.push_back({name, [rule = std::move(rule)](const Config& c) { return rule(PointOf(c)); }});
  };
  add("registers", [s](const Point& p) {
    const int64_t need = RegistersOf(p);
    return search::Unless(need <= s.registers, "needs {} of {} registers", need, s.registers);
  });
  // Reject points whose idle threads cost a third of the time, unless every order does.
  double best = s.threads;
  for (const std::string& order : OrdersOf(s)) best = std::min(best, ImbalanceOf(s, {1, 1, 1, order}));
  add("parallel", [s, limit = std::max(1.3, 1.02 * best)](const Point& p) {
    return search::TooUneven(ImbalanceOf(s, p), limit, s.threads);
  });
}

// The names of the first `end` axes, each with a space behind it.
std::string Names(const std::vector<ir::IterVar>& axes, size_t end) {
  std::string names;
  for (size_t i = 0; i < end; ++i) names += axes[i].var.name() + " ";
  return names;
}

void AddLines(const Sum& s, Sketch* sketch) {
  const te::TensorNode& node = *s.output.node();
  const std::string out = node.name, sums = out + ".sums";
  const std::string row = node.axes[s.row_axis].var.name(), column = node.axes.back().var.name();
  const std::string step = node.reduce_axes.back().var.name();
  std::vector<std::string> others;
  for (size_t i = 0; i + 1 < node.axes.size(); ++i) {
    if (i != s.row_axis) others.push_back(node.axes[i].var.name());
  }
  const auto add = [&](const std::string& text, const std::string& order = "") {
    sketch->lines.push_back({order.empty() ? "" : "order", order, text});
  };
  add(fmt::format("cache_write {} register -> {}", out, sums));
  add(fmt::format("split {} {} [{{rows}}] -> {}.o {}.i", out, row, row, row));
  add(fmt::format("split {0} {1} [{{vectors}},{2}] -> {1}.o {1}.v {1}.i", out, column, s.lanes));
  for (const std::string& order : OrdersOf(s)) {
    std::string first = row + ".o", second = column + ".o";
    if (EndsWith(order, "columns")) std::swap(first, second);
    const bool apart = StartsWith(order, kApart);
    // Lowering can cut a tail off only if the counter of a single loop shows where it begins. So do not fuse a loop
    // over tiles with others.
    std::vector<std::string> loops = others;
    loops.insert(apart ? loops.end() : loops.begin(), first);
    add(fmt::format("reorder {0} {1} {2} {3}.i {4}.v {4}.i", out, Join(loops, " "), second, row, column), order);
    std::string shared = apart ? others[0] : first;
    if (apart && others.size() > 1) {
      shared = "task";
      add(fmt::format("fuse {} {} -> task", out, Join(others, " ")), order);
    }
    add(fmt::format("parallel {} {}", out, shared), order);
    add(fmt::format("compute_at {} {} {}", sums, out, second), order);
  }
  add(fmt::format("vectorize {} {}.i", out, column));
  add(fmt::format("unroll {} {}.i", out, row));
  add(fmt::format("unroll {} {}.v", out, column));
  add(fmt::format("split {0} {1} [{2}] -> {1}.v {1}.i", sums, column, s.lanes));
  add(fmt::format("split {0} {1} [{{unroll}}] -> {1}.o {1}.i", sums, step));
  add(fmt::format("reorder {0} {1}{2}.o {2}.i {3}{4}.v {4}.i", sums,
                  Names(node.reduce_axes, node.reduce_axes.size() - 1), step, Names(node.axes, node.axes.size() - 1),
                  column));
  add(fmt::format("vectorize {} {}.i", sums, column));
  add(fmt::format("unroll {} {}", sums, row));
  add(fmt::format("unroll {} {}.v", sums, column));
  add(fmt::format("unroll {} {}.i", sums, step));
}

}  // namespace

std::optional<Sketch> SumTiles(const te::Tensor& output, const Target& target) {
  const std::optional<Sum> found = SumOf(output, target);
  if (!found) return {};
  const Sum& s = *found;
  Sketch sketch;
  sketch.name = "sums";
  sketch.decisions.push_back(
      search::Knob::Choice("rows", search::NoLarger(s.rows, {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 24})));
  sketch.decisions.push_back(
      search::Knob::Choice("vectors", search::NoLarger(CeilDiv(s.columns, s.lanes), {1, 2, 3, 4, 6})));
  sketch.decisions.push_back(
      search::Knob::Choice("unroll", search::NoLarger(output.node()->reduce_axes.back().extent, {1, 2, 4, 8})));
  sketch.decisions.push_back(search::Knob::Words("order", OrdersOf(s)));
  AddRules(s, &sketch);
  AddLines(s, &sketch);
  sketch.cost = [s](const Config& config) { return Cost(s, PointOf(config)); };
  return sketch;
}

}  // namespace hone::sketch
