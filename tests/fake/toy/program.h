// A lowered function as JSON and back: the machine code of the toy back end.
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "ir/stmt.h"

namespace hone::toy {

class Encoder {
 public:
  Json Function(const ir::Function& f) {
    Json params = Json::array();
    for (const ir::Buffer& b : f.params) params.push_back(Declare(b));
    return {{"name", f.name}, {"params", params}, {"body", Stmt(f.body)}};
  }

 private:
  Json Declare(const ir::Buffer& b) {
    const int id = next_id_++;  // a buffer that both sides of a branch allocate is declared twice
    buffers_[b.get()] = id;
    return {id, b.name(), ToString(b->type), b->size, static_cast<int>(b->scope), b->written};
  }
  int Id(const ir::Buffer& b) const { return buffers_.at(b.get()); }
  int Id(const ir::VarNode* v) { return vars_.emplace(v, static_cast<int>(vars_.size())).first->second; }

  Json Expr(const ir::Expr& e) {
    Json out = {static_cast<int>(e.kind()), ToString(e.type())};
    const auto add = [&](const ir::Expr& child) { out.push_back(Expr(child)); };
    if (const auto* x = e.as<ir::IntImm>()) out.push_back(x->value);
    if (const auto* x = e.as<ir::FloatImm>()) out.push_back(fmt::format("{:a}", x->value));
    if (const auto* x = e.as<ir::VarNode>()) out.push_back(Id(x));
    if (const auto* x = e.as<ir::Cast>()) add(x->value);
    if (const auto* x = e.as<ir::Binary>()) add(x->a), add(x->b);
    if (const auto* x = e.as<ir::Not>()) add(x->a);
    if (const auto* x = e.as<ir::Select>()) add(x->condition), add(x->if_true), add(x->if_false);
    if (const auto* x = e.as<ir::Load>()) out.push_back(Id(x->buffer)), add(x->index);
    if (const auto* x = e.as<ir::Ramp>()) add(x->base), add(x->stride);
    if (const auto* x = e.as<ir::Broadcast>()) add(x->value);
    if (const auto* x = e.as<ir::Call>()) {
      out.push_back(static_cast<int>(x->fn));
      for (const ir::Expr& a : x->args) add(a);
    }
    return out;
  }

  Json Stmt(const ir::Stmt& s) {
    if (!s.defined()) return nullptr;
    Json out = {static_cast<int>(s.kind())};
    if (const auto* x = s.as<ir::Store>()) {
      out.push_back(Id(x->buffer)), out.push_back(Expr(x->index)), out.push_back(Expr(x->value));
    }
    if (const auto* x = s.as<ir::For>()) {
      for (const Json& part : {Json(Id(x->var.node())), Json(x->var.name()), Expr(x->min), Expr(x->extent),
                               Json(static_cast<int>(x->for_kind)), Stmt(x->body)}) {
        out.push_back(part);
      }
    }
    if (const auto* x = s.as<ir::Block>()) {
      for (const ir::Stmt& child : x->stmts) out.push_back(Stmt(child));
    }
    if (const auto* x = s.as<ir::If>()) {
      out.push_back(Expr(x->condition)), out.push_back(Stmt(x->then_case)), out.push_back(Stmt(x->else_case));
    }
    if (const auto* x = s.as<ir::Allocate>()) out.push_back(Declare(x->buffer)), out.push_back(Stmt(x->body));
    if (const auto* x = s.as<ir::Evaluate>()) out.push_back(Expr(x->value));
    if (const auto* x = s.as<ir::Pragma>()) out.push_back(Stmt(x->body));
    return out;
  }

  std::map<const ir::BufferNode*, int> buffers_;
  int next_id_ = 0;
  std::map<const ir::VarNode*, int> vars_;
};

class Decoder {
 public:
  ir::Function Function(const Json& json) {
    ir::Function f;
    f.name = json["name"];
    for (const Json& b : json["params"]) f.params.push_back(Declare(b));
    f.body = Stmt(json["body"]);
    return f;
  }

 private:
  ir::Buffer Declare(const Json& b) {
    return buffers_[b[0]] = ir::Buffer::Make(b[1], *ParseDType(b[2].get<std::string>()), b[3],
                                             static_cast<ir::Scope>(b[4].get<int>()), b[5]);
  }
  ir::Var VarOf(const Json& id, DType type = DType::Int(64)) {
    auto found = vars_.find(id);
    if (found == vars_.end()) found = vars_.emplace(id.get<int>(), ir::Var("v", type)).first;
    return found->second;
  }

  ir::Expr Expr(const Json& j) {
    using ir::ExprKind;
    const ExprKind kind = static_cast<ExprKind>(j[0].get<int>());
    const DType type = *ParseDType(j[1].get<std::string>());
    if (ir::Binary::Is(kind)) return ir::Expr(new ir::Binary(kind, type, Expr(j[2]), Expr(j[3])));
    switch (kind) {
      case ExprKind::kIntImm:
        return ir::Expr(new ir::IntImm(type, j[2]));
      case ExprKind::kFloatImm:
        return ir::Expr(new ir::FloatImm(type, std::strtod(j[2].get<std::string>().c_str(), nullptr)));
      case ExprKind::kVar:
        return VarOf(j[2], type);
      case ExprKind::kCast:
        return ir::Expr(new ir::Cast(type, Expr(j[2])));
      case ExprKind::kNot:
        return ir::Expr(new ir::Not(Expr(j[2])));
      case ExprKind::kSelect:
        return ir::Expr(new ir::Select(Expr(j[2]), Expr(j[3]), Expr(j[4])));
      case ExprKind::kLoad:
        return ir::Expr(new ir::Load(buffers_.at(j[2]), Expr(j[3])));
      case ExprKind::kRamp:
        return ir::Expr(new ir::Ramp(Expr(j[2]), Expr(j[3]), type.lanes));
      case ExprKind::kBroadcast:
        return ir::Expr(new ir::Broadcast(Expr(j[2]), type.lanes));
      default: {  // kCall; there are no te nodes at this stage
        std::vector<ir::Expr> args;
        for (size_t i = 3; i < j.size(); ++i) args.push_back(Expr(j[i]));
        return ir::Expr(new ir::Call(type, static_cast<ir::Intrinsic>(j[2].get<int>()), args));
      }
    }
  }

  ir::Stmt Stmt(const Json& j) {
    using ir::StmtKind;
    if (j.is_null()) return {};
    switch (static_cast<StmtKind>(j[0].get<int>())) {
      case StmtKind::kStore:
        return ir::MakeStore(buffers_.at(j[1]), Expr(j[2]), Expr(j[3]));
      case StmtKind::kFor:
        return ir::MakeFor(VarOf(j[1]), Expr(j[3]), Expr(j[4]), static_cast<ir::ForKind>(j[5].get<int>()), Stmt(j[6]));
      case StmtKind::kIf:
        return ir::MakeIf(Expr(j[1]), Stmt(j[2]), Stmt(j[3]));
      case StmtKind::kAllocate: {
        const ir::Buffer buffer = Declare(j[1]);
        return ir::MakeAllocate(buffer, Stmt(j[2]));
      }
      case StmtKind::kEvaluate:
        return ir::MakeEvaluate(Expr(j[1]));
      case StmtKind::kPragma:
        return Stmt(j[1]);
      default: {  // kBlock
        std::vector<ir::Stmt> stmts;
        for (size_t i = 1; i < j.size(); ++i) stmts.push_back(Stmt(j[i]));
        return ir::MakeBlock(stmts);
      }
    }
  }

  std::map<int, ir::Buffer> buffers_;
  std::map<int, ir::Var> vars_;
};

}  // namespace hone::toy
