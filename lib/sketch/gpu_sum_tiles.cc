#include "sketch/gpu_sum_tiles.h"

#include <algorithm>
#include <set>

#include "base/integers.h"
#include "base/text.h"
#include "sketch/lines.h"

namespace hone::sketch {
namespace {

class GpuSumLines : LineWriter {
 public:
  GpuSumLines(const GpuSums& sums, Sketch* sketch) : LineWriter(sketch), s_(sums) {}

  void AddAll() {
    const te::TensorNode &out = *s_.nest.out.node(), &sum = *s_.nest.sum.node();
    const bool apart = &out == &sum;
    sum_ = apart ? out.name + ".sums" : sum.name;
    if (apart) Add("cache_write {} register -> {}", out.name, sum_);
    Map(out);
    Add("compute_at {} {} {}.t", sum_, out.name, OutName(*s_.tiled[0]));
    Add("set_scope {} register", sum_);
    Reduce(sum);
    const te::Tensor& source = s_.nest.source;
    if (When("copy", "shared")) {
      for (const SumRead* read : s_.Tensors()) Fetch(*read->tensor.node());
    }
    if (!source.defined()) return;
    Always();
    if (When("copy", "padded")) Store(*source.node());
    for (const char* copy : {"shared", "cache"}) {
      Always();
      if (When("copy", copy)) Add("inline {}", source.name());
    }
  }

 private:
  // The output's axes may have other names than the sum's.
  const std::string& OutName(size_t axis) const { return s_.nest.out.node()->axes[axis].var.name(); }

  void Map(const te::TensorNode& out) {
    Names outer, blocks, spread, threads, own;
    for (const size_t axis : s_.others) outer.push_back(OutName(axis));
    for (size_t i = 3; i-- > 0;) {
      if (!s_.tiled[i]) continue;
      const std::string name = OutName(*s_.tiled[i]);
      const char at = kThreadAxes[i];
      Add("split {0} {1} [{{spread_{2}}},{{threads_{2}}},{{own_{2}}}] -> {1}.b {1}.v {1}.t {1}.i", out.name, name, at);
      (i == 2 ? outer : blocks).push_back(name + ".b");
      spread.push_back(name + ".v"), threads.push_back(name + ".t"), own.push_back(name + ".i");
    }
    Names order = outer;
    for (const Names* part : {&blocks, &spread, &threads, &own}) order.insert(order.end(), part->begin(), part->end());
    Add("reorder {} {}", out.name, Join(order, " "));
    if (outer.size() > 1) Add("fuse {} {} -> batch", out.name, Join(outer, " "));
    if (!outer.empty()) Add("bind {} {} blockIdx.z", out.name, outer.size() > 1 ? "batch" : outer[0]);
    for (size_t i = 3; i-- > 0;) {
      if (!s_.tiled[i]) continue;
      const std::string name = OutName(*s_.tiled[i]);
      if (i < 2) Add("bind {} {}.b blockIdx.{}", out.name, name, kThreadAxes[i]);
      Add("bind {} {}.v vthread", out.name, name);
      Add("bind {} {}.t threadIdx.{}", out.name, name, kThreadAxes[i]);
      Add("unroll {} {}.i", out.name, name);
    }
  }

  // Another kernel stores the source.
  void Store(const te::TensorNode& source) {
    const Names loops = NamesOf(source.axes);
    if (loops.size() > 1) Add("fuse {} {} -> value", source.name, Join(loops, " "));
    Add("split {} {} [{}] -> value.block value.thread", source.name, loops.size() > 1 ? "value" : loops[0],
        s_.Storing());
    Add("bind {} value.block blockIdx.x", source.name);
    Add("bind {} value.thread threadIdx.x", source.name);
  }

  void Reduce(const te::TensorNode& sum) {
    const std::string k = s_.Name(s_.channels.back());
    Add("split {0} {1} [{{step}}] -> {1}.o {1}.i", sum_, k);
    const std::vector<Condition> always = conditions_;
    for (const std::string& window : Values("window", "inside")) {
      conditions_ = always;
      When("window", window);
      Names outer, inner = {k + ".i"};
      for (size_t i = 0; i + 1 < s_.channels.size(); ++i) outer.push_back(s_.Name(s_.channels[i]));
      for (const size_t axis : s_.window) (window == "inside" ? inner : outer).push_back(s_.Name(axis));
      outer.push_back(k + ".o");
      Names order = outer;
      order.insert(order.end(), inner.begin(), inner.end());
      for (const std::string& axis : NamesOf(sum.axes)) order.push_back(axis);
      Add("reorder {} {}", sum_, Join(order, " "));
      Add("pragma {} {} unroll {{unroll}}", sum_, inner.back());
    }
    conditions_ = always;
  }

  // The threads of a block fill the copy together.
  void Fetch(const te::TensorNode& tensor) {
    const std::string copy = tensor.name + ".shared";
    Names axes = NamesOf(tensor.axes);
    if (!IsStage(tensor)) {
      axes.clear();
      for (size_t i = 0; i < tensor.shape.size(); ++i) axes.push_back(fmt::format("d{}", i));
    }
    Add("cache_read {} shared {} -> {}", tensor.name, sum_, copy);
    Add("compute_at {} {} {}.o", copy, sum_, s_.Name(s_.channels.back()));
    if (axes.size() > 1) Add("fuse {} {} -> fetch", copy, Join(axes, " "));
    Names factors, parts = {"fetch.turn"};
    for (size_t i = 3; i-- > 0;) {
      if (!s_.tiled[i]) continue;
      factors.push_back(fmt::format("{{threads_{}}}", kThreadAxes[i]));
      parts.push_back(fmt::format("fetch.{}", kThreadAxes[i]));
    }
    Add("split {} {} [{}] -> {}", copy, axes.size() > 1 ? "fetch" : axes[0], Join(factors, ","), Join(parts, " "));
    for (size_t i = 1; i < parts.size(); ++i) Add("bind {} {} threadIdx.{}", copy, parts[i], parts[i].back());
    constexpr int kAtOnce = 4;  // with more, the addresses of all would be in registers
    Add("pragma {} fetch.turn unroll {}", copy, kAtOnce);
    const std::vector<Condition> always = conditions_;
    if (When("stages", "2")) Add("double_buffer {}", copy);
    conditions_ = always;
  }

  const GpuSums& s_;
  std::string sum_;
};

}  // namespace

std::vector<const SumRead*> GpuSums::Tensors() const {
  std::set<const te::TensorNode*> seen;
  std::vector<const SumRead*> tensors;
  for (const SumRead& read : nest.reads) {
    if (seen.insert(read.tensor.node()).second) tensors.push_back(&read);
  }
  return tensors;
}

std::optional<GpuSums> GpuSumsOf(const te::Tensor& out, const std::vector<std::string>& constants,
                                 const DeviceLimits& limits) {
  std::optional<SumNest> nest = SumNestOf(out, constants, /*streams=*/false);
  if (!nest || !nest->blocked.empty()) return {};
  GpuSums s{std::move(*nest), limits, {}, {}, {}, {}};
  const SumNest& n = s.nest;
  for (size_t i = n.outputs; i-- > 0;) {
    const bool lacked = n.IsLacked(i) && s.Extent(i) > 1;
    if (!s.tiled[0] && (s.Extent(i) > 1 || i == 0)) {
      s.tiled[0] = i;
    } else if (lacked && s.tiled[0] && !s.tiled[1] && !n.SameReads(i, *s.tiled[0])) {
      s.tiled[1] = i;
    } else if (lacked && s.tiled[0] && !s.tiled[2] && n.SameReads(i, *s.tiled[0])) {
      s.tiled[2] = i;
    } else {
      s.others.insert(s.others.begin(), i);
    }
  }
  for (size_t i = n.outputs; i < n.axes.size(); ++i) (n.IsWindow(i) ? s.window : s.channels).push_back(i);
  if (s.channels.empty()) {
    s.channels.push_back(s.window.back());
    s.window.pop_back();
  }
  return s;
}

GpuSumPoint GpuSumPoint::Of(const Config& config) {
  GpuSumPoint p;
  for (const KnobValue& value : config.values) {
    const auto number = [&] { return value.numbers[0]; };
    const size_t axis = std::string_view(kThreadAxes).find(value.name.back());
    if (value.name.starts_with("spread_")) p.shares[axis].spread = number();
    if (value.name.starts_with("threads_")) p.shares[axis].threads = number();
    if (value.name.starts_with("own_")) p.shares[axis].own = number();
    if (value.name == "step") p.step = number();
    if (value.name == "unroll") p.unroll = number();
    if (value.name == "stages") p.stages = number();
    if (value.name == "copy") p.shared = value.words[0] == "shared", p.padded = value.words[0] == "padded";
    if (value.name == "window") p.window_inside = value.words[0] == "inside";
  }
  return p;
}

int64_t GpuSumPoint::Rounds(const GpuSums& s) const {
  int64_t rounds = CeilDiv(s.Extent(s.channels.back()), step);
  for (size_t i = 0; i + 1 < s.channels.size(); ++i) rounds *= s.Extent(s.channels[i]);
  for (size_t i = 0; i < s.window.size() && !window_inside; ++i) rounds *= s.Extent(s.window[i]);
  return rounds;
}

int64_t GpuSumPoint::Fetched(const GpuSums& s, const SumRead& read) const {
  std::vector<int64_t> cover(s.nest.axes.size(), 1);
  for (size_t i = 0; i < 3; ++i) {
    if (s.tiled[i]) cover[*s.tiled[i]] = shares[i].whole();
  }
  for (size_t i = 0; i < s.window.size() && window_inside; ++i) cover[s.window[i]] = s.Extent(s.window[i]);
  cover[s.channels.back()] = step;
  int64_t elements = 1;
  for (size_t d = 0; d < read.indices.size(); ++d) {
    int64_t reach = 1;
    for (const Term& term : read.indices[d]) {
      reach +=
          std::abs(term.coefficient) * (std::min(CeilDiv(cover[term.axis] - 1, term.divisor) + 1, term.modulus) - 1);
    }
    elements *= reach;
  }
  return elements;
}

void AddGpuSumLines(const GpuSums& sums, Sketch* sketch) { GpuSumLines(sums, sketch).AddAll(); }

}  // namespace hone::sketch
