// The common refinement of axes. An axis of a stage and a dimension of a tensor that it indexes alone belong to one
// class. A class is cut where the storage of a tensor in it begins a dimension for somebody else; cuts are products of
// extents from the inside. They spread from tensor to tensor until nothing changes.
#include <fmt/format.h>

#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "ir/visitor.h"
#include "ir/walk.h"
#include "op/group.h"
#include "te/stage.h"

namespace hone::op {
namespace {

struct AxisClass {
  int64_t extent = 1;
  std::set<int64_t> cuts;  // each a multiple of those before it
};

class Refiner {
 public:
  explicit Refiner(const std::vector<SameStorage>& same) : same_(same) {}

  Result<std::vector<Tensor>> Run(const std::vector<Tensor>& tensors, const std::vector<std::string>& names) {
    for (const Tensor& t : tensors) Enter(*t.node());
    for (bool changed = true; changed;) {
      changed = false;
      for (const SameStorage& pair : same_) {
        HONE_ASSIGN_OR_RETURN(const bool cut, CutAlike(pair));
        changed = changed || cut;
      }
    }
    std::vector<Tensor> made;
    for (size_t i = 0; i < tensors.size(); ++i) {
      const bool linked = MakerOf(tensors[i].node()) != nullptr;
      made.push_back(linked ? Tensor() : Rebuild(*tensors[i].node(), names[i]));
      if (!linked) made_[tensors[i].get()] = made.back();
    }
    return made;
  }

 private:
  struct Piece {
    int64_t extent;
    Expr index;
  };

  const te::TensorNode* MakerOf(const te::TensorNode* node) const {
    for (const SameStorage& pair : same_) {
      if (pair.placeholder.node() == node) return pair.made.node();
    }
    return nullptr;
  }

  // ---- classes
  size_t New(int64_t extent) {
    parents_.push_back(parents_.size());
    classes_.push_back({extent, {}});
    return parents_.size() - 1;
  }
  size_t Root(size_t id) const {
    while (parents_[id] != id) id = parents_[id];
    return id;
  }
  AxisClass& ClassOf(const te::TensorNode& t, size_t dimension) {
    return classes_[Root(dimensions_.at(&t)[dimension])];
  }

  void Enter(const te::TensorNode& t) {
    std::vector<size_t>& ids = dimensions_[&t];
    for (size_t d = 0; d < t.shape.size(); ++d) {
      ids.push_back(New(t.shape[d]));
      if (d < t.axes.size()) variables_[t.axes[d].var.node()] = ids.back();
    }
    for (const ir::IterVar& axis : t.reduce_axes) variables_[axis.var.node()] = New(axis.extent);
    te::ForEachAccess(t.body, [&](const ir::Access& op) {
      const te::TensorNode& read = te::NodeOf(op);
      for (size_t d = 0; d < op.indices.size(); ++d) Unite(op.indices[d], read, d);
    });
  }

  void Unite(const Expr& index, const te::TensorNode& read, size_t dimension) {
    const auto* var = index.as<ir::VarNode>();
    if (var == nullptr) return;
    const size_t a = Root(variables_.at(var)), b = Root(dimensions_.at(&read)[dimension]);
    if (classes_[a].extent == classes_[b].extent) parents_[a] = b;
  }

  // Cuts both tensors wherever one of them is cut; returns whether that is new.
  Result<bool> CutAlike(const SameStorage& pair) {
    std::set<int64_t> all;
    for (const Tensor& t : {pair.placeholder, pair.made}) {
      int64_t inner = 1;
      for (size_t d = t.shape().size(); d-- > 0;) {
        for (const int64_t cut : ClassOf(*t.node(), d).cuts) all.insert(inner * cut);
        all.insert(inner *= t.shape()[d]);
      }
    }
    int64_t before = 1;
    for (const int64_t cut : all) {
      if (cut % before != 0) {
        return Status::Unsupported("a tensor is divided into parts of {} and of {} elements", before, cut);
      }
      before = cut;
    }
    bool changed = false;
    for (const Tensor& t : {pair.placeholder, pair.made}) {
      int64_t inner = 1;
      for (size_t d = t.shape().size(); d-- > 0; inner *= t.shape()[d]) {
        for (const int64_t cut : all) {
          if (inner >= cut || cut >= inner * t.shape()[d]) continue;
          changed = ClassOf(*t.node(), d).cuts.insert(cut / inner).second || changed;
        }
      }
      if (inner != before) return Status::Unsupported("a tensor is stored with {} and with {} elements", inner, before);
    }
    return changed;
  }

  // The extents of a class's parts, outermost first.
  static std::vector<int64_t> Parts(const AxisClass& axis) {
    std::vector<int64_t> parts;
    int64_t outer = axis.extent;
    for (auto cut = axis.cuts.rbegin(); cut != axis.cuts.rend(); outer = *cut++) parts.push_back(outer / *cut);
    parts.push_back(outer);
    return parts;
  }

  // ---- new tensors
  std::vector<ir::IterVar> NewAxes(const std::vector<ir::IterVar>& axes) {
    std::vector<ir::IterVar> all;
    for (const ir::IterVar& axis : axes) {
      const std::vector<int64_t> parts = Parts(classes_[Root(variables_.at(axis.var.node()))]);
      std::vector<ir::IterVar>& own = parts_[axis.var.node()];
      for (size_t i = 0; i < parts.size(); ++i) {
        own.push_back({Var(parts.size() == 1 ? axis.var.name() : fmt::format("{}_{}", axis.var.name(), i)), parts[i]});
      }
      all.insert(all.end(), own.begin(), own.end());
    }
    return all;
  }

  Tensor Rebuild(const te::TensorNode& t, const std::string& name) {
    if (t.kind == te::TensorKind::kPlaceholder) {
      std::vector<int64_t> shape;
      for (size_t d = 0; d < t.shape.size(); ++d) {
        const std::vector<int64_t> parts = Parts(ClassOf(t, d));
        shape.insert(shape.end(), parts.begin(), parts.end());
      }
      return te::Placeholder(name, shape, t.type);
    }
    std::vector<ir::IterVar> axes = NewAxes(t.axes), reduced = NewAxes(t.reduce_axes);
    const auto* reduce = t.body.as<ir::Reduce>();
    Expr body = Rewritten(reduce != nullptr ? reduce->body : t.body);
    if (reduce != nullptr) body = te::ReduceOver(reduce->reducer, body, std::move(reduced));
    return te::ComputeOver(name, std::move(axes), std::move(body), t.constant);
  }

  Expr Rewritten(const Expr& body) {
    const auto variable = [&](const ir::VarNode& var, ir::Mutator&) -> std::optional<Expr> {
      const auto found = parts_.find(&var);
      if (found == parts_.end()) return std::nullopt;
      Expr sum = found->second[0].var;
      for (size_t i = 1; i < found->second.size(); ++i) sum = sum * found->second[i].extent + found->second[i].var;
      return sum;
    };
    const auto access = [&](const ir::Access& op, ir::Mutator& self) -> std::optional<Expr> {
      std::vector<Piece> pieces;
      for (size_t d = 0; d < op.indices.size(); ++d) Divide(op, d, self, &pieces);
      return Read(te::NodeOf(op), pieces);
    };
    return ir::Rewrite(body, ir::Overloaded{variable, access});
  }

  void Divide(const ir::Access& op, size_t d, ir::Mutator& self, std::vector<Piece>* pieces) {
    const te::TensorNode& read = te::NodeOf(op);
    const std::vector<int64_t> parts = Parts(ClassOf(read, d));
    const auto* var = op.indices[d].as<ir::VarNode>();
    if (var != nullptr && Root(variables_.at(var)) == Root(dimensions_.at(&read)[d])) {
      for (const ir::IterVar& part : parts_.at(var)) pieces->push_back({part.extent, part.var});
      return;
    }
    const Expr index = self.Mutate(op.indices[d]);
    int64_t inner = std::accumulate(parts.begin(), parts.end(), int64_t{1}, std::multiplies<>());
    for (size_t i = 0; i < parts.size(); ++i) {
      inner /= parts[i];
      const Expr digit = inner == 1 ? index : index / inner;
      pieces->push_back({parts[i], i == 0 ? digit : digit % parts[i]});
    }
  }

  Expr Read(const te::TensorNode& read, const std::vector<Piece>& pieces) {
    std::vector<Expr> indices;
    const te::TensorNode* maker = MakerOf(&read);
    if (maker == nullptr) {
      for (const Piece& piece : pieces) indices.push_back(piece.index);
      return made_.at(&read)(indices);
    }
    // Both have the same parts, except those of extent 1.
    const Tensor& made = made_.at(maker);
    size_t next = 0;
    for (const int64_t extent : made.shape()) {
      while (extent > 1 && pieces[next].extent == 1) ++next;
      indices.push_back(extent == 1 ? Expr(0) : pieces[next++].index);
    }
    return made(indices);
  }

  const std::vector<SameStorage>& same_;
  std::vector<size_t> parents_;
  std::vector<AxisClass> classes_;
  std::map<const void*, std::vector<size_t>> dimensions_;         // classes of each tensor's dimensions
  std::map<const ir::VarNode*, size_t> variables_;                // classes of axes
  std::map<const ir::VarNode*, std::vector<ir::IterVar>> parts_;  // new axes
  std::map<const void*, Tensor> made_;
};

}  // namespace

Result<std::vector<Tensor>> RefineAxes(const std::vector<Tensor>& tensors, const std::vector<std::string>& names,
                                       const std::vector<SameStorage>& same) {
  return Refiner(same).Run(tensors, names);
}

}  // namespace hone::op
