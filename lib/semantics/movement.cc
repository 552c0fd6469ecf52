#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/text.h"
#include "semantics/indices.h"
#include "semantics/tables.h"
#include "semantics/window.h"

namespace hone::semantics {
namespace {

Status Wrong(const Workload& w, const std::string& what) { return Status::Invalid(w.op + ": " + what); }

std::string Count(size_t rank) { return "one number an axis, " + std::to_string(rank); }

// Visits, for each element of the output, the element of the first input at `from` plus the sum of index * stride.
void VisitStrided(const Shape& shape, Shape strides, int64_t from, const VisitSource& visit) {
  Walk walk(shape, std::move(strides), from);
  for (int64_t left = Product(shape); left > 0; --left, walk.Next()) visit(0, walk.at());
}

Result<Shape> TransposeShape(const Workload& w) {
  const Shape &in = w.inputs[0].shape, perm = w.Numbers("perm", {});
  std::vector<bool> seen(in.size(), false);
  Shape shape;
  for (int64_t axis : perm) {
    if (axis < 0 || axis >= static_cast<int64_t>(in.size()) || seen[static_cast<size_t>(axis)]) break;
    seen[static_cast<size_t>(axis)] = true;
    shape.push_back(in[static_cast<size_t>(axis)]);
  }
  if (shape.size() != in.size() || perm.size() != in.size()) {
    return Wrong(w, "`perm` must name each axis of " + w.inputs[0].Text() + " once");
  }
  return shape;
}
void Transpose(const Workload& w, const Shape& shape, const VisitSource& visit) {
  const Shape of_input = Strides(w.inputs[0].shape);
  Shape strides;
  for (int64_t axis : w.Numbers("perm", {})) strides.push_back(of_input[static_cast<size_t>(axis)]);
  VisitStrided(shape, std::move(strides), 0, visit);
}

Result<Shape> ReshapeShape(const Workload& w) {
  const Shape shape = w.Numbers("shape", {});
  if (Product(shape) != w.inputs[0].Elements() || std::ranges::any_of(shape, [](auto e) { return e < 1; })) {
    return Wrong(w, w.inputs[0].Text() + " has not as many elements as `shape` says");
  }
  return shape;
}

Result<Shape> SliceShape(const Workload& w) {
  const Shape& in = w.inputs[0].shape;
  const Shape begin = w.Numbers("begin", {}), end = w.Numbers("end", {}), step = w.Numbers("step", Shape(in.size(), 1));
  if (begin.size() != in.size() || end.size() != in.size() || step.size() != in.size()) {
    return Wrong(w, "`begin`, `end` and `step` take " + Count(in.size()));
  }
  Shape shape;
  for (size_t i = 0; i < in.size(); ++i) {
    const bool up = step[i] > 0;
    const bool fits = up ? begin[i] >= 0 && begin[i] < end[i] && end[i] <= in[i]
                         : step[i] < 0 && begin[i] < in[i] && begin[i] > end[i] && end[i] >= -1;
    if (!fits) return Wrong(w, "axis " + std::to_string(i) + " of " + w.inputs[0].Text() + " has no such elements");
    const int64_t length = up ? end[i] - begin[i] : begin[i] - end[i], stride = up ? step[i] : -step[i];
    shape.push_back((length - 1) / stride + 1);
  }
  return shape;
}
void Slice(const Workload& w, const Shape& shape, const VisitSource& visit) {
  const Shape& in = w.inputs[0].shape;
  const Shape begin = w.Numbers("begin", {}), step = w.Numbers("step", Shape(in.size(), 1));
  Shape strides = Strides(in);
  int64_t from = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    from += begin[i] * strides[i];
    strides[i] *= step[i];
  }
  VisitStrided(shape, std::move(strides), from, visit);
}

Result<Shape> ConcatShape(const Workload& w) {
  Shape shape = w.inputs[0].shape;
  HONE_ASSIGN_OR_RETURN(int64_t axis, AxisOf(w, "axis", static_cast<int64_t>(shape.size()), 1));
  const size_t at = static_cast<size_t>(axis);
  for (size_t i = 1; i < w.inputs.size(); ++i) {
    Shape other = w.inputs[i].shape;
    bool fits = other.size() == shape.size();
    for (size_t k = 0; fits && k < shape.size(); ++k) fits = k == at || other[k] == shape[k];
    if (!fits) {
      return Wrong(
          w, w.inputs[0].Text() + " and " + w.inputs[i].Text() + " differ in more than axis " + std::to_string(axis));
    }
    shape[at] += other[at];
  }
  return shape;
}
void Concat(const Workload& w, const Shape& shape, const VisitSource& visit) {
  const size_t axis = static_cast<size_t>(Whole(w, "axis", 1));
  for (int64_t outer = 0; outer < Product(shape, 0, axis); ++outer) {
    for (size_t i = 0; i < w.inputs.size(); ++i) {
      const int64_t size = Product(w.inputs[i].shape, axis, w.inputs[i].shape.size());
      for (int64_t at = 0; at < size; ++at) visit(i, outer * size + at);
    }
  }
}

Result<Shape> PadShape(const Workload& w) {
  const Shape& in = w.inputs[0].shape;
  const Shape low = w.Numbers("low", Shape(in.size(), 0)), high = w.Numbers("high", Shape(in.size(), 0));
  if (low.size() != in.size() || high.size() != in.size()) return Wrong(w, "`low` and `high` take " + Count(in.size()));
  const std::string mode = Word(w, "mode", "constant");
  Shape shape = in;
  for (size_t i = 0; i < in.size(); ++i) {
    if (low[i] < 0 || high[i] < 0 || std::max(low[i], high[i]) > kMaxElements)
      return Wrong(w, "padding must be 0 or more");
    const int64_t most = mode == "reflect" ? in[i] - 1 : mode == "wrap" ? in[i] : kMaxElements;
    if (std::max(low[i], high[i]) > most)
      return Wrong(w, "axis " + std::to_string(i) + " is too short for mode=" + mode);
    shape[i] += low[i] + high[i];
  }
  return shape;
}
void Pad(const Workload& w, const Shape& shape, const VisitSource& visit) {
  const Shape& in = w.inputs[0].shape;
  const Shape strides = Strides(in), low = w.Numbers("low", Shape(in.size(), 0)), of_output = Strides(shape);
  const std::string mode = Word(w, "mode", "constant");
  for (int64_t element = 0; element < Product(shape); ++element) {
    int64_t offset = 0;
    for (size_t i = 0; i < in.size() && offset >= 0; ++i) {
      const int64_t from = PaddedFrom(mode, element / of_output[i] % shape[i], low[i], in[i]);
      offset = from < 0 ? kNoSource : offset + from * strides[i];
    }
    visit(0, offset);
  }
}

Result<Shape> GatherShape(const Workload& w) {
  const Shape& in = w.inputs[0].shape;
  HONE_ASSIGN_OR_RETURN(int64_t axis, AxisOf(w, "axis", static_cast<int64_t>(in.size()), 0));
  const Shape indices = w.Numbers("indices", {}), shape = w.Numbers("shape", {});
  if (Product(shape) != static_cast<int64_t>(indices.size())) return Wrong(w, "`shape` is not that of `indices`");
  for (int64_t index : indices) {
    if (index < 0 || index >= in[static_cast<size_t>(axis)]) {
      return Wrong(w, "index " + std::to_string(index) + " is outside axis " + std::to_string(axis) + " of " +
                          w.inputs[0].Text());
    }
  }
  if (IndexRuns(indices).size() > kMostIndexRuns) {
    return Status::Unsupported(w.op + ": indices without order, more than " + std::to_string(kMostIndexRuns) +
                               " runs of them");
  }
  Shape out(in.begin(), in.begin() + axis);
  out.insert(out.end(), shape.begin(), shape.end());
  out.insert(out.end(), in.begin() + axis + 1, in.end());
  return out;
}
void Gather(const Workload& w, const Shape&, const VisitSource& visit) {
  const Shape &in = w.inputs[0].shape, indices = w.Numbers("indices", {});
  const size_t axis = static_cast<size_t>(Whole(w, "axis", 0));
  const int64_t inner = Product(in, axis + 1, in.size());
  for (int64_t outer = 0; outer < Product(in, 0, axis); ++outer) {
    for (int64_t index : indices) {
      for (int64_t at = 0; at < inner; ++at) visit(0, (outer * in[axis] + index) * inner + at);
    }
  }
}

Result<Shape> ExpandShape(const Workload& w) {
  const Shape &in = w.inputs[0].shape, shape = w.Numbers("shape", {});
  bool fits = in.size() <= shape.size();
  for (size_t i = 0; fits && i < in.size(); ++i) {
    const int64_t to = shape[shape.size() - in.size() + i];
    fits = in[i] == 1 || in[i] == to;
  }
  if (!fits) return Wrong(w, w.inputs[0].Text() + " does not broadcast to `shape`");
  return shape;
}
void Expand(const Workload& w, const Shape& shape, const VisitSource& visit) {
  VisitStrided(shape, BroadcastStrides(w.inputs[0].shape, shape), 0, visit);
}

// The values of an operator that only moves elements.
template <void (*kSources)(const Workload&, const Shape&, const VisitSource&)>
void Moved(const Workload& w, const std::vector<const Values*>& x, const Shape& shape, int, Values* out) {
  const double padding = Real(w, "value", 0);
  size_t at = 0;
  kSources(w, shape, [&](size_t operand, int64_t element) {
    (*out)[at++] = element == kNoSource ? padding : (*x[operand])[static_cast<size_t>(element)];
  });
}

template <void (*kSources)(const Workload&, const Shape&, const VisitSource&)>
Definition Mover(const char* name, std::vector<AttributeSpec> attributes, Result<Shape> (*shape)(const Workload&)) {
  Definition d{name, 1, 1, std::move(attributes), shape, Moved<kSources>};
  d.sources = kSources;
  return d;
}

Result<Shape> SameShape(const Workload& w) { return w.inputs[0].shape; }
void Copy(const Workload&, const std::vector<const Values*>& x, const Shape&, int, Values* out) { *out = *x[0]; }

Definition Copier(const char* name, std::vector<AttributeSpec> attributes, Result<Shape> (*shape)(const Workload&)) {
  Definition d{name, 1, 1, std::move(attributes), shape, Copy};
  d.keeps_order = true;
  return d;
}

Result<Shape> BlockShape(const Workload& w) {
  if (HasLayouts(w.inputs[0])) return w.inputs[0].shape;
  return Wrong(w, "input 0 is " + w.inputs[0].Text() + "; it must have 4 or 5 axes");
}

Result<Shape> FlattenShape(const Workload& w) {
  const Shape& in = w.inputs[0].shape;
  if (in.size() < 2) return Wrong(w, "needs an input of at least two axes");
  return Shape{in[0], Product(in, 1, in.size())};
}

Result<Shape> Pad2dShape(const Workload& w) {
  HONE_RETURN_IF_ERROR(CheckRankIn(w, 0, 4, 4));
  const Shape& in = w.inputs[0].shape;
  HONE_ASSIGN_OR_RETURN(const Shape pad, WindowNumbers(w, "pad", 4, 0, 0));
  return Shape{in[0], in[1], in[2] + pad[0] + pad[2], in[3] + pad[1] + pad[3]};
}
void Pad2d(const Workload& w, const std::vector<const Values*>& x, const Shape& shape, int, Values* out) {
  const Shape &in = w.inputs[0].shape, pad = Expanded(w, "pad", 4, 0);
  for (int64_t row = 0; row < in[0] * in[1] * in[2]; ++row) {
    const int64_t to = (row / in[2] * shape[2] + row % in[2] + pad[0]) * shape[3] + pad[1];
    std::copy_n(x[0]->begin() + row * in[3], in[3], out->begin() + to);
  }
}

Result<DType> PadType(const Workload& w) {
  HONE_ASSIGN_OR_RETURN(const DType type, SameType(w));
  const double value = Real(w, "value", 0), most = std::exp2(type.bits - (type.is_int() ? 1 : 0));
  const bool fits = value == std::floor(value) && value < most && value >= (type.is_int() ? -most : 0);
  if (!type.is_float() && !fits) return Status::Invalid("pad: {} has no value {}", ToString(type), FormatDouble(value));
  return type;
}

bool SameAsInput(const Workload& w) { return w.Numbers("shape", {}) == w.inputs[0].shape; }

}  // namespace

int64_t PaddedFrom(const std::string& mode, int64_t index, int64_t low, int64_t extent) {
  const int64_t from = index - low;
  if (from >= 0 && from < extent) return from;
  if (mode == "edge") return from < 0 ? 0 : extent - 1;
  if (mode == "reflect") return from < 0 ? -from : 2 * (extent - 1) - from;
  if (mode == "wrap") return from < 0 ? from + extent : from - extent;
  return -1;
}

std::vector<IndexRun> IndexRuns(const Shape& indices) {
  std::vector<IndexRun> runs;
  for (int64_t i = 0; i < static_cast<int64_t>(indices.size()); ++i) {
    const int64_t index = indices[static_cast<size_t>(i)];
    if (!runs.empty()) {
      IndexRun& last = runs.back();
      const int64_t length = i - last.begin;
      if (length == 1) last.step = index - last.first;
      if (index == last.first + last.step * length) {
        last.end = i + 1;
        continue;
      }
    }
    runs.push_back({i, index, 0, i + 1});
  }
  return runs;
}

std::vector<Definition> Movement() {
  const auto whole = [](const char* name, const char* fallback) {
    return AttributeSpec{name, AttributeKind::kWhole, fallback};
  };
  const AttributeSpec shape{"shape"},
      mode{"mode", AttributeKind::kWord, "constant", {"constant", "reflect", "edge", "wrap"}};
  const AttributeSpec value{"value", AttributeKind::kReal, "0", {}, ',', 0, true};  // -inf: before a maximum
  Definition concat = Mover<Concat>("concat", {whole("axis", "1"), LayoutSpec()}, ConcatShape);
  concat.most_inputs = 1 << 16;
  concat.concatenates = true;
  concat.in = concat.out = Layout::kBlocked;
  Definition reshape = Copier("reshape", {shape}, ReshapeShape);
  Definition expand = Mover<Expand>("expand", {shape}, ExpandShape);
  reshape.passes_on = expand.passes_on = SameAsInput;
  std::vector<Definition> images = {
      {"pad2d", 1, 1, {{"pad", AttributeKind::kWhole, "0", {}, ',', 2}, LayoutSpec()}, Pad2dShape, Pad2d},
      Copier("flatten", {LayoutSpec()}, FlattenShape),
      Copier("block", {}, BlockShape),
      Copier("unblock", {}, BlockShape),
      Copier("channels_last", {}, BlockShape),
      Copier("channels_first", {}, BlockShape),
      Copier("dropout", {}, SameShape),
  };
  for (Definition& d : images) {
    d.has_batch = true;
    d.in = d.out = d.name.starts_with("channels") ? Layout::kChannelsLast : Layout::kBlocked;
    if (d.name == "block" || d.name == "channels_last") d.in = Layout::kPlain;
    if (d.name == "unblock" || d.name == "channels_first") d.out = Layout::kPlain;
  }
  images.back().passes_on = [](const Workload&) { return true; };
  std::vector<Definition> all = {
      Mover<Transpose>("transpose", {{"perm"}}, TransposeShape),
      Mover<Slice>("slice", {{"begin"}, {"end"}, whole("step", "1")}, SliceShape),
      Mover<Pad>("pad", {whole("low", "0"), whole("high", "0"), mode, value}, PadShape),
      Mover<Gather>("gather", {whole("axis", "0"), {"indices"}, shape}, GatherShape),
      std::move(concat),
      std::move(reshape),
      std::move(expand),
  };
  std::move(images.begin(), images.end(), std::back_inserter(all));
  for (Definition& d : all) {
    d.type = d.name == "pad" ? PadType : SameType;
    d.selects = d.name != "pad" && d.name != "pad2d";
  }
  return all;
}

}  // namespace hone::semantics
