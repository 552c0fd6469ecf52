#include "sketch/transformed_nest.h"

#include <algorithm>
#include <utility>

#include "arith/linear.h"
#include "base/integers.h"
#include "te/stage.h"

namespace hone::sketch {
namespace {

constexpr size_t kNoAxis = SIZE_MAX;

size_t AxisOf(const ir::Expr& e, const std::vector<ir::IterVar>& axes) {
  for (size_t i = 0; i < axes.size(); ++i) {
    if (ir::Expr(axes[i].var).get() == e.get()) return i;
  }
  return kNoAxis;
}

std::vector<const ir::Access*> ReadsOf(const te::Tensor& reader, const te::Tensor& of) {
  std::vector<const ir::Access*> reads;
  te::ForEachAccess(reader.node()->body, [&](const ir::Access& access) {
    if (&te::NodeOf(access) == of.node()) reads.push_back(&access);
  });
  return reads;
}

// The only stage that `t` reads; null if there are none or several.
te::Tensor OnlyStage(const te::Tensor& t) {
  te::Tensor only;
  for (const te::Tensor& input : te::InputsOf(t)) {
    if (!te::IsStage(*input.node())) continue;
    if (only.defined()) return {};
    only = input;
  }
  return only;
}

// The axes whose index selects one of several expressions. A condition on values, as in a maximum, selects no index.
std::vector<bool> Picked(const te::Tensor& t) {
  const std::vector<ir::IterVar>& axes = t.node()->axes;
  std::vector<bool> picked(axes.size());
  const auto note = [&](const ir::VarNode& var) {
    for (size_t i = 0; i < axes.size(); ++i) picked[i] = picked[i] || axes[i].var.node() == &var;
  };
  const auto look = [&](const ir::Select& select) {
    bool values = false;
    ir::Walk(select.condition, ir::Overloaded{[&](const ir::Access&) { values = true; }, [](const auto&) {}});
    if (!values) ir::Walk(select.condition, ir::Overloaded{note, [](const auto&) {}});
  };
  ir::Walk(t.node()->body, ir::Overloaded{look, [](const auto&) {}});
  return picked;
}

// Whether all reads of `of` have a constant or an axis of the reader as each index.
bool IsTransform(const te::Tensor& reader, const te::Tensor& of) {
  return std::ranges::all_of(ReadsOf(reader, of), [&](const ir::Access* read) {
    return std::ranges::all_of(read->indices, [&](const ir::Expr& index) {
      return index.as<ir::IntImm>() != nullptr || AxisOf(index, reader.node()->axes) != kNoAxis;
    });
  });
}

// The terms of a tile's number: index / size of axes of the output, whose weights make it count all of them.
std::optional<std::vector<TileDigit>> DigitsOfTile(const ir::Expr& number, const std::vector<ir::IterVar>& axes) {
  std::vector<TileDigit> digits;
  for (const auto& [term, coefficient] : arith::ToLinear(number).terms) {
    TileDigit digit{AxisOf(term, axes), 1, coefficient};
    if (const auto* division = term.as<ir::Binary>(); division != nullptr && term.kind() == ir::ExprKind::kDiv) {
      const auto* by = division->b.as<ir::IntImm>();
      if (by == nullptr || by->value < 1) return {};
      digit.axis = AxisOf(division->a, axes), digit.size = by->value;
    }
    if (digit.axis == kNoAxis) return {};
    digits.push_back(digit);
  }
  std::ranges::stable_sort(digits, std::greater<>(), &TileDigit::coefficient);
  int64_t unit = 1;
  for (size_t i = digits.size(); i-- > 0;) {
    if (digits[i].coefficient != unit) return {};
    unit *= CeilDiv(axes[digits[i].axis].extent, digits[i].size);
  }
  return digits;
}

class Finder {
 public:
  explicit Finder(TransformedSum* t) : t_(*t) {}

  // `path`: the stages from the products to the output.
  bool Find(const std::vector<te::Tensor>& path) { return Before() && Products() && After(path); }

 private:
  AxisRole RoleInSum(size_t axis) const {
    const SumLoops& s = t_.sum;
    return axis == s.rows          ? AxisRole::kTile
           : axis == s.vectors     ? AxisRole::kVectors
           : axis == s.nest.last() ? AxisRole::kLane
           : axis < s.nest.outputs ? AxisRole::kElement
                                   : AxisRole::kOther;
  }

  bool Before() {
    const SumNest& nest = t_.sum.nest;
    const auto input = std::ranges::find_if(nest.reads, [](const SumRead& read) { return !read.constant; });
    const auto stored = [&](const SumRead& read) { return read.constant && nest.DigitsOf(read).has_value(); };
    if (nest.reads.size() != 2 || input == nest.reads.end() || !nest.source.defined()) return false;
    if (std::ranges::count_if(nest.reads, stored) != 1) return false;
    TransformStage stage{nest.source, {}, Picked(nest.source)};
    for (const std::vector<Term>& index : input->indices) {
      if (index.size() != 1 || index[0].divisor != 1 || index[0].modulus != INT64_MAX) return false;
      stage.roles.push_back(RoleInSum(index[0].axis));
    }
    const auto& axes = stage.tensor.node()->axes;
    if (stage.roles.back() != AxisRole::kOther || axes.back().extent != t_.sum.lanes) return false;
    if (stage.Names(AxisRole::kTile).size() != 1 || stage.Names(AxisRole::kOther).size() < 2) return false;
    t_.before.push_back(std::move(stage));
    for (te::Tensor next; (next = OnlyStage(t_.before.back().tensor)).defined();) {
      if (next.shape().empty() || next.shape().back() != t_.sum.lanes) return false;
      if (!next.node()->reduce_axes.empty()) return false;
      const TransformStage& reader = t_.before.back();
      if (!IsTransform(reader.tensor, next)) {
        t_.source = next;
        return !OnlyStage(next).defined();
      }
      TransformStage transform{next, {}, Picked(next)};
      for (const ir::Expr& index : ReadsOf(reader.tensor, next)[0]->indices) {
        const size_t axis = AxisOf(index, reader.tensor.node()->axes);
        transform.roles.push_back(axis == kNoAxis ? AxisRole::kElement : reader.roles[axis]);
      }
      t_.before.push_back(std::move(transform));
    }
    return true;
  }

  bool Products() {
    t_.products.tensor = t_.sum.nest.out;
    for (size_t axis = 0; axis < t_.sum.nest.outputs; ++axis) t_.products.roles.push_back(RoleInSum(axis));
    t_.products.picked.resize(t_.sum.nest.outputs);
    return true;
  }

  bool After(const std::vector<te::Tensor>& path) {
    const TransformStage* read = &t_.products;
    t_.after.reserve(path.size());
    for (const te::Tensor& tensor : path) {
      const std::vector<ir::IterVar>& axes = tensor.node()->axes;
      TransformStage stage{tensor, std::vector<AxisRole>(axes.size(), AxisRole::kElement), Picked(tensor)};
      if (axes.empty()) return false;
      const bool last = tensor.node() == path.back().node();
      const ir::Access* access = ReadsOf(tensor, read->tensor)[0];
      for (size_t d = 0; d < read->roles.size(); ++d) {
        if (read->roles[d] == AxisRole::kElement) continue;
        const size_t axis = AxisOf(access->indices[d], axes);
        if (axis != kNoAxis) stage.roles[axis] = read->roles[d];
        if (last && read->roles[d] == AxisRole::kTile) {
          auto digits = DigitsOfTile(access->indices[d], axes);
          if (!digits || digits->empty()) return false;
          for (const TileDigit& digit : *digits) stage.roles[digit.axis] = AxisRole::kTile;
          t_.digits = std::move(*digits);
        } else if (axis == kNoAxis) {
          return false;
        }
      }
      if (stage.roles.back() != AxisRole::kLane || axes.back().extent != t_.sum.lanes) return false;
      t_.after.push_back(std::move(stage));
      read = &t_.after.back();
    }
    const auto& axes = t_.out().tensor.node()->axes;
    t_.count = 1;
    for (const TileDigit& digit : t_.digits) t_.count *= CeilDiv(axes[digit.axis].extent, digit.size);
    if (t_.CopiesTiles() && (t_.digits.size() < 2 || path.size() < 2)) return false;
    return t_.count <= t_.Tiles() && t_.out().Names(AxisRole::kVectors).size() == 1 &&
           t_.out().Names(AxisRole::kElement).empty();
  }

  TransformedSum& t_;
};

}  // namespace

std::vector<std::string> TransformStage::Names(AxisRole role) const {
  std::vector<std::string> names;
  for (size_t i = 0; i < roles.size(); ++i) {
    if (roles[i] == role) names.push_back(Name(i));
  }
  return names;
}

std::vector<std::string> TransformStage::Elements(bool picked_ones) const {
  std::vector<std::string> names;
  for (size_t i = 0; i < roles.size(); ++i) {
    if (roles[i] == AxisRole::kElement && picked[i] == picked_ones) names.push_back(Name(i));
  }
  return names;
}

bool TransformedSum::CopiesTiles() const {
  return std::ranges::none_of(digits, [&](const TileDigit& digit) { return out().picked[digit.axis]; });
}

int64_t TransformedSum::Pixels() const {
  int64_t pixels = 1;
  if (!CopiesTiles()) {
    for (const TileDigit& digit : digits) pixels *= digit.size;
    return pixels;
  }
  const TransformStage& tile = after[after.size() - 2];
  for (size_t i = 0; i < tile.roles.size(); ++i) {
    if (tile.roles[i] == AxisRole::kElement) pixels *= tile.tensor.node()->axes[i].extent;
  }
  return pixels;
}

int64_t TransformedSum::Longest() const {
  int64_t most = 1;
  for (size_t axis : sum.others) most = std::max(most, sum.Extent(axis));
  return most;
}

std::optional<TransformedSum> TransformedSumOf(const te::Tensor& out, const std::vector<std::string>& constants,
                                               const Target& target) {
  std::vector<te::Tensor> path;  // from the output to the reader of the products
  te::Tensor stage = out;
  for (te::Tensor next; stage.node()->reduce_axes.empty() && (next = OnlyStage(stage)).defined(); stage = next) {
    if (!next.node()->reduce_axes.empty()) break;
    path.push_back(stage);
  }
  if (path.empty()) return {};
  std::reverse(path.begin(), path.end());
  std::optional<SumLoops> loops = SumLoopsOf(stage, constants, target);
  if (!loops || !loops->window.empty() || loops->outer_rows || loops->nest.sum.node() == stage.node()) return {};
  SumLoops& l = *loops;
  const SumNest& n = l.nest;
  if (l.Extent(n.last()) != l.lanes || !n.IsLacked(l.rows) || n.SameReads(l.rows, n.last())) return {};
  if (l.vectors == n.last()) {  // a single vector of channels
    const auto one = std::ranges::find_if(
        l.others, [&](size_t axis) { return l.Extent(axis) == 1 && n.IsLacked(axis) && n.SameReads(axis, n.last()); });
    if (one == l.others.end()) return {};
    l.vectors = *one;
    l.others.erase(one);
  }
  TransformedSum t{.sum = std::move(l)};
  return Finder(&t).Find(path) ? std::optional(std::move(t)) : std::nullopt;
}

}  // namespace hone::sketch
