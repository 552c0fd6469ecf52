// The steps of the rule `sums`.
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "sketch/lines.h"
#include "sketch/sum_tiles.h"

namespace hone::sketch {
namespace {

using Names = std::vector<std::string>;

class Lines : LineWriter {
 public:
  Lines(const SumLoops& l, Sketch* sketch) : LineWriter(sketch), l_(l) {
    const SumNest& n = l.nest;
    out_ = n.out.name();
    sum_ = n.sum.node() == n.out.node() ? out_ + ".sums" : n.sum.name();
  }

  void AddAll() {
    if (sum_ == out_ + ".sums") Add("cache_write {} register -> {}", out_, sum_);
    for (const std::string& reduce : Values("reduce", "window")) Store(reduce);
    if (When("panel", "tile")) Add("cache_read {} scratch {} -> {}", Far(), sum_, Panel());
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

  // The loops of the sum.
  void Sum() {
    for (const BlockedAxis& axis : l_.nest.blocked)
      Add("split {0} {1} [{2}] -> {1}.b {1}.r", sum_, axis.name, axis.size);
    const std::string channel = Name(l_.channels.back());
    if (last_is_split()) Add("split {0} {1} [{2}] -> {1}.v {1}.i", sum_, Name(l_.vectors), l_.lanes);
    if (l_.products == 1) {
      Add("split {0} {1} [{{unroll}}] -> {1}.o {1}.i", sum_, channel);
    } else {
      Add("split {0} {1} [{{unroll}},{2}] -> {1}.o {1}.i {1}.q", sum_, channel, l_.products);
    }
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
        if (axis == l_.channels.back())
          loops.insert(loops.end(), {channel + ".o", channel + ".i"});
        else
          loops.push_back(Name(axis));
      }
      When("reduce", reduce);
      const std::string four = l_.products > 1 ? fmt::format(" {}.q", channel) : "";
      Add("reorder {} {} {} {}{}", sum_, Join(loops, " "), Join(tile, " "), lane, four);
      if (EndsWith(reduce, ".taps")) Add("unroll {} {}", sum_, Name(l_.window.back()));
      Always();
    }
    Add("vectorize {} {}", sum_, lane);
    for (const std::string& axis : tile) Add("unroll {} {}", sum_, axis);
    Add("unroll {} {}.i", sum_, channel);
    if (l_.products > 1) Add("tensorize {} {}.q dot4", sum_, channel);
  }

 private:
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
    Names loops = task;
    for (const Names& more : {inside, tiles, TileAxes(), Names{Lane()}}) {
      loops.insert(loops.end(), more.begin(), more.end());
    }
    Add("reorder {} {}", out_, Join(loops, " "));
    Add("fuse {} {} -> task", out_, Join(task, " "));
    Add("parallel {} task", out_);
    Add("compute_at {} {} {}", sum_, out_, tiles.back());
    if (When("fetch", "tile")) {
      Add("prefetch {0} {0} {1} 0", out_, tiles.back());
      for (const te::Tensor& input : te::InputsOf(l_.nest.out)) {
        const bool beside = sum_ != out_ + ".sums" && input.node() != l_.nest.sum.node();
        if (beside && input.shape() == l_.nest.out.shape())
          Add("prefetch {} {} {} 0", out_, input.name(), tiles.back());
      }
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

  // The constants that are stored in the order in which the loops read them: tiles, reduction, inside of a tile.
  std::vector<const SumRead*> PackedReads() const {
    std::vector<const SumRead*> packed;
    for (const SumRead& read : l_.nest.reads) {
      const bool again = std::any_of(packed.begin(), packed.end(),
                                     [&](const SumRead* other) { return other->tensor.node() == read.tensor.node(); });
      if (read.constant && read.Uses(l_.nest.last()) && l_.nest.DigitsOf(read) && !again) packed.push_back(&read);
    }
    return packed;
  }
  void Store(const std::string& reduce) {
    When("reduce", reduce);
    for (const SumRead* read : PackedReads()) {
      const auto parts = StoredParts(l_, *read, *l_.nest.DigitsOf(*read), Reduction(reduce));
      Add("relayout {} {} -> {}", read->tensor.name(), Join(parts, " "), Packed(*read));
    }
    Always();
  }
  static std::string Packed(const SumRead& read) { return read.tensor.name() + ".packed"; }

  void Source() {
    const te::Tensor& source = l_.nest.source;
    if (!source.defined()) return;
    const std::vector<ir::IterVar>& axes = source.node()->axes;
    When("copy", "task");
    Add("compute_at {} {} task", source.name(), out_);
    Always();
    When("copy", "once");
    Names outer;
    for (size_t i = 0; i + 1 < axes.size() && (i < 2 || outer.size() + 2 < axes.size()); ++i)
      outer.push_back(axes[i].var.name());
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
    if (When("prefetch", "tile")) {
      for (const SumRead* read : PackedReads()) {
        const int64_t bytes = l_.nest.Steps() * std::min(l_.lanes, l_.Extent(l_.nest.last())) * read->bytes();
        Add("prefetch {} {} {}.o 4096", sum_, Packed(*read), Name(l_.channels.back()));
        Add("prefetch {} {} {}.o {{vectors*{}}} 2", out_, Packed(*read), OutName(l_.vectors), bytes);
      }
    }
    Always();
    const auto [far, stride] = l_.FetchStride();
    if (far != nullptr && When("fetch", "tile")) {
      Add("prefetch {} {} {} {}", sum_, far->tensor.name(), Name(l_.channels[0]), far->bytes() * stride);
    }
    Always();
  }

  const SumLoops& l_;
  std::string out_, sum_;
};

}  // namespace

void AddSumLines(const SumLoops& loops, Sketch* sketch) { Lines(loops, sketch).AddAll(); }

void AddSumLoops(const SumLoops& loops, Sketch* sketch) { Lines(loops, sketch).Sum(); }

}  // namespace hone::sketch
