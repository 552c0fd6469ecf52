#include <fmt/format.h>

#include <utility>

#include "codegen/c_source/kernel_writer.h"
#include "ir/walk.h"

namespace hone::codegen {

using ir::Expr;
using ir::ExprKind;

constexpr const char* kComponents[] = {"x", "y", "z", "w"};

static bool IsLeaf(const Expr& e) {
  return e.kind() == ExprKind::kIntImm || e.kind() == ExprKind::kFloatImm || e.kind() == ExprKind::kVar;
}

Expr KernelWriter::LaneOf(const Expr& e, int lane) {
  if (e.type().is_scalar()) return e;
  auto at_hand = lanes_.find(e.get());
  if (at_hand != lanes_.end()) return at_hand->second[static_cast<size_t>(lane)];
  const DType element = e.type().element();
  switch (e.kind()) {
    case ExprKind::kRamp: {
      auto* ramp = e.as<ir::Ramp>();
      const Expr offset = ramp->stride * ir::MakeInt(ramp->stride.type(), lane);
      return lane == 0 ? ramp->base : ramp->base + offset;
    }
    case ExprKind::kBroadcast:
      return e.as<ir::Broadcast>()->value;
    case ExprKind::kCast:
      return ir::MakeCast(element, LaneOf(e.as<ir::Cast>()->value, lane));
    case ExprKind::kNot:
      return ir::MakeNot(LaneOf(e.as<ir::Not>()->a, lane));
    case ExprKind::kSelect: {
      auto* select = e.as<ir::Select>();
      return ir::MakeSelect(LaneOf(select->condition, lane), LaneOf(select->if_true, lane),
                            LaneOf(select->if_false, lane));
    }
    case ExprKind::kLoad: {
      auto* load = e.as<ir::Load>();
      return ir::MakeLoad(load->buffer, LaneOf(load->index, lane));
    }
    case ExprKind::kCall: {
      auto* call = e.as<ir::Call>();
      std::vector<Expr> args;
      for (const Expr& arg : call->args) args.push_back(LaneOf(arg, lane));
      return ir::MakeCall(element, call->fn, std::move(args));
    }
    default:
      if (auto* binary = e.as<ir::Binary>()) {
        return ir::MakeBinary(binary->kind, LaneOf(binary->a, lane), LaneOf(binary->b, lane));
      }
      Fail("a vector variable");
      return ir::Imm(element, 0);
  }
}

Expr KernelWriter::NewTemporary(DType type, const std::string& text, const std::string& name) {
  const ir::Var var(name, type);
  vars_[var.node()] = {text, 0};
  return var;
}

int KernelWriter::Chunk(const ir::Buffer& buffer, const Expr& index) {
  auto* ramp = index.as<ir::Ramp>();
  if (!ramp || buffers_[buffer.get()].is_private) return 1;
  const int64_t* stride = ir::AsIntImm(ramp->stride);
  if (!stride || *stride != 1 || buffer->type.is_bool() || buffer->type.element_bytes() != 4) return 1;
  for (const int chunk : {4, 2}) {
    if (ramp->type.lanes % chunk == 0 && facts_.DivisorOf(ramp->base) % chunk == 0) return chunk;
  }
  return 1;
}

std::string KernelWriter::VectorType(const ir::Buffer& buffer, int lanes) {
  return fmt::format("{}{}", buffer->type.is_float() ? "float" : buffer->type.is_int() ? "int" : "uint", lanes);
}

void KernelWriter::ForgetFrom(size_t mark) {
  for (; kept_.size() > mark; kept_.pop_back()) lanes_.erase(kept_.back().get());
}

void KernelWriter::Keep(const Expr& e, std::vector<Expr> lanes) {
  lanes_[e.get()] = std::move(lanes);
  kept_.push_back(e);
}

std::string KernelWriter::VectorAt(const ir::Buffer& buffer, const Expr& index, int chunk, bool written) {
  const char* prefix = buffer->scope == ir::Scope::kShared ? dialect_.shared_prefix : dialect_.global_prefix;
  const int64_t* constant = ir::AsIntImm(index);
  const std::string& name = buffers_[buffer.get()].name;
  const std::string at = constant && *constant == 0 ? name : fmt::format("({} + {})", name, WriteAt(index, 4));
  return fmt::format("*({}{}{}*){}", prefix, written ? "" : "const ", VectorType(buffer, chunk), at);
}

void KernelWriter::HoistLoad(const Expr& e) {
  auto* load = e.as<ir::Load>();
  const int chunk = Chunk(load->buffer, load->index);
  if (chunk == 1) {
    Hoist(load->index);
    return;
  }
  Expr base = load->index.as<ir::Ramp>()->base;
  const int lanes = e.type().lanes;
  std::vector<Expr> parts;
  for (int first = 0; first < lanes; first += chunk) {
    const std::string name = Fresh(load->buffer.name() + "_v");
    const std::string text = VectorAt(load->buffer, first ? base + Expr(first) : base, chunk, false);
    Line(fmt::format("const {} {} = {};", VectorType(load->buffer, chunk), name, text));
    for (int i = 0; i < chunk; ++i) {
      parts.push_back(NewTemporary(e.type().element(), fmt::format("{}.{}", name, kComponents[i]), name));
    }
  }
  Keep(e, std::move(parts));
}

// Only one side may be evaluated, and its accesses should stay vectors: write a statement.
void KernelWriter::HoistChoice(const Expr& e) {
  auto* call = e.as<ir::Call>();
  const int lanes = e.type().lanes;
  const std::string type = Type(e.type().element());
  const std::string condition = WriteAt(call->args[0], 99);
  std::vector<Expr> parts;
  std::vector<std::string> names;
  std::string declared;
  for (int i = 0; i < lanes; ++i) {
    names.push_back(Fresh("chosen"));
    declared += (i ? ", " : "") + names.back();
    parts.push_back(NewTemporary(e.type().element(), names.back(), names.back()));
  }
  Line(fmt::format("{} {};", type, declared));
  for (int side = 1; side <= 2; ++side) {
    Line(side == 1 ? fmt::format("if ({}) {{", condition) : "} else {");
    ++indent_;
    const size_t mark = kept_.size();
    const Expr& value = call->args[static_cast<size_t>(side)];
    Hoist(value);
    for (int i = 0; i < lanes; ++i) {
      Line(fmt::format("{} = {};", names[static_cast<size_t>(i)], WriteAt(LaneOf(value, i), 99)));
    }
    ForgetFrom(mark);
    --indent_;
  }
  Line("}");
  Keep(e, std::move(parts));
}

void KernelWriter::Hoist(const Expr& e) {
  if (e.type().is_scalar() || lanes_.count(e.get())) return;
  switch (e.kind()) {
    case ExprKind::kLoad:
      return HoistLoad(e);
    case ExprKind::kBroadcast: {
      const Expr& value = e.as<ir::Broadcast>()->value;
      if (IsLeaf(value)) return;
      const ir::Var once("once", value.type());
      Define(once, value);
      return Keep(e, std::vector<Expr>(static_cast<size_t>(e.type().lanes), once));
    }
    default:
      if (auto* call = e.as<ir::Call>(); call && call->fn == ir::Intrinsic::kIfThenElse) {
        if (call->args[0].type().is_scalar()) HoistChoice(e);
        return;
      }
      ir::WithNode(e, [&](const auto& node) { ir::ForEachChild(node, [&](const Expr& child) { Hoist(child); }); });
  }
}

}  // namespace hone::codegen
