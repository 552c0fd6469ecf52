#include <algorithm>

#include "base/text.h"
#include "sketch/gpu_sum_tiles.h"
#include "sketch/lines.h"

namespace hone::sketch {
namespace {

class GpuSumLines : LineWriter {
 public:
  GpuSumLines(const GpuSums& sums, Sketch* sketch) : LineWriter(sketch), s_(sums) {}

  void AddAll() {
    const te::TensorNode &out = *s_.nest.out.node(), &sum = *s_.nest.sum.node();
    const bool apart = &out == &sum;
    const std::string total = apart ? out.name + ".sums" : sum.name;
    if (apart) Add("cache_write {} register -> {}", out.name, total);
    for (const GpuSumInput& input : s_.inputs) {
      Names order;
      for (const size_t d : input.order) order.push_back(fmt::format("d{}", d));
      if (!order.empty()) Add("relayout {0} {1} -> {0}.packed", input.read.tensor.name(), Join(order, " "));
    }
    for (const std::string& reduce : Values("reduce", "whole")) {
      Always();
      When("reduce", reduce);
      k_ = s_.Name(s_.channels.back());
      if (reduce == "parts") {
        AddUp(out, total);
        Tile(total + ".parts", sum.axes, k_ + ".p");
        acc_ = total + ".partial";
        k_ += ".r";
      } else {
        Tile(out.name, out.axes, "");
        acc_ = total;
      }
      Add("compute_at {} {} {}.t", acc_, tile_, Axis(*s_.tiled[0]));
      Add("set_scope {} register", acc_);
      Reduce(sum, reduce == "parts" ? Names{s_.Name(s_.channels.back()) + ".p"} : Names{});
      if (When("copy", "shared")) {
        for (const GpuSumInput& input : s_.inputs) Fetch(input);
      }
    }
    const te::Tensor& source = s_.nest.source;
    if (!source.defined()) return;
    Always();
    if (When("copy", "padded")) Store(*source.node());
    for (const char* copy : {"shared", "cache"}) {
      Always();
      if (When("copy", copy)) Add("inline {}", source.name());
    }
  }

 private:
  const std::string& Axis(size_t axis) const { return (*axes_)[axis].var.name(); }

  // Blocks compute sums over parts of the reduction, which another kernel adds up.
  void AddUp(const te::TensorNode& out, const std::string& total) {
    Add("split {0} {1} [{{step*part}}] -> {1}.p {1}.r", total, k_);
    Add("rfactor {0} {1}.p -> {0}.parts", total, k_);
    Add("cache_write {0}.parts register -> {0}.partial", total);
    Store(out);
    Add("compute_at {} {} value.thread", total, out.name);
    Add("set_scope {} register", total);
  }

  // Divides a stage with the output's axes, and `part` if that is not empty, among blocks and threads.
  void Tile(const std::string& stage, const std::vector<ir::IterVar>& axes, const std::string& part) {
    tile_ = stage, axes_ = &axes;
    Names outer, blocks, spread, threads, own;
    if (!part.empty()) outer.push_back(part);
    for (const size_t axis : s_.others) outer.push_back(Axis(axis));
    for (size_t i = 3; i-- > 0;) {
      if (!s_.tiled[i]) continue;
      const std::string name = Axis(*s_.tiled[i]);
      const char at = kThreadAxes[i];
      Add("split {0} {1} [{{spread_{2}}},{{threads_{2}}},{{own_{2}}}] -> {1}.b {1}.v {1}.t {1}.i", stage, name, at);
      (i == 2 ? outer : blocks).push_back(name + ".b");
      spread.push_back(name + ".v"), threads.push_back(name + ".t"), own.push_back(name + ".i");
    }
    Names order = outer;
    for (const Names* each : {&blocks, &spread, &threads, &own}) order.insert(order.end(), each->begin(), each->end());
    Add("reorder {} {}", stage, Join(order, " "));
    if (outer.size() > 1) Add("fuse {} {} -> batch", stage, Join(outer, " "));
    if (!outer.empty()) Add("bind {} {} blockIdx.z", stage, outer.size() > 1 ? "batch" : outer[0]);
    for (size_t i = 3; i-- > 0;) {
      if (!s_.tiled[i]) continue;
      const std::string name = Axis(*s_.tiled[i]);
      if (i < 2) Add("bind {} {}.b blockIdx.{}", stage, name, kThreadAxes[i]);
      Add("bind {} {}.v vthread", stage, name);
      Add("bind {} {}.t threadIdx.{}", stage, name, kThreadAxes[i]);
      Add("unroll {} {}.i", stage, name);
    }
  }

  // A kernel of its own, with a thread for each value.
  void Store(const te::TensorNode& stage) {
    const Names loops = NamesOf(stage.axes);
    if (loops.size() > 1) Add("fuse {} {} -> value", stage.name, Join(loops, " "));
    Add("split {} {} [{}] -> value.block value.thread", stage.name, loops.size() > 1 ? "value" : loops[0],
        s_.Storing());
    Add("bind {} value.block blockIdx.x", stage.name);
    Add("bind {} value.thread threadIdx.x", stage.name);
  }

  // The order of the loops of a thread's sums. `more`: axes besides the sum's own.
  void Reduce(const te::TensorNode& sum, const Names& more) {
    Add("split {0} {1} [{{step}}] -> {1}.o {1}.i", acc_, k_);
    const std::vector<Condition> always = conditions_;
    for (const std::string& window : Values("window", "inside")) {
      conditions_ = always;
      When("window", window);
      Names outer, inner = {k_ + ".i"};
      for (size_t i = 0; i + 1 < s_.channels.size(); ++i) outer.push_back(s_.Name(s_.channels[i]));
      for (const size_t axis : s_.window) (window == "inside" ? inner : outer).push_back(s_.Name(axis));
      outer.push_back(k_ + ".o");
      Names order = outer;
      for (const Names& names : {inner, more, NamesOf(sum.axes)}) order.insert(order.end(), names.begin(), names.end());
      Add("reorder {} {}", acc_, Join(order, " "));
      Add("pragma {} {} unroll {{unroll}}", acc_, inner.back());
    }
    conditions_ = always;
  }

  // The threads of a block fill the copy together.
  void Fetch(const GpuSumInput& input) {
    const te::TensorNode& tensor = *input.read.tensor.node();
    const bool packed = !input.order.empty();
    const std::string copy = tensor.name + ".shared";
    Names axes = NamesOf(tensor.axes);
    if (packed || !IsStage(tensor)) {
      axes.clear();
      for (size_t i = 0; i < tensor.shape.size(); ++i) axes.push_back(fmt::format("{}{}", packed ? 'p' : 'd', i));
    }
    Add("cache_read {} shared {} -> {}", packed ? tensor.name + ".packed" : tensor.name, acc_, copy);
    Add("compute_at {} {} {}.o", copy, acc_, k_);
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
    for (const char* stages : {"2", "3", "4"}) {
      conditions_ = always;
      if (!When("stages", stages)) continue;
      Add("double_buffer {}", copy);
      if (stages[0] > '2') Add("pragma {} fetch.turn stages {}", copy, stages);
    }
    conditions_ = always;
  }

  const GpuSums& s_;
  std::string tile_, acc_;                          // the stages with a block's tile and with a thread's sums
  std::string k_;                                   // the reduction that `acc_` divides into steps
  const std::vector<ir::IterVar>* axes_ = nullptr;  // of `tile_`; the output's may have other names than the sum's
};

}  // namespace

void AddGpuSumLines(const GpuSums& sums, Sketch* sketch) { GpuSumLines(sums, sketch).AddAll(); }

}  // namespace hone::sketch
