#include "command/plan/why.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/file.h"
#include "base/file_time.h"
#include "base/text.h"
#include "command/plan/ninja_view.h"
#include "command/plan/plan_log.h"
#include "command/plan/tune_edge.h"

namespace hone::command {
namespace {

using pipeline::DirtyKind;
using pipeline::Explanation;
using pipeline::NinjaBuild;

constexpr size_t kNames = 3;  // of a group that are listed

class Why {
 public:
  Why(const std::string& work, const NinjaView& view) : work_(work), view_(view) {}

  std::string Text(const std::string& target) {
    std::string text = fmt::format("{} is out of date: {} edge{} may run.\n", target, view_.dirty.size(),
                                   view_.dirty.size() == 1 ? "" : "s");
    // One line for all edges of a kind with the same reason.
    std::vector<std::pair<std::string, std::vector<std::string>>> groups;  // "tune\nREASON" -> names
    std::map<std::string, size_t> index;
    std::vector<std::string> behind;
    int64_t trials = 0;
    bool extracts = false;
    for (const DirtyEdge& edge : view_.dirty) {
      const std::string reason = Reason(edge);
      if (edge.build->rule == "extract") extracts = true;
      if (edge.build->rule == "tune")
        trials += pipeline::NewTrials(ReadStamp(work_, *edge.build), ReadTuneInputs(work_, *edge.build));
      if (reason.empty()) {
        behind.push_back(EdgeName(*edge.build));
        continue;
      }
      const auto [found, added] = index.emplace(edge.build->rule + "\n" + reason, groups.size());
      if (added) groups.push_back({reason, {}});
      groups[found->second].second.push_back(EdgeName(*edge.build));
    }
    for (const auto& [reason, names] : groups) text += fmt::format("  {}: {}\n", Names(names), reason);
    if (!behind.empty()) {
      text += fmt::format("  then, if their inputs change: {}\n", Names(behind, 8));
    }
    if (extracts) {
      text +=
          "  Networks must be extracted before tuning is known: run `ninja build.ninja`, then this command again.\n";
    } else {
      text += trials > 0 ? fmt::format("  At most {} new trials in all.\n", FormatCount(trials))
                         : std::string("  No new trials: the recorded ones are enough.\n");
    }
    return text;
  }

 private:
  static std::string Names(const std::vector<std::string>& names, size_t most = kNames) {
    std::string text;
    for (size_t i = 0; i < names.size() && i < most; ++i) text += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > most) text += fmt::format(" and {} more", names.size() - most);
    return text;
  }

  // Empty: no reason of its own.
  std::string Reason(const DirtyEdge& edge) const {
    std::vector<std::string> parts;
    for (const Explanation& e : edge.reasons) {
      std::string part = Words(*edge.build, e);
      if (std::find(parts.begin(), parts.end(), part) == parts.end()) parts.push_back(std::move(part));
    }
    // Ninja looks no further when an input is out of date; a job's own inputs may have changed besides.
    if (parts.empty() && edge.build->rule == "tune" && Exists(JoinPath(work_, edge.build->outputs[0]))) {
      parts = StampWords(*edge.build);
    }
    return Join(parts, "; ");
  }

  std::string Words(const NinjaBuild& build, const Explanation& e) const {
    const bool tune = build.rule == "tune";
    switch (e.kind) {
      case DirtyKind::kMissing:
        if (!tune || e.output != build.outputs[0]) return fmt::format("{} is not there", e.output);
        if (!Exists(JoinPath(work_, Binding(build, "db")))) return "never tuned";
        if (e.output.find(".winograd-") != std::string::npos || EndsWith(e.output, ".tf32.done")) {
          return "not tuned yet under these numerics";
        }
        return "its stamp is missing; its records exist";
      case DirtyKind::kCommand:
        if (tune) {
          const auto words = StampWords(build);
          return words.empty() ? "its command changed (options outside its settings file)" : Join(words, "; ");
        }
        return "its command changed (numerics, memory, parameters, shapes)";
      case DirtyKind::kUnlogged:
        return "it is not in Ninja's log (the log was deleted, or another program made the file)";
      case DirtyKind::kNewer:
        break;
    }
    if (tune) {
      const auto words = StampWords(build);
      if (!words.empty()) return Join(words, "; ");
      return fmt::format("{} was written again, with nothing changed that its stamp tells of", e.input);
    }
    const auto changes = PlanChangesSince(work_, e.input, ModifiedSeconds(JoinPath(work_, e.output)));
    if (!changes.empty()) return fmt::format("{}: {}", e.input, Join(changes, ", "));
    if (StartsWith(e.input, "stamps/")) return fmt::format("tuned since ({})", e.input);
    return fmt::format("{} has changed", e.input);
  }

  std::vector<std::string> StampWords(const NinjaBuild& build) const {
    const pipeline::TuneInputs now = ReadTuneInputs(work_, build);
    std::vector<std::string> words = pipeline::StampChanges(ReadStamp(work_, build), now);
    if (words.empty()) return words;
    return {Join(words, ", ")};
  }

  const std::string& work_;
  const NinjaView& view_;
};

}  // namespace

Result<std::string> WhyText(const std::string& work, const std::string& target) {
  HONE_ASSIGN_OR_RETURN(const NinjaView view, LookAtWork(work, {target}));
  if (view.dirty.empty()) return target + " is up to date.\n";
  return Why(work, view).Text(target);
}

}  // namespace hone::command
