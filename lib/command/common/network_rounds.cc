#include "command/common/network_rounds.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "pipeline/stamp_files.h"

namespace hone::command {
namespace {

using pipeline::SearchState;
using pipeline::ShareTask;
using report::RoundFact;

constexpr size_t kIdWidth = 24, kNameWidth = 41;

// Splits the text between `begin` and the next `end` of build.ninja into words: long statements have several lines.
// Returns an empty list if `begin` is missing.
std::vector<std::string> Between(std::string_view manifest, const std::string& begin, std::string_view end) {
  const size_t found = manifest.find(begin);
  if (found == manifest.npos) return {};
  const size_t first = found + begin.size();
  return SplitWords(std::string(manifest.substr(first, manifest.find(end, first) - first)));
}

// Finds the total that pays for `job`, from the edge that reads the job's stamps: stamps of rounds are in a folder with
// the name of the job that has the total. Leaves the settings at their defaults, and the name empty without a total.
Total TotalOf(std::string_view manifest, const std::string& job) {
  Total total;
  for (const std::string& word : Between(manifest, "\nbuild " + pipeline::TunedPath(job) + ":", "\n  job = ")) {
    const std::string folder = BaseName(DirName(word));
    const size_t ending = folder.rfind(".r");
    if (!StartsWith(word, "stamps/") || ending == folder.npos || !ParseInt(folder.substr(ending + 2)).ok()) continue;
    total.job = folder.substr(0, ending);
    break;
  }
  if (total.job.empty()) return total;
  constexpr std::string_view kEnding = ".tune.json";
  const std::string round = "settings/" + pipeline::RoundName(total.job, 1) + "/";
  for (const std::string& word : Between(manifest, "\nbuild " + round, " allocate ")) {
    const std::string name = BaseName(word);
    const size_t end = name.find(kEnding);
    if (end != name.npos) total.tasks.insert(name.substr(0, end));
  }
  return total;
}

// The settings file of the edge that shares the first round of a total; "" without one.
std::string SettingsOf(std::string_view manifest, const std::string& total) {
  const size_t edge = manifest.find("\nbuild settings/" + pipeline::RoundName(total, 1) + "/");
  if (edge == manifest.npos) return "";
  const std::vector<std::string> words = Between(manifest.substr(edge), "\n  settings = ", "\n");
  return words.empty() ? "" : words[0];
}

// "3.1 %, trial 41": how much the last improvement gained, and when.
std::string LastGain(const SearchState& search) {
  const auto& steps = search.improvements;
  if (steps.size() < 2) return "-";
  const double gain = 1 - steps.back().seconds / steps[steps.size() - 2].seconds;
  return fmt::format("{:.1f} %, trial {}", 100 * gain, steps.back().trials);
}

std::string Spent(const NetworkRounds& network) {
  const RoundFact& now = network.history.back();
  const pipeline::TuneSettings& settings = network.total.settings;
  const bool by_time = settings.seconds_total > 0;
  const std::string shared = network.total.job == network.job ? "" : " (the total of " + network.total.job + ")";
  const std::string trials = FormatCount(now.trials), seconds = fmt::format("{:.0f}", now.seconds);
  return by_time ? fmt::format("{} of {:.0f} s, {} trials{}", seconds, settings.seconds_total, trials, shared)
                 : fmt::format("{} of {} trials, {} s of compiling and measuring{}", trials,
                               FormatCount(settings.trials_total), seconds, shared);
}

}  // namespace

// Reads the stamps of a round for the tasks that `own` lacks. A task without a stamp keeps its state.
static Status ReadOthers(const std::string& folder, const std::set<std::string>& own, const Total& total,
                         std::map<std::string, SearchState>* others) {
  for (const std::string& task : total.tasks) {
    const std::string path = pipeline::RoundStampPath(folder, task);
    if (own.count(task) > 0 || !Exists(path)) continue;
    HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    HONE_ASSIGN_OR_RETURN((*others)[task], pipeline::ParseStamp(text, path, total.settings.seconds_total > 0));
  }
  return Status();
}

Result<NetworkRounds> ReadRounds(const std::string& stamps, const std::string& job, const Total& total,
                                 const pipeline::TaskList& list, int64_t rounds) {
  NetworkRounds network{.job = job, .total = total, .tasks = list.tasks};
  const bool by_time = total.settings.seconds_total > 0;
  for (const pipeline::TaskEntry& task : list.tasks) {
    network.state.push_back({task.weight, task.flop, task.optional, {}});
  }
  std::set<std::string> own;
  for (const pipeline::TaskEntry& task : list.tasks) own.insert(task.id);
  std::map<std::string, SearchState> others;  // of networks with the same total
  for (int64_t round = 1; round <= rounds; ++round) {
    RoundFact fact{.round = round};
    bool begun = false;
    const auto spend = [&](const SearchState& search) {
      fact.trials += search.trials;
      fact.seconds += by_time ? search.spent : search.trial_seconds;
    };
    const std::string folder = JoinPath(stamps, pipeline::RoundName(total.job, static_cast<int>(round)));
    for (size_t i = 0; i < list.tasks.size(); ++i) {
      SearchState& search = network.state[i].search;
      const std::string path = pipeline::RoundStampPath(folder, list.tasks[i].id);
      if (Exists(path)) {
        HONE_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
        HONE_ASSIGN_OR_RETURN(search, pipeline::ParseStamp(text, path, by_time));
        begun = true;
      } else {
        fact.whole = false;
      }
      spend(search);
    }
    if (!begun) break;
    HONE_RETURN_IF_ERROR(ReadOthers(folder, own, total, &others));
    for (const auto& [task, search] : others) spend(search);
    fact.estimated = pipeline::EstimatedTotal(network.state, &fact.unknown);
    network.history.push_back(fact);
  }
  return network;
}

Result<std::optional<NetworkRounds>> FindRounds(const std::string& work, const std::string& job,
                                                const pipeline::TaskList& list) {
  const std::string path = JoinPath(work, "build.ninja");
  if (!Exists(path)) return std::optional<NetworkRounds>();
  HONE_ASSIGN_OR_RETURN(const std::string manifest, ReadFile(path));
  Total total = TotalOf(manifest, job);
  const std::string file = SettingsOf(manifest, total.job);
  if (file.empty() || !Exists(JoinPath(work, file))) return std::optional<NetworkRounds>();
  HONE_ASSIGN_OR_RETURN(total.settings, pipeline::ReadTuneSettings(JoinPath(work, file)));
  if (!total.settings.HasTotal()) return std::optional<NetworkRounds>();
  HONE_ASSIGN_OR_RETURN(NetworkRounds network,
                        ReadRounds(JoinPath(work, "stamps"), job, total, list, total.settings.rounds));
  return std::optional(std::move(network));
}

void AddRunning(size_t task, int64_t trials, double seconds, NetworkRounds* network) {
  SearchState& search = network->state[task].search;
  if (network->history.empty() || trials <= search.trials) return;
  if (RoundFact now = network->history.back(); now.whole && now.round < network->total.settings.rounds) {
    ++now.round, now.whole = false;
    network->history.push_back(now);
  }
  RoundFact& now = network->history.back();
  now.trials += trials - search.trials;
  search.trials = trials;
  if (seconds > 0 && (search.seconds == 0 || seconds < search.seconds)) {
    search.improvements.push_back({trials, seconds});
    search.seconds = seconds;
  }
  now.estimated = pipeline::EstimatedTotal(network->state, &now.unknown);
}

double Left(const NetworkRounds& network) {
  const RoundFact& now = network.history.back();
  if (now.whole && now.round == network.total.settings.rounds) return 0;
  const bool by_time = network.total.settings.seconds_total > 0;
  return std::max(0.0, by_time ? network.total.settings.seconds_total - now.seconds
                               : static_cast<double>(network.total.settings.trials_total - now.trials));
}

std::string RoundsText(const NetworkRounds& network, const std::vector<double>& next) {
  if (network.history.empty()) return "";
  std::vector<size_t> order(network.tasks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto share = [&](size_t i) {
    const ShareTask& task = network.state[i];
    return task.optional ? -1 : static_cast<double>(task.uses) * task.search.seconds;
  };
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return share(a) > share(b); });
  std::string text = fmt::format("{:<{}}  {:<{}}  {:>4}  {:>7}  {:>7}  {:>6}  last gain\n", network.job, kIdWidth,
                                 "name", kNameWidth, "uses", "time", "GFLOP/s", "trials");
  for (const size_t i : order) {
    const ShareTask& task = network.state[i];
    const SearchState& search = task.search;
    const bool known = search.seconds > 0;
    const std::string name = report::ShortWorkload(network.tasks[i].workload);
    text += fmt::format("{:<{}}  {:<{}}  {:>4}  {:>7}  {:>7}  {:>6}  {}\n", CutMiddle(network.tasks[i].id, kIdWidth),
                        kIdWidth, Printable(CutMiddle(name, kNameWidth)), kNameWidth,
                        task.optional ? "alt" : std::to_string(task.uses), known ? FormatSeconds(search.seconds) : "-",
                        known ? fmt::format("{:.1f}", 1e-9 * static_cast<double>(task.flop) / search.seconds) : "-",
                        FormatCount(search.trials), known || search.trials == 0 ? LastGain(search) : "nothing correct");
  }
  const RoundFact& now = network.history.back();
  text += "estimated total: " + report::RoundsText(network.history);
  text += "\n" + Spent(network);
  if (now.whole && now.round == network.total.settings.rounds) return text + "; all rounds are done\n";
  text += fmt::format("; next: round {} of {}", now.round + now.whole, network.total.settings.rounds);
  if (next.empty()) return text + "\n";
  double more = 0;
  int64_t served = 0;
  for (size_t i = 0; i < next.size(); ++i) {
    const double own = next[i] - network.state[i].search.spent;
    if (own > 0 && next[i] > network.state[i].search.given) more += own, ++served;
  }
  return text + fmt::format(", {:.0f} {} for {} of {} tasks\n", more,
                            network.total.settings.seconds_total > 0 ? "seconds" : "trials", served, next.size());
}

}  // namespace hone::command
