// The steps of the rule `transformed`.
#include <algorithm>
#include <utility>

#include "base/integers.h"
#include "base/text.h"
#include "sketch/lines.h"
#include "sketch/transformed_nest.h"

namespace hone::sketch {
namespace {

constexpr int64_t kAheadNear = 4096;  // bytes ahead, into the first-level cache
constexpr int64_t kAheadFar = 32768;  // into the second-level cache; with less, the core waits for memory

void Append(Names* names, const Names& more) { names->insert(names->end(), more.begin(), more.end()); }

class TransformedLines : LineWriter {
 public:
  TransformedLines(const TransformedSum& t, Sketch* sketch)
      : LineWriter(sketch), sketch_(sketch), t_(t), out_(t.out().tensor.name()) {}

  void AddAll() {
    Constants();
    Tasks();
    Pixels();
    for (size_t i = t_.after.size() - 1; i-- > 0;) {
      const bool copied = t_.CopiesTiles() && i + 2 == t_.after.size();
      Attach(t_.after[i], out_, copied ? pixel_loop_ : tile_loop_, copied || !t_.Rolled());
    }
    Products();
    Input();
  }

 private:
  // Pixels that are copied from whole tiles need two loops, to be fused.
  bool split(const TileDigit& digit) const {
    if (digit.size > 1 || !t_.CopiesTiles()) return digit.size > 1;
    const auto one = [](const TileDigit& other) { return other.size == 1; };
    const auto innermost = std::find_if(t_.digits.rbegin(), t_.digits.rend(), one);
    return std::ssize(t_.digits) - std::ranges::count_if(t_.digits, one) == 1 && &digit == &*innermost;
  }
  // The loops over the pixels of a tile.
  Names PixelLoops() const {
    Names pixels;
    for (const TileDigit& digit : t_.digits) {
      if (split(digit)) pixels.push_back(t_.out().Name(digit.axis) + ".e");
    }
    return pixels;
  }

  // Tiles of channels outermost, or the elements: each form reads one stream.
  void Constants() {
    const SumNest& nest = t_.sum.nest;
    const SumRead& read = *std::ranges::find_if(nest.reads, &SumRead::constant);
    for (const std::string& form : Values("form", "elements")) {
      Names parts = StoredParts(t_.sum, read, *nest.DigitsOf(read), t_.sum.channels);
      const auto tile =
          std::ranges::find_if(parts, [](const std::string& part) { return part.find("/{vectors") != part.npos; });
      if (form == "channels" && tile != parts.end()) std::rotate(parts.begin(), tile, tile + 1);
      When("form", form);
      Add("relayout {} {} -> {}", read.tensor.name(), Join(parts, " "), packed());
      Always();
    }
    // The prepare function is faster if what it transforms lies in the same vectors.
    for (const te::Tensor& from : te::InputsOf(read.tensor)) {
      const size_t last = from.shape().size() - 1;
      if (!from.node()->constant || from.shape()[last] != read.tensor.shape().back()) continue;
      const std::string tile = fmt::format("{{vectors*{}}}", t_.sum.lanes);
      Names parts = {fmt::format("d{}/{}", last, tile)};
      for (size_t d = 0; d < last; ++d) parts.push_back(fmt::format("d{}", d));
      Add("relayout {} {} d{}%{} -> {}.packed", from.name(), Join(parts, " "), last, tile, from.name());
    }
  }
  std::string packed() const {
    return std::ranges::find_if(t_.sum.nest.reads, &SumRead::constant)->tensor.name() + ".packed";
  }

  void Tasks() {
    const TransformStage& out = t_.out();
    Names tiles, inside = PixelLoops();
    for (const TileDigit& digit : t_.digits) {
      const std::string axis = out.Name(digit.axis);
      if (split(digit)) Add("split {0} {1} [{2}] -> {1}.t {1}.e", out_, axis, digit.size);
      tiles.push_back(axis + (split(digit) ? ".t" : ""));
    }
    const std::string channel = out.Names(AxisRole::kVectors)[0], lane = out.Names(AxisRole::kLane)[0];
    inside.push_back(lane);
    Add("split {0} {1} [{{channels}}] -> {1}.b {1}.r", out_, channel);
    Add("split {0} {1}.r [{{vectors}}] -> {1}.o {1}.i", out_, channel);
    Add("reorder {0} {1} {2}.b {2}.o {2}.i {3}", out_, Join(tiles, " "), channel, Join(inside, " "));
    std::string tile = tiles[0];
    if (tiles.size() > 1) Add("fuse {} {} -> {}", out_, Join(tiles, " "), tile = "tiles");
    Add("split {0} {1} [{{block}}] -> {1}.b {1}.i", out_, tile);
    Add("reorder {0} {1}.b {2}.b {2}.o {1}.i {2}.i {3}", out_, tile, channel, Join(inside, " "));
    Add("fuse {} {}.b {}.b -> task", out_, tile, channel);
    Add("parallel {} task", out_);
    Add("vectorize {} {}", out_, lane);
    tile_loop_ = channel + ".i", channel_loop_ = channel + ".o";
    if (t_.count < t_.Tiles()) {
      // Fused loops keep their extents, and a test skips missing tiles: the last task needs no code of its own.
      Add("fuse {} {}.i {}.i -> {}", out_, tile, channel, tile_loop_ = "tile");
    }
  }

  void Pixels() {
    pixel_loop_ = tile_loop_;
    if (t_.CopiesTiles()) {  // computes whole tiles, and stores a part
      if (PixelLoops().empty()) return;
      Add("fuse {} {} -> pixels", out_, Join(PixelLoops(), " "));
      Add("split {} pixels [{}] -> pixels.y pixels.x", out_, t_.digits.back().size);
      Add("unroll {} pixels.x", out_);
      if (!t_.Rolled()) Add("unroll {} pixels.y", out_);
      if (t_.Rolled()) pixel_loop_ = "pixels.y";
      return;
    }
    for (const TileDigit& digit : t_.digits) {
      const bool unrolled = !t_.Rolled() || t_.out().picked[digit.axis];
      if (split(digit) && unrolled) Add("unroll {} {}.e", out_, t_.out().Name(digit.axis));
    }
  }

  // The loops of a transform: elements that its own indices do not select, `inside`, those that they do, lanes.
  void Loops(const TransformStage& stage, const Names& before, const Names& inside, bool unrolled) {
    const std::string name = stage.tensor.name(), lane = stage.Name(stage.roles.size() - 1);
    const Names free = stage.Elements(false), picked = stage.Elements(true);
    Names order = before;
    for (const Names& more : {free, inside, picked}) Append(&order, more);
    Add("reorder {} {} {}", name, Join(order, " "), lane);
    for (const std::string& axis : free) {
      if (unrolled) Add("unroll {} {}", name, axis);
    }
    for (const std::string& axis : picked) Add("unroll {} {}", name, axis);
    Add("vectorize {} {}", name, lane);
  }

  void Attach(const TransformStage& stage, const std::string& reader, const std::string& loop, bool in_registers) {
    Add("compute_at {} {} {}", stage.tensor.name(), reader, loop);
    Add("set_scope {} {}", stage.tensor.name(), in_registers ? "register" : "scratch");
    Names inside;
    for (size_t i = 0; i + 1 < stage.roles.size(); ++i) {
      if (stage.roles[i] != AxisRole::kElement) inside.push_back(stage.Name(i));
    }
    Loops(stage, {}, inside, in_registers);
  }

  // An odd number of vectors between elements, so that those of a tile lie in different sets of a cache.
  void Align(const TransformStage& stage) {
    size_t last = 0;
    for (size_t i = 0; i < stage.roles.size(); ++i) {
      if (stage.roles[i] == AxisRole::kElement) last = i;
    }
    Add("storage_align {} {} {} {}", stage.tensor.name(), stage.Name(last), 2 * t_.sum.lanes, t_.sum.lanes);
  }

  void Products() {
    const TransformStage& m = t_.products;
    const std::string name = m.tensor.name(), sum = t_.sum.nest.sum.name();
    const std::string tile = m.Names(AxisRole::kTile)[0], channel = m.Names(AxisRole::kVectors)[0];
    const std::string lane = m.Names(AxisRole::kLane)[0];
    for (const std::string& form : Values("form", "elements")) {
      When("form", form);
      Add("compute_at {} {} {}", name, out_, form == "channels" ? channel_loop_ : "task");
      Always();
    }
    Align(m);
    Add("split {0} {1} [{{vectors}}] -> {1}.o {1}.i", name, channel);
    Add("split {0} {1} [{{rows}}] -> {1}.o {1}.i", name, tile);
    Add("reorder {0} {1} {2}.o {3}.o {3}.i {2}.i {4}", name, Join(m.Names(AxisRole::kElement), " "), channel, tile,
        lane);
    Add("vectorize {} {}", name, lane);
    Add("unroll {} {}.i", name, tile);
    Add("unroll {} {}.i", name, channel);
    Add("compute_at {} {} {}.o", sum, name, tile);
    Add("set_scope {} register", sum);
    AddSumLoops(t_.sum, sketch_);
    if (When("prefetch", "near")) {
      Add("prefetch {} {} {}.o {}", sum, packed(), t_.sum.nest.axes[t_.sum.channels.back()].var.name(), kAheadNear);
    }
    Always();
    // The elements form one stream: while all tiles use the constants of one, those of a later one are fetched.
    for (const std::string& vectors : Values("vectors", "1")) {
      When("vectors", vectors);
      const int64_t element = 4 * t_.Channels() * t_.sum.lanes * *ParseInt(vectors);
      if (When("prefetch", "far")) {
        Add("prefetch {} {} {}.o {} 2", name, packed(), channel, RoundUp(kAheadFar, element));
      }
      Always();
    }
  }

  void Input() {
    const TransformStage& v = t_.before[0];
    Names channels = v.Names(AxisRole::kOther);
    channels.pop_back();  // the lanes
    Add("compute_at {} {} task", v.tensor.name(), out_);
    Align(v);
    const std::string tile = v.Names(AxisRole::kTile)[0];
    Names outside = channels;
    outside.push_back(tile);
    Loops(v, outside, {}, !t_.Rolled());
    for (size_t i = 1; i < t_.before.size(); ++i) Attach(t_.before[i], v.tensor.name(), tile, !t_.Rolled());
    if (!t_.source.defined()) return;
    Add("compute_at {} {} {}", t_.source.name(), v.tensor.name(), channels.back());
    Add("vectorize {} {}", t_.source.name(), t_.source.node()->axes.back().var.name());
  }

  Sketch* sketch_;
  const TransformedSum& t_;
  const std::string out_;
  std::string tile_loop_, channel_loop_, pixel_loop_;  // loops of the output
};

}  // namespace

void AddTransformedLines(const TransformedSum& t, Sketch* sketch) { TransformedLines(t, sketch).AddAll(); }

}  // namespace hone::sketch
