// Writes the lines of a sketch. For rules.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "sketch/sketch.h"

namespace hone::sketch {

using Names = std::vector<std::string>;  // of axes, loops or values

inline Names NamesOf(const std::vector<ir::IterVar>& axes) {
  Names names;
  for (const ir::IterVar& axis : axes) names.push_back(axis.var.name());
  return names;
}

class LineWriter {
 public:
  // REQUIRES: the sketch has its decisions.
  explicit LineWriter(Sketch* sketch) : sketch_(*sketch) {}

  template <typename... A>
  void Add(fmt::format_string<A...> step, A&&... arguments) {
    sketch_.lines.push_back({conditions_, fmt::format(step, std::forward<A>(arguments)...)});
  }

  // The values of a decision; only `neutral` if the sketch lacks it.
  std::vector<std::string> Values(const std::string& decision, const std::string& neutral) const {
    for (const search::Knob& knob : sketch_.decisions) {
      if (knob.name() != decision) continue;
      std::vector<std::string> values;
      for (size_t i = 0; i < knob.size(); ++i) values.push_back(knob.value(i).Text());
      return values;
    }
    return {neutral};
  }
  // Lines after this also require that `decision` has that value. If it cannot have it, returns false and adds no
  // condition.
  bool When(const std::string& decision, const std::string& value) {
    const std::vector<std::string> values = Values(decision, "");
    if (std::find(values.begin(), values.end(), value) == values.end()) return false;
    conditions_.push_back({decision, value});
    return true;
  }
  void Always() { conditions_.clear(); }

 protected:
  std::vector<Condition> conditions_;

 private:
  Sketch& sketch_;
};

}  // namespace hone::sketch
