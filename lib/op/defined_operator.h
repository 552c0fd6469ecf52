// Operators defined in semantics/: adds how they are built.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "op/operator.h"

namespace hone::op {

// Operands are named data, data1, ..; for a layer data, weight, zero and weight_zero (zero points); then those of the
// epilogue.
class DefinedOperator : public Operator {
 public:
  explicit DefinedOperator(std::string name) : name_(std::move(name)) {}

  const char* name() const override { return name_.c_str(); }
  std::vector<Operand> Operands(const Workload& workload, const Target& target) const override;
  void Reference(const Workload& workload, const Target& target, const std::vector<void*>& buffers) const override;

 private:
  std::string name_;
};

// One algorithm of an operator, on one family of targets.
struct NamedAlgorithm {
  std::string_view family, name;
  std::vector<std::string_view> numbers;  // the keys of Algorithm::numbers, all required, in this order
  // Returns kInvalid (NotComputedBy) if the algorithm or these numbers do not fit the workload.
  Result<Computation> (*compute)(const Workload& workload, const Target& target, const Algorithm& algorithm);
};
// Implements Operator::Compute by a list of algorithms.
Result<Computation> ComputeBy(const std::vector<NamedAlgorithm>& algorithms, const Workload& workload,
                              const Target& target, const Algorithm& algorithm);
Status NotComputedBy(const Algorithm& algorithm, const Workload& workload);
// Whether an extent of the computation, which may be rounded up, is valid: at least `needed`, and at most twice that
// and a tile.
bool CoversExtent(const Algorithm& algorithm, std::string_view key, int64_t needed);

// An operator with templates, by the target's family.
class TunedOperator final : public DefinedOperator {
 public:
  using Choice = std::vector<const Template*> (*)(const Workload& workload, const Target& target);
  using Others = std::vector<OtherAlgorithm> (*)(const Workload& workload, const Target& target);
  TunedOperator(std::string name, Choice cpu, Choice gpu, TemplateList all, std::vector<NamedAlgorithm> algorithms,
                Others others = nullptr)
      : DefinedOperator(std::move(name)),
        cpu_(cpu),
        gpu_(gpu),
        all_(std::move(all)),
        algorithms_(std::move(algorithms)),
        others_(others) {}

  std::vector<const Template*> Templates(const Workload& workload, const Target& target) const override;
  TemplateList AllTemplates() const override { return all_; }
  Result<Computation> Compute(const Workload& workload, const Target& target,
                              const Algorithm& algorithm) const override {
    return ComputeBy(algorithms_, workload, target, algorithm);
  }
  std::vector<OtherAlgorithm> OtherAlgorithms(const Workload& workload, const Target& target) const override {
    return others_ == nullptr ? std::vector<OtherAlgorithm>() : others_(workload, target);
  }

 private:
  Choice cpu_, gpu_;
  TemplateList all_;
  std::vector<NamedAlgorithm> algorithms_;
  Others others_;
};

// A computation with its schedule for CPUs.
struct FixedKernel : Computation {
  std::vector<Step> steps;
};
using FixedBuilder = Result<FixedKernel> (*)(const Workload& workload, const Target& target);

// A template without knobs: a single schedule.
class FixedTemplate final : public Template {
 public:
  FixedTemplate(std::string name, int version, FixedBuilder builder, std::string algorithm = "direct")
      : name_(std::move(name)), version_(version), builder_(builder), algorithm_(std::move(algorithm)) {}

  const char* name() const override { return name_.c_str(); }
  int version() const override { return version_; }
  bool fixed() const override { return true; }
  Result<Space> MakeSpace(const Workload&, const Target&) const override { return Space(name_); }
  Result<Config> Default(const Space& space, const Workload&, const Target&) const override { return space.At(0); }
  Result<Candidate> Instantiate(const Workload& workload, const Target& target, const Config&) const override;

 private:
  std::string name_;
  int version_;
  FixedBuilder builder_;
  std::string algorithm_;
};

// An operator whose schedules are sketches of its computation (propose/propose.cc); the builder gives no steps.
class SketchedOperator : public DefinedOperator {
 public:
  SketchedOperator(const std::string& name, FixedBuilder builder) : DefinedOperator(name), builder_(builder) {}

  std::vector<const Template*> Templates(const Workload&, const Target&) const override { return {}; }
  TemplateList AllTemplates() const override { return {}; }
  Result<Computation> Compute(const Workload& workload, const Target& target,
                              const Algorithm& algorithm) const override;

 private:
  FixedBuilder builder_;
};

// An operator with a single schedule on CPUs, "<name>_default".
class FixedOperator final : public SketchedOperator {
 public:
  FixedOperator(const std::string& name, int version, FixedBuilder builder)
      : SketchedOperator(name, builder), template_(name + "_default", version, builder) {}

  std::vector<const Template*> Templates(const Workload& workload, const Target& target) const override;
  TemplateList AllTemplates() const override { return {{kCpuFamily, {&template_}}}; }

 private:
  FixedTemplate template_;
};

}  // namespace hone::op
