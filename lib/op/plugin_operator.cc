#include "op/plugin_operator.h"

#include <fmt/format.h>

#include <exception>
#include <set>

namespace hone::op {
namespace {

Status Threw(const std::string& who, const char* what) {
  return Status::Invalid(fmt::format("{} threw an exception: {}; it has to return a Status instead", who, what));
}

// No exception may pass from a plugin into Hone.
template <typename T, typename F>
Result<T> Guarded(const std::string& who, F call) {
  try {
    return call();
  } catch (const std::exception& e) {
    return Threw(who, e.what());
  } catch (...) {
    return Threw(who, "of an unknown type");
  }
}

class PluginTemplate final : public Template {
 public:
  PluginTemplate(std::string file, UserTemplate given) : file_(std::move(file)), given_(std::move(given)) {}

  const char* name() const override { return given_.name.c_str(); }
  int version() const override { return given_.version; }
  Result<search::Space> MakeSpace(const Workload& w, const Target& target) const override {
    HONE_ASSIGN_OR_RETURN(search::Space space, Guarded<search::Space>(Who(), [&] { return given_.space(w, target); }));
    if (space.template_name() == given_.name) return space;
    return Status::Invalid(
        fmt::format("{}: its space is named `{}`; use the template's name", Who(), space.template_name()));
  }
  Result<Config> Default(const search::Space& space, const Workload& w, const Target& target) const override {
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

}  // namespace

PluginOperator::PluginOperator(std::string file, const UserOperator& given)
    : DefinedOperator(given.definition.name), file_(std::move(file)), compute_(given.compute) {
  for (const UserTemplate& t : given.templates) {
    templates_.emplace_back(t.family, std::make_unique<PluginTemplate>(file_, t));
  }
}

std::vector<const Template*> PluginOperator::Templates(const Workload&, const Target& target) const {
  return AllTemplates()[target.family()];
}

TemplateList PluginOperator::AllTemplates() const {
  TemplateList all;
  for (const auto& [family, t] : templates_) all[family].push_back(t.get());
  return all;
}

Result<Computation> PluginOperator::Compute(const Workload& workload, const Target& target,
                                            const Algorithm& algorithm) const {
  if (!(algorithm == Algorithm())) return NotComputedBy(algorithm, workload);
  return Guarded<Computation>(fmt::format("plugin {}: operator `{}`", file_, name()),
                              [&] { return compute_(workload, target); });
}

Status CheckUserOperator(const UserOperator& given) {
  const semantics::Definition& d = given.definition;
  const auto lacks = [&](const char* what) {
    return Status::Invalid(fmt::format("operator `{}` has no {}; see lib/op/plugin.h", d.name, what));
  };
  if (d.shape == nullptr) return lacks("definition.shape");
  if (d.evaluate == nullptr) return lacks("definition.evaluate");
  if (d.flop == nullptr) return lacks("definition.flop");
  if (given.compute == nullptr) return lacks("compute");
  if (given.templates.empty()) return lacks("templates");
  std::set<std::string> names;
  for (const UserTemplate& t : given.templates) {
    if (t.name.empty()) return lacks("name for one of its templates");
    if (t.space == nullptr || t.steps == nullptr) return lacks("space or steps for one of its templates");
    if (!names.insert(t.name).second) {
      return Status::Invalid(fmt::format("operator `{}` has two templates `{}`", d.name, t.name));
    }
  }
  return Status();
}

}  // namespace hone::op
