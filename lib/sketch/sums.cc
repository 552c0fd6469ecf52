#include "sketch/sums.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/integers.h"
#include "base/text.h"
#include "search/space/rules.h"
#include "sketch/sum_tiles.h"

namespace hone::sketch {
namespace {

using Names = std::vector<std::string>;

constexpr int64_t kUnrolled = 640;  // multiply-adds of a tile; compile time grows with them, speed does not
constexpr int64_t kNearBytes = 1 << 17;  // constants that stay near a core need no prefetch
constexpr int64_t kPanelBytes = 1 << 19;
constexpr double kMostCycles = 1.3, kMostCopy = 0.15;

// Whether neighbours along the first channel axis lie in a tensor's rows, far apart: an input that is not blocked.
bool FarChannels(const SumLoops& l) {
  return std::any_of(l.nest.reads.begin(), l.nest.reads.end(), [&](const SumRead& read) {
    return !read.constant && !read.Uses(l.nest.last()) && !read.indices.back().empty() &&
           read.indices.back()[0].axis < l.nest.outputs;
  });
}

int64_t FetchStride(const SumLoops& l) {
  // The next block of the first channel axis is far from this one: in elements of the tensor that is no constant.
  if (l.nest.source.defined() || !l.window.empty() || l.channels.size() < 2) return 0;
  for (const SumRead& read : l.nest.reads) {
    if (read.constant) continue;
    int64_t stride = 1, found = 0;
    for (size_t d = read.indices.size(); d-- > 0; stride *= read.tensor.shape()[d]) {
      for (const Term& term : read.indices[d]) {
        if (term.axis == l.channels[0]) found = stride * term.coefficient;
      }
    }
    if (found > 0) return found;
  }
  return 0;
}

// Tiles of a task: few, or such that threads have some tasks each even if a tile is as small as can be, or all.
std::vector<int64_t> BlockValues(int64_t extent, int threads) {
  std::vector<int64_t> values = search::NoLarger(extent, {1, 2, 4, extent});
  for (const int64_t tasks : {1, 2, 4}) values.push_back(CeilDiv(extent, tasks * threads));
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

// Few rows leave registers for more vectors.
std::vector<int64_t> VectorValues(const SumLoops& l) {
  const int64_t rows = l.Extent(l.rows) * (l.outer_rows ? l.Extent(*l.outer_rows) : 1);
  std::vector<int64_t> values = {1, 2, 3, 4};
  if (rows <= 4) values.insert(values.end(), {6, 8});
  return search::NoLarger(l.VectorCount(), values);
}

std::vector<int64_t> OuterRowValues(const SumLoops& l) {
  return l.outer_rows ? search::NoLarger(l.Extent(*l.outer_rows), {1, 2, 4, 7}) : std::vector<int64_t>{1};
}

std::vector<int64_t> RowValues(const SumLoops& l) { return search::EvenParts(l.Extent(l.rows), l.registers - 3); }

void AddDecisions(const SumLoops& l, Sketch* sketch) {
  const auto numbers = [&](const char* name, std::vector<int64_t> values) {
    sketch->decisions.push_back(search::Knob::Choice(name, std::move(values)));
  };
  const auto words = [&](const char* name, const Names& values) {
    if (values.size() > 1) sketch->decisions.push_back(search::Knob::Words(name, values));
  };
  numbers("rows", RowValues(l));
  if (l.outer_rows) numbers("outer_rows", OuterRowValues(l));
  numbers("vectors", VectorValues(l));
  numbers("block_rows", BlockValues(l.Extent(l.block_axis()), l.threads));
  numbers("block_vectors", BlockValues(l.VectorCount(), l.threads));
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
  const int64_t steps = l.Extent(l.channels.back());
  numbers("unroll", search::NoLarger(steps, steps == 2 || steps == 3 ? std::vector<int64_t>{1, steps} : std::vector<int64_t>{1, 4, 8}));
  if (l.ConstantBytes() >= kNearBytes) words("prefetch", {"none", "tile"});
  if (l.nest.source.defined()) words("copy", {"task", "once"});
  if (l.far) words("panel", {"none", "tile"});
  if (l.window.empty() || FarChannels(l)) words("fetch", {"none", "tile"});
}

// How many pieces of code there are for one tile: those for tails count.
int64_t Bodies(const SumLoops& l, const SumPoint& p) {
  int64_t bodies = l.Extent(l.rows) % p.rows == 0 ? 1 : 2;
  if (l.outer_rows && l.Extent(*l.outer_rows) % p.outer_rows != 0) bodies *= 2;
  if (l.VectorCount() % p.vectors != 0 || l.Extent(l.vectors) % l.VectorWidth() != 0) bodies *= 2;
  return bodies;
}

// Whether tasks of `block` tiles come out even. Lowering cuts a tail off only where the counter of a single loop shows
// it: inside of a task that has everything, or if threads share no other loop and a task has one tile.
bool ComesOutEven(int64_t extent, int64_t tile, int64_t block, bool single) {
  return block * tile >= extent || extent % (block * tile) == 0 || (single && block == 1);
}

// Those of the sums, of a vector of each kind, and of broadcast values: several taps load the values that they share
// once.
int64_t RegistersOf(const SumLoops& l, const SumPoint& p) {
  const int64_t broadcasts =
      p.taps ? static_cast<int64_t>(BroadcastsOf(l, p) * static_cast<double>(l.Extent(l.window.back()))) : 1;
  return p.rows * p.outer_rows * p.vectors + p.vectors + broadcasts;
}

search::Rejection Uneven(const SumLoops& l, const SumPoint& p) {
  const int64_t rows = p.RowParts(l), vectors = p.VectorParts(l), others = p.others_apart ? l.OtherTasks() : 1;
  return search::Unless(
      ComesOutEven(l.Extent(l.block_axis()), p.BlockTile(l), p.block_rows, vectors * others == 1) &&
          ComesOutEven(l.Extent(l.vectors), p.vectors * l.VectorWidth(), p.block_vectors, rows * others == 1),
      "tasks do not come out even");
}

// What the best tiles and tasks reach. Rules are relative to it, so that each sum has a legal point. Computed at the
// first use: most programs only want to know which sketches there are.
class Limits {
 public:
  explicit Limits(const SumLoops& l) : l_(l) {}

  struct Reach {
    double imbalance = 1.3;  // idle threads may cost a third of the time, or more if they do so at all points
    double cycles = INFINITY;
  };
  const Reach& Get() {
    std::call_once(once_, [this] { Find(); });
    return reach_;
  }
  // TileCycles relative to the best tile. REQUIRES: the sums fit into the registers.
  double RelativeCycles(const SumPoint& p) {
    const double best = Get().cycles;
    return cycles_.at({p.rows, p.outer_rows, p.vectors}) / best;
  }

 private:
  void Find() {
    double best = l_.threads;
    ForEachTile([&](const SumPoint& tile) {
      best = std::min(best, BestImbalance(tile));
      cycles_[{tile.rows, tile.outer_rows, tile.vectors}] = TileCycles(l_, tile);
    });
    reach_.imbalance = std::max(reach_.imbalance, 1.02 * best);
    ForEachTile([&](const SumPoint& tile) {
      if (BestImbalance(tile) <= reach_.imbalance) reach_.cycles = std::min(reach_.cycles, TileCycles(l_, tile));
    });
  }

  void ForEachTile(const std::function<void(const SumPoint&)>& f) const {
    SumPoint tile;
    for (const int64_t rows : RowValues(l_)) {
      for (tile.rows = rows; const int64_t outer : OuterRowValues(l_)) {
        for (tile.outer_rows = outer; const int64_t vectors : VectorValues(l_)) {
          tile.vectors = vectors;
          if (RegistersOf(l_, tile) <= l_.registers) f(tile);
        }
      }
    }
  }

  double BestImbalance(SumPoint p) const {
    double best = l_.threads;
    for (const int64_t rows : BlockValues(l_.Extent(l_.block_axis()), l_.threads)) {
      for (const int64_t vectors : BlockValues(l_.VectorCount(), l_.threads)) {
        for (const bool apart : {false, true}) {
          p.block_rows = rows, p.block_vectors = vectors, p.others_apart = apart;
          if (!Uneven(l_, p)) best = std::min(best, ImbalanceOf(l_, p));
        }
      }
    }
    return best;
  }

  const SumLoops l_;
  std::once_flag once_;
  Reach reach_;
  std::map<std::array<int64_t, 3>, double> cycles_;  // of each tile
};

void AddRules(const SumLoops& l, Sketch* sketch) {
  const SumReader reader(sketch->decisions);
  const auto add = [&](const char* name, std::function<search::Rejection(const SumPoint&)> rule) {
    sketch->rules.push_back({name, [reader, rule = std::move(rule)](const Config& c) { return rule(reader.Read(c)); }});
  };
  add("block", [l](const SumPoint& p) {
    const auto whole = [](int64_t extent, int64_t tile, int64_t block) { return block == extent || block * tile < extent; };
    return search::Unless(whole(l.Extent(l.block_axis()), p.BlockTile(l), p.block_rows) &&
                              whole(l.VectorCount(), p.vectors, p.block_vectors),
                          "a task has more tiles than there are");
  });
  add("even", [l](const SumPoint& p) { return Uneven(l, p); });
  add("order", [l](const SumPoint& p) {
    const int64_t tiles = CeilDiv(CeilDiv(l.VectorCount(), p.vectors), p.VectorParts(l));
    return search::Unless(p.order == TileOrder::kRowsInside || tiles > 1, "one tile of vectors a task: order changes nothing");
  });
  add("registers", [l](const SumPoint& p) {
    const int64_t need = RegistersOf(l, p);
    return search::Unless(need <= l.registers, "needs {} of {} registers", need, l.registers);
  });
  add("code size", [l](const SumPoint& p) {
    const int64_t taps = p.taps ? l.Extent(l.window.back()) : 1;
    const int64_t sums = p.rows * p.outer_rows * p.vectors * p.unroll * taps * (1 + Bodies(l, p)) / 2;
    return search::Unless(sums <= kUnrolled, "{} unrolled multiply-adds, at most {}", sums, kUnrolled);
  });
  const auto limits = std::make_shared<Limits>(l);
  add("cycles", [limits](const SumPoint& p) {
    const double share = limits->RelativeCycles(p);
    return search::Unless(share <= kMostCycles, "this tile takes {:.2f} times the cycles of the best one", share);
  });
  add("parallel", [l, limits](const SumPoint& p) {
    return search::TooUneven(ImbalanceOf(l, p), limits->Get().imbalance, l.threads);
  });
  if (l.far) {
    add("panel", [l](const SumPoint& p) {
      return search::Unless(!p.panel || (p.order == TileOrder::kRowsInside && l.PanelBytes(p.vectors) <= kPanelBytes),
                            "a panel serves the rows of one tile of vectors, and has at most {} KB", kPanelBytes >> 10);
    });
  }
  if (l.nest.source.defined()) {
    add("copy", [l](const SumPoint& p) {
      const double share = p.copy_in_task ? CopyCycles(l, p) / IdealCycles(l) : 0;
      return search::Unless(share <= kMostCopy, "copying the source would cost {:.0f} % of the work", 100 * share);
    });
  }
}

class Lines {
 public:
  Lines(const SumLoops& l, Sketch* sketch) : l_(l), sketch_(*sketch) {
    const SumNest& n = l.nest;
    out_ = n.out.name();
    sum_ = n.sum.node() == n.out.node() ? out_ + ".sums" : n.sum.name();
  }

  void AddAll() {
    if (sum_ == out_ + ".sums") Add("cache_write {} register -> {}", out_, sum_);
    for (const std::string& reduce : Values("reduce", "window")) Store(reduce);
    When("panel", "tile");
    if (l_.far) Add("cache_read {} scratch {} -> {}", Far(), sum_, Panel());
    Always();
    SplitOutput();
    for (const std::string& order : Values("order", "rows")) {
      for (const std::string& others : Values("others", "apart")) Order(order, others == "apart");
    }
    Add("vectorize {} {}", out_, Lane());
    for (const std::string& axis : TileAxes()) Add("unroll {} {}", out_, axis);
    if (sum_ != out_ + ".sums") Add("set_scope {} register", sum_);
    Sum();
    Source();
    if (l_.far) AddPanel();
    Prefetches();
  }

 private:
  template <typename... A>
  void Add(fmt::format_string<A...> text, A&&... arguments) {
    sketch_.lines.push_back({conditions_, fmt::format(text, std::forward<A>(arguments)...)});
  }

  // The words of a decision; the neutral one if the sketch lacks it.
  Names Values(const std::string& decision, const std::string& neutral) const {
    for (const search::Knob& knob : sketch_.decisions) {
      if (knob.name() != decision) continue;
      Names words;
      for (size_t i = 0; i < knob.size(); ++i) words.push_back(knob.value(i).Text());
      return words;
    }
    return {neutral};
  }
  bool Decides(const std::string& decision) const { return Values(decision, "").front() != ""; }
  // Lines after this count only if `decision` has that value.
  void When(const std::string& decision, const std::string& value) {
    if (Decides(decision)) conditions_.push_back({decision, value});
  }
  void Always() { conditions_.clear(); }

  std::string Name(size_t axis) const { return l_.nest.axes[axis].var.name(); }
  std::string OutName(size_t axis) const { return l_.nest.out.node()->axes[axis].var.name(); }
  bool last_is_split() const { return l_.vectors == l_.nest.last(); }
  std::string Lane() const { return OutName(l_.nest.last()) + (last_is_split() ? ".i" : ""); }
  Names TileAxes() const {
    Names axes = {OutName(l_.rows) + ".i", OutName(l_.vectors) + (last_is_split() ? ".v" : ".i")};
    if (l_.outer_rows) axes.insert(axes.begin(), OutName(*l_.outer_rows) + ".i");
    return axes;
  }

  void SplitOutput() {
    const std::string row = OutName(l_.rows), vector = OutName(l_.vectors);
    if (l_.outer_rows) {
      Add("split {0} {1} [{{block_rows}},{{outer_rows}}] -> {1}.b {1}.o {1}.i", out_, OutName(*l_.outer_rows));
      Add("split {0} {1} [{{rows}}] -> {1}.o {1}.i", out_, row);
    } else {
      Add("split {0} {1} [{{block_rows}},{{rows}}] -> {1}.b {1}.o {1}.i", out_, row);
    }
    if (last_is_split()) {
      Add("split {0} {1} [{{block_vectors}},{{vectors}},{2}] -> {1}.b {1}.o {1}.v {1}.i", out_, vector, l_.lanes);
    } else {
      Add("split {0} {1} [{{block_vectors}},{{vectors}}] -> {1}.b {1}.o {1}.i", out_, vector);
    }
  }

  void Order(const std::string& order, bool apart) {
    When("order", order);
    When("others", apart ? "apart" : "inside");
    Names task, inside;
    for (size_t axis : l_.others) (apart ? task : inside).push_back(OutName(axis));
    task.push_back(OutName(l_.block_axis()) + ".b");
    task.push_back(OutName(l_.vectors) + ".b");
    Names tiles = {OutName(l_.block_axis()) + ".o"};
    if (l_.outer_rows) tiles.push_back(OutName(l_.rows) + ".o");
    const ptrdiff_t before = order == "rows" ? 0 : order == "vectors" ? std::ssize(tiles) : 1;
    tiles.insert(tiles.begin() + before, OutName(l_.vectors) + ".o");
    Add("reorder {} {} {} {} {} {}", out_, Join(task, " "), Join(inside, " "), Join(tiles, " "),
        Join(TileAxes(), " "), Lane());
    Add("fuse {} {} -> task", out_, Join(task, " "));
    Add("parallel {} task", out_);
    Add("compute_at {} {} {}", sum_, out_, tiles.back());
    When("fetch", "tile");
    Add("prefetch {0} {0} {1} 0", out_, tiles.back());
    for (const te::Tensor& input : te::InputsOf(l_.nest.out)) {
      const bool beside = sum_ != out_ + ".sums" && input.node() != l_.nest.sum.node();
      if (beside && input.shape() == l_.nest.out.shape()) Add("prefetch {} {} {} 0", out_, input.name(), tiles.back());
    }
    Always();
  }

  // The loops of the reduction, outermost first, and whether the innermost one is the window's.
  std::vector<size_t> Reduction(const std::string& reduce) const {
    std::vector<size_t> axes;
    const bool first_outside = StartsWith(reduce, "channels");
    if (first_outside) axes.push_back(l_.channels[0]);
    axes.insert(axes.end(), l_.window.begin(), l_.window.end());
    axes.insert(axes.end(), l_.channels.begin() + first_outside, l_.channels.end());
    if (EndsWith(reduce, ".taps")) {
      const auto taps = std::find(axes.begin(), axes.end(), l_.window.back());
      std::rotate(taps, taps + 1, axes.end());
    }
    return axes;
  }

  void Sum() {
    for (const BlockedAxis& axis : l_.nest.blocked) Add("split {0} {1} [{2}] -> {1}.b {1}.r", sum_, axis.name, axis.size);
    const std::string channel = Name(l_.channels.back());
    if (last_is_split()) Add("split {0} {1} [{2}] -> {1}.v {1}.i", sum_, Name(l_.vectors), l_.lanes);
    Add("split {0} {1} [{{unroll}}] -> {1}.o {1}.i", sum_, channel);
    const std::string lane = Name(l_.nest.last()) + (last_is_split() ? ".i" : "");
    Names tile = {Name(l_.rows), Name(l_.vectors) + (last_is_split() ? ".v" : "")};
    if (l_.outer_rows) tile.insert(tile.begin(), Name(*l_.outer_rows));
    for (const std::string& reduce : Values("reduce", "window")) {
      Names loops;
      for (size_t axis : l_.others) loops.push_back(Name(axis));
      const std::vector<size_t> order = Reduction(reduce);
      for (size_t i = l_.nest.outputs; i < l_.nest.axes.size(); ++i) {
        if (std::find(order.begin(), order.end(), i) == order.end()) loops.push_back(Name(i));
      }
      for (size_t axis : order) {
        if (axis == l_.channels.back()) loops.insert(loops.end(), {channel + ".o", channel + ".i"});
        else loops.push_back(Name(axis));
      }
      When("reduce", reduce);
      Add("reorder {} {} {} {}", sum_, Join(loops, " "), Join(tile, " "), lane);
      if (EndsWith(reduce, ".taps")) Add("unroll {} {}", sum_, Name(l_.window.back()));
      Always();
    }
    Add("vectorize {} {}", sum_, lane);
    for (const std::string& axis : tile) Add("unroll {} {}", sum_, axis);
    Add("unroll {} {}.i", sum_, channel);
  }

  // Stores each constant in the order in which the loops read it: tiles, reduction, inside of a tile.
  void Store(const std::string& reduce) {
    for (const SumRead& read : l_.nest.reads) {
      if (!read.constant || !read.Uses(l_.nest.last())) continue;
      const std::optional<std::vector<Digit>> digits = l_.nest.DigitsOf(read);
      if (!digits) continue;
      When("reduce", reduce);
      Add("relayout {} {} -> {}", read.tensor.name(), Join(PartsOf(read, *digits, Reduction(reduce)), " "), Packed(read));
      Always();
    }
  }
  static std::string Packed(const SumRead& read) { return read.tensor.name() + ".packed"; }

  Names PartsOf(const SumRead& read, const std::vector<Digit>& digits, const std::vector<size_t>& reduction) const {
    Names parts;
    // `of`: a number, or a product of decisions and numbers in braces, that the axis is divided by.
    const auto add = [&](const Digit& digit, const std::string& over, const std::string& modulo) {
      std::string part = "d" + std::to_string(digit.dimension);
      if (!over.empty()) part += "/" + over;
      if (!modulo.empty()) part += "%" + modulo;
      parts.push_back(part);
    };
    const auto number = [](int64_t n) { return n == 1 ? std::string() : std::to_string(n); };
    const auto tiled = [&](const Digit& digit) {
      const int64_t unit = digit.unit * (digit.axis == l_.vectors ? l_.VectorWidth() : 1);
      return fmt::format("{{vectors*{}}}", unit);
    };
    const auto each = [&](size_t axis, const std::function<void(const Digit&)>& f) {
      for (const Digit& digit : digits) {
        if (digit.axis == axis) f(digit);
      }
    };
    const auto whole = [&](const Digit& digit) {
      add(digit, number(digit.unit), digit.highest ? "" : std::to_string(l_.Extent(digit.axis)));
    };
    for (size_t d = 0; d < read.indices.size(); ++d) {
      const bool here = std::any_of(digits.begin(), digits.end(), [&](const Digit& digit) { return digit.dimension == d; });
      if (!here) parts.push_back("d" + std::to_string(d));
    }
    for (size_t axis = 0; axis < l_.nest.outputs; ++axis) {
      if (axis == l_.vectors) {
        // A block of channels that is not the highest digit cannot have a tail.
        each(axis, [&](const Digit& digit) {
          add(digit, tiled(digit), digit.highest ? "" : fmt::format("{}", l_.VectorCount()));
        });
      } else if (axis != l_.nest.last()) {
        each(axis, whole);
      }
    }
    for (size_t axis : reduction) each(axis, whole);
    each(l_.vectors, [&](const Digit& digit) {
      if (digit.axis == l_.nest.last()) add(digit, "", tiled(digit));
      else add(digit, number(digit.unit), "{vectors}");
    });
    if (!last_is_split()) each(l_.nest.last(), whole);
    return parts;
  }

  void Source() {
    const te::Tensor& source = l_.nest.source;
    if (!source.defined()) return;
    const std::vector<ir::IterVar>& axes = source.node()->axes;
    When("copy", "task");
    Add("compute_at {} {} task", source.name(), out_);
    Always();
    When("copy", "once");
    Names outer;
    for (size_t i = 0; i + 1 < axes.size() && (i < 2 || outer.size() + 2 < axes.size()); ++i) outer.push_back(axes[i].var.name());
    if (outer.size() > 1) Add("fuse {} {} -> rows", source.name(), Join(outer, " "));
    if (!outer.empty()) Add("parallel {} {}", source.name(), outer.size() > 1 ? "rows" : outer[0]);
    Always();
    const std::string last = axes.back().var.name();
    if (axes.back().extent > l_.lanes) {
      Add("split {0} {1} [{2}] -> {1}.o {1}.i", source.name(), last, l_.lanes);
      Add("vectorize {} {}.i", source.name(), last);
    } else {
      Add("vectorize {} {}", source.name(), last);
    }
  }

  std::string Far() const { return l_.nest.reads[*l_.far].tensor.name(); }
  std::string Panel() const { return Far() + ".panel"; }
  void AddPanel() {
    When("panel", "tile");
    const std::string last = fmt::format("d{}", l_.nest.reads[*l_.far].tensor.shape().size() - 1);
    Add("compute_at {} {} {}.o", Panel(), out_, OutName(l_.vectors));
    Add("split {0} {1} [{2}] -> {1}.o {1}.i", Panel(), last, l_.lanes);
    Add("vectorize {} {}.i", Panel(), last);
    Always();
  }

  void Prefetches() {
    if (Decides("prefetch")) {
      for (const SumRead& read : l_.nest.reads) {
        if (!read.constant || !read.Uses(l_.nest.last())) continue;
        const int64_t bytes = l_.nest.Steps() * std::min(l_.lanes, l_.Extent(l_.nest.last())) * 4;
        When("prefetch", "tile");
        Add("prefetch {} {} {}.o 4096", sum_, Packed(read), Name(l_.channels.back()));
        Add("prefetch {} {} {}.o {{vectors*{}}} 2", out_, Packed(read), OutName(l_.vectors), bytes);
        Always();
      }
    }
    if (const int64_t stride = FetchStride(l_); stride > 0) {
      When("fetch", "tile");
      for (const SumRead& read : l_.nest.reads) {
        if (!read.constant) Add("prefetch {} {} {} {}", sum_, read.tensor.name(), Name(l_.channels[0]), 4 * stride);
      }
      Always();
    }
  }

  const SumLoops& l_;
  Sketch& sketch_;
  std::vector<Condition> conditions_;
  std::string out_, sum_;
};

}  // namespace

std::optional<Sketch> SumTiles(const te::Tensor& output, const std::vector<std::string>& constants,
                               const Target& target) {
  const std::optional<SumLoops> loops = SumLoopsOf(output, constants, target);
  if (!loops) return {};
  Sketch sketch;
  sketch.name = "sums";
  AddDecisions(*loops, &sketch);
  AddRules(*loops, &sketch);
  Lines(*loops, &sketch).AddAll();
  sketch.cost = [l = *loops](const Config& config) { return SumCost(l, SumPointOf(config)); };
  return sketch;
}

}  // namespace hone::sketch
