#include "semantics/semantics.h"

#include <cstdlib>
#include <exception>
#include <map>

#include "base/check.h"
#include "base/log.h"
#include "semantics/tables.h"

namespace hone::semantics {
namespace {

std::map<std::string, Definition>& All() {
  static std::map<std::string, Definition> all = [] {
    std::map<std::string, Definition> map;
    for (auto table : {Elementwise, Reductions, Movement, Windows, Norms}) {
      for (Definition& d : table()) {
        std::string name = d.name;
        map.emplace(std::move(name), std::move(d));
      }
    }
    return map;
  }();
  return all;
}

// A user's own code may throw; nothing of that passes on.
Result<Shape> ShapeOf(const Definition& d, const Workload& w) {
  try {
    return d.shape(w);
  } catch (const std::exception& e) {
    return Status::Invalid(w.op + ": its shape function threw an exception: " + e.what());
  }
}

}  // namespace

Status Register(Definition definition) {
  const std::string name = definition.name;
  if (All().emplace(name, std::move(definition)).second) return Status();
  return Status::Invalid("there is an operator `" + name + "` already");
}

const Definition* Find(const std::string& name) {
  auto found = All().find(name);
  return found == All().end() ? nullptr : &found->second;
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const auto& [name, definition] : All()) names.push_back(name);
  return names;
}

Result<TensorType> InferOutput(const Workload& w) {
  const Definition* d = Find(w.op);
  HONE_CHECK(d != nullptr);
  HONE_RETURN_IF_ERROR(CheckInputs(w, d->least_inputs, d->most_inputs));
  HONE_RETURN_IF_ERROR(CheckAttributes(w, d->attributes));
  HONE_ASSIGN_OR_RETURN(Shape shape, ShapeOf(*d, w));
  HONE_ASSIGN_OR_RETURN(shape, Checked(w, std::move(shape)));
  return TensorType{w.inputs[0].type, std::move(shape)};
}

Values Evaluate(const Workload& w, const std::vector<const Values*>& inputs, int threads) {
  const Definition* d = Find(w.op);
  HONE_CHECK(d != nullptr);
  const Shape shape = *d->shape(w);
  Values out(static_cast<size_t>(Product(shape)), 0.0);
  try {
    d->evaluate(w, inputs, shape, threads, &out);
  } catch (const std::exception& e) {
    // There is no reference then, and nothing that could be checked.
    LogError(w.op + ": its evaluate function threw an exception: " + e.what());
    std::_Exit(1);
  }
  return out;
}

Form FormOf(const Workload& w) {
  const Definition* d = Find(w.op);
  HONE_CHECK(d != nullptr);
  if (w.op == "concat" && Whole(w, "axis", 1) != 1) return Form::kPlain;
  if (d->form == Form::kEither && w.Find("layout") != nullptr) return Form::kPlain;
  return d->form;
}

Workload Canonical(const Workload& w) {
  const Definition* d = Find(w.op);
  HONE_CHECK(d != nullptr);
  return CanonicalAttributes(w, d->attributes);
}

}  // namespace hone::semantics
