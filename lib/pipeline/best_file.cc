#include "pipeline/best_file.h"

#include <algorithm>

#include "base/fields.h"
#include "base/text.h"
#include "task/workload.h"

namespace hone {

static void ListFields(Fields* f, Candidate* c) {
  f->Value("algorithm", &c->algorithm);
  f->As(
      "steps", &c->steps,
      [](const std::vector<Step>& steps) {
        std::vector<std::string> lines;
        for (const Step& step : steps) lines.push_back(StepText(step));
        return lines;
      },
      [](const std::vector<std::string>& lines) { return ParseSteps(Join(lines, "\n")); });
}

}  // namespace hone

namespace hone::pipeline {

constexpr int64_t kBestFileVersion = 4;
const ChoiceNames<BestSource> kSources = {
    {BestSource::kTuned, "tuned"}, {BestSource::kAnchor, "anchor"}, {BestSource::kDefault, "default"}};

static void ListConfig(Fields* f, Config* config, Measured* m) {
  f->As("config", config, ConfigJson, ConfigFromJson);
  f->Value("steps_digest", &m->steps_digest);
  f->Maybe("candidate", &m->candidate);
  f->Maybe("artifact_digest", &m->artifact_digest, !m->artifact_digest.empty());
}

static void ListFields(Fields* f, Finalist* x) {
  ListConfig(f, &x->config, x);
  f->Value("median", &x->median).Above(0);
  HONE_VALUES(f, x->trial, x->host, x->recorded);
  f->Maybe("in_network", &x->in_network, x->in_network > 0).Above(0);
}

static void ListFields(Fields* f, BestEntry* e) {
  HONE_VALUES(f, e->id, e->workload);
  f->Choice("source", &e->source, kSources);
  if (f->reading() ? e->source == BestSource::kDefault : !e->config) return;
  if (f->reading()) e->config.emplace();
  ListConfig(f, &*e->config, e);
  f->Maybe("median", &e->median, e->median > 0).Above(0);
  if (!(e->median > 0)) return;
  HONE_VALUES(f, e->fingerprint, e->from, e->trial, e->host, e->recorded);
  f->Maybe("finalists", &e->finalists, !e->finalists.empty());
}

static void ListFields(Fields* f, ComparedChoice* c) {
  f->Value("what", &c->what);
  f->Value("with_seconds", &c->with_seconds).Above(0);
  f->Value("without_seconds", &c->without_seconds).Above(0);
  HONE_VALUES(f, c->runs, c->kept);
}

static void ListFields(Fields* f, InNetwork* n) {
  f->Value("key", &n->key);
  f->Choice("kept", &n->kept, {{true, "confirmed"}, {false, "alone"}});
  f->Value("alone_seconds", &n->alone_seconds).Above(0);
  f->Value("confirmed_seconds", &n->confirmed_seconds).Above(0);
  f->Value("runs", &n->runs);
  f->Maybe("compared", &n->compared);
  HONE_VALUES(f, n->host, n->recorded);
}

static void ListFields(Fields* f, PartitionFigures* p) {
  f->Value("alone_seconds", &p->alone_seconds).Above(0);
  f->Value("chosen_seconds", &p->chosen_seconds).Above(0);
  HONE_VALUES(f, p->taken, p->exact);
}

static void ListFields(Fields* f, BestFile* best) {
  f->Version(kBestFileVersion);
  HONE_VALUES(f, best->network, best->target);
  f->List("tasks", &best->tasks, [best](Fields* item, BestEntry* entry) {
    ListFields(item, entry);
    if (best->Find(entry->id) != entry) item->Fail("id", fmt::format("'{}' is listed twice", entry->id));
  });
  f->Maybe("alternatives", &best->alternatives);
  f->MaybeObject("share", [best](Fields* s) { HONE_VALUES(s, best->share.slices, best->share.in_place); });
  f->Maybe("partition", &best->partition);
  f->Maybe("in_network", &best->in_network);
}

const char* BestSourceName(BestSource source) { return ChoiceName(kSources, source); }

const BestEntry* BestFile::Find(std::string_view id) const {
  const auto found = std::ranges::find(tasks, id, &BestEntry::id);
  return found == tasks.end() ? nullptr : &*found;
}

void BestEntry::Choose(const Finalist& finalist) {
  Measured::operator=(finalist);
  config = finalist.config;
}

std::string BestFileText(const BestFile& best) { return FieldsText(best); }

std::string ChoiceText(const BestFile& best, const std::set<std::string>* built) {
  BestFile choice{best.network, best.target, {}, std::nullopt, best.alternatives, best.share};
  for (const BestEntry& e : best.tasks) {
    if (built != nullptr && built->count(e.id) == 0) continue;
    choice.tasks.push_back(e);
    choice.tasks.back().median = 0;  // no other figure is written without it
  }
  return BestFileText(choice);
}

Result<BestFile> ParseBestFile(std::string_view text, const std::string& path) {
  return ParseFields<BestFile>(text, path);
}

Result<BestFile> ReadBestFile(const std::string& path) { return ReadFields<BestFile>(path); }

Status CheckTaskIds(const BestFile& best) {
  for (const BestEntry& entry : best.tasks) {
    const auto workload = Workload::Parse(entry.workload);
    const std::string id = workload.ok() ? TaskId(*workload, best.target) : "none";
    if (entry.id == id) continue;
    return Status::Invalid(
        "the entry of task {} is of another one: `{}` on this target is {}; run hone-pick-best again",
        Printable(entry.id), Printable(entry.workload), id);
  }
  return Status();
}

}  // namespace hone::pipeline
