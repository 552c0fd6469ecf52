#include "sketch/row_stages.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/integers.h"
#include "ir/analysis.h"
#include "sketch/stage_cycles.h"

namespace hone::sketch {
namespace {

using AxisIds = std::map<const ir::VarNode*, int>;  // axes of different stages that have the same index

// Gives the axes of what `node` reads the ids of the indices there.
bool Number(const te::TensorNode& node, AxisIds* ids, int* fresh) {
  bool plain = true;
  ForEachAccess(node, [&](const ir::Access& access) {
    const te::TensorNode& read = te::NodeOf(access);
    if (!IsStage(read)) return;
    for (size_t i = 0; i < access.indices.size(); ++i) {
      const auto* index = access.indices[i].as<ir::VarNode>();
      if (index == nullptr) return void(plain = false);
      const auto own = ids->try_emplace(index, *fresh).first,
                 there = ids->try_emplace(read.axes[i].var.node(), own->second).first;
      if (own->second == *fresh) own->second = there->second;  // a reduce axis; perhaps another reader knows it
      if (there->second == *fresh) ++*fresh;
      plain = plain && own->second == there->second;
    }
  });
  return plain;
}

// Whether `axis` is the last index of everything that is read, or not used there. A reduction must use it in all
// inputs: it would otherwise read values again (sums.h).
bool Streams(const te::TensorNode& node, const ir::Var& axis) {
  bool streams = true;
  ForEachAccess(node, [&](const ir::Access& access) {
    const bool last = access.indices.back().same_as(axis);
    for (size_t i = 0; i + last < access.indices.size(); ++i) {
      streams = streams && !ir::UsesVar(access.indices[i], axis);
    }
    streams = streams && (last || node.reduce_axes.empty() || IsStage(te::NodeOf(access)));
  });
  return streams;
}

}  // namespace

int64_t RowStages::Rows() const { return ElementsOf(kept) / (across ? kept.back() : 1); }
int64_t RowStages::Length() const { return ElementsOf(reduced); }
bool RowStages::Inner() const {
  return std::any_of(stages.begin() + 1, stages.end(), [](const RowStage& stage) { return stage.full; });
}
int64_t RowStages::Part() const { return CeilDiv(CeilDiv(reduced[0], threads), kMostWidth) * kMostWidth; }

std::optional<RowStages> RowStagesOf(const te::Tensor& output) {
  std::vector<const te::TensorNode*> nodes;
  for (const te::Tensor& t : te::TopologicalOrder({output})) {
    if (IsStage(*t.node())) nodes.push_back(t.node());
  }
  std::reverse(nodes.begin(), nodes.end());
  AxisIds ids;
  int fresh = 0;
  for (const ir::IterVar& axis : output.node()->axes) ids[axis.var.node()] = fresh++;
  std::vector<int> kept;
  RowStages rows;
  for (const te::TensorNode* node : nodes) {
    if (node->axes.empty() || !Number(*node, &ids, &fresh)) return {};
    if (node->reduce_axes.empty()) continue;
    std::vector<int> own;
    for (const ir::IterVar& axis : node->axes) own.push_back(ids.at(axis.var.node()));
    if (rows.reduced.empty()) {
      kept = own;
      for (const ir::IterVar& axis : node->axes) rows.kept.push_back(axis.extent);
      for (const ir::IterVar& axis : node->reduce_axes) rows.reduced.push_back(axis.extent);
    }
    if (own != kept) return {};
  }
  if (rows.reduced.empty()) return {};
  bool along = true, across = true;
  for (const te::TensorNode* node : nodes) {
    RowStage stage{node->name, !node->reduce_axes.empty(), false, {}, {}, 0, 0};
    for (const ir::IterVar& axis : node->axes) {
      const bool is_kept = std::count(kept.begin(), kept.end(), ids.at(axis.var.node())) > 0;
      (is_kept ? stage.kept : stage.others).push_back(axis.var.name());
    }
    for (size_t i = 0; i < kept.size(); ++i) {
      const auto is = [&](const ir::IterVar& axis) { return ids.at(axis.var.node()) == kept[i]; };
      if (std::any_of(node->axes.begin(), node->axes.end(), is)) continue;
      if (rows.kept[i] > 1 || rows.stages.empty()) return {};  // of extent 1, a stage behind the output may lack it
    }
    stage.full = !stage.others.empty();
    for (const ir::IterVar& axis : node->reduce_axes) stage.others.push_back(axis.var.name());
    const ir::IterVar& last = node->axes.back();
    const bool last_kept = ids.at(last.var.node()) == kept.back();
    across = across && last_kept && Streams(*node, last.var);
    if (stage.reduction) along = along && Streams(*node, node->reduce_axes.back().var);
    if (stage.full) along = along && !last_kept && Streams(*node, last.var);
    rows.stages.push_back(std::move(stage));
  }
  if (!along && !across) return {};
  rows.across = !along;
  StageCycles stored, again;
  for (const te::Tensor& t : te::TopologicalOrder({output})) {
    if (!IsStage(*t.node())) rows.bytes += 4 * static_cast<double>(ElementsOf(t.shape()));
  }
  for (size_t i = nodes.size(); i-- > 0;) {
    RowStage& stage = rows.stages[i];
    stage.cycles = stored.Of(*nodes[i]);
    stage.again = again.Of(*nodes[i]);
    if (stage.full) again.Set(stage.name, stage.again);
  }
  return rows;
}

}  // namespace hone::sketch
