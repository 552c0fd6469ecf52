// Writes replay files (record/replay_space.h); tools only read them.
#pragma once

#include <fmt/format.h>

#include <string>

#include "base/text.h"
#include "record/replay_space.h"

namespace hone::record {

inline const char* KindName(const search::Knob& knob) {
  constexpr const char* kNames[] = {"split", "reorder", "annotate"};  // by KnobKind
  if (knob.kind() != KnobKind::kOther) return kNames[static_cast<size_t>(knob.kind())];
  return knob.size() > 0 && !knob.value(0).words.empty() ? "word" : "number";
}

inline std::string ReplayText(const ReplaySpace& space) {
  std::string text = fmt::format("hone-replay 1\nworkload {}\ntarget {}\nmachine {}\n", space.workload, space.target,
                                 Printable(space.machine));
  for (const ReplayTemplate& t : space.templates) {
    text += fmt::format("template {} {} {}\n", t.name, t.version,
                        t.default_index ? fmt::format("{}", *t.default_index) : "-");
    for (const search::Knob& knob : t.knobs) {
      text += fmt::format("knob {} {}", knob.name(), KindName(knob));
      for (size_t i = 0; i < knob.size(); ++i) text += " " + knob.value(i).Text();
      text += "\n";
    }
  }
  text += fmt::format("points {}\n", space.points.size());
  PointIndex before = 0;
  for (const ReplayPoint& p : space.points) {
    const char* mark = p.state == TrialState::kPruned ? ">" : "";
    text += p.state == TrialState::kFailed
                ? fmt::format("{} !{}\n", p.index - before, TrialErrorName(p.error))
                : fmt::format("{} {}{}\n", p.index - before, mark,
                              FormatDouble(std::stod(fmt::format("{:.5g}", p.median * 1e6))));
    before = p.index;
  }
  return text + "end\n";
}

}  // namespace hone::record
