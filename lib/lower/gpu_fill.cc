#include "lower/gpu_fill.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "ir/visitor.h"

namespace hone::lower {
namespace {

using ir::Expr;
using ir::Scope;
using schedule::AttachKind;
using schedule::Stage;

class Reads final : public ir::Visitor {
 public:
  std::vector<const ir::Access*> all;

 private:
  void VisitAccess(const ir::Access& op) override {
    all.push_back(&op);
    Visitor::VisitAccess(op);
  }
};

class Filler {
 public:
  Filler(const schedule::Schedule& schedule, const GpuPlaces& places, Bounds* bounds)
      : schedule_(schedule), places_(places), bounds_(*bounds) {}

  void Run() {
    for (const Stage& stage : schedule_.stages()) {
      if (stage.attach == AttachKind::kAt) Consider(stage);
    }
  }

 private:
  static bool AtEdge(const Guard& g) { return g.edge && !g.reduce; }

  // Producers come first: what they are is known.
  void Consider(const Stage& stage) {
    StageBounds& b = bounds_.stages.at(stage.name());
    if (HasWholeBox(b) && !stage.reduction()) writable_.insert(stage.name());
    if (std::none_of(b.guards.begin(), b.guards.end(), AtEdge)) {
      if (HasWholeBox(b)) whole_.insert(stage.name());
      return;
    }
    if (places_.ScopeOf(stage) == Scope::kShared) return;
    Reads reads;
    reads.Visit(stage.tensor.node()->body);
    for (const ir::Access* access : reads.all) {
      if (!SafeBeyondEdges(*access, b)) return;
    }
    for (const ir::Access* access : reads.all) {
      for (Guard& g : bounds_.stages.at(access->tensor->name).guards) g.fill = g.fill || AtEdge(g);
    }
    std::erase_if(b.guards, AtEdge);
    if (HasWholeBox(b)) whole_.insert(stage.name());
  }

  // Do its loops go through every element of its buffer and no further?
  bool HasWholeBox(const StageBounds& b) const {
    for (size_t d = 0; d < b.size.size(); ++d) {
      if (b.box[d] != b.size[d]) return false;
    }
    return true;
  }

  bool SafeBeyondEdges(const ir::Access& access, const StageBounds& reader) {
    const std::string& name = access.tensor->name;
    const Stage* from = schedule_.Find(name);
    if (!from || from->attach != AttachKind::kAt || !(whole_.count(name) || writable_.count(name))) return false;
    const StageBounds& b = bounds_.stages.at(name);
    for (size_t d = 0; d < access.indices.size(); ++d) {
      Expr place = ir::Substitute(access.indices[d], reader.values) - b.min[d];
      auto range = bounds_.analyzer.ConstBounds(bounds_.analyzer.Simplify(place));
      if (!range || range->first < 0 || range->second >= b.size[d]) return false;
    }
    return true;
  }

  const schedule::Schedule& schedule_;
  const GpuPlaces& places_;
  Bounds& bounds_;
  std::set<std::string> whole_;     // every element of the buffer is written
  std::set<std::string> writable_;  // .. could be, with zeros beyond the edge
};

}  // namespace

void FillBeyondEdges(const schedule::Schedule& schedule, const GpuPlaces& places, Bounds* bounds) {
  Filler(schedule, places, bounds).Run();
}

}  // namespace hone::lower
