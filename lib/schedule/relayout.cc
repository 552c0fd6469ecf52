#include "schedule/relayout.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/text.h"

namespace hone::schedule {
namespace {

using ir::Expr;

// Parses "d0/16%4": a letter, a dimension, an optional step, an optional extent (0 if missing).
Result<LayoutPart> ParsePart(const std::string& word, size_t rank) {
  const auto bad = [&] {
    return Status::Invalid("`{}` is not a part of a dimension; expected d0 .. d{}, as in d0/16%4", word, rank - 1);
  };
  const size_t modulo = std::min(word.find('%'), word.size()), slash = std::min(word.find('/'), modulo);
  if (word.empty() || word[0] != 'd') return bad();
  Result<int64_t> source = ParseInt(word.substr(1, slash - 1));
  if (!source.ok() || *source < 0 || *source >= static_cast<int64_t>(rank)) return bad();
  LayoutPart part;
  part.source = static_cast<size_t>(*source);
  const auto number = [&](size_t begin, size_t end, int64_t* value) {
    Result<int64_t> parsed = ParseInt(word.substr(begin + 1, end - begin - 1));
    if (!parsed.ok() || *parsed < 1) return false;
    *value = *parsed;
    return true;
  };
  if (slash < modulo && !number(slash, modulo, &part.step)) return bad();
  if (modulo < word.size() && !number(modulo, word.size(), &part.extent)) return bad();
  return part;
}

// Limits storage beyond a dimension's end to the dimension's own size and a tile.
constexpr int64_t kMostTile = 1024;

// Checks that the parts of dimension `source` tile it, and computes the extent of the outermost one.
Status Tile(size_t source, int64_t size, std::vector<LayoutPart>* parts) {
  std::vector<LayoutPart*> own;
  for (LayoutPart& part : *parts) {
    if (part.source == source) own.push_back(&part);
  }
  // Parts of extent 1 precede larger ones that begin at the same place; the unlimited one comes last.
  std::ranges::stable_sort(own, {}, [](const LayoutPart* p) { return std::tuple(p->step, p->extent == 0, p->extent); });
  int64_t step = 1;
  for (LayoutPart* part : own) {
    if (part->step != step) return Status::Invalid("the parts of d{} do not tile it", source);
    if (part == own.back()) {
      if (part->extent != 0) break;
      part->outermost = true;
      part->extent = (size + step - 1) / step;
      return Status();
    }
    if (part->extent == 0) return Status::Invalid("two parts of d{} have no limit", source);
    const int64_t most = 2 * size + kMostTile;
    if (part->extent > most / step) {
      return Status::Invalid("the parts of d{} take {} * {} of its {} indices, more than {}", source, step,
                             part->extent, size, most);
    }
    step *= part->extent;
  }
  return Status::Invalid("no part of d{} takes its outermost indices", source);
}

// The constant's value at indices that may lie beyond its end.
Expr ValueAt(const te::Tensor& constant, const std::vector<Expr>& indices, const std::vector<int64_t>& reach) {
  const Expr read = te::ReadOrZero(constant, indices, reach);
  return constant.node()->kind == te::TensorKind::kPlaceholder ? read : te::Inline(read, constant);
}

}  // namespace

Expr LayoutPart::Of(const std::vector<Expr>& indices) const {
  Expr index = indices[source];
  if (step > 1) index = index / step;
  return outermost ? index : index % extent;
}

Result<std::vector<LayoutPart>> ParseLayout(const std::vector<std::string>& words, const std::vector<int64_t>& shape) {
  std::vector<LayoutPart> parts;
  for (const std::string& word : words) {
    HONE_ASSIGN_OR_RETURN(const LayoutPart part, ParsePart(word, shape.size()));
    parts.push_back(part);
  }
  for (size_t source = 0; source < shape.size(); ++source) HONE_RETURN_IF_ERROR(Tile(source, shape[source], &parts));
  return parts;
}

te::Tensor StoreBy(const std::vector<LayoutPart>& parts, const te::Tensor& constant, const std::string& name) {
  std::vector<int64_t> shape, reach(constant.shape().size(), 1);
  std::vector<std::string> axes;
  for (const LayoutPart& part : parts) {
    shape.push_back(part.extent);
    reach[part.source] *= part.extent;
    axes.push_back(fmt::format("p{}", axes.size()));
  }
  return te::ComputeConstant(name, shape, axes, [&](const std::vector<ir::Var>& x) {
    std::vector<Expr> indices(constant.shape().size());
    // In the order of storage, one part at a time, as a person would write the index.
    for (size_t i = 0; i < parts.size(); ++i) {
      Expr& index = indices[parts[i].source];
      const Expr term = parts[i].step > 1 ? x[i] * parts[i].step : Expr(x[i]);
      index = index.defined() ? index + term : term;
    }
    return ValueAt(constant, indices, reach);
  });
}

}  // namespace hone::schedule
