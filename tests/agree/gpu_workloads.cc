#include "agree/gpu_workloads.h"

#include <utility>

#include "base/check.h"
#include "op/gpu/template.h"
#include "semantics/elementwise.h"
#include "sketch/sketch.h"

namespace hone::agree {
namespace {

constexpr const char* kSmall[] = {
    "conv2d(f32[1,8,14,14], f32[16,8,3,3], pad=1,1,1,1) + bias + relu",
    "conv2d(f32[1,5,13,11], f32[17,5,3,3], stride=2x2, pad=1,1,1,1) + bias",
    "conv2d(f32[3,12,5,3], f32[33,12,1,1]) + bias + add + relu",
    "conv2d(f32[1,3,15,15], f32[8,3,7,7], stride=2x2, pad=3,3,3,3)",
    "conv2d(f32[1,6,12,10], f32[16,6,3,3], dilation=2x2, pad=2,2,2,2) + relu6",
    "conv2d(f32[2,3,7,9], f32[5,3,2,3], stride=1x2, pad=0,1,1,0) + clip(-1,1)",
    "conv2d(f32[1,3,16,17], f32[4,3,5,5], pad=2,2,2,2)",
    "conv2d(f32[3,5,7,11], f32[8,5,3,3], pad=1,1,1,1)",
    "conv2d(f32[2,72,4,4], f32[8,72,2,2]) + bias + relu",
    "conv2d(f32[1,8,5,5], f32[3,8,3,3])",
    "conv2d(f32[1,16,14,14], f32[16,1,3,3], groups=16, pad=1,1,1,1) + bias + relu6",
    "conv2d(f32[3,6,9,7], f32[6,1,3,3], groups=6, stride=2x2, pad=1,1,1,1) + bias",
    "conv2d(f32[1,17,5,5], f32[17,1,5,5], groups=17, dilation=2x2, pad=4,4,4,4)",
    "conv2d(f32[2,8,9,9], f32[12,2,3,3], groups=4, pad=1,1,1,1) + relu",
    "conv2d(f32[1,2,3,3], f32[2,1,3,3], groups=2)",
    "conv2d(f32[1,7,6,5], f32[9,7,3,3], pad=1, layout=nhwc) + bias + relu",
    "conv2d(f32[2,6,7,5], f32[6,1,3,3], pad=1, groups=6, layout=nhwc) + bias + relu6",
    "conv3d(f32[1,5,4,7,6], f32[6,5,3,3,3], pad=1, layout=nhwc) + bias",
    "max_pool2d(f32[1,5,9,9], kernel=3x3, stride=2x2, pad=1, layout=nhwc)",
    "add(f32[2,5,4,3], f32[5,1,1], layout=nhwc)",
    "channels_last(f32[2,5,4,3])",
    "channels_first(f32[2,5,4,3])",
    "conv3d(f32[1,5,4,7,6], f32[6,5,3,3,3], pad=1) + bias + relu",
    "conv3d(f32[2,4,5,9,7], f32[6,2,3,3,2], groups=2, stride=1x2x2, pad=1) + bias",
    "conv3d(f32[1,3,6,7,7], f32[5,3,2,3,3], dilation=2x1x2, in=ncdhw)",
    "conv3d(f32[1,3,2,3,3], f32[5,3,2,3,3], in=ncdhw)",
    "conv_transpose2d(f32[1,3,5,5], f32[3,4,3,3], stride=2x2)",
    "conv_transpose3d(f32[1,4,2,3,2], f32[4,3,2,2,2], stride=2x2x2, groups=2)",
    "dense(f32[1,512], f32[10,512]) + bias",
    "dense(f32[3,33], f32[17,33]) + bias + relu",
    "dense(f32[32,48], f32[40,48]) + bias",
    "dense(f32[37,96], f32[13,96])",
    "matmul(f32[3,24,20], f32[3,20,16])",
    "matmul(f32[2,7,33], f32[2,33,35])",
    "matmul(f32[2,5,17], f32[17,9])",
    "matmul(f32[4,70], f32[70,1])",
    "max_pool2d(f32[1,5,13,13], kernel=3x3, stride=2x2, pad=1,1,1,1)",
    "avg_pool2d(f32[2,3,9,9], kernel=3x3, stride=2x2, pad=1,1,1,1)",
    "avg_pool2d(f32[3,3,7,9], kernel=3x3, pad=1,1,1,1, count_include_pad=1)",
    "max_pool3d(f32[1,3,5,5,5], kernel=2x2x2, stride=2x2x2, ceil_mode=1)",
    "avg_pool3d(f32[1,3,5,5,5], kernel=2x2x2, stride=2x2x2)",
    "global_avg_pool(f32[1,20,7,7])",
    "global_avg_pool(f32[3,5,11,9])",
    "global_max_pool(f32[1,3,9,9])",
    "flatten(f32[2,3,4,5])",
    "block(f32[2,3,4,5])",
    "unblock(f32[2,3,4,5])",
    "pad2d(f32[1,3,4,5], pad=1,2,3,0)",
    "add(f32[2,3,4,5], f32[2,3,4,5]) + relu",
    "mul(f32[2,1,4], f32[3,1])",
    "softmax(f32[3,101], axis=1)",
    "mul(f32[2,3,9], f32[1]) -> add(f32[2,3,9], f32[3,9]) -> softmax(f32[2,3,9])",
    "t0 = sigmoid(f32[2,20]) -> mul(f32[2,20], t0:f32[2,20]) -> reshape(f32[2,20], shape=2,4,5)",
    "softmax(f32[1,7], axis=1)",
    "log_softmax(f32[3,7,4], axis=1)",
    "concat(f32[1,3,4,4], f32[1,5,4,4], axis=1)",
    "transpose(f32[2,3,4], perm=2,0,1)",
    "reshape(f32[2,6], shape=3,4)",
    "slice(f32[7,5], begin=1,4, end=6,-1, step=2,-3)",
    "pad(f32[2,3], low=1,0, high=0,2)",
    "gather(f32[2,5,3], axis=1, indices=4,0,1,1, shape=2,2)",
    "expand(f32[3,1], shape=2,3,4)",
    "lrn(f32[1,7,4,4], size=5)",
    "instance_norm(f32[2,3,11], f32[3], f32[3])",
    "layer_norm(f32[3,70], f32[70], f32[70])",
    "resize(f32[1,2,3,4], out=1,2,6,9, mode=linear)",
    "reduce_sum(f32[2,3,4])",
    "reduce_mean(f32[3,4,50], axes=2)",
    "reduce_max(f32[3,4,5], axes=1)",
    "reduce_min(f32[2,3], keep=1)",
    "reduce_prod(f32[2,3], axes=0)",
    "reduce_sum_square(f32[2,131], axes=1)",
    "reduce_l1(f32[7], axes=0)",
    "reduce_l2(f32[7,67], axes=1, keep=1)",
    "reduce_log_sum(f32[2,3], axes=1)",
    "reduce_log_sum_exp(f32[5,67], axes=1)",
};

constexpr const char* kLarge[] = {
    "conv2d(f32[1,64,28,28], f32[64,64,3,3], pad=1,1,1,1) + bias + add + relu",
    "conv2d(f32[1,3,61,61], f32[32,3,7,7], stride=2x2, pad=3,3,3,3) + bias + relu",
    "conv2d(f32[1,13,31,29], f32[37,13,3,3], pad=1,1,1,1) + bias",
    "conv2d(f32[3,16,15,17], f32[24,16,1,1]) + bias + relu",
    "conv2d(f32[1,16,23,23], f32[32,16,3,3], dilation=2x2, pad=2,2,2,2) + relu6",
    "conv2d(f32[2,12,17,19], f32[20,12,5,5], pad=2,2,2,2)",
    "conv2d(f32[1,8,17,17], f32[12,8,1,7], pad=0,3,0,3) + bias + relu",
    "conv2d(f32[1,32,28,28], f32[32,1,3,3], groups=32, pad=1,1,1,1) + bias + relu6",
    "conv2d(f32[3,17,19,19], f32[17,1,3,3], groups=17, stride=2x2, pad=1,1,1,1) + bias",
    "conv2d(f32[1,24,13,13], f32[36,8,3,3], groups=3, pad=1,1,1,1) + relu",
    "conv3d(f32[1,6,5,13,13], f32[10,6,3,3,3], pad=1,1,1,1,1,1)",
    "conv_transpose2d(f32[1,8,9,9], f32[8,12,3,3], stride=2x2)",
    "dense(f32[1,512], f32[1000,512]) + bias",
    "dense(f32[7,129], f32[61,129]) + bias + relu",
    "dense(f32[64,192], f32[96,192]) + bias",
    "matmul(f32[3,37,64], f32[3,64,41])",
    "max_pool2d(f32[1,17,31,31], kernel=3x3, stride=2x2, pad=1,1,1,1)",
    "avg_pool2d(f32[2,13,21,21], kernel=3x3, stride=2x2, pad=1,1,1,1)",
    "global_avg_pool(f32[1,512,7,7])",
    "softmax(f32[3,1000], axis=1)",
    "concat(f32[1,13,9,9], f32[1,29,9,9], axis=1)",
    "add(f32[2,13,14,15], f32[2,13,14,15]) + relu",
    "flatten(f32[2,13,7,7])",
    "transpose(f32[5,17,23], perm=2,0,1)",
    "layer_norm(f32[5,300], f32[300], f32[300])",
    "lrn(f32[1,17,9,9], size=5)",
    "reduce_mean(f32[3,40,50], axes=2)",
};

}  // namespace

std::vector<std::string> SmallGpuWorkloads() {
  std::vector<std::string> texts(std::begin(kSmall), std::end(kSmall));
  for (const semantics::ScalarFunction& f : semantics::ScalarFunctions()) {
    texts.push_back(f.name + std::string(f.inputs == 1 ? "(f32[3,5,7])" : "(f32[3,5,7], f32[3,5,7])"));
  }
  return texts;
}

std::vector<std::string> LargeGpuWorkloads() { return {std::begin(kLarge), std::end(kLarge)}; }

std::vector<GpuSource> GpuSourcesOf(const Workload& w, const Target& target) {
  std::vector<GpuSource> sources;
  const op::Operator& op = **op::FindOperator(w);
  for (const op::Template* t : op.Templates(w, target)) {
    const Result<search::Space> space = t->MakeSpace(w, target);
    if (!space.ok()) continue;
    const auto* estimates = dynamic_cast<const op::GpuTemplate*>(t);
    sources.push_back({t->name(), *space, [=, s = *space] { return t->Default(s, w, target); },
                       [=](const Config& config) { return t->Instantiate(w, target, config); },
                       estimates != nullptr ? estimates->Use(w) : search::GpuUseOf()});
  }
  const Result<op::Computation> computation = op.Compute(w, target, Algorithm());
  if (!computation.ok()) return sources;
  std::vector<std::string> constants;
  for (const Operand& operand : op.Operands(w, target)) {
    if (operand.role == OperandRole::kConstant) constants.push_back(operand.name);
  }
  for (const sketch::Sketch& s : sketch::MakeSketches(computation->outputs, constants, target)) {
    const search::Space space = sketch::SpaceOf(s);
    sources.push_back({s.name, space, [=] { return sketch::BestByEstimate(s, space); },
                       [=](const Config& config) -> Result<Candidate> {
                         HONE_ASSIGN_OR_RETURN(std::vector<Step> steps, sketch::StepsOf(s, config));
                         return Candidate{{}, std::move(steps)};
                       },
                       s.use});
  }
  return sources;
}

std::vector<std::string> GpuSourceNames() {
  std::vector<std::string> names;
  for (const op::Template* t : op::AllTemplates(kGpuFamily)) names.emplace_back(t->name());
  for (const sketch::DerivationRule& rule : sketch::Rules()) {
    if (rule.family == kGpuFamily) names.emplace_back(rule.name);
  }
  return names;
}

std::optional<GpuSource> FindGpuSource(const std::string& name, const Workload& workload, const Target& target) {
  for (GpuSource& source : GpuSourcesOf(workload, target)) {
    if (source.name == name) return std::move(source);
  }
  return {};
}

std::vector<Workload> GpuWorkloadsOf(const std::string& source, const Target& target) {
  std::vector<Workload> found;
  for (const std::string& text : SmallGpuWorkloads()) {
    const Result<Workload> w = op::ParseChecked(text);
    HONE_CHECK(w.ok());
    if (FindGpuSource(source, *w, target)) found.push_back(*w);
  }
  return found;
}

}  // namespace hone::agree
