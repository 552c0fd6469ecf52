#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "sketch/sketch.h"

namespace hone::sketch {
namespace {

std::string TextOf(const Line& line) {
  std::string text;
  for (const Condition& condition : line.conditions) text += condition.decision + "=" + condition.value + " ";
  return text + line.step;
}

bool Has(const search::Knob& knob, const std::string& value) {
  for (size_t i = 0; i < knob.size(); ++i) {
    if (knob.value(i).Text() == value) return true;
  }
  return false;
}

// Whether the line counts at some point.
bool CanCount(const Line& line, const std::vector<search::Knob>& decisions) {
  return std::ranges::all_of(line.conditions, [&](const Condition& condition) {
    const auto knob = std::ranges::find(decisions, condition.decision, &search::Knob::name);
    return knob != decisions.end() && Has(*knob, condition.value);
  });
}

}  // namespace

Sketch WithDecisions(Sketch sketch, std::vector<search::Knob> decisions) {
  sketch.decisions = std::move(decisions);
  std::erase_if(sketch.lines, [&](const Line& line) { return !CanCount(line, sketch.decisions); });
  return sketch;
}

Result<Sketch> Narrow(const Sketch& derived, const Sketch& text, size_t* equal) {
  *equal = 0;
  if (!(text.algorithm == derived.algorithm)) {
    return Status::Invalid("{}: the task's sketch `{}` is for the algorithm {}, not {}", text.place, text.name,
                           derived.algorithm.Text(), text.algorithm.Text());
  }
  std::vector<search::Knob> decisions;
  for (const search::Knob& all : derived.decisions) {
    const auto some = std::ranges::find(text.decisions, all.name(), &search::Knob::name);
    if (some == text.decisions.end()) {
      return Status::Invalid("{}: the task's sketch `{}` has a decision `{}` as well", text.place, text.name,
                             all.name());
    }
    for (size_t i = 0; i < some->size(); ++i) {
      if (Has(all, some->value(i).Text())) continue;
      return Status::Invalid("{}: decision `{}` of the task's sketch `{}` has no value {}", text.place, all.name(),
                             text.name, some->value(i).Text());
    }
    decisions.push_back(all.Only([&](const KnobValue& value) { return Has(*some, value.Text()); }));
  }
  Sketch narrow = WithDecisions(derived, std::move(decisions));
  for (const Line& line : text.lines) {
    if (*equal == narrow.lines.size() || TextOf(line) != TextOf(narrow.lines[*equal])) {
      return Status::Invalid("{}: the task's sketch `{}` has another step here; rename the sketch to change its steps",
                             line.place, text.name);
    }
    ++*equal;
  }
  if (*equal < narrow.lines.size()) {
    return Status::Invalid("{}: the task's sketch `{}` has more steps: {}", text.place, text.name,
                           TextOf(narrow.lines[*equal]));
  }
  return narrow;
}

}  // namespace hone::sketch
