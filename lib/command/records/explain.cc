#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "base/counted.h"
#include "base/file.h"
#include "base/json.h"
#include "base/statistics.h"
#include "base/text.h"
#include "base/version.h"
#include "command/common/tool.h"
#include "command/records/records.h"
#include "pipeline/best_file.h"
#include "record/store.h"
#include "report/report_data.h"

namespace hone::command {
namespace {

using pipeline::BestEntry;
using pipeline::BestSource;
using record::Trial;

constexpr size_t kRivals = 3;

// A measured choice or one of its rivals.
struct Candidate {
  int64_t trial = 0;
  Config config;
  double median = 0, in_network = 0;
  std::optional<Interval> interval;  // 95 %, of the median
};

// The trials of a template or sketch on this machine.
struct Brought {
  int64_t trials = 0, correct = 0;
  double median = 0;  // of the fastest correct one; 0 without one
};

struct Explanation {
  const BestEntry* entry = nullptr;
  std::optional<Candidate> chosen;
  std::vector<Candidate> rivals;           // the fastest first
  std::optional<record::Session> session;  // the session that measured it
  int64_t trials = 0, correct = 0;         // on this machine
  std::map<std::string, Brought> brought;  // by the template or sketch
  std::string note;                        // why the records have no more
};

bool InDoubt(const Candidate& chosen, const Candidate& rival) {
  return chosen.interval && rival.interval && rival.interval->low <= chosen.interval->high;
}

const char* Why(BestSource source) {
  switch (source) {
    case BestSource::kTuned:
      return "the fastest of its own records";
    case BestSource::kAnchor:
      return "no records of its own: the fastest of the same computation with another epilogue";
    case BestSource::kDefault:
      break;
  }
  return "no records with a correct trial: the template's default schedule";
}

std::string RecordsFolder(const ExplainOptions& options) {
  if (!options.records.empty()) return options.records;
  std::string job = BaseName(options.best);
  for (const char* suffix : {".json", ".confirmed", ".choice"}) {
    if (EndsWith(job, suffix)) job.resize(job.size() - std::string(suffix).size());
  }
  const size_t dot = job.rfind('.');
  const std::string target = dot == std::string::npos ? job : job.substr(dot + 1);
  return JoinPath(JoinPath(DirName(options.best), "../records"), target);
}

Candidate Of(const Trial& trial, const std::vector<Trial>& trials) {
  Candidate c{trial.ordinal, trial.outcome.config, trial.outcome.median, 0, std::nullopt};
  // If another trial with the same machine code was timed, this one was not: use the samples of the first.
  for (const Trial& t : trials) {
    const bool same = t.ordinal == trial.ordinal || (!t.outcome.artifact_digest.empty() &&
                                                     t.outcome.artifact_digest == trial.outcome.artifact_digest);
    if (!same || t.outcome.samples.empty()) continue;
    c.interval = MedianInterval(t.LastRound(), 0.95);
    break;
  }
  return c;
}

// From the records, as far as they exist and still have the trial.
Status ReadRecords(const std::string& folder, Explanation* out) {
  const BestEntry& entry = *out->entry;
  const std::string path = JoinPath(folder, entry.from + ".db");
  HONE_ASSIGN_OR_RETURN(const std::unique_ptr<record::Store> store, record::Store::OpenForReading(path));
  HONE_ASSIGN_OR_RETURN(const std::vector<Trial> trials, store->Trials());
  HONE_ASSIGN_OR_RETURN(const std::vector<record::Session> sessions, store->Sessions());
  std::set<int64_t> here;  // sessions on the machine
  for (const record::Session& s : sessions) {
    if (s.fingerprint == entry.fingerprint || entry.fingerprint.empty()) here.insert(s.id);
  }
  const auto chosen = std::find_if(trials.begin(), trials.end(), [&](const Trial& t) {
    return t.ordinal == entry.trial && here.count(t.session) > 0 &&
           t.outcome.config.ValueDigest() == entry.config->ValueDigest();
  });
  if (chosen == trials.end()) {
    out->note = fmt::format("{} no longer has this trial", path);
    return Status();
  }
  for (const record::Session& s : sessions) {
    if (s.id == chosen->session) out->session = s;
  }
  const double in_network = out->chosen->in_network;
  out->chosen = Of(*chosen, trials);
  out->chosen->in_network = in_network;
  std::vector<const Trial*> others;
  for (const Trial& t : trials) {
    if (here.count(t.session) == 0) continue;
    ++out->trials;
    Brought& brought = out->brought[t.outcome.config.template_name];
    ++brought.trials;
    if (t.outcome.state != TrialState::kOk) continue;
    ++out->correct;
    ++brought.correct;
    if (brought.correct == 1 || t.outcome.median < brought.median) brought.median = t.outcome.median;
    others.push_back(&t);
  }
  std::ranges::stable_sort(others, {}, [](const Trial* trial) { return trial->outcome.median; });
  std::set<std::string> artifacts = {chosen->outcome.artifact_digest};
  std::vector<Candidate> rivals;
  for (const Trial* t : others) {
    if (t->ordinal == chosen->ordinal || rivals.size() == kRivals) continue;
    const std::string& artifact = t->outcome.artifact_digest;
    if (!artifact.empty() && !artifacts.insert(artifact).second) continue;
    rivals.push_back(Of(*t, trials));
    for (const pipeline::Finalist& f : entry.finalists) {
      if (f.trial == t->ordinal) rivals.back().in_network = f.in_network;
    }
  }
  out->rivals = std::move(rivals);
  return Status();
}

Explanation Explain(const BestEntry& entry, const std::string& folder) {
  Explanation e{.entry = &entry};
  if (!entry.config) return e;
  e.chosen = Candidate{entry.trial, *entry.config, entry.median, 0, std::nullopt};
  for (const pipeline::Finalist& f : entry.finalists) {
    if (f.trial == entry.trial) {
      e.chosen->in_network = f.in_network;
    } else {
      e.rivals.push_back({f.trial, f.config, f.median, f.in_network, std::nullopt});
    }
  }
  if (entry.from.empty()) return e;  // a choice file has no figures
  const Status read = ReadRecords(folder, &e);
  if (!read.ok()) e.note = "only what the best file knows: " + read.message();
  return e;
}

Json CandidateJson(const Candidate& c) {
  Json json = {{"trial", c.trial}, {"config", c.config.Text()}, {"median_seconds", c.median}};
  if (c.interval) json["interval_seconds"] = {c.interval->low, c.interval->high};
  if (c.in_network > 0) json["in_network_seconds"] = c.in_network;
  return json;
}

Json TaskJson(const Explanation& e) {
  const BestEntry& entry = *e.entry;
  Json json = {{"task", entry.id},
               {"workload", entry.workload},
               {"source", pipeline::BestSourceName(entry.source)},
               {"why", Why(entry.source)}};
  if (e.chosen) json["chosen"] = CandidateJson(*e.chosen);
  const record::Session session = e.session.value_or(record::Session());
  for (const auto& [key, value] :
       {std::pair("from", &entry.from), std::pair("host", &entry.host), std::pair("recorded", &entry.recorded),
        std::pair("fingerprint", &entry.fingerprint), std::pair("device", &session.device),
        std::pair("tool", &session.tool_version), std::pair("codegen", &session.codegen_version),
        std::pair("protocol", &session.protocol_version), std::pair("note", &e.note)}) {
    if (!value->empty()) json[key] = *value;
  }
  if (e.trials > 0) json["trials"] = e.trials, json["correct"] = e.correct;
  for (const auto& [name, brought] : e.brought) {
    json["proposers"][name] = {{"trials", brought.trials}, {"correct", brought.correct}};
    if (brought.correct > 0) json["proposers"][name]["median_seconds"] = brought.median;
  }
  Json rivals = Json::array();
  for (const Candidate& rival : e.rivals) {
    rivals.push_back(CandidateJson(rival));
    if (e.chosen->median > 0) rivals.back()["slower_by"] = rival.median / e.chosen->median - 1;
    rivals.back()["in_doubt"] = InDoubt(*e.chosen, rival);
  }
  json["rivals"] = std::move(rivals);
  return json;
}

Json FileJson(const pipeline::BestFile& best, const std::vector<Explanation>& tasks) {
  Json json = {{"version", 1}, {"network", best.network}, {"target", best.target}, {"tasks", Json::array()}};
  for (const Explanation& e : tasks) json["tasks"].push_back(TaskJson(e));
  const Json file = Json::parse(pipeline::BestFileText(best));
  for (const char* key : {"alternatives", "share", "partition", "in_network"}) {
    if (file.contains(key)) json[key] = file[key];
  }
  if (best.in_network) {
    json["in_network"].erase("key");
    json["in_network"]["kept"] = best.in_network->kept;
  }
  return json;
}

std::string TimeText(const Candidate& c) {
  std::string text = c.median > 0 ? FormatSeconds(c.median) : "not timed";
  if (c.interval) {
    text += fmt::format(" (95 %: {} to {})", FormatSeconds(c.interval->low), FormatSeconds(c.interval->high));
  }
  if (c.in_network > 0) text += fmt::format(", {} in the network", FormatSeconds(c.in_network));
  return text;
}

std::string TaskText(const Explanation& e) {
  const BestEntry& entry = *e.entry;
  std::string text = fmt::format("\n{}  {}\n  {}\n", entry.id, entry.workload, Why(entry.source));
  if (!e.chosen) return text;
  text += fmt::format("  {}\n  {}; trial {}{}", e.chosen->config.Text(), TimeText(*e.chosen), entry.trial,
                      entry.from == entry.id || entry.from.empty() ? "" : " of task " + entry.from);
  if (e.trials > 0) text += fmt::format(" of {} on this machine, {} of them correct and timed in full", e.trials, e.correct);
  text += "\n";
  if (e.brought.size() > 1) {
    std::vector<std::string> parts;
    for (const auto& [name, brought] : e.brought) {
      parts.push_back(fmt::format("{} {}, {}", name, Counted(brought.trials, "trial"),
                                  brought.correct > 0 ? "best " + FormatSeconds(brought.median) : "none timed in full"));
    }
    text += "  proposed by: " + Join(parts, "; ") + "\n";
  }
  if (!entry.host.empty()) {
    text += fmt::format("  measured on {} in the session of {}, fingerprint {}\n", entry.host, entry.recorded,
                        entry.fingerprint);
  }
  if (e.session && !e.session->tool_version.empty()) {
    const record::Session& s = *e.session;
    text += fmt::format("  by hone-tune {}, code generator {}, measuring protocol {}{}\n", s.tool_version,
                        s.codegen_version, s.protocol_version,
                        s.tool_version == kVersion ? "" : fmt::format("; this is Hone {}", kVersion));
  }
  if (!e.note.empty()) text += "  " + e.note + "\n";
  for (const Candidate& rival : e.rivals) {
    const double by = e.chosen->median > 0 ? 100 * (rival.median / e.chosen->median - 1) : 0;
    text += fmt::format("  rival: trial {}, {}, {:.1f} % {}{}: {}\n", rival.trial, TimeText(rival), std::abs(by),
                        by < 0 ? "faster alone" : "slower", InDoubt(*e.chosen, rival) ? ", in doubt" : "",
                        rival.config.Text());
  }
  if (e.rivals.empty()) text += "  no rival: no other kernel was correct and timed\n";
  return text;
}

std::string NetworkText(const pipeline::BestFile& best) {
  std::string text = "\n";
  for (const pipeline::Alternative& a : best.alternatives) {
    std::vector<std::string> by;
    for (const pipeline::AlternativeNode& node : a.by) by.push_back(node.workload);
    text += fmt::format("alternative: {} by {}\n", Join(a.replaces, ", "), Join(by, ", "));
  }
  if (best.alternatives.empty()) text += "no alternatives: every node is one kernel\n";
  if (best.partition) {
    text += fmt::format("  by times alone {}, {} instead of {}{}\n", Counted(best.partition->taken, "place"),
                        FormatSeconds(best.partition->chosen_seconds), FormatSeconds(best.partition->alone_seconds),
                        best.partition->exact ? "" : " (not all combinations were tried)");
  }
  text += fmt::format("shared memory: concatenations {}, sums {}\n", best.share.slices ? "written in place" : "copied",
                      best.share.in_place ? "over their residual" : "in separate memory");
  if (!best.in_network) return text;
  const pipeline::InNetwork& n = *best.in_network;
  text += fmt::format("in the network: {} with the best alone, {} with the best there; {} ({} runs each, {}, {})\n",
                      FormatSeconds(n.alone_seconds), FormatSeconds(n.confirmed_seconds),
                      n.kept ? "the latter is built" : "the former is built", n.runs, n.host, n.recorded);
  for (const pipeline::ComparedChoice& c : n.compared) {
    text += fmt::format("  {}: {} with, {} without: {}\n", report::ChoiceText(c.what), FormatSeconds(c.with_seconds),
                        FormatSeconds(c.without_seconds),
                        report::VerdictText(c.with_seconds, c.without_seconds, c.kept));
  }
  return text;
}

Status Run(const ExplainOptions& options) {
  HONE_ASSIGN_OR_RETURN(const pipeline::BestFile best, pipeline::ReadBestFile(options.best));
  const std::string folder = RecordsFolder(options);
  std::vector<Explanation> tasks;
  for (const BestEntry& entry : best.tasks) tasks.push_back(Explain(entry, folder));
  std::string text;
  if (options.json) {
    text = DumpJson(FileJson(best, tasks));
  } else {
    text = fmt::format("{} on {}\n", best.network, best.target);
    for (const Explanation& e : tasks) text += TaskText(e);
    text = PrintableLines(text + NetworkText(best));
  }
  return WriteOut(text);
}

}  // namespace

int ExplainBest(const ExplainOptions& options) { return ExitCodeOf(Run(options)); }

}  // namespace hone::command
