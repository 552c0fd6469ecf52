#include "op/user_operator.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/guarded.h"
#include "op/defined_operator.h"

namespace hone::op {
namespace {

class PluginTemplate final : public Template {
 public:
  PluginTemplate(std::string file, UserTemplate given) : file_(std::move(file)), given_(std::move(given)) {}

  const char* name() const override { return given_.name.c_str(); }
  int version() const override { return given_.version; }
  Result<Space> MakeSpace(const Workload& w, const Target& target) const override {
    HONE_ASSIGN_OR_RETURN(Space space, Guarded<Space>(Who(), [&] { return given_.space(w, target); }));
    if (space.template_name() == given_.name) return space;
    return Status::Invalid("{}: its space is named `{}`; use the template's name", Who(), space.template_name());
  }
  Result<Config> Default(const Space& space, const Workload& w, const Target& target) const override {
    if (given_.preferred != nullptr) {
      return Guarded<Config>(Who(), [&] { return given_.preferred(space, w, target); });
    }
    std::optional<PointIndex> first;
    space.ForEach(0, space.size(), [&](PointIndex index, bool legal) {
      if (legal) first = index;
      return !legal;
    });
    if (first) return space.At(*first);
    return Status::Invalid(Who() + ": no point of its space is legal for " + w.Text());
  }
  Result<Candidate> Instantiate(const Workload& w, const Target& target, const Config& config) const override {
    HONE_ASSIGN_OR_RETURN(std::vector<Step> steps,
                          Guarded<std::vector<Step>>(Who(), [&] { return given_.steps(w, target, config); }));
    return Candidate{{}, std::move(steps)};
  }

 private:
  std::string Who() const { return fmt::format("plugin {}: template `{}`", file_, given_.name); }

  std::string file_;
  UserTemplate given_;
};

// A plugin's operator as one of Hone's: turns its exceptions into a Status. REQUIRES: CheckUserOperator; the definition
// is registered in semantics.
class PluginOperator final : public DefinedOperator {
 public:
  PluginOperator(std::string file, const UserOperator& given)
      : DefinedOperator(given.definition.name), file_(std::move(file)), compute_(given.compute) {
    for (const UserTemplate& t : given.templates) {
      templates_.emplace_back(t.family, std::make_unique<PluginTemplate>(file_, t));
    }
  }

  std::vector<const Template*> Templates(const Workload&, const Target& target) const override {
    return AllTemplates()[target.family()];
  }
  TemplateList AllTemplates() const override {
    TemplateList all;
    for (const auto& [family, t] : templates_) all[family].push_back(t.get());
    return all;
  }
  Result<Computation> Compute(const Workload& workload, const Target& target,
                              const Algorithm& algorithm) const override {
    if (!(algorithm == Algorithm())) return NotComputedBy(algorithm, workload);
    return Guarded<Computation>(fmt::format("plugin {}: operator `{}`", file_, name()),
                                [&] { return compute_(workload, target); });
  }
  const std::string& file() const { return file_; }

 private:
  std::string file_;
  Result<Computation> (*compute_)(const Workload& workload, const Target& target);
  std::vector<std::pair<std::string, std::unique_ptr<Template>>> templates_;  // with their families
};

// Checks that everything Hone will call is set; else returns a one-line error.
Status CheckUserOperator(const UserOperator& given) {
  const semantics::Definition& d = given.definition;
  const auto lacks = [&](const char* what) {
    return Status::Invalid("operator `{}` has no {}; see lib/op/user_operator.h", d.name, what);
  };
  if (d.shape == nullptr) return lacks("definition.shape");
  if (d.evaluate == nullptr) return lacks("definition.evaluate");
  if (d.flop == nullptr) return lacks("definition.flop");
  if (given.compute == nullptr) return lacks("compute");
  std::set<std::string> names;
  for (const UserTemplate& t : given.templates) {
    if (t.name.empty()) return lacks("name for one of its templates");
    if (t.space == nullptr || t.steps == nullptr) return lacks("space or steps for one of its templates");
    if (!names.insert(t.name).second) {
      return Status::Invalid("operator `{}` has two templates `{}`", d.name, t.name);
    }
  }
  return Status();
}

// Never destroyed, like all operators.
std::vector<std::unique_ptr<PluginOperator>>& Registered() {
  static auto* all = new std::vector<std::unique_ptr<PluginOperator>>;
  return *all;
}

}  // namespace

Status RegisterOperators(const std::string& file, const std::vector<UserOperator>& given) {
  for (const UserOperator& op : given) {
    HONE_RETURN_IF_ERROR(CheckUserOperator(op).WithContext(file));
    if (FindOperator(op.definition.name).ok()) {
      const std::string other = PluginOf(op.definition.name);
      return Status::Invalid("{}: there is an operator `{}` already ({}); choose another name", file,
                             op.definition.name, other.empty() ? "Hone's own" : other);
    }
  }
  for (const UserOperator& op : given) {
    HONE_RETURN_IF_ERROR(semantics::Register(op.definition).WithContext(file));
    Registered().push_back(std::make_unique<PluginOperator>(file, op));
  }
  return Status();
}

const Operator* FindPluginOperator(const std::string& name) {
  for (const auto& op : Registered()) {
    if (name == op->name()) return op.get();
  }
  return nullptr;
}

std::vector<const Operator*> PluginOperators() {
  std::vector<const Operator*> operators;
  for (const auto& op : Registered()) operators.push_back(op.get());
  return operators;
}

std::string PluginOf(const std::string& name) {
  for (const auto& op : Registered()) {
    if (name == op->name()) return op->file();
  }
  return "";
}

}  // namespace hone::op
