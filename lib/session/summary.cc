#include "session/summary.h"

#include <fmt/format.h>

#include "base/text.h"

namespace hone::session {
namespace {

struct Kind {
  std::string name;
  int64_t count = 0;
  const Outcome* first = nullptr;
};

std::vector<Kind> Kinds(const std::vector<Outcome>& outcomes) {
  std::vector<Kind> kinds;
  for (const Outcome& outcome : outcomes) {
    const bool failed = outcome.state == TrialState::kFailed;
    const std::string name = failed ? TrialErrorName(outcome.error) : TrialStateName(outcome.state);
    Kind* kind = nullptr;
    for (Kind& k : kinds) {
      if (k.name == name) kind = &k;
    }
    if (kind == nullptr) kind = &kinds.emplace_back(Kind{name, 0, &outcome});
    ++kind->count;
  }
  return kinds;
}

}  // namespace

std::string CountText(const std::vector<Outcome>& outcomes) {
  std::vector<std::string> parts;
  for (const Kind& kind : Kinds(outcomes)) parts.push_back(fmt::format("{} {}", kind.count, kind.name));
  int64_t marked = 0, retaken = 0;
  for (const Outcome& outcome : outcomes) {
    marked += outcome.disturbed > 0;
    retaken += outcome.retaken;
  }
  if (retaken > 0) parts.push_back(fmt::format("{} runs repeated because other programs used the machine", retaken));
  if (marked > 0) parts.push_back(fmt::format("{} trials marked as disturbed", marked));
  return parts.empty() ? "no trials" : Join(parts, ", ");
}

std::string FailureSummary(const std::vector<Outcome>& outcomes, const std::string& command) {
  std::string text = fmt::format("no trial of {} was correct:", outcomes.size());
  const Outcome* example = nullptr;
  for (const Kind& kind : Kinds(outcomes)) {
    if (example == nullptr) example = kind.first;
    text += fmt::format("\n  {} x {}, first: {}", kind.count, kind.name,
                        Printable(kind.first->error_text.empty() ? kind.first->config.Text() : kind.first->error_text));
  }
  if (example != nullptr) text += fmt::format("\nto try one alone: {} {}", command, example->config.index);
  return text;
}

}  // namespace hone::session
