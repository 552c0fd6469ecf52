#include "semantics/semantics.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <map>
#include <new>

#include "base/check.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/text.h"
#include "base/threads.h"
#include "semantics/epilogue.h"
#include "semantics/quantise.h"
#include "semantics/tables.h"

namespace hone::semantics {
namespace {

std::map<std::string, Definition>& All() {
  static std::map<std::string, Definition> all = [] {
    std::map<std::string, Definition> map;
    for (auto table : {Elementwise, Reductions, Movement, Windows, Norms}) {
      for (Definition& d : table()) {
        std::string name = d.name;
        map.emplace(std::move(name), std::move(d));
      }
    }
    return map;
  }();
  return all;
}

// User code may throw; the exception must not leave this layer.
Result<Shape> ShapeOf(const Definition& d, const Workload& w) {
  try {
    return d.shape(w);
  } catch (const std::bad_alloc&) {
    throw;  // not of its making
  } catch (const std::exception& e) {
    return Status::Invalid(w.op + ": its shape function threw an exception: " + e.what());
  }
}

Result<TensorType> InferMember(const Workload& w) {
  HONE_ASSIGN_OR_RETURN(const TensorType output, InferAnchor(w));
  return AfterEpilogue(w, output);
}

// The error of a group's member, with the place where it begins.
Status AtMember(const Workload& group, size_t member, const Status& status) {
  return status.WithContext(fmt::format("workload `{}`: column {}", group.Text(), group.ColumnOf(member)));
}

// The output of each member.
Result<std::vector<TensorType>> InferMembers(const Workload& w) {
  std::vector<TensorType> made;
  const std::vector<Workload> parts = w.Parts();
  for (size_t i = 0; i < parts.size(); ++i) {
    Result<TensorType> output = InferMember(parts[i]);
    if (!output.ok()) return AtMember(w, i, output.status());
    for (size_t j = 0; j < parts[i].inputs.size(); ++j) {
      const int maker = w.Maker(i, j);
      if (maker == Workload::kOperand) continue;
      const auto from = static_cast<size_t>(maker);
      if (from < i && parts[i].inputs[j] == made[from]) continue;
      return AtMember(
          w, i,
          Status::Invalid("{} takes {}, but {} makes {}", parts[i].op, parts[i].inputs[j].Text(),
                          from < i ? parts[from].op : "a later member", from < i ? made[from].Text() : "it"));
    }
    made.push_back(*output);
  }
  return made;
}

// REQUIRES: InferMember accepts the workload.
Values EvaluateMember(const Workload& w, const std::vector<const Values*>& operands, int threads) {
  const Definition& d = DefinitionOf(w);
  const Shape shape = *d.shape(w);
  const auto behind = operands.begin() + static_cast<ptrdiff_t>(w.inputs.size());
  Values out(static_cast<size_t>(Product(shape)), 0.0);
  try {
    d.evaluate(w, {operands.begin(), behind}, shape, threads, &out);
  } catch (const std::exception& e) {
    // Without a reference, nothing can be checked.
    LogError(w.op + ": its evaluate function threw an exception: " + e.what());
    std::_Exit(1);
  }
  EvaluateEpilogue(w, {behind, operands.end()}, shape, &out);
  return out;
}

constexpr const char *kAllLayout = "layout", *kInputLayout = "in", *kBlockedWord = "blocked";
const std::vector<std::pair<Layout, const char*>> kLayoutWords = {{Layout::kPlain, "plain"},
                                                                  {Layout::kChannelsLast, "nhwc"}};

// Returns null if the operator has no attribute of that name.
const AttributeSpec* FindSpec(const Workload& w, const char* name) {
  for (const AttributeSpec& spec : DefinitionOf(w).attributes) {
    if (spec.name == name) return &spec;
  }
  return nullptr;
}

void EraseAttribute(Workload* w, const char* name) {
  std::erase_if(w->attributes, [&](const Attribute& a) { return a.name == name; });
}

// A concatenation along an axis other than the channels is plain.
bool OtherConcat(const Workload& w) { return DefinitionOf(w).concatenates && Whole(w, "axis", 1) != 1; }

}  // namespace

Result<TensorType> InferAnchor(const Workload& w) {
  const Definition* d = Find(w.op);
  if (d == nullptr) return Status::Unsupported("unknown operator `" + w.op + "`" + SuggestionText(w.op, Names()));
  HONE_RETURN_IF_ERROR(CheckInputs(w, d->least_inputs, d->most_inputs));
  HONE_ASSIGN_OR_RETURN(const DType type, d->type(w));
  HONE_RETURN_IF_ERROR(CheckAttributes(w, d->attributes));
  HONE_ASSIGN_OR_RETURN(Shape shape, ShapeOf(*d, w));
  HONE_ASSIGN_OR_RETURN(shape, Checked(w, std::move(shape)));
  return TensorType{type, std::move(shape)};
}

AttributeSpec LayoutSpec(bool plain) {
  AttributeSpec spec{kAllLayout, AttributeKind::kWord, "", {}};
  for (const auto& [layout, word] : kLayoutWords) {
    if (plain || layout != Layout::kPlain) spec.words.emplace_back(word);
  }
  return spec;
}

AttributeSpec InputLayoutSpec(const std::string& plain) {
  return {kInputLayout, AttributeKind::kWord, kBlockedWord, {kBlockedWord, plain}};
}

Status Register(Definition definition) {
  const std::string name = definition.name;
  if (All().emplace(name, std::move(definition)).second) return Status();
  return Status::Invalid("there is an operator `" + name + "` already");
}

const Definition* Find(const std::string& name) {
  auto found = All().find(name);
  return found == All().end() ? nullptr : &found->second;
}

const Definition& DefinitionOf(const Workload& w) {
  const Definition* d = Find(w.op);
  HONE_CHECK(d != nullptr);
  return *d;
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const auto& [name, definition] : All()) names.push_back(name);
  return names;
}

Result<TensorType> InferOutput(const Workload& w) {
  if (!w.chain()) return InferMember(w);
  HONE_ASSIGN_OR_RETURN(const std::vector<TensorType> made, InferMembers(w));
  return made.back();
}

Result<std::vector<TensorType>> OperandTypes(const Workload& w) {
  HONE_RETURN_IF_ERROR(InferOutput(w).status());
  std::vector<TensorType> types;
  const std::vector<Workload> parts = w.Parts();
  for (size_t i = 0; i < parts.size(); ++i) {
    for (size_t j = 0; j < parts[i].inputs.size(); ++j) {
      if (w.Maker(i, j) == Workload::kOperand) types.push_back(parts[i].inputs[j]);
    }
    for (TensorType& type : EpilogueTypes(parts[i])) types.push_back(std::move(type));
  }
  return types;
}

size_t OperandCount(const Workload& w) {
  size_t count = 0;
  const std::vector<Workload> parts = w.Parts();
  for (size_t i = 0; i < parts.size(); ++i) {
    for (size_t j = 0; j < parts[i].inputs.size(); ++j) count += w.Maker(i, j) == Workload::kOperand ? 1 : 0;
    count += EpilogueOperandCount(parts[i]);
  }
  return count;
}

Workload Canonical(const Workload& w) {
  Workload canonical = CanonicalAttributes(w, DefinitionOf(w).attributes);
  for (const Workload& next : w.then) canonical.then.push_back(Canonical(next));
  return canonical;
}

int64_t ProductsOfData(const Workload& w) {
  if (w.chain()) {
    int64_t most = 1;
    for (const Workload& part : w.Parts()) most = std::max(most, ProductsOfData(part));
    return most;
  }
  if (w.op == "matmul") return MatmulOf(w)->k;
  constexpr std::string_view kSums[] = {"reduce_sum", "reduce_sum_square", "reduce_l1",
                                        "reduce_l2",  "reduce_log_sum",    "reduce_prod"};
  if (std::find(std::begin(kSums), std::end(kSums), w.op) == std::end(kSums)) return 1;
  return w.inputs[0].Elements() / InferMember(w)->Elements();
}

double Flop(const Workload& w) {
  double flop = 0;
  for (const Workload& part : w.Parts()) {
    const TensorType output = *InferMember(part);
    const Definition& d = DefinitionOf(part);
    if (d.flop != nullptr) flop += d.flop(part, output.shape);
    flop += static_cast<double>(output.Elements()) * EpilogueFlop(part);
  }
  return flop;
}

Values Evaluate(const Workload& w, const std::vector<const Values*>& operands, int threads) {
  if (!w.chain()) return EvaluateMember(w, operands, threads);
  const std::vector<Workload> parts = w.Parts();
  std::vector<Values> made(parts.size());
  auto next = operands.begin();
  for (size_t i = 0; i < parts.size(); ++i) {
    std::vector<const Values*> own;
    for (size_t j = 0; j < OperandCount(parts[i]); ++j) {
      const int maker = j < parts[i].inputs.size() ? w.Maker(i, j) : Workload::kOperand;
      own.push_back(maker == Workload::kOperand ? *next++ : &made[static_cast<size_t>(maker)]);
    }
    made[i] = EvaluateMember(parts[i], own, threads);
  }
  return made.back();
}

bool HasBatch(const Workload& w) {
  const std::vector<Workload> parts = w.Parts();
  return std::any_of(parts.begin(), parts.end(), [](const Workload& part) { return DefinitionOf(part).has_batch; });
}

Layout InputLayout(const Workload& w, size_t input) {
  const Definition& d = DefinitionOf(w);
  const bool weight = d.layer && input == 1;
  if (weight || !HasLayouts(w.inputs[input]) || OtherConcat(w)) return Layout::kPlain;
  if (d.elementwise && w.inputs[input].shape.size() != InferOutput(w)->shape.size()) return Layout::kPlain;
  if (input == 0 && ReadsPlain(w)) return Layout::kPlain;
  return StatedLayout(w).value_or(d.in);
}

Layout OutputLayout(const Workload& w) {
  if (!HasLayouts(*InferOutput(w)) || OtherConcat(w)) return Layout::kPlain;
  return StatedLayout(w).value_or(DefinitionOf(w).out);
}

Shape StoredShape(const Shape& logical, Layout layout) {
  Shape stored = logical;
  if (layout == Layout::kChannelsLast) std::rotate(stored.begin() + 1, stored.begin() + 2, stored.end());
  return stored;
}

bool IsTransform(const Workload& w) { return DefinitionOf(w).in != DefinitionOf(w).out; }

const char* TransformName(Layout layout, bool back) {
  if (layout == Layout::kBlocked) return back ? "unblock" : "block";
  return back ? "channels_first" : "channels_last";
}

bool AcceptsLayout(const Workload& w, Layout layout) {
  const AttributeSpec* spec = FindSpec(w, kAllLayout);
  if (spec == nullptr || OtherConcat(w)) return false;
  if (!HasLayouts(w.inputs[0]) && !HasLayouts(*InferOutput(w))) return false;
  if (layout == DefinitionOf(w).in) return true;
  const bool known = std::ranges::any_of(kLayoutWords, [&](const auto& named) {
    return named.first == layout && std::ranges::count(spec->words, named.second) > 0;
  });
  Workload stated = w;
  if (known) SetLayout(&stated, layout);
  return known && InferOutput(stated).ok();
}

std::optional<Layout> StatedLayout(const Workload& w) {
  const Attribute* attribute = FindSpec(w, kAllLayout) != nullptr ? w.Find(kAllLayout) : nullptr;
  for (const auto& [layout, word] : kLayoutWords) {
    if (attribute != nullptr && attribute->word == word) return layout;
  }
  return std::nullopt;
}

void SetLayout(Workload* w, Layout layout) {
  ForgetLayout(w);
  if (layout == DefinitionOf(*w).in) return;
  for (const auto& [known, word] : kLayoutWords) {
    if (known == layout) w->attributes.push_back({kAllLayout, {}, ',', word});
  }
}

void ForgetLayout(Workload* w) {
  for (const char* name : {kAllLayout, kInputLayout}) {
    if (FindSpec(*w, name) != nullptr) EraseAttribute(w, name);
  }
}

bool MayReadPlain(const Workload& w) { return FindSpec(w, kInputLayout) != nullptr && !StatedLayout(w); }

bool ReadsPlain(const Workload& w) {
  const Attribute* attribute = FindSpec(w, kInputLayout) != nullptr ? w.Find(kInputLayout) : nullptr;
  return attribute != nullptr && attribute->word != kBlockedWord;
}

void SetReadsPlain(Workload* w, bool plain) {
  EraseAttribute(w, kInputLayout);
  if (plain) w->attributes.push_back({kInputLayout, {}, ',', FindSpec(*w, kInputLayout)->words.back()});
}

bool PassesOn(const Workload& w) {
  const Definition& d = DefinitionOf(w);
  return w.epilogue.empty() && d.passes_on != nullptr && d.passes_on(w);
}

bool ChangesOrMovesElements(const Workload& w) {
  const Definition& d = DefinitionOf(w);
  return d.elementwise || d.keeps_order || d.sources != nullptr;
}

std::optional<EpilogueOp> AsEpilogue(const Workload& w) {
  const Definition& d = DefinitionOf(w);
  if (PassesOn(Workload{w.op, w.inputs, w.attributes, {}}) && w.epilogue.size() == 1) return w.epilogue[0];
  if (!d.epilogue || !w.epilogue.empty()) return std::nullopt;
  EpilogueOp op{*d.epilogue, 0, 0};
  if (op.kind == EpilogueKind::kAdd && w.inputs[0] != w.inputs[1]) return std::nullopt;  // it broadcasts
  if (op.kind == EpilogueKind::kClip) {
    if (w.Find("low") == nullptr || w.Find("high") == nullptr) return std::nullopt;
    op.low = Real(w, "low", 0), op.high = Real(w, "high", 0);
    if (!(op.low <= op.high)) return std::nullopt;
  }
  return op;
}

Workload AsOperator(const EpilogueOp& op, const TensorType& input) {
  Workload w{"", {input}, {}, {}};
  for (const std::string& name : Names()) {
    if (Find(name)->epilogue == op.kind) w.op = name;
  }
  if (op.kind == EpilogueKind::kAdd) w.inputs.push_back(input);
  if (op.kind == EpilogueKind::kClip) {
    w.attributes = {MakeRealAttribute("low", {op.low}), MakeRealAttribute("high", {op.high})};
  }
  return w;
}

bool QuantisesFloats(const Workload& w) {
  bool rounded = false;
  for (const Workload& part : w.Parts()) {
    if (IsQuantise(part) && rounded) return true;
    rounded = rounded || !(IsQuantise(part) || IsDequantise(part) || DefinitionOf(part).selects);
  }
  return false;
}

LessZeros::LessZeros(const std::vector<const Values*>& x) : data_(x[0]), weight_(x[1]) {
  if (x.size() > 2) {
    for (double value : *x[0]) kept_[0].push_back(value - (*x[2])[0]);
    data_ = &kept_[0];
  }
  if (x.size() > 3) {
    const size_t length = x[1]->size() / x[3]->size();
    for (size_t i = 0; i < x[1]->size(); ++i) kept_[1].push_back((*x[1])[i] - (*x[3])[i / length]);
    weight_ = &kept_[1];
  }
}

void ParallelFor(int64_t count, int threads, const std::function<void(int64_t)>& body) {
  std::atomic<int64_t> next{0};
  RunInThreads(std::min<int64_t>(threads, count), [&] {
    for (int64_t i; (i = next++) < count && !Interrupted();) body(i);
  });
}

}  // namespace hone::semantics
