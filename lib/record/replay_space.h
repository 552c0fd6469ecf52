// A fully measured space in one small text file: everything that tuners need to search it again without the device, the
// operator or the compiler that it was measured with. doc/internals/search.md says how such files are made; only tests
// write them (tests/common/replay_text.h).
//
// Format, version 1: lines of words separated by one space, in this order, each line ended by a newline.
//   hone-replay 1
//   workload TEXT                 canonical text of the workload (the rest of the line)
//   target TEXT                   canonical text of the target
//   machine TEXT                  the fingerprint that the times belong to
//   template NAME VERSION DEFAULT a template; DEFAULT: its default point as an index of its own space, or -
//   knob NAME KIND VALUE..        a knob of the template above, first knob first. KIND: `number`, `word`, `split`,
//                                 `reorder`, `annotate`; the parts of one value (not of number, word) joined by commas
//   points N                      then N lines, one per legal point, ascending: GAP TIME
//                                 GAP: index minus that of the previous line (in the first line: the index); TIME: for
//                                 an ok point its median in microseconds, for a pruned one `>` and its lower bound, for
//                                 a failed one `!` and the kind of error
//   end
// Indices run through the templates in order, first knob least significant (search/space). Points that are not listed
// are not legal.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "record/store.h"
#include "search/space/space.h"
#include "task/outcome.h"

namespace hone::record {

struct ReplayTemplate {
  std::string name;
  int version = 1;
  std::vector<search::Knob> knobs;
  std::optional<PointIndex> default_index;  // in its own space
};

struct ReplayPoint {
  PointIndex index = 0;
  TrialState state = TrialState::kOk;
  TrialError error = TrialError::kNone;
  double median = 0;  // seconds; a lower bound for a pruned point, 0 for a failed one
};

struct ReplaySpace {
  std::string workload, target, machine;
  std::vector<ReplayTemplate> templates;
  std::vector<ReplayPoint> points;  // ascending by index

  // The union of the templates' spaces, in which the points are legal. Holds no reference to this object.
  search::TaskSpace MakeSpace() const;
  // The templates' default points, in the order of the templates, as indices of the union.
  std::vector<PointIndex> Defaults() const;
  const ReplayPoint* Find(PointIndex index) const;  // null if not legal
  double best() const;                              // seconds; 0 if no point is ok
};

// Returns kInvalid with "FILE:LINE: what"; kUnsupported for a newer version.
Result<ReplaySpace> ParseReplay(std::string_view text, const std::string& file_name);

// The trials of one fingerprint as a replay space. `templates` (including knobs) and `space` describe the same union;
// if a point was tried more than once, the first verdict counts. Returns kInvalid if a trial is not in this space.
Result<ReplaySpace> MakeReplay(const Meta& meta, const std::string& fingerprint, const search::TaskSpace& space,
                               std::vector<ReplayTemplate> templates, const std::vector<Outcome>& outcomes);

}  // namespace hone::record
