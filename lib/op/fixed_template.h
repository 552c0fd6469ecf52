// A template without knobs, "<op>_default" or another given name: one schedule for operators that need no tuning.
#pragma once

#include <string>

#include "op/operator.h"

namespace hone::op {

class FixedTemplate : public Template {
 public:
  using Builder = Result<Instance> (*)(const Workload& workload, const Target& target);

  FixedTemplate(std::string name, int version, Builder builder)
      : name_(std::move(name)), version_(version), builder_(builder) {}

  const char* name() const override { return name_.c_str(); }
  int version() const override { return version_; }
  Result<search::Space> MakeSpace(const Workload&, const Target&) const override { return search::Space(name_); }
  Result<Config> Default(const search::Space& space, const Workload&, const Target&) const override {
    return space.At(0);
  }
  Result<Instance> Instantiate(const Workload& workload, const Target& target, const Config&) const override {
    return builder_(workload, target);
  }

 private:
  std::string name_;
  int version_;
  Builder builder_;
};

}  // namespace hone::op
