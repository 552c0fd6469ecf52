#include "sketch/sketch.h"

#include <algorithm>
#include <climits>
#include <optional>
#include <set>
#include <utility>

#include "base/hash.h"
#include "base/text.h"
#include "sketch/sums.h"

namespace hone::sketch {
namespace {

constexpr char kSketch[] = "sketch ", kDecide[] = "decide ";

const search::Knob* Find(const Sketch& sketch, const std::string& decision) {
  for (const search::Knob& knob : sketch.decisions) {
    if (knob.name() == decision) return &knob;
  }
  return nullptr;
}

// The text of a decision's value in `config`.
std::string ValueIn(const Config& config, const std::string& decision) {
  for (const KnobValue& value : config.values) {
    if (value.name == decision) return value.Text();
  }
  return "";
}

search::Knob Decision(const std::string& name, const std::vector<std::string>& values) {
  std::vector<int64_t> numbers;
  for (const std::string& value : values) {
    const auto number = ParseInt(value);
    if (number.ok() && std::to_string(*number) == value) numbers.push_back(*number);
  }
  return numbers.size() == values.size() ? search::Knob::Choice(name, numbers) : search::Knob::Words(name, values);
}

// Calls replace(name, column) for each {name} of a step, and returns the step with what it returns in their places.
// Columns count from 0.
Result<std::string> Filled(const std::string& step,
                           const std::function<Result<std::string>(const std::string& name, size_t column)>& replace) {
  std::string filled;
  size_t done = 0;
  for (size_t open = step.find('{'); open != step.npos; open = step.find('{', done)) {
    const size_t close = step.find('}', open);
    if (close == step.npos) return Status::Invalid("{}: `{{` without `}}`", open + 1);
    HONE_ASSIGN_OR_RETURN(const std::string value, replace(step.substr(open + 1, close - open - 1), open));
    filled += step.substr(done, open - done) + value;
    done = close + 1;
  }
  return filled + step.substr(done);
}

class Parser {
 public:
  explicit Parser(const std::string& place) : place_(place) {}

  Status Read(const std::string& line) {
    ++number_;
    if (PrintableLines(line) != line) return Wrong(0, "has characters that cannot be printed");
    if (Trim(line).empty() || line[0] == '#') return Status();
    if (sketch_.name.empty()) return ReadName(line);
    if (StartsWith(line, kDecide)) return ReadDecision(line);
    return ReadStep(line);
  }

  Result<Sketch> Take() {
    if (sketch_.name.empty()) return Status::Invalid("{}: no line `sketch NAME`", place_);
    if (sketch_.lines.empty()) return Status::Invalid("{}: sketch `{}` has no step", place_, sketch_.name);
    sketch_.version = static_cast<int>(Digest128(SketchText(sketch_)).lo % INT_MAX) + 1;
    return std::move(sketch_);
  }

 private:
  Status Wrong(size_t column, const std::string& why) const {
    return Status::Invalid("{}:{}:{}: {}", place_, number_, column + 1, why);
  }

  Status ReadName(const std::string& line) {
    sketch_.name = StartsWith(line, kSketch) ? Trim(line.substr(sizeof kSketch - 1)) : "";
    sketch_.place = fmt::format("{}:{}:1", place_, number_);
    return IsPlainName(sketch_.name) ? Status() : Wrong(0, "expected `sketch NAME` before all else");
  }

  Status ReadDecision(const std::string& line) {
    if (!sketch_.lines.empty()) return Wrong(0, "decisions stand before the steps");
    const std::vector<std::string> words = SplitWords(line);
    if (words.size() < 3) return Wrong(line.size(), "expected `decide NAME VALUE..`");
    const std::string& name = words[1];
    const size_t column = line.find(name, sizeof kDecide - 1);
    if (!IsPlainName(name)) return Wrong(column, "`" + name + "` cannot be the name of a decision");
    if (Find(sketch_, name) != nullptr) return Wrong(column, "decision `" + name + "` is there twice");
    const std::vector<std::string> values(words.begin() + 2, words.end());
    if (std::set<std::string>(values.begin(), values.end()).size() < values.size()) {
      return Wrong(column, "decision `" + name + "` has a value twice");
    }
    constexpr uint64_t kMost = uint64_t{1} << 63;
    if (combinations_ > kMost / values.size()) return Wrong(column, "the decisions have more than 2^63 combinations");
    combinations_ *= values.size();
    sketch_.decisions.push_back(Decision(name, values));
    return Status();
  }

  Status ReadStep(const std::string& text) {
    Line line;
    line.step = text;
    size_t begin = 0;
    const size_t colon = text.find(": "), equals = text.find('=');
    if (colon != text.npos && equals < colon) {
      line.decision = text.substr(0, equals);
      line.value = text.substr(equals + 1, colon - equals - 1);
      begin = colon + 2;
      line.step = text.substr(begin);
      HONE_RETURN_IF_ERROR(CheckCondition(line, equals));
    }
    // With the first value of each decision, it must be a step.
    const auto filled = Filled(line.step, [&](const std::string& name, size_t column) -> Result<std::string> {
      const search::Knob* knob = Find(sketch_, name);
      if (knob == nullptr) return Status::Invalid("{}: {}", begin + column + 2, Unknown(name));
      return knob->value(0).Text();
    });
    if (!filled.ok()) return Status::Invalid("{}:{}:{}", place_, number_, filled.status().message());
    if (const auto step = ParseStep(*filled); !step.ok()) return Wrong(begin, step.status().message());
    line.place = fmt::format("{}:{}:{}", place_, number_, begin + 1);
    sketch_.lines.push_back(std::move(line));
    return Status();
  }

  Status CheckCondition(const Line& line, size_t equals) const {
    const search::Knob* knob = Find(sketch_, line.decision);
    if (knob == nullptr) return Wrong(0, Unknown(line.decision));
    for (size_t i = 0; i < knob->size(); ++i) {
      if (knob->value(i).Text() == line.value) return Status();
    }
    return Wrong(equals + 1, "decision `" + line.decision + "` has no value `" + line.value + "`");
  }

  std::string Unknown(const std::string& name) const {
    std::vector<std::string> names;
    for (const search::Knob& knob : sketch_.decisions) names.push_back(knob.name());
    return "no decision `" + name + "`" + SuggestionText(name, names);
  }

  std::string place_;
  size_t number_ = 0;
  uint64_t combinations_ = 1;
  Sketch sketch_;
};

}  // namespace

std::string SketchText(const Sketch& sketch) {
  std::string text = kSketch + sketch.name + "\n";
  for (const search::Knob& knob : sketch.decisions) {
    text += kDecide + knob.name();
    for (size_t i = 0; i < knob.size(); ++i) text += " " + knob.value(i).Text();
    text += "\n";
  }
  for (const Line& line : sketch.lines) {
    if (!line.decision.empty()) text += line.decision + "=" + line.value + ": ";
    text += line.step + "\n";
  }
  return text;
}

Result<Sketch> ParseSketch(const std::string& text, const std::string& place) {
  Parser parser(place);
  for (std::string line : Split(text, '\n')) {
    if (EndsWith(line, "\r")) line.pop_back();
    HONE_RETURN_IF_ERROR(parser.Read(line));
  }
  return parser.Take();
}

search::Space SpaceOf(const Sketch& sketch) {
  search::Space space(sketch.name);
  for (const search::Knob& knob : sketch.decisions) space.Add(knob);
  for (const search::Rule& rule : sketch.rules) space.AddRule(rule);
  return space;
}

std::vector<const Line*> LinesOf(const Sketch& sketch, const Config& config) {
  std::vector<const Line*> lines;
  for (const Line& line : sketch.lines) {
    if (line.decision.empty() || ValueIn(config, line.decision) == line.value) lines.push_back(&line);
  }
  return lines;
}

Result<Step> StepOf(const Line& line, const Config& config) {
  HONE_ASSIGN_OR_RETURN(const std::string text, Filled(line.step, [&](const std::string& name, size_t) {
                          return Result<std::string>(ValueIn(config, name));
                        }));
  return ParseStep(text);
}

Result<std::vector<Step>> StepsOf(const Sketch& sketch, const Config& config) {
  std::vector<Step> steps;
  for (const Line* line : LinesOf(sketch, config)) {
    HONE_ASSIGN_OR_RETURN(Step step, StepOf(*line, config));
    steps.push_back(std::move(step));
  }
  return steps;
}

Sketch Decided(const Sketch& sketch, const Config& config) {
  Sketch decided{.name = sketch.name};
  for (const search::Knob& knob : sketch.decisions) {
    decided.decisions.push_back(Decision(knob.name(), {ValueIn(config, knob.name())}));
  }
  for (const Line* line : LinesOf(sketch, config)) decided.lines.push_back({.step = line->step});
  return decided;
}

Result<Config> BestByEstimate(const Sketch& sketch, const search::Space& space) {
  constexpr PointIndex kMost = 100000;
  std::optional<PointIndex> best;
  double least = 0;
  space.ForEach(0, std::min<PointIndex>(space.size(), kMost), [&](PointIndex index, bool legal) {
    if (!legal) return true;
    const double cost = sketch.cost ? sketch.cost(space.At(index)).front() : 0;
    if (!best || cost < least) best = index, least = cost;
    return sketch.cost != nullptr;  // else all are equal
  });
  if (!best) return Status::Invalid("sketch `{}` has no legal point", sketch.name);
  return space.At(*best);
}

const std::vector<DerivationRule>& Rules() {
  static const std::vector<DerivationRule> rules = {
      {"sums", 1, kCpuFamily, SumTiles},
  };
  return rules;
}

std::vector<Sketch> MakeSketches(const std::vector<te::Tensor>& outputs, const Target& target) {
  std::vector<Sketch> sketches;
  if (outputs.size() != 1) return sketches;
  for (const DerivationRule& rule : Rules()) {
    if (rule.family != target.family()) continue;
    std::optional<Sketch> sketch = rule.derive(outputs[0], target);
    if (!sketch) continue;
    HONE_CHECK(sketch->name == rule.name);
    sketch->version = rule.version;
    sketches.push_back(std::move(*sketch));
  }
  return sketches;
}

}  // namespace hone::sketch
