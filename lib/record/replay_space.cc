#include "record/replay_space.h"

#include <algorithm>
#include <map>
#include <memory>

#include "base/check.h"
#include "base/text.h"

namespace hone::record {
namespace {

constexpr int64_t kReplayVersion = 1;

class Parser {
 public:
  Parser(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {}

  Result<ReplaySpace> Run() {
    HONE_ASSIGN_OR_RETURN(const std::string version, Keyed("hone-replay"));
    HONE_ASSIGN_OR_RETURN(const int64_t number, Number(version));
    if (number > kReplayVersion) {
      return Status::Unsupported("{}: version {} of the format, this program reads up to {}", file_, number,
                                 kReplayVersion);
    }
    if (number < 1) return Error("no such version");
    HONE_ASSIGN_OR_RETURN(space_.workload, Keyed("workload"));
    HONE_ASSIGN_OR_RETURN(space_.target, Keyed("target"));
    HONE_ASSIGN_OR_RETURN(space_.machine, Keyed("machine"));
    HONE_RETURN_IF_ERROR(Templates());
    HONE_RETURN_IF_ERROR(Points());
    return std::move(space_);
  }

 private:
  Status Error(const std::string& what) const { return Status::Invalid("{}:{}: {}", file_, line_, what); }

  Status Next() {
    ++line_;
    if (text_.empty()) return Error("the file ends too early: a line `end` is missing");
    const size_t end = text_.find('\n');
    if (end == std::string_view::npos) return Error("the line is cut off");
    current_ = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return Status();
  }

  Result<std::string> Keyed(const std::string& key) {
    HONE_RETURN_IF_ERROR(Next());
    if (!StartsWith(current_, key + " ")) return Error("expected `" + key + " ..`");
    return std::string(current_.substr(key.size() + 1));
  }

  template <typename T>
  Result<T> OrError(Result<T> number, const std::string& word) const {
    if (!number.ok()) return Error("`" + Printable(word) + "` is not a number");
    return number;
  }
  Result<int64_t> Number(const std::string& word) const { return OrError(ParseInt(word), word); }
  Result<PointIndex> Index(const std::string& word) const { return OrError(ParseIndex(word), word); }

  Status Templates() {
    HONE_RETURN_IF_ERROR(Next());
    while (!StartsWith(current_, "points ")) {
      const std::vector<std::string> words = Split(current_, ' ');
      if (words[0] == "template" && words.size() == 4) {
        ReplayTemplate t{.name = words[1]};
        HONE_ASSIGN_OR_RETURN(const int64_t version, Number(words[2]));
        t.version = static_cast<int>(version);
        if (words[3] != "-") {
          HONE_ASSIGN_OR_RETURN(t.default_index, Index(words[3]));
        }
        space_.templates.push_back(std::move(t));
      } else if (words[0] == "knob" && words.size() >= 3 && !space_.templates.empty()) {
        HONE_ASSIGN_OR_RETURN(search::Knob knob, KnobOf(words));
        for (const search::Knob& other : space_.templates.back().knobs) {
          if (other.name() == knob.name()) return Error("a second knob `" + Printable(knob.name()) + "`");
        }
        space_.templates.back().knobs.push_back(std::move(knob));
      } else {
        return Error("expected `template NAME VERSION DEFAULT`, `knob NAME KIND VALUE..` or `points N`");
      }
      HONE_RETURN_IF_ERROR(Next());
    }
    return Status();
  }

  Result<search::Knob> KnobOf(const std::vector<std::string>& words) const {
    const std::vector<std::string> values(words.begin() + 3, words.end());
    if (words[2] == "word") return search::Knob::Words(words[1], values);
    if (words[2] == "annotate") {
      std::vector<std::vector<std::string>> annotations;
      for (const std::string& v : values) annotations.push_back(Split(v, ','));
      return search::Knob::Annotate(words[1], std::move(annotations));
    }
    std::vector<std::vector<int64_t>> numbers;
    for (const std::string& v : values) {
      numbers.emplace_back();
      for (const std::string& part : Split(v, ',')) {
        HONE_ASSIGN_OR_RETURN(numbers.back().emplace_back(), Number(part));
      }
    }
    if (words[2] == "reorder") return search::Knob::Reorder(words[1], std::move(numbers));
    if (words[2] == "split") return search::Knob::SplitOf(words[1], std::move(numbers));
    if (words[2] != "number") return Error("unknown kind of knob `" + Printable(words[2]) + "`");
    std::vector<int64_t> single;
    for (const auto& v : numbers) single.push_back(v[0]);
    return search::Knob::Choice(words[1], single);
  }

  Status Points() {
    HONE_ASSIGN_OR_RETURN(const int64_t count, Number(std::string(current_.substr(7))));
    PointIndex size = 0, index = 0;
    for (const ReplayTemplate& t : space_.templates) {
      PointIndex own = 1;
      bool too_large = false;
      for (const search::Knob& k : t.knobs) too_large |= __builtin_mul_overflow(own, k.size(), &own);
      if (too_large || __builtin_add_overflow(size, own, &size)) return Error("the space is too large");
      if (t.default_index && *t.default_index >= own) return Error("the default of " + t.name + " is not in its space");
    }
    for (int64_t i = 0; i < count; ++i) {
      HONE_RETURN_IF_ERROR(Next());
      const std::vector<std::string> words = Split(current_, ' ');
      if (words.size() != 2 || words[1].empty()) return Error("expected `GAP TIME`");
      HONE_ASSIGN_OR_RETURN(const PointIndex gap, Index(words[0]));
      if (i > 0 && gap == 0) return Error("indices must ascend");
      if (__builtin_add_overflow(index, gap, &index) || index >= size) {
        return Error(fmt::format("index {} is not in the space of {} points", index, size));
      }
      ReplayPoint point{.index = index};
      HONE_RETURN_IF_ERROR(Verdict(words[1], &point));
      space_.points.push_back(point);
    }
    HONE_RETURN_IF_ERROR(Next());
    if (current_ != "end" || !text_.empty()) return Error("expected `end` and nothing after it");
    return Status();
  }

  Status Verdict(const std::string& word, ReplayPoint* point) const {
    if (word[0] == '!') {
      point->state = TrialState::kFailed;
      auto error = ParseTrialError(word.substr(1));
      if (!error.ok()) return Error(error.status().message());
      point->error = *error;
      return Status();
    }
    if (word[0] == '>') point->state = TrialState::kPruned;
    auto time = ParseDouble(std::string_view(word).substr(word[0] == '>' ? 1 : 0));
    if (!time.ok() || !(*time > 0)) return Error("`" + Printable(word) + "` is not a time in microseconds");
    point->median = *time * 1e-6;
    return Status();
  }

  std::string_view text_, current_;
  const std::string file_;
  int64_t line_ = 0;
  ReplaySpace space_;
};

}  // namespace

search::TaskSpace ReplaySpace::MakeSpace() const {
  search::TaskSpace task;
  for (const ReplayTemplate& t : templates) {
    search::Space space(t.name);
    for (const search::Knob& knob : t.knobs) space.Add(knob);
    // Shared, as copying a space copies its rule.
    auto legal = std::make_shared<search::IndexSet>();
    for (const ReplayPoint& p : points) {
      if (p.index >= task.size() && p.index - task.size() < space.size()) legal->insert(p.index - task.size());
    }
    space.AddRule({"replay", [legal](const Config& config) -> std::optional<std::string> {
                     if (legal->count(config.index)) return std::nullopt;
                     return "not among the points that were measured";
                   }});
    task.Add(std::move(space));
  }
  return task;
}

std::vector<PointIndex> ReplaySpace::Defaults() const {
  const search::TaskSpace space = MakeSpace();
  std::vector<PointIndex> defaults;
  for (size_t t = 0; t < templates.size(); ++t) {
    const auto own = templates[t].default_index;
    if (own && Find(space.offset(t) + *own)) defaults.push_back(space.offset(t) + *own);
  }
  return defaults;
}

const ReplayPoint* ReplaySpace::Find(PointIndex index) const {
  const auto at = std::lower_bound(points.begin(), points.end(), index,
                                   [](const ReplayPoint& p, PointIndex i) { return p.index < i; });
  return at != points.end() && at->index == index ? &*at : nullptr;
}

double ReplaySpace::best() const {
  double best = 0;
  for (const ReplayPoint& p : points) {
    if (p.state == TrialState::kOk && (best == 0 || p.median < best)) best = p.median;
  }
  return best;
}

Result<ReplaySpace> ParseReplay(std::string_view text, const std::string& file_name) {
  return Parser(text, file_name).Run();
}

Result<ReplaySpace> MakeReplay(const Meta& meta, const std::string& fingerprint, const search::TaskSpace& space,
                               std::vector<ReplayTemplate> templates, const std::vector<Outcome>& outcomes) {
  HONE_CHECK(templates.size() == space.spaces().size());
  ReplaySpace replay{meta.workload, meta.target, fingerprint, std::move(templates), {}};
  std::map<PointIndex, ReplayPoint> points;
  for (const Outcome& outcome : outcomes) {
    HONE_ASSIGN_OR_RETURN(const PointIndex index, space.IndexOf(outcome.config));
    const bool timed = outcome.state != TrialState::kFailed;
    points.emplace(index, ReplayPoint{index, outcome.state, outcome.error, timed ? outcome.median : 0});
  }
  for (const auto& [index, point] : points) replay.points.push_back(point);
  return replay;
}

}  // namespace hone::record
