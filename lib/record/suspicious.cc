#include "record/suspicious.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace hone::record {
namespace {

constexpr int64_t kLargeShare = 3;  // suspicious from one in so many trials on

// Replaces words with digits by `#`.
std::string WithoutNumbers(const std::string& text) {
  std::string result, word;
  const auto end_word = [&] {
    const bool number = std::ranges::any_of(word, [](unsigned char c) { return std::isdigit(c) != 0; });
    result += number ? "#" : word;
    word.clear();
  };
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.') {
      word += c;
      continue;
    }
    end_word();
    result += c;
  }
  end_word();
  return result;
}

// Failures that are alike.
class Group {
 public:
  void Add(const Trial& trial, double since) {
    if (found_.failures == 0) {
      found_ = {.first = trial.ordinal, .error = trial.outcome.error, .text = trial.outcome.error_text, .since = since};
    }
    found_.last = trial.ordinal;
    ++found_.failures;
    sessions_.insert(trial.session);
  }
  const Suspicion& found() const { return found_; }
  const std::set<int64_t>& sessions() const { return sessions_; }
  bool Many() const { return found_.failures >= kSuspiciousFailures; }

 private:
  Suspicion found_;
  std::set<int64_t> sessions_;
};

}  // namespace

Result<std::vector<Suspicion>> FindSuspicious(const Store& store) {
  HONE_ASSIGN_OR_RETURN(const std::vector<Session> sessions, store.Sessions());
  HONE_ASSIGN_OR_RETURN(const std::vector<Trial> trials, store.AllTrials());
  std::map<int64_t, const Session*> by_id;
  for (const Session& session : sessions) by_id[session.id] = &session;

  std::set<std::tuple<std::string, TrialError, std::string>> verdicts;  // on an artifact, on a machine
  using Alike = std::tuple<TrialError, std::string>;                    // error and text
  std::map<std::pair<int64_t, Alike>, Group> spread;                    // by session
  std::map<int64_t, int64_t> tried;                                     // by session
  std::vector<std::pair<Alike, Group>> rows;
  std::string row_machine;
  bool in_row = false;
  for (const Trial& trial : trials) {
    const Outcome& outcome = trial.outcome;
    if (outcome.error == TrialError::kInvalid) continue;
    ++tried[trial.session];
    if (outcome.state != TrialState::kFailed) {
      in_row = false;
      continue;
    }
    const auto session = by_id.find(trial.session);
    const double since = session == by_id.end() ? 0 : session->second->started;
    const std::string machine = session == by_id.end() ? "" : session->second->fingerprint;
    // FindForgettable takes or leaves copies of a verdict together with the first one. Failures of the device are not
    // copied.
    const std::string& artifact = outcome.artifact_digest;
    const bool verdict = !artifact.empty() && outcome.error != TrialError::kDevice;
    if (verdict && !verdicts.emplace(machine, outcome.error, artifact).second) continue;
    const Alike alike{outcome.error, WithoutNumbers(outcome.error_text)};
    if (!in_row || rows.back().first != alike || row_machine != machine) rows.emplace_back(alike, Group());
    in_row = true;
    row_machine = machine;
    rows.back().second.Add(trial, since);
    const TrialError error = outcome.error;
    const bool fills = error == TrialError::kCompile || error == TrialError::kCrash || error == TrialError::kDevice;
    if (fills) spread[{trial.session, alike}].Add(trial, since);
  }

  std::vector<Suspicion> found;
  std::set<std::pair<int64_t, Alike>> sessions_found;
  for (const auto& [key, group] : spread) {
    const int64_t all = tried[key.first];
    if (!group.Many() || group.found().failures * kLargeShare <= all) continue;
    found.push_back(group.found());
    found.back().tried = all;
    sessions_found.insert(key);
  }
  for (const auto& [alike, group] : rows) {
    const bool reported = std::ranges::all_of(group.sessions(), [&, &alike = alike](int64_t session) {
      return sessions_found.contains({session, alike});
    });
    if (group.Many() && !reported) found.push_back(group.found());
  }
  std::ranges::stable_sort(found, {}, &Suspicion::first);
  return found;
}

}  // namespace hone::record
