// Wraps a plugin's operator as one of Hone's: checks what the plugin returns, and turns its exceptions into a Status.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "op/defined_operator.h"
#include "op/plugin.h"

namespace hone::op {

class PluginOperator final : public DefinedOperator {
 public:
  // REQUIRES: CheckUserOperator; the definition is registered in semantics.
  PluginOperator(std::string file, const UserOperator& given);

  std::vector<const Template*> Templates(const Workload& workload, const Target& target) const override;
  TemplateList AllTemplates() const override;
  Result<Computation> Compute(const Workload& workload, const Target& target,
                              const Algorithm& algorithm) const override;
  bool Tunable(const Workload&) const override { return true; }
  const std::string& file() const { return file_; }

 private:
  std::string file_;
  Result<Computation> (*compute_)(const Workload& workload, const Target& target);
  std::vector<std::pair<std::string, std::unique_ptr<Template>>> templates_;  // with their families
};

// Checks that everything Hone will call is set; else returns a one-line error.
Status CheckUserOperator(const UserOperator& given);

}  // namespace hone::op
