#include "schedule/relation.h"

#include <algorithm>
#include <set>

namespace hone::schedule {

// All axes that derive from `axis`, including itself. Relations are in order of creation, so one forward pass suffices.
static std::set<std::string> Descendants(const Stage& stage, const std::string& axis) {
  std::set<std::string> found = {axis};
  for (const Relation& r : stage.relations) {
    if (r.kind == Relation::Kind::kSplit) {
      if (found.count(r.split.parent)) found.insert({r.split.outer, r.split.inner});
    } else if (found.count(r.fuse.outer) || found.count(r.fuse.inner)) {
      found.insert(r.fuse.fused);
    }
  }
  return found;
}

std::vector<std::string> ReadsOf(const Stage& stage) {
  std::vector<std::string> names;
  for (const te::Tensor& t : te::InputsOf(stage.tensor)) {
    if (std::find(names.begin(), names.end(), t.name()) == names.end()) names.push_back(t.name());
  }
  return names;
}

std::vector<std::string> LeavesOf(const Stage& stage, const std::string& axis) {
  std::set<std::string> found = Descendants(stage, axis);
  std::vector<std::string> leaves;
  for (const std::string& leaf : stage.leaf) {
    if (found.count(leaf)) leaves.push_back(leaf);
  }
  return leaves;
}

int LeafPosition(const Stage& stage, const std::string& axis) {
  auto it = std::find(stage.leaf.begin(), stage.leaf.end(), axis);
  return it == stage.leaf.end() ? -1 : static_cast<int>(it - stage.leaf.begin());
}

bool EndsInFuse(const Stage& stage, const std::string& axis) {
  std::set<std::string> found = Descendants(stage, axis);
  return std::any_of(stage.relations.begin(), stage.relations.end(), [&](const Relation& r) {
    return r.kind == Relation::Kind::kFuse && (found.count(r.fuse.outer) || found.count(r.fuse.inner));
  });
}

}  // namespace hone::schedule
