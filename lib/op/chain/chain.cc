// Groups `A -> B`: several workloads as one kernel, so that the data between them never leaves the caches of the core
// that computes it.
//
// Operands: those of A except its output, then those of each following member except what other members make;
// MemberOperandName gives the names. Four kinds of chains of convolutions and pools have templates (chain.h). The
// computation of all other groups is composed of their members' (group.h), and its schedules are sketches
// (propose/propose.cc) and, if only element-wise operators follow the first member, its templates.
#include "op/chain/chain.h"

#include <algorithm>
#include <utility>

#include "op/conv/conv2d_winograd.h"
#include "op/defined_operator.h"
#include "op/group.h"
#include "op/operators.h"
#include "semantics/semantics.h"

namespace hone::op {
namespace {

// A kind of chains with kernels. `parts` are the members.
struct ChainKind {
  bool (*matches)(const std::vector<Workload>& parts);
  const Template& (*by)();
};

bool IsPool(const Workload& w) { return w.op == "max_pool2d" || w.op == "avg_pool2d"; }

// Over blocks of channels, as the templates are.
bool IsBlockedConv(const Workload& w) { return w.op == "conv2d" && semantics::OutputLayout(w) == Layout::kBlocked; }

bool IsConv(const Workload& w) { return IsBlockedConv(w) && Conv2dShape::Of(w).groups == 1; }

bool IsDepthwise(const Workload& w) { return IsBlockedConv(w) && Conv2dShape::Of(w).depthwise(); }

// Without stride and padding: pixels are independent.
bool IsPointwise(const Workload& w) {
  if (!IsConv(w)) return false;
  const Conv2dShape s = Conv2dShape::Of(w);
  return s.kh == 1 && s.kw == 1 && s.sh == 1 && s.sw == 1 && !s.padded();
}

using Parts = std::vector<Workload>;
// Add a line for a new kind.
constexpr ChainKind kKinds[] = {
    {[](const Parts& p) { return p.size() == 2 && IsConv(p[0]) && IsPool(p[1]); }, ChainConvPool},
    {[](const Parts& p) {
       return p.size() == 2 && IsDepthwise(p[0]) && !Conv2dShape::Of(p[0]).plain_input && IsPointwise(p[1]);
     },
     ChainDepthwiseConv},
    {[](const Parts& p) { return p.size() == 2 && IsPointwise(p[0]) && IsDepthwise(p[1]); }, ChainConvDepthwise},
    {[](const Parts& p) { return p.size() == 3 && IsPointwise(p[0]) && IsDepthwise(p[1]) && IsPointwise(p[2]); },
     ChainBottleneck},
};

// The first kind that matches; null if there is no such kind, and for integers, which have no kinds. REQUIRES: each
// part is legal by itself, and their types fit.
const ChainKind* FindChainKind(const Workload& w) {
  const bool named = std::any_of(w.then.begin(), w.then.end(), [](const Workload& next) { return !next.from.empty(); });
  if (!w.inputs[0].type.is_float()) return nullptr;
  for (const ChainKind& kind : kKinds) {
    if (!named && kind.matches(w.Parts())) return &kind;
  }
  return nullptr;
}

const char* StorageText(Layout layout) {
  return layout == Layout::kBlocked ? "in blocks" : layout == Layout::kPlain ? "plain" : "with channels last";
}

class ChainOperator final : public Operator {
 public:
  const char* name() const override { return "chain"; }

  Status Check(const Workload& w) const override {
    if (w.then.size() > Workload::kMostFollowers) {
      return Status::Invalid("group: at most {} members", Workload::kMostFollowers + 1);
    }
    HONE_RETURN_IF_ERROR(semantics::InferOutput(w).status());
    const std::vector<Workload> parts = w.Parts();
    for (size_t i = 0; i < parts.size(); ++i) {
      HONE_ASSIGN_OR_RETURN(const Operator* op, FindOperator(parts[i]));
      HONE_RETURN_IF_ERROR(op->Check(parts[i]));
      for (size_t j = 0; j < parts[i].inputs.size(); ++j) {
        const int maker = w.Maker(i, j);
        if (maker == Workload::kOperand) continue;
        const Workload& from = parts[static_cast<size_t>(maker)];
        const Layout stored = semantics::OutputLayout(from), read = semantics::InputLayout(parts[i], j);
        if (stored == read) continue;
        return Status::Invalid(
            "workload `{}`: column {}: {} reads a tensor that is stored {}, but {} stores it {}; "
            "change `in` or `layout`",
            w.Text(), w.ColumnOf(i), parts[i].op, StorageText(read), from.op, StorageText(stored));
      }
    }
    return Status();
  }

  std::vector<Operand> Operands(const Workload& w, const Target& target) const override {
    std::vector<Operand> operands;
    const std::vector<Workload> parts = w.Parts();
    for (size_t i = 0; i < parts.size(); ++i) {
      std::vector<Operand> own = (*FindOperator(parts[i]))->Operands(parts[i], target);
      if (i + 1 < parts.size()) own.pop_back();
      for (size_t j = 0; j < own.size(); ++j) {
        if (j < parts[i].inputs.size() && w.Maker(i, j) != Workload::kOperand) continue;
        if (own[j].role != OperandRole::kOutput) own[j].name = MemberOperandName(own[j].name, i);
        operands.push_back(std::move(own[j]));
      }
    }
    return operands;
  }

  std::vector<const Template*> Templates(const Workload& w, const Target& target) const override {
    const ChainKind* kind = target.family() == kCpuFamily ? FindChainKind(w) : nullptr;
    return kind != nullptr ? std::vector{&kind->by()} : std::vector<const Template*>();
  }
  TemplateList AllTemplates() const override {
    return {{kCpuFamily, {&ChainConvPool(), &ChainDepthwiseConv(), &ChainConvDepthwise(), &ChainBottleneck()}}};
  }
  Result<Computation> Compute(const Workload& w, const Target& target, const Algorithm& algorithm) const override {
    if (target.family() == kCpuFamily && FindChainKind(w) != nullptr) {
      return ComputeBy(
          {{kCpuFamily, "direct", {}, ComputeChain}, {kCpuFamily, "winograd", {"m", "tiles"}, ComputeWinograd}}, w,
          target, algorithm);
    }
    return ComputeGroup(w, target, algorithm);
  }
  // Those of the first member, by which ComputeGroup and Winograd with a pool in its tiles compute a group.
  std::vector<OtherAlgorithm> OtherAlgorithms(const Workload& w, const Target& target) const override {
    const Workload first = w.Parts()[0];
    const bool kind = target.family() == kCpuFamily && FindChainKind(w) != nullptr;
    if (kind) return IsConv(first) ? WinogradAlgorithms(w, target) : std::vector<OtherAlgorithm>();
    return (*FindOperator(first))->OtherAlgorithms(first, target);
  }

  // Each member's reference in turn. Tensors between them are rounded to their type, as in kernels.
  void Reference(const Workload& w, const Target& target, const std::vector<void*>& buffers) const override {
    size_t next = 0;
    const std::vector<Workload> parts = w.Parts();
    std::vector<std::vector<char>> made(parts.size());
    for (size_t i = 0; i < parts.size(); ++i) {
      const Operator* op = *FindOperator(parts[i]);
      const std::vector<Operand> operands = op->Operands(parts[i], target);
      std::vector<void*> own;
      for (size_t j = 0; j + 1 < operands.size(); ++j) {
        const int maker = j < parts[i].inputs.size() ? w.Maker(i, j) : Workload::kOperand;
        own.push_back(maker == Workload::kOperand ? buffers[next++] : made[static_cast<size_t>(maker)].data());
      }
      const bool last = i + 1 == parts.size();
      if (!last) made[i].resize(static_cast<size_t>(operands.back().PhysicalBytes()));
      own.push_back(last ? buffers[next] : static_cast<void*>(made[i].data()));
      op->Reference(parts[i], target, own);
    }
  }
};

}  // namespace

std::vector<const Template*> FirstMemberTemplates(const Workload& workload, const Target& target) {
  if (!workload.chain() || !Chain().Templates(workload, target).empty()) return {};
  if (!HasStagesOfFirstMember(workload, target)) return {};
  const Workload first = workload.Parts()[0];
  return (*FindOperator(first))->Templates(first, target);
}

const Operator& Chain() {
  static const ChainOperator op;
  return op;
}

}  // namespace hone::op
