#include "sketch/row_stages.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/integers.h"
#include "ir/analysis.h"
#include "ir/walk.h"

namespace hone::sketch {
namespace {

using AxisIds = std::map<const ir::VarNode*, int>;  // axes of different stages that have the same index

bool IsStage(const te::TensorNode& node) { return node.kind == te::TensorKind::kCompute && !node.constant; }

template <typename F>
void ForEachAccess(const te::TensorNode& node, const F& fn) {
  ir::Walk(node.body, ir::Overloaded{[&](const ir::Access& access) { fn(access); }, [](const auto&) {}});
}

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

// Cycles of one core for a vector of 16 floats: two operations or loads a cycle, and slower functions.
double CyclesOf(const te::TensorNode& node, const std::map<std::string, double>& full) {
  double cycles = 0;
  const auto call = [&](const ir::Call& op) {
    const bool fast = op.fn == ir::Intrinsic::kAbs || op.fn == ir::Intrinsic::kFloor || op.fn == ir::Intrinsic::kCeil;
    cycles += fast ? 0.5 : op.fn == ir::Intrinsic::kExp ? 9 : op.fn == ir::Intrinsic::kPow ? 40 : 14;
  };
  const auto binary = [&](const ir::Binary& op) {
    if (op.type.is_float()) cycles += op.kind == ir::ExprKind::kDiv ? 12 : 0.5;
  };
  ir::Walk(node.body, ir::Overloaded{call, binary, [&](const ir::Select&) { cycles += 0.5; },
                                     [&](const ir::Access& op) {
                                       const auto read = full.find(op.tensor->name);
                                       cycles += read == full.end() ? 0.5 : read->second;
                                     },
                                     [](const auto&) {}});
  return cycles;
}

int64_t ElementsOf(const std::vector<int64_t>& extents) {
  int64_t product = 1;
  for (const int64_t extent : extents) product *= extent;
  return product;
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
    if (node->type != DType::Float(32) || node->axes.empty() || !Number(*node, &ids, &fresh)) return {};
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
    if (stage.kept.size() != kept.size()) return {};
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
  std::map<std::string, double> stored, again;
  for (const te::Tensor& t : te::TopologicalOrder({output})) {
    if (!IsStage(*t.node())) rows.bytes += 4 * static_cast<double>(ElementsOf(t.shape()));
  }
  for (size_t i = nodes.size(); i-- > 0;) {
    RowStage& stage = rows.stages[i];
    stage.cycles = CyclesOf(*nodes[i], stored);
    stage.again = CyclesOf(*nodes[i], again);
    if (stage.full) stored[stage.name] = 0.5, again[stage.name] = stage.again;
  }
  return rows;
}

}  // namespace hone::sketch
