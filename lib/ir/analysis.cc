#include "ir/analysis.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "ir/walk.h"

namespace hone::ir {
namespace {

template <typename T, typename Is>
bool UsesAny(const T& where, const Is& is) {
  bool found = false;
  Walk(where,
       Overloaded{[&](const VarNode& v) { return found = found || is(&v); }, [&](const auto&) { return !found; }});
  return found;
}

class FreeVarFinder {
 public:
  std::vector<Var> vars;

  void Add(const Expr& e) {
    const auto* var = e.as<VarNode>();
    if (!var) return AddFields(e);
    if (std::ranges::find(bound_, var) == bound_.end() && seen_.insert(var).second) vars.emplace_back(var);
  }
  void Add(const Stmt& s) { AddFields(s); }

 private:
  void Add(const Var& var) { bound_.push_back(var.node()); }
  void Add(const IterVar& axis) { bound_.push_back(axis.var.node()); }
  template <typename T>
  void Add(const std::vector<T>& items) {
    for (const T& item : items) Add(item);
  }
  template <typename T>
  void Add(const T&) {}  // neither an operand nor a variable
  template <typename T>
  void AddFields(const T& where) {
    if (!where.defined()) return;
    const size_t outside = bound_.size();
    WithNode(where, [&](const auto& node) { ForEachField(node, [&](const auto& field) { Add(field); }); });
    bound_.resize(outside);
  }
  std::vector<const VarNode*> bound_;
  std::unordered_set<const VarNode*> seen_;
};

template <typename T>
std::vector<Var> FreeVarsOf(const T& where) {
  FreeVarFinder finder;
  finder.Add(where);
  return std::move(finder.vars);
}

void AddOnce(const Buffer& b, std::vector<Buffer>* to) {
  auto same = [&](const Buffer& other) { return other.same_as(b); };
  if (std::ranges::none_of(*to, same)) to->push_back(b);
}

template <typename T>
std::vector<Buffer> ReadIn(const T& where) {
  std::vector<Buffer> buffers;
  Walk(where, Overloaded{[&](const Load& op) { AddOnce(op.buffer, &buffers); }, [](const auto&) {}});
  return buffers;
}

class Comparer {
 public:
  template <typename T>  // Expr or Stmt
  bool Same(const T& a, const T& b) {
    if (a.same_as(b) && bound_.empty()) return true;
    if (!a.defined() || !b.defined()) return !a.defined() && !b.defined();
    if (a.kind() != b.kind()) return false;
    if constexpr (std::is_same_v<T, Expr>) {
      if (a.type() != b.type()) return false;
    }
    return WithNode(a, [&](const auto& node) { return SameNode(node, static_cast<decltype(node)>(*b.get())); });
  }

 private:
  bool SameNode(const VarNode& a, const VarNode& b) {
    for (auto it = bound_.rbegin(); it != bound_.rend(); ++it) {
      if (it->first == &a || it->second == &b) return it->first == &a && it->second == &b;
    }
    return &a == &b;
  }
  template <typename Node>
  bool SameNode(const Node& a, const Node& b) {
    const size_t outside = bound_.size();
    const auto with_fields_of_b = [&](const auto&... x) {
      return std::apply([&](const auto&... y) { return (SameField(x, y) && ...); }, b.fields());
    };
    const bool same = std::apply(with_fields_of_b, a.fields());
    bound_.resize(outside);
    return same;
  }

  bool SameField(const Expr& a, const Expr& b) { return Same(a, b); }
  bool SameField(const Stmt& a, const Stmt& b) { return Same(a, b); }
  bool SameField(const Var& a, const Var& b) {
    bound_.emplace_back(a.node(), b.node());
    return a.type() == b.type();
  }
  bool SameField(const IterVar& a, const IterVar& b) { return SameField(a.var, b.var) && a.extent == b.extent; }
  bool SameField(double a, double b) { return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b); }
  template <typename T>
  bool SameField(const std::vector<T>& a, const std::vector<T>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const T& x, const T& y) { return SameField(x, y); });
  }
  template <typename T>
  bool SameField(const T& a, const T& b) {
    if constexpr (requires { a.same_as(b); }) {
      return a.same_as(b);  // a buffer or a tensor
    } else {
      return a == b;
    }
  }

  std::vector<std::pair<const VarNode*, const VarNode*>> bound_;
};

}  // namespace

bool UsesVar(const Expr& e, const Var& var) {
  return UsesAny(e, [&](const VarNode* v) { return v == var.node(); });
}
bool UsesVar(const Stmt& s, const Var& var) {
  return UsesAny(s, [&](const VarNode* v) { return v == var.node(); });
}
bool UsesAnyVar(const Expr& e, const std::unordered_set<const VarNode*>& vars) {
  return UsesAny(e, [&](const VarNode* v) { return vars.contains(v); });
}

std::vector<Var> FreeVars(const Expr& e) { return FreeVarsOf(e); }
std::vector<Var> FreeVars(const Stmt& s) { return FreeVarsOf(s); }

std::vector<Buffer> BuffersRead(const Expr& e) { return ReadIn(e); }
std::vector<Buffer> BuffersRead(const Stmt& s) { return ReadIn(s); }
std::vector<Buffer> BuffersWritten(const Stmt& s) {
  std::vector<Buffer> buffers;
  Walk(s, Overloaded{[&](const Store& op) { AddOnce(op.buffer, &buffers); }, [](const auto&) {}});
  return buffers;
}

bool HasLoad(const Expr& e) { return !ReadIn(e).empty(); }

const Call* WarpProductOf(const Stmt& s) {
  const auto* store = s.as<Store>();
  const auto* call = store ? store->value.as<Call>() : nullptr;
  return call && call->fn == Intrinsic::kMmaTf32 ? call : nullptr;
}

bool HasNoEffect(const Stmt& s) {
  const auto* store = s.as<Store>();
  const auto* update = store ? store->value.as<Binary>() : nullptr;
  const auto* old = update ? update->a.as<Load>() : nullptr;
  if (!old || !old->buffer.same_as(store->buffer)) return false;
  const auto* all = update->b.as<Broadcast>();
  const auto* with = (all ? all->value : update->b).as<FloatImm>();
  return with && update->kind == ExprKind::kAdd && with->value == 0 && Equal(old->index, store->index);
}

bool Equal(const Expr& a, const Expr& b) { return Comparer().Same(a, b); }
bool Equal(const Stmt& a, const Stmt& b) { return Comparer().Same(a, b); }

}  // namespace hone::ir
