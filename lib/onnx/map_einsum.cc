// Einsum with one operand: sums and a transposition. With two operands: a product of matrices, or an elementwise
// product if no common label is summed over.
#include <algorithm>
#include <map>

#include "base/text.h"
#include "onnx/operators.h"
#include "onnx/values.h"

namespace hone::onnx {
namespace {

// The equation: which axes of the operands have the same label, and which labels the result has; all others are summed
// over. A label is a letter, or stands for an axis of an ellipsis, counted from the last.
using Labels = std::vector<int>;

struct Equation {
  std::vector<Labels> operands;
  Labels output;
};

constexpr int kEllipsis = 256;  // above all letters: the last axis of an ellipsis; + 1 is the one before it
constexpr const char* kDots = "...";

bool IsLetter(char ch) { return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z'); }

// The labels of one tensor; its ellipsis stands for `further` axes.
Result<Labels> ParseTerm(const std::string& term, size_t further) {
  const Status wrong = Status::Invalid("its equation must be letters, `...`, commas and one `->`");
  if (const size_t dots = term.find(kDots);
      dots != std::string::npos && term.find(kDots, dots + 3) != std::string::npos) {
    return wrong;  // two ellipses would stand for more axes than there are
  }
  Labels labels;
  for (size_t i = 0; i < term.size(); ++i) {
    if (term.compare(i, 3, kDots) == 0) {
      for (size_t axis = further; axis-- > 0;) labels.push_back(kEllipsis + static_cast<int>(axis));
      i += 2;
    } else if (IsLetter(term[i])) {
      labels.push_back(term[i]);
    } else {
      return wrong;
    }
  }
  return labels;
}

// The axes of ellipses, then the labels that occur exactly once.
Labels UsualOutput(const std::vector<Labels>& operands, size_t further) {
  std::map<int, int> count;
  for (const Labels& labels : operands) {
    for (int label : labels) ++count[label];
  }
  Labels output;
  for (size_t axis = further; axis-- > 0;) output.push_back(kEllipsis + static_cast<int>(axis));
  for (const auto& [label, times] : count) {
    if (label < kEllipsis && times == 1) output.push_back(label);
  }
  return output;
}

// Parses "bij,bjk->bik". Without "->", the result has the labels that occur once, in alphabetical order. Spaces are
// ignored. `ranks` are those of the operands. A label that an operand repeats selects its diagonal. Returns kInvalid if
// the equation is malformed for such operands.
Result<Equation> ParseEquation(const std::string& text, const std::vector<size_t>& ranks) {
  std::string plain = text;
  std::erase(plain, ' ');
  const size_t arrow = plain.find("->");
  const std::vector<std::string> terms = Split(std::string_view(plain).substr(0, arrow), ',');
  if (terms.size() != ranks.size()) {
    return Status::Invalid("its equation is of {} operands, it has {}", terms.size(), ranks.size());
  }
  Equation equation;
  size_t most = 0;  // axes of the longest ellipsis
  for (size_t i = 0; i < terms.size(); ++i) {
    const auto letters = static_cast<size_t>(std::ranges::count_if(terms[i], IsLetter));
    const bool open = terms[i].find(kDots) != std::string::npos;
    if (letters > ranks[i] || (!open && letters != ranks[i])) {
      return Status::Invalid("operand {} has {} dimensions, its equation names {}", i, ranks[i], letters);
    }
    most = std::max(most, ranks[i] - letters);
    HONE_ASSIGN_OR_RETURN(Labels labels, ParseTerm(terms[i], ranks[i] - letters));
    equation.operands.push_back(std::move(labels));
  }
  if (arrow == std::string::npos) {
    equation.output = UsualOutput(equation.operands, most);
    return equation;
  }
  const std::string result = plain.substr(arrow + 2);
  HONE_ASSIGN_OR_RETURN(equation.output, ParseTerm(result, most));
  Labels sorted = equation.output;
  std::ranges::sort(sorted);
  if (std::ranges::adjacent_find(sorted) != sorted.end()) {
    return Status::Invalid("its equation's result `" + result + "` names an axis twice");
  }
  for (int label : equation.output) {
    const bool known = std::ranges::any_of(
        equation.operands, [label](const Labels& labels) { return std::ranges::find(labels, label) != labels.end(); });
    if (!known) return Status::Invalid("its equation has an axis in the result that no operand has");
  }
  return equation;
}

bool Has(const Labels& labels, int label) { return std::ranges::find(labels, label) != labels.end(); }

Labels Joined(Labels a, const Labels& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// A tensor and the labels of its axes.
struct Operand {
  Value value;
  Labels labels;
};

// Reduces axes with the same label to one, the diagonal: with the axes flattened, it is every (n + 1)-th of n * n
// elements.
Status TakeDiagonals(NodeContext* c, Operand* x) {
  for (size_t i = 0; i < x->labels.size();) {
    const auto twice = std::find(x->labels.begin() + static_cast<ptrdiff_t>(i) + 1, x->labels.end(), x->labels[i]);
    if (twice == x->labels.end()) {
      ++i;
      continue;
    }
    const auto j = static_cast<size_t>(twice - x->labels.begin());
    const int label = x->labels[i];
    const int64_t n = x->value.shape[i];
    if (x->value.shape[j] != n) {
      return Status::Invalid("{} does not fit its equation: an axis that it names twice is {} and {}",
                             ShapeText(x->value.shape), n, x->value.shape[j]);
    }
    Shape perm, flat;
    Labels left;
    for (size_t k = 0; k < x->labels.size(); ++k) {
      if (k == i || k == j) continue;
      perm.push_back(static_cast<int64_t>(k));
      flat.push_back(x->value.shape[k]);
      left.push_back(x->labels[k]);
    }
    for (size_t k : {i, j}) perm.push_back(static_cast<int64_t>(k));
    flat.push_back(n * n);
    left.push_back(label);
    Shape count = flat, step(flat.size(), 1);
    count.back() = n;
    if (n > 1) step.back() = n + 1;
    HONE_ASSIGN_OR_RETURN(x->value, Transpose(c, x->value, perm));
    HONE_ASSIGN_OR_RETURN(x->value, Reshape(c, x->value, flat));
    HONE_ASSIGN_OR_RETURN(x->value, Slice(c, x->value, Shape(flat.size(), 0), count, step));
    x->labels = std::move(left);
    i = 0;
  }
  return Status();
}

// Sums over the axes whose labels are not in `keep`.
Status SumOthers(NodeContext* c, const Labels& keep, Operand* x) {
  Shape axes;
  Labels left;
  for (size_t i = 0; i < x->labels.size(); ++i) {
    if (Has(keep, x->labels[i])) {
      left.push_back(x->labels[i]);
    } else {
      axes.push_back(static_cast<int64_t>(i));
    }
  }
  if (axes.empty()) return Status();
  if (left.empty()) axes.clear();  // no axes in the attribute means all axes
  HONE_ASSIGN_OR_RETURN(x->value, c->Emit("reduce_sum", {x->value}, {Numbers("axes", axes)}));
  x->labels = left;
  return Status();
}

// REQUIRES: `order` contains each label of x once
Result<Value> Ordered(NodeContext* c, const Operand& x, const Labels& order) {
  Shape perm;
  for (int label : order) perm.push_back(std::ranges::find(x.labels, label) - x.labels.begin());
  return Transpose(c, x.value, perm);
}

// The extent of each label. An operand of extent 1 is repeated along an axis that the result also has.
Result<std::map<int, int64_t>> Extents(const Operand& a, const Operand& b, const Labels& output) {
  std::map<int, int64_t> extents;
  for (const Operand* x : {&a, &b}) {
    for (size_t i = 0; i < x->labels.size(); ++i) {
      const int64_t extent = x->value.shape[i];
      auto [known, added] = extents.emplace(x->labels[i], extent);
      if (added || known->second == extent) continue;
      if (!Has(output, x->labels[i]) || (known->second != 1 && extent != 1)) {
        return Status::Invalid("{} and {} do not fit its equation: an axis of both is {} and {}",
                               ShapeText(a.value.shape), ShapeText(b.value.shape), known->second, extent);
      }
      known->second = std::max(known->second, extent);
    }
  }
  return extents;
}

Result<Value> Product(NodeContext* c, Operand a, Operand b, const Labels& output) {
  HONE_RETURN_IF_ERROR(SumOthers(c, Joined(b.labels, output), &a));
  HONE_RETURN_IF_ERROR(SumOthers(c, Joined(a.labels, output), &b));
  HONE_ASSIGN_OR_RETURN(const auto extents, Extents(a, b, output));
  // Labels of both operands and the result; of one operand and the result; of both operands but not the result.
  Labels batch, rows, columns, sums;
  for (int label : a.labels) {
    (!Has(b.labels, label) ? rows : Has(output, label) ? batch : sums).push_back(label);
  }
  for (int label : b.labels) {
    if (!Has(a.labels, label)) columns.push_back(label);
  }
  HONE_ASSIGN_OR_RETURN(Value left, Ordered(c, a, Joined(Joined(batch, rows), sums)));
  HONE_ASSIGN_OR_RETURN(Value right, Ordered(c, b, Joined(Joined(batch, sums), columns)));
  const auto axes = static_cast<ptrdiff_t>(batch.size());
  Shape left_shape(left.shape.begin(), left.shape.begin() + axes);
  Shape right_shape(right.shape.begin(), right.shape.begin() + axes);
  Operand out;
  out.labels = Joined(Joined(batch, rows), columns);
  if (sums.empty()) {
    left_shape = left.shape;
    left_shape.insert(left_shape.end(), columns.size(), 1);
    right_shape.insert(right_shape.end(), rows.size(), 1);
    right_shape.insert(right_shape.end(), right.shape.begin() + axes, right.shape.end());
    HONE_ASSIGN_OR_RETURN(left, Reshape(c, left, left_shape));
    HONE_ASSIGN_OR_RETURN(right, Reshape(c, right, right_shape));
    HONE_ASSIGN_OR_RETURN(out.value, Binary(c, "mul", left, right));
  } else {
    const auto product = [&](const Labels& labels) {
      int64_t count = 1;
      for (int label : labels) count *= extents.at(label);
      return count;
    };
    for (const Labels* labels : {&rows, &sums}) left_shape.push_back(product(*labels));
    for (const Labels* labels : {&sums, &columns}) right_shape.push_back(product(*labels));
    HONE_ASSIGN_OR_RETURN(left, Reshape(c, left, left_shape));
    HONE_ASSIGN_OR_RETURN(right, Reshape(c, right, right_shape));
    HONE_ASSIGN_OR_RETURN(out.value, MatrixProduct(c, left, right));
    Shape shape;
    for (int label : out.labels) shape.push_back(extents.at(label));
    HONE_ASSIGN_OR_RETURN(out.value, Reshape(c, out.value, shape));
  }
  return Ordered(c, out, output);
}

Status MapEinsum(NodeContext* c) {
  std::vector<size_t> ranks;
  for (size_t i = 0; i < c->InputCount(); ++i) {
    ranks.push_back(c->ShapeOf(i).size());
  }
  if (ranks.size() > 2) {
    return Status::Unsupported("its equation is of {} operands; one or two are supported", ranks.size());
  }
  HONE_ASSIGN_OR_RETURN(const Equation equation, ParseEquation(c->String("equation", ""), ranks));
  Operand a{c->In(0), equation.operands[0]};
  HONE_RETURN_IF_ERROR(TakeDiagonals(c, &a));
  if (ranks.size() == 2) {
    Operand b{c->In(1), equation.operands[1]};
    HONE_RETURN_IF_ERROR(TakeDiagonals(c, &b));
    return c->Set(Product(c, std::move(a), std::move(b), equation.output));
  }
  HONE_RETURN_IF_ERROR(SumOthers(c, equation.output, &a));
  return c->Set(Ordered(c, a, equation.output));
}

}  // namespace

std::vector<OperatorEntry> EinsumOperators() {
  return {
      {"Einsum", MapEinsum, 1, kAnyNumber, 12},
  };
}

}  // namespace hone::onnx
