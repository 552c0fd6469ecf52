#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "agree/steps.h"
#include "schedule/relation.h"

namespace hone::agree {
namespace {

using schedule::Schedule;
using schedule::Stage;

class Tiler {
 public:
  Tiler(Rng* rng, Schedule* schedule) : rng_(*rng), schedule_(*schedule) {}

  void Run() {
    const Stage& out = schedule_.stages().back();
    std::string sum;
    for (const Stage& s : schedule_.stages()) {
      if (s.reduction() && !s.output && s.tensor.shape() == out.tensor.shape()) sum = s.name();
    }
    if (sum.empty() || out.reduction()) return;
    out_ = out.name();
    for (const std::string& name : Names()) {
      const Stage& s = *schedule_.Find(name);
      if (!s.reduction() && !s.output && Chance(2)) Do(Inline(name));
    }
    const std::string last = TileOutput();
    if (Chance(3)) Do(PragmaStep(out_, last, "auto_unroll_max_step", Factor() * Factor() * Factor()));
    if (Chance(3)) Do(PragmaStep(out_, last, "unroll_explicit", static_cast<int64_t>(rng_.UniformInt(2))));
    Do(ComputeAt(sum, out_, last));
    Do(SetScope(sum, "register"));
    if (Chance(4))
      AcrossThreads(sum);
    else
      Accumulate(sum);
  }

 private:
  bool Chance(int n) { return rng_.UniformInt(n) == 0; }
  int64_t Factor() { return 1 + static_cast<int64_t>(rng_.UniformInt(4)); }
  void Do(const Step& step) {
    Status status = schedule_.Apply(step);
    if (!status.ok())
      ADD_FAILURE() << StepText(step) << ": " << status.message() << "\n" << StepsText(schedule_.history());
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const Stage& s : schedule_.stages()) names.push_back(s.name());
    return names;
  }

  // The last loop of the output that is bound to threads.
  std::string TileOutput() {
    std::vector<std::string> axes = schedule_.Find(out_)->leaf;
    if (Chance(3) && axes.size() > 2) {
      Do(Fuse(out_, {axes[axes.size() - 2], axes.back()}, "fused"));
      axes.pop_back();
      axes.back() = "fused";
    }
    std::vector<std::string> blocks, virtuals, threads, inner;
    const size_t first = axes.size() > 3 ? axes.size() - 3 : 0;
    for (size_t i = first; i < axes.size(); ++i) {
      const std::string& a = axes[i];
      Do(Split(out_, a, {Factor(), Factor(), Factor()}, {a + ".b", a + ".v", a + ".t", a + ".i"}));
      blocks.push_back(a + ".b");
      virtuals.push_back(a + ".v");
      threads.push_back(a + ".t");
      inner.push_back(a + ".i");
    }
    std::vector<std::string> order = blocks;
    order.insert(order.end(), virtuals.begin(), virtuals.end());
    order.insert(order.end(), threads.begin(), threads.end());
    order.insert(order.end(), inner.begin(), inner.end());
    Do(Reorder(out_, order));
    const char* const xyz[] = {"x", "y", "z"};
    for (size_t i = 0; i < blocks.size(); ++i) {
      const std::string axis = xyz[blocks.size() - 1 - i];
      Do(Bind(out_, blocks[i], "blockIdx." + axis));
      Do(Bind(out_, virtuals[i], "vthread"));
      Do(Bind(out_, threads[i], "threadIdx." + axis));
      threads_.push_back("threadIdx." + axis);
    }
    if (Chance(2)) Do(Vectorize(out_, inner.back()));
    return threads.back();
  }

  // Reduce loops outside; the loops in `at` inside. Inputs go through shared memory there.
  void Accumulate(const std::string& sum) {
    std::vector<std::string> outer, middle, spatial;
    for (const std::string& axis : std::vector<std::string>(schedule_.Find(sum)->leaf)) {
      if (!schedule_.Find(sum)->FindAxis(axis)->reduce) {
        spatial.push_back(axis);
        continue;
      }
      Do(Split(sum, axis, {Factor()}, {axis + ".o", axis + ".i"}));
      outer.push_back(axis + ".o");
      middle.push_back(axis + ".i");
    }
    const std::string place = outer[rng_.UniformInt(outer.size())];
    std::vector<std::string> order = outer;
    order.insert(order.end(), middle.begin(), middle.end());
    order.insert(order.end(), spatial.begin(), spatial.end());
    Do(Reorder(sum, order));
    const std::vector<std::string> reads = schedule::ReadsOf(*schedule_.Find(sum));
    for (const std::string& tensor : reads) {
      if (Chance(4)) continue;
      const std::string copy = tensor + ".shared";
      Do(CacheRead(tensor, "shared", {sum}, copy));
      if (const Stage* s = schedule_.Find(tensor); s && !s->output && !s->reduction() && Chance(2)) Do(Inline(tensor));
      if (Chance(3)) {  // and from there into registers; the reader's place comes first
        Do(CacheRead(copy, "register", {sum}, tensor + ".own"));
        Do(ComputeAt(tensor + ".own", sum, Chance(2) ? middle.back() : place));
      }
      Do(ComputeAt(copy, sum, place));
      if (Chance(3)) Do(AlignStorage(copy, schedule_.Find(copy)->leaf[0], 4, Factor() - 1));
      Fetch(copy);
      if (Chance(2)) Do(DoubleBuffer(copy));
      const std::string outer = schedule_.Find(copy)->leaf[0];
      if (Chance(2)) Do(PragmaStep(copy, outer, "unroll", Factor()));
      if (Chance(3)) Do(PragmaStep(copy, outer, "stages", 3 + static_cast<int64_t>(rng_.UniformInt(2))));
    }
  }

  // Fuses all axes and splits them over the threads.
  void Fetch(const std::string& copy) {
    const std::vector<std::string> axes = schedule_.Find(copy)->leaf;
    std::string all = axes[0];
    if (axes.size() > 1) Do(Fuse(copy, axes, all = "all"));
    std::vector<int64_t> factors;
    std::vector<std::string> parts = {"round"};
    for (size_t i = 0; i < threads_.size(); ++i) {
      factors.push_back(Factor());
      parts.push_back(fmt::format("thread{}", i));
    }
    factors.push_back(Chance(2) ? 1 : Factor());
    parts.push_back("lane");
    Do(Split(copy, all, factors, parts));
    for (size_t i = 0; i < threads_.size(); ++i) Do(Bind(copy, parts[i + 1], threads_[i]));
    if (Chance(2)) Do(Vectorize(copy, "lane"));
  }

  // Binds one reduce loop to threads, by rfactor or directly.
  void AcrossThreads(const std::string& sum) {
    std::vector<std::string> reduce, spatial;
    for (const std::string& axis : schedule_.Find(sum)->leaf) {
      (schedule_.Find(sum)->FindAxis(axis)->reduce ? reduce : spatial).push_back(axis);
    }
    const std::string axis = reduce.back();
    Do(Split(sum, axis, {Factor()}, {axis + ".o", axis + ".t"}));
    if (Chance(2)) {
      Do(Rfactor(sum, axis + ".t", "partial"));
      Do(Bind(sum, axis + ".t", threads_[rng_.UniformInt(threads_.size())]));
      Do(ComputeAt("partial", sum, axis + ".t"));
    } else {
      std::vector<std::string> order = spatial;
      order.insert(order.end(), reduce.begin(), reduce.end() - 1);
      order.insert(order.end(), {axis + ".o", axis + ".t"});
      Do(Reorder(sum, order));
      Do(Bind(sum, axis + ".t", threads_[rng_.UniformInt(threads_.size())]));
    }
  }

  Rng& rng_;
  Schedule& schedule_;
  std::string out_;
  std::vector<std::string> threads_;
};

}  // namespace

void ApplyTiledSteps(Rng* rng, Schedule* schedule) { Tiler(rng, schedule).Run(); }

}  // namespace hone::agree
