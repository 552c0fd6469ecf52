#include "session/replay_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/statistics.h"

namespace hone::session {
namespace {

constexpr size_t kMarks[] = {4, 8, 16, 32, 64, 128};
constexpr double kGoal = 0.95;

}  // namespace

std::string ReplayTableHead(int64_t trials, const std::string& first_column) {
  std::string head = "| " + first_column, line = "| ---";
  for (const char* what : {"median", "worst"}) {
    for (const size_t mark : kMarks) {
      if (static_cast<int64_t>(mark) > trials) continue;
      head += fmt::format(" | {} {}", what, mark);
      line += " | ---";
    }
  }
  return head + " | to 95 % | to 95 %, 3 of 4 | ms a trial |\n" + line + " | --- | --- | --- |\n";
}

std::string ReplayTableRow(const std::string& label, const std::vector<ReplayRun>& runs, int64_t trials) {
  std::string row = "| " + label;
  for (const double q : {0.5, 0.0}) {
    for (const size_t mark : kMarks) {
      if (static_cast<int64_t>(mark) > trials) continue;
      std::vector<double> shares;
      for (const ReplayRun& run : runs) {
        if (!run.share.empty()) shares.push_back(run.share[std::min(mark, run.share.size()) - 1]);
      }
      row += fmt::format(" | {:.1f}", 100 * QuantileNearest(shares, q));
    }
  }
  std::vector<double> to;
  double seconds = 0, count = 0;
  for (const ReplayRun& run : runs) {
    to.push_back(static_cast<double>(TrialsTo(run, kGoal)));
    seconds += run.tuner_seconds;
    count += static_cast<double>(run.tried.size());
  }
  return row + fmt::format(" | {:.0f} | {:.0f} | {:.2f} |\n", QuantileNearest(to, 0.5), QuantileNearest(to, 0.75),
                           1e3 * seconds / std::max(count, 1.0));
}

Result<std::vector<ReplayRun>> ReplaySeeds(const record::ReplaySpace& replay, const search::TaskSpace& space,
                                           ReplayOptions options, int64_t seeds) {
  std::vector<ReplayRun> runs;
  for (int64_t seed = 1; seed <= seeds; ++seed) {
    options.seed = static_cast<uint64_t>(seed);
    HONE_ASSIGN_OR_RETURN(ReplayRun run, Replay(replay, space, options));
    runs.push_back(std::move(run));
  }
  return runs;
}

}  // namespace hone::session
