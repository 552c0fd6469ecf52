#include "session/progress.h"

#include <unistd.h>

#include <algorithm>

#include "base/counted.h"
#include "base/cpu.h"
#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "pipeline/settings.h"

namespace hone::session {
namespace {

constexpr double kFileSeconds = 0.5;
constexpr double kLineSeconds = 0.1;
constexpr double kLogSeconds = 60;

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
    auto kind = std::ranges::find(kinds, name, &Kind::name);
    if (kind == kinds.end()) kind = kinds.insert(kind, {name, 0, &outcome});
    ++kind->count;
  }
  return kinds;
}

}  // namespace

Progress::Progress(ProgressOptions options, int64_t first_count, Clock* clock)
    : options_(std::move(options)),
      clock_(clock),
      started_(clock->NowSeconds()),
      first_count_(first_count),
      last_file_(started_ - kFileSeconds),
      last_line_(started_ - kLineSeconds),
      last_log_(started_) {}

Progress::~Progress() { ShowLiveLine(""); }

std::string Progress::Line(const History& history, double peak_flops, bool ended) const {
  const bool by_time = options_.budget.trials >= pipeline::kMostTrials;
  std::string line = by_time ? Counted(history.count(), "trial")
                             : fmt::format("{}/{} trials", history.count(), options_.budget.trials);
  const double elapsed = clock_->NowSeconds() - started_;
  const int64_t done = history.count() - first_count_;
  // Earlier sessions tell more than the first moments of this one, which go into starting.
  const double spent = elapsed + (first_count_ > 0 ? history.past_seconds() : 0);
  const int64_t trials = first_count_ > 0 ? history.count() : done;
  const int64_t left = options_.budget.trials - history.count();
  if (!ended && left > 0 && trials > 0 && spent > 0) {
    const double seconds = by_time ? options_.budget.seconds - history.past_seconds() - elapsed
                                   : static_cast<double>(left) * spent / static_cast<double>(trials);
    if (seconds > 0) line += fmt::format(", {} left", FormatSeconds(seconds));
  }
  if (const auto best = history.best()) {
    const double seconds = history.best_seconds();
    line += fmt::format(", best {} (trial {})", FormatSeconds(seconds), history.ordinal(*best));
    if (options_.flop > 0) line += ", " + FormatSi(options_.flop / seconds, "FLOP/s");
    if (options_.flop > 0 && peak_flops > 0) {
      line += fmt::format(", {:.0f} % of peak", 100 * options_.flop / seconds / peak_flops);
    }
  } else {
    line += ", nothing correct yet";
  }
  if (done > 0 && elapsed > 0) line += fmt::format(", {:.1f}/s", static_cast<double>(done) / elapsed);
  return line;
}

Status Progress::Write(const History& history, double peak_flops, const std::string& state) {
  Json json = {{"version", 1},
               {"task", options_.task},
               {"workload", options_.workload},
               {"state", state},
               {"host", Hostname()},
               {"pid", getpid()},
               {"updated", FormatIso8601(clock_->WallSeconds())},
               {"trials", history.count()},
               {"budget", options_.budget.trials},
               {"budget_seconds", options_.budget.seconds},
               {"elapsed_seconds", clock_->NowSeconds() - started_},
               {"tuning_seconds", history.past_seconds() + tuning_seconds_}};
  if (const auto best = history.best()) {
    json["best"] = {{"trial", history.ordinal(*best)}, {"seconds", history.best_seconds()}};
    if (options_.flop > 0) json["best"]["flops"] = options_.flop / history.best_seconds();
  }
  if (peak_flops > 0) json["peak_flops"] = peak_flops;
  return WriteFileAtomic(options_.path, DumpJson(json));
}

Status Progress::Update(const History& history, double peak_flops, bool force) {
  const double now = clock_->NowSeconds();
  tuning_seconds_ = now - started_;
  if (force || now - last_line_ >= kLineSeconds) {
    last_line_ = now;
    if (IsTerminal(2)) ShowLiveLine(options_.task + ": " + Line(history, peak_flops));
  }
  if (!IsTerminal(2) && now - last_log_ >= kLogSeconds) {
    last_log_ = now;
    LogInfo(options_.task + ": " + Line(history, peak_flops));
  }
  if (!force && now - last_file_ < kFileSeconds) return Status();
  last_file_ = now;
  return Write(history, peak_flops, "running");
}

Status Progress::Finish(const History& history, double peak_flops, const std::string& state) {
  ShowLiveLine("");
  return Write(history, peak_flops, state);
}

std::string CountText(const std::vector<Outcome>& outcomes) {
  std::vector<std::string> parts;
  for (const Kind& kind : Kinds(outcomes)) parts.push_back(fmt::format("{} {}", kind.count, kind.name));
  int64_t marked = 0, retaken = 0;
  for (const Outcome& outcome : outcomes) {
    marked += outcome.disturbed > 0;
    retaken += outcome.retaken;
  }
  if (retaken > 0) parts.push_back(Counted(retaken, "run") + " repeated because other programs used the machine");
  if (marked > 0) parts.push_back(Counted(marked, "trial") + " marked as disturbed");
  return parts.empty() ? "no trials" : Join(parts, ", ");
}

std::string FailureSummary(const std::vector<Outcome>& outcomes, const std::string& command) {
  std::string text = fmt::format("no trial of {} was correct:", outcomes.size());
  const Outcome* example = nullptr;
  for (const Kind& kind : Kinds(outcomes)) {
    if (example == nullptr && kind.first->config.index <= UINT64_MAX) example = kind.first;
    text += fmt::format("\n  {} x {}, first: {}", kind.count, kind.name,
                        Printable(kind.first->error_text.empty() ? kind.first->config.Text() : kind.first->error_text));
  }
  if (example != nullptr) text += fmt::format("\nto try one alone: {} {}", command, example->config.IndexText());
  return text;
}

}  // namespace hone::session
