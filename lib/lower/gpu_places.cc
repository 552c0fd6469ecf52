#include "lower/gpu_places.h"

#include <algorithm>

#include "schedule/relation.h"

namespace hone::lower {

// Whether one of its loops is bound to threads: reduce loops or the others, depending on `reduce`.
static bool HasThreads(const Stage& stage, bool reduce) {
  return std::any_of(stage.leaf.begin(), stage.leaf.end(), [&](const std::string& leaf) {
    const Axis& axis = *stage.FindAxis(leaf);
    return axis.reduce == reduce && ir::IsThreadLoop(axis.kind);
  });
}

Status GpuPlaces::Check() const {
  for (const Stage& stage : schedule_.stages()) {
    if (stage.attach == AttachKind::kInline) continue;
    bool in_reduce = false;
    for (const std::string& leaf : stage.leaf) {
      const Axis& axis = *stage.FindAxis(leaf);
      if (stage.attach == AttachKind::kAt && ir::IsBlockLoop(axis.kind)) {
        return Status::Invalid("`{}` is computed inside `{}`: its axis `{}` cannot be bound to blocks", stage.name(),
                               stage.at_stage, leaf);
      }
      in_reduce = in_reduce || axis.reduce;
      if (in_reduce && !axis.reduce && ReducesAcrossThreads(stage)) {
        return Status::Invalid("`{}` is reduced across threads: its axis `{}` must stand outside its reduce loops",
                               stage.name(), leaf);
      }
    }
  }
  return Status::Ok();
}

const Stage& GpuPlaces::RootOf(const Stage& stage) const {
  const Stage* s = &stage;
  while (s->attach == AttachKind::kAt) s = schedule_.Find(s->at_stage);
  return *s;
}

bool GpuPlaces::ReducesAcrossThreads(const Stage& stage) { return HasThreads(stage, true); }

// Whether the threads that sum one element stand for different elements of a reader.
bool GpuPlaces::ReducesAcrossReaders(const Stage& stage) const {
  if (!ReducesAcrossThreads(stage)) return false;
  for (const auto& [consumer, loop] : ThreadLoopsAround(stage)) {
    for (const std::string& leaf : stage.leaf) {
      const ForKind kind = stage.FindAxis(leaf)->kind;
      if (ir::IsThreadLoop(kind) && kind == consumer->FindAxis(loop)->kind) return true;
    }
  }
  return false;
}

Scope GpuPlaces::ScopeOf(const Stage& stage) const {
  if (stage.scope == Scope::kShared || HasThreads(stage, false) || ReducesAcrossReaders(stage)) return Scope::kShared;
  if (stage.scope == Scope::kRegister || stage.scope == Scope::kScratch) return *stage.scope;
  return RunsInLifeOf(stage, schedule_, ir::IsThreadLoop) ? Scope::kShared : Scope::kScratch;
}

bool RunsInLifeOf(const Stage& stage, const Schedule& schedule, const std::function<bool(ForKind)>& is) {
  const Stage& consumer = *schedule.Find(stage.at_stage);
  const int place = schedule::LeafPosition(consumer, stage.at_axis);
  const auto has = [&](const Stage& s, int from) {
    return std::any_of(s.leaf.begin() + from, s.leaf.end(),
                       [&](const std::string& leaf) { return is(s.FindAxis(leaf)->kind); });
  };
  if (has(consumer, place + 1)) return true;
  for (const Stage& s : schedule.stages()) {
    if (s.attach != AttachKind::kAt || s.name() == stage.name() || !has(s, 0)) continue;
    for (const Stage* up = &s; up->attach == AttachKind::kAt; up = schedule.Find(up->at_stage)) {
      if (up->at_stage == consumer.name() && schedule::LeafPosition(consumer, up->at_axis) >= place) return true;
    }
  }
  return false;
}

std::vector<std::pair<const Stage*, std::string>> GpuPlaces::ThreadLoopsAround(const Stage& stage) const {
  std::vector<std::pair<const Stage*, std::string>> loops;
  if (stage.attach != AttachKind::kAt) return loops;
  const Stage& consumer = *schedule_.Find(stage.at_stage);
  loops = ThreadLoopsAround(consumer);
  for (int i = 0; i <= schedule::LeafPosition(consumer, stage.at_axis); ++i) {
    const ForKind kind = consumer.FindAxis(consumer.leaf[i])->kind;
    if (ir::IsThreadLoop(kind) || kind == ForKind::kVThread) loops.emplace_back(&consumer, consumer.leaf[i]);
  }
  return loops;
}

bool GpuPlaces::Meets(const Stage& stage) const { return ScopeOf(stage) == Scope::kShared || LastMeeting(stage) >= 0; }

int GpuPlaces::LastMeeting(const Stage& stage) const {
  int last = ReducesAcrossThreads(stage) ? static_cast<int>(stage.leaf.size()) - 1 : -1;
  for (const Stage& s : schedule_.stages()) {
    if (s.attach != AttachKind::kAt || s.at_stage != stage.name() || !Meets(s)) continue;
    last = std::max(last, schedule::LeafPosition(stage, s.at_axis));
  }
  return last;
}

}  // namespace hone::lower
