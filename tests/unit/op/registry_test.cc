// The list of operators, and the list of their templates, whose versions decide which records are stale.
#include <iterator>

#include "agree/gpu_workloads.h"
#include "base/text.h"
#include "common/expect.h"
#include "propose/versions.h"
#include "semantics/semantics.h"
#include "sketch/sketch.h"

namespace hone::op {
namespace {

// Workloads for which different templates for CPUs compete; agree/gpu_workloads has those for GPUs.
constexpr const char* kCpuWorkloads[] = {
    "conv2d(f32[1,16,7,7], f32[16,16,3,3])",
    "conv2d(f32[1,16,8,7], f32[16,16,3,3])",
    "conv2d(f32[1,16,7,7], f32[16,16,3,3], stride=2x2)",
    "conv2d(f32[1,3,9,9], f32[16,3,3,3], in=nchw)",
    "conv2d(f32[1,16,7,7], f32[16,1,3,3], groups=16)",
    "conv2d(f32[1,16,7,7], f32[16,1,3,3], groups=16, in=nchw)",
    "conv2d(f32[1,34,7,7], f32[34,2,3,3], groups=17)",
    "conv2d(f32[1,57,7,7], f32[38,3,3,3], groups=19)",
    "conv2d(f32[1,57,9,9], f32[38,3,3,3], groups=19)",
    "conv3d(f32[1,16,3,7,7], f32[16,16,3,3,3])",
    "conv3d(f32[1,6,3,7,7], f32[6,3,3,3,3], groups=2)",
    "conv3d(f32[1,57,3,7,7], f32[38,3,3,3,3], groups=19)",
    "conv3d(f32[1,57,5,9,9], f32[38,3,3,3,3], groups=19)",
    "dense(f32[1,16], f32[16,16])",
    "dense(f32[32,16], f32[16,16])",
    "matmul(f32[2,64,32], f32[2,32,64])",
    "matmul(f32[2,64,32], f32[32,64])",
    "conv2d(f32[1,16,8,8], f32[16,16,3,3], pad=1) -> max_pool2d(f32[1,16,8,8], kernel=2, stride=2)",
    "conv2d(f32[1,16,8,8], f32[16,1,3,3], groups=16) -> conv2d(f32[1,16,6,6], f32[16,16,1,1])",
    "conv2d(f32[1,16,8,8], f32[16,16,1,1]) -> conv2d(f32[1,16,8,8], f32[16,1,3,3], groups=16)",
    "conv2d(f32[1,16,8,8], f32[16,16,1,1]) -> conv2d(f32[1,16,8,8], f32[16,1,3,3], groups=16) -> "
    "conv2d(f32[1,16,6,6], f32[16,16,1,1])",
};

std::set<std::string> Names(const std::vector<const Template*>& templates) {
  std::set<std::string> names;
  for (const Template* t : templates) names.insert(t->name());
  return names;
}

TEST(Registry, NamesAreUnique) {
  const std::vector<std::string> names = OperatorNames();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  std::set<std::string> templates;
  size_t count = 0;
  for (const auto& [family, list] : AllTemplates()) {
    templates.merge(Names(list));
    count += list.size();
  }
  EXPECT_EQ(templates.size(), count);
}

// Two operators have no kernels: the passes over graphs fold one and remove the other.
TEST(Registry, WhatIsDefinedCanBeBuilt) {
  std::vector<std::string> defined = semantics::Names(), built = OperatorNames();
  std::erase_if(defined, [](const std::string& name) { return name == "batch_norm" || name == "dropout"; });
  std::sort(built.begin(), built.end());
  EXPECT_EQ(defined, built);
}

// Every template chosen for any target and workload is listed, under its family, by the operator and the registry.
TEST(Registry, EveryTemplateThatIsChosenIsListed) {
  Target wide{.vector_bytes = 64, .vector_registers = 32};
  std::vector<Target> targets = {Target(), wide};
  for (const char* text : {"cuda -arch=sm_61", "cuda -arch=sm_90", "opencl"}) targets.push_back(*Target::Parse(text));
  const std::set<std::string> cpu = Names(AllTemplates(kCpuFamily)), gpu = Names(AllTemplates(kGpuFamily));
  std::set<std::string> chosen;
  std::vector<std::string> workloads = agree::SmallGpuWorkloads();
  workloads.insert(workloads.end(), std::begin(kCpuWorkloads), std::end(kCpuWorkloads));
  for (const std::string& text : workloads) {
    const Workload w = Must(ParseChecked(text));
    const Operator* op = *FindOperator(w);
    for (const Target& target : targets) {
      const std::set<std::string> of_operator = Names(op->AllTemplates()[target.family()]);
      for (const Template* t : op->Templates(w, target)) {
        EXPECT_TRUE((target.family() == kGpuFamily ? gpu : cpu).count(t->name())) << t->name() << " for " << text;
        EXPECT_TRUE(of_operator.count(t->name())) << t->name() << " for " << text;
        chosen.insert(t->name());
      }
    }
  }
  // And each is chosen for one of them, so the list has no unused names, except those for CPUs without knobs, one per
  // operator.
  for (const std::string& name : cpu) EXPECT_TRUE(name.ends_with("_default") || chosen.count(name)) << name;
  for (const std::string& name : gpu) EXPECT_TRUE(chosen.count(name)) << name;
}

TEST(Registry, EveryTemplateAndSketchHasItsVersionInTheText) {
  const std::vector<std::string> parts = Split(propose::SpaceVersionText(), ' ');
  size_t count = 0;
  const auto expect = [&](const std::string& name, int version) {
    const std::string part = name + "=" + std::to_string(version);
    EXPECT_EQ(std::count(parts.begin(), parts.end(), part), 1) << part;
    ++count;
  };
  for (const auto& [family, list] : AllTemplates()) {
    for (const Template* t : list) expect(t->name(), t->version());
  }
  for (const sketch::DerivationRule& rule : sketch::Rules()) expect(rule.name, rule.version);
  EXPECT_EQ(parts.size(), count);
}

}  // namespace
}  // namespace hone::op
