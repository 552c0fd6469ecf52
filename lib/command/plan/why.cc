#include <map>
#include <set>
#include <vector>

#include "base/counted.h"
#include "base/file.h"
#include "base/text.h"
#include "command/plan/ninja_view.h"
#include "pipeline/stamp_files.h"
#include "pipeline/task_list.h"

namespace hone::command {
namespace {

using pipeline::NinjaBuild;

constexpr size_t kNames = 3;  // names to list per group

class Why {
 public:
  Why(const std::string& work, const NinjaView& view) : work_(work), view_(view) {
    for (const DirtyEdge& edge : view.dirty) dirty_.insert(edge.build);
  }

  std::string Text(const std::string& target) {
    std::string text = fmt::format("{} is out of date: {} may run.\n", target,
                                   Counted(static_cast<int64_t>(view_.dirty.size()), "edge"));
    // One line for all edges of a kind with the same reason.
    std::vector<std::pair<std::string, std::vector<std::string>>> groups;  // "tune\nREASON" -> names
    std::map<std::string, size_t> index;
    std::vector<std::string> behind;
    int64_t trials = 0;
    double seconds = 0;
    bool extracts = false, failed = false;
    for (const DirtyEdge& edge : view_.dirty) {
      const std::string reason = Reason(*edge.build);
      if (edge.build->rule == "extract") extracts = true;
      if (edge.build->rule == "cannot_extract") failed = true;
      if (edge.build->rule == "tune") {
        const std::string stamp = ReadStamp(work_, *edge.build);
        const pipeline::TuneInputs inputs = ReadTuneInputs(work_, *edge.build);
        trials += pipeline::NewTrials(stamp, inputs);
        seconds += pipeline::NewSeconds(stamp, inputs);
      }
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
    } else if (failed && trials == 0) {
      text += "  The tasks of a network that cannot be extracted are not known.\n";
    } else {
      if (trials > 0) text += fmt::format("  At most {} new trials in all.\n", FormatCount(trials));
      if (seconds > 0) text += fmt::format("  At most {} of tuning in all.\n", FormatSeconds(seconds));
      if (trials == 0 && seconds == 0) text += "  No new trials: the recorded ones are enough.\n";
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

  // Empty if only its inputs are out of date.
  std::string Reason(const NinjaBuild& build) const {
    if (build.rule == "cannot_extract") {
      const auto list = pipeline::ReadTaskList(JoinPath(work_, build.Binding("tasks")));
      return list.ok() ? list->failure : list.status().message();
    }
    const bool tune = build.rule == "tune", made = IsThere(build.outputs[0]);
    if (tune && made) {
      const auto changes = pipeline::StampChanges(ReadStamp(work_, build), ReadTuneInputs(work_, build));
      if (!changes.empty()) return Join(changes, ", ");
    }
    const auto logged = view_.logged.find(build.outputs[0]);
    const bool is_logged = logged != view_.logged.end();
    std::vector<std::string> changed;
    bool behind = false;
    for (const auto* inputs : {&build.inputs, &build.implicit_inputs}) {
      for (const std::string& input : *inputs) {
        behind = behind || dirty_.count(view_.Maker(input)) > 0;
        const bool newer = is_logged && ModifiedSeconds(JoinPath(work_, input)) > logged->second.read;
        if (made && newer) changed.push_back(input);
      }
    }
    if (!changed.empty()) return Changed(changed, tune);
    if (behind) return "";
    if (tune && !made) return WithoutStamp(build);
    for (const auto* paths : {&build.outputs, &build.implicit_outputs, &build.inputs, &build.implicit_inputs}) {
      for (const std::string& path : *paths) {
        if (!IsThere(path)) return path + " is not there";
      }
    }
    return is_logged ? "its command changed (numerics, memory, parameters, shapes)"
                     : "it is not in Ninja's log (the log was deleted, or another program made the file)";
  }

  std::string WithoutStamp(const NinjaBuild& build) const {
    const std::string& stamp = build.outputs[0];
    if (!IsThere(build.Binding("db"))) return "never tuned";
    if (pipeline::IsOfOtherNumerics(stamp)) return "not tuned yet under these numerics";
    return "its stamp is missing; its records exist";
  }

  static std::string Changed(const std::vector<std::string>& inputs, bool tune) {
    if (tune) {
      return fmt::format("{} {} written again, with nothing changed that its stamp tells of", Names(inputs),
                         inputs.size() == 1 ? "was" : "were");
    }
    if (StartsWith(inputs[0], "stamps/")) return fmt::format("tuned since ({})", Names(inputs));
    return fmt::format("{} changed", Names(inputs));
  }

  bool IsThere(const std::string& path) const { return Exists(JoinPath(work_, path)); }

  const std::string& work_;
  const NinjaView& view_;
  std::set<const NinjaBuild*> dirty_;
};

}  // namespace

std::string WhyText(const std::string& work, const std::string& target, const NinjaView& view) {
  if (view.dirty.empty()) return target + " is up to date.\n";
  return Why(work, view).Text(target);
}

}  // namespace hone::command
