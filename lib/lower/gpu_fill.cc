// Fill: removes conditions from the inner loops of a tile that crosses the edge of a tensor.
//
// Runs between bounds and loop_nest, on a GPU. If a tile's extent does not divide the tensor's, every stage of the tile
// has guards, and the accumulator's would be tested in the innermost loop. A thread's sums beyond the edge are never
// stored, so computing them is harmless if everything they read is in shared or private memory, inside the buffer, and
// written before. So the stages they read write zeros beyond the edge (Guard::fill), and the accumulator's spatial
// guards are removed.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "ir/walk.h"
#include "lower/passes.h"

namespace hone::lower {
namespace {

class Filler {
 public:
  Filler(const Schedule& schedule, const GpuPlaces& places, Bounds* bounds)
      : schedule_(schedule), places_(places), bounds_(*bounds) {}

  void Run() {
    for (const Stage& stage : schedule_.stages()) {
      if (stage.attach == AttachKind::kAt) Consider(stage);
    }
  }

 private:
  static bool AtEdge(const Guard& g) { return g.edge && !g.reduce; }

  // Producers come first, so their properties are known.
  void Consider(const Stage& stage) {
    StageBounds& b = bounds_.stages.at(stage.name());
    if (HasWholeBox(b) && !stage.reduction()) writable_.insert(stage.name());
    if (std::none_of(b.guards.begin(), b.guards.end(), AtEdge)) {
      if (HasWholeBox(b)) whole_.insert(stage.name());
      return;
    }
    if (places_.ScopeOf(stage) == Scope::kShared) return;
    std::vector<const ir::Access*> reads;
    ir::Walk(stage.tensor.node()->body,
             ir::Overloaded{[&](const ir::Access& op) { reads.push_back(&op); }, [](const auto&) {}});
    for (const ir::Access* access : reads) {
      if (!SafeBeyondEdges(*access, b)) return;
    }
    for (const ir::Access* access : reads) {
      for (Guard& g : bounds_.stages.at(access->tensor->name).guards) g.fill = g.fill || AtEdge(g);
    }
    std::erase_if(b.guards, AtEdge);
    if (HasWholeBox(b)) whole_.insert(stage.name());
  }

  // Whether its loops visit every element of its buffer and no others.
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

  const Schedule& schedule_;
  const GpuPlaces& places_;
  Bounds& bounds_;
  std::set<std::string> whole_;     // stages that write every element of their buffer
  std::set<std::string> writable_;  // stages that could, with zeros beyond the edge
};

}  // namespace

void FillBeyondEdges(const Schedule& schedule, const GpuPlaces& places, Bounds* bounds) {
  Filler(schedule, places, bounds).Run();
}

}  // namespace hone::lower
