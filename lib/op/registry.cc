#include <fmt/format.h>

#include <set>

#include "base/suggest.h"
#include "base/version.h"
#include "op/chain/chain.h"
#include "op/conv/conv2d.h"
#include "op/conv/conv3d.h"
#include "op/conv/conv_transpose.h"
#include "op/dense/dense.h"
#include "op/elementwise.h"
#include "op/layout.h"
#include "op/matmul.h"
#include "op/movement.h"
#include "op/norm.h"
#include "op/operator.h"
#include "op/plugin.h"
#include "op/pool/global_pool.h"
#include "op/pool/pool.h"
#include "op/pool/pool3d.h"
#include "op/reduce.h"

namespace hone::op {
namespace {

// Every operator; a new one is a line here. They live as long as the process, and so does what refers to them.
const std::vector<const Operator*>& All() {
  static const std::vector<const Operator*>& all = *new std::vector<const Operator*>([] {
    std::vector<const Operator*> list = {
        &Conv2d(),    &Dense(),         &Conv3d(),          &MaxPool2d(),       &AvgPool2d(), &MaxPool3d(),
        &AvgPool3d(), &GlobalAvgPool(), &GlobalMaxPool(),   &Flatten(),         &Block(),     &Unblock(),
        &Pad2d(),     &Matmul(),        &ConvTranspose2d(), &ConvTranspose3d(),
    };
    for (auto some : {ElementwiseOperators, ReduceOperators, MovementOperators, NormOperators}) {
      for (const Operator* op : some()) list.push_back(op);
    }
    return list;
  }());
  return all;
}

// A workload of each kind of template, for the list of versions.
constexpr const char* kExamples[] = {
    "conv2d(f32[1,16,7,7], f32[16,16,3,3])",
    "conv2d(f32[1,16,7,7], f32[16,1,3,3], groups=16)",
    "conv2d(f32[1,34,7,7], f32[34,2,3,3], groups=17)",
    "dense(f32[1,16], f32[16,16])",
    "conv2d(f32[1,57,7,7], f32[38,3,3,3], groups=19)",
    "conv3d(f32[1,57,3,7,7], f32[38,3,3,3,3], groups=19)",
    "dense(f32[32,16], f32[16,16])",
    "conv2d(f32[1,16,8,8], f32[16,16,3,3], pad=1) -> max_pool2d(f32[1,16,8,8], kernel=2, stride=2)",
    "conv2d(f32[1,16,8,8], f32[16,1,3,3], groups=16) -> conv2d(f32[1,16,6,6], f32[16,16,1,1])",
    "conv2d(f32[1,16,8,8], f32[16,16,1,1]) -> conv2d(f32[1,16,8,8], f32[16,1,3,3], groups=16)",
    "conv2d(f32[1,16,8,8], f32[16,16,1,1]) -> conv2d(f32[1,16,8,8], f32[16,1,3,3], groups=16) -> "
    "conv2d(f32[1,16,6,6], f32[16,16,1,1])",
    "conv3d(f32[1,16,3,7,7], f32[16,16,3,3,3])",
    "conv3d(f32[1,6,3,7,7], f32[6,3,3,3,3], groups=2)",
    "matmul(f32[2,64,32], f32[2,32,64])",
};

}  // namespace

int64_t Operand::PhysicalElements() const {
  int64_t elements = 1;
  for (int64_t extent : physical) elements *= extent;
  return elements;
}

Result<const Operator*> FindOperator(const std::string& name) {
  for (const Operator* op : All()) {
    if (name == op->name()) return op;
  }
  if (const Operator* op = FindPluginOperator(name)) return op;
  return Status::Unsupported(fmt::format("unknown operator `{}`{}", name, SuggestionText(name, OperatorNames())));
}

Result<const Operator*> FindOperator(const Workload& workload) {
  if (workload.chain()) return &Chain();
  return FindOperator(workload.op);
}

std::string MemberOperandName(const std::string& name, size_t member) {
  if (member == 0) return name;
  return member == 1 ? "then." + name : fmt::format("then{}.{}", member, name);
}

std::vector<std::string> OperatorNames() {
  std::vector<std::string> names;
  for (const Operator* op : All()) names.push_back(op->name());
  for (const Operator* op : PluginOperators()) names.push_back(op->name());
  return names;
}

Result<Workload> ParseChecked(const std::string& workload_text) {
  HONE_ASSIGN_OR_RETURN(Workload workload, Workload::Parse(workload_text));
  HONE_ASSIGN_OR_RETURN(const Operator* op, FindOperator(workload));
  HONE_RETURN_IF_ERROR(op->Check(workload));
  return op->Canonical(workload);
}

Result<search::TaskSpace> MakeTaskSpace(const Workload& workload, const Target& target, const Numerics& numerics) {
  HONE_ASSIGN_OR_RETURN(const Operator* op, FindOperator(workload));
  search::TaskSpace space;
  std::vector<const Template*> templates = op->Templates(workload, target);
  if (templates.empty()) return Status::Unsupported(workload.OperatorText() + " has no template for " + target.Text());
  for (const Template* t : templates) {
    HONE_ASSIGN_OR_RETURN(search::Space part, t->MakeSpace(workload, target));
    t->Limit(numerics, &part);
    space.Add(std::move(part));
  }
  return space;
}

Result<Config> DefaultConfig(const Workload& workload, const Target& target) {
  HONE_ASSIGN_OR_RETURN(const Operator* op, FindOperator(workload));
  std::vector<const Template*> templates = op->Templates(workload, target);
  if (templates.empty()) return Status::Unsupported(workload.OperatorText() + " has no template for " + target.Text());
  HONE_ASSIGN_OR_RETURN(search::Space space, templates[0]->MakeSpace(workload, target));
  return templates[0]->Default(space, workload, target);  // the first space starts at 0 in the union
}

Result<Instance> Instantiate(const Workload& workload, const Target& target, const Config& config) {
  HONE_ASSIGN_OR_RETURN(const Operator* op, FindOperator(workload));
  std::vector<std::string> names;
  for (const Template* t : op->Templates(workload, target)) {
    if (config.template_name != t->name()) {
      names.push_back(t->name());
      continue;
    }
    HONE_ASSIGN_OR_RETURN(search::Space space, t->MakeSpace(workload, target));
    HONE_ASSIGN_OR_RETURN(uint64_t index, space.IndexOf(config));  // all knobs there, with values of the space
    if (std::optional<std::string> why = space.Reject(space.At(index))) {
      return Status::Invalid(fmt::format("{}: not a legal point: {}", config.Text(), *why));
    }
    return t->Instantiate(workload, target, config);
  }
  return Status::Invalid(fmt::format("{} has no template `{}` for this target{}", workload.Text(), config.template_name,
                                     SuggestionText(config.template_name, names)));
}

std::string SpaceVersionText() {
  Target target;
  target.vector_bytes = 64;
  std::string text;
  std::set<std::string> seen;
  auto add = [&](const Operator& op, const Workload& workload) {
    for (const Template* t : op.Templates(workload, target)) {
      if (seen.insert(t->name()).second)
        text += fmt::format("{}{}={}", text.empty() ? "" : " ", t->name(), VersionOf(t->name(), t->version()));
    }
  };
  Target gpu;  // one that has all there are
  gpu.kind = TargetKind::kCuda;
  gpu.cpu = "sm_90";
  for (const Target& each : {target, gpu}) {
    target = each;
    for (const char* example : kExamples) {
      Result<Workload> workload = ParseChecked(example);
      add(**FindOperator(*workload), *workload);
    }
    for (const Operator* op : All()) {
      if (op->name() != std::string("conv2d") && op->name() != std::string("dense") &&
          op->name() != std::string("conv3d") && op->name() != std::string("matmul"))
        add(*op, Workload{op->name(), {}, {}, {}});
    }
  }
  return text;
}

}  // namespace hone::op
