#include "sketch/sketch.h"

#include <algorithm>
#include <climits>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "base/hash.h"
#include "base/rng.h"
#include "base/text.h"
#include "sketch/gpu_rows.h"
#include "sketch/gpu_stages.h"
#include "sketch/gpu_sums.h"
#include "sketch/rows.h"
#include "sketch/stages.h"
#include "sketch/sums.h"
#include "sketch/transformed.h"
#include "sketch/user_rule.h"
#include "sketch/windows.h"

namespace hone::sketch {
namespace {

constexpr char kSketch[] = "sketch ", kAlgorithm[] = "algorithm ", kDecide[] = "decide ";

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

// Replaces each {name} of a step by value(name), and {a*64} by a product. If it returns an error, sets `column`, from
// 0.
Result<std::string> Filled(const std::string& step,
                           const std::function<Result<std::string>(const std::string& name)>& value, size_t* column) {
  std::string filled;
  size_t done = 0;
  for (size_t open = step.find('{'); open != step.npos; open = step.find('{', done)) {
    const size_t close = step.find('}', open);
    *column = open;
    if (close == step.npos) return Status::Invalid("`{` without `}`");
    const std::vector<std::string> factors = Split(step.substr(open + 1, close - open - 1), '*');
    std::string text;
    int64_t product = 1;
    ++*column;
    for (const std::string& factor : factors) {
      text = factor;
      if (!ParseInt(factor).ok()) {
        HONE_ASSIGN_OR_RETURN(text, value(factor));
      }
      if (factors.size() == 1) break;
      const Result<int64_t> number = ParseInt(text);
      if (!number.ok() || __builtin_mul_overflow(product, *number, &product)) {
        return Status::Invalid("no product of numbers");
      }
      text = std::to_string(product);
    }
    filled += step.substr(done, open - done) + text;
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
    if (StartsWith(line, kAlgorithm)) return ReadAlgorithm(line);
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

  Status ReadAlgorithm(const std::string& line) {
    const bool first = sketch_.decisions.empty() && sketch_.lines.empty() && sketch_.algorithm == Algorithm();
    if (!first) return Wrong(0, "`algorithm` stands once, before decisions and steps");
    const Result<Algorithm> algorithm = Algorithm::Parse(line.substr(sizeof kAlgorithm - 1));
    if (!algorithm.ok()) return Wrong(sizeof kAlgorithm - 1, algorithm.status().message());
    sketch_.algorithm = *algorithm;
    return Status();
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
    size_t begin = 0;
    const size_t colon = text.find(": ");
    if (colon != text.npos && text.find('=') < colon) {
      for (size_t end; begin < colon; begin = end + 1) {
        end = std::min(text.find(' ', begin), colon);
        const std::string condition = text.substr(begin, end - begin);
        const size_t equals = std::min(condition.find('='), condition.size() - 1);
        line.conditions.push_back({condition.substr(0, equals), condition.substr(equals + 1)});
        HONE_RETURN_IF_ERROR(CheckCondition(line.conditions.back(), begin));
      }
      begin = colon + 2;
    }
    line.step = text.substr(begin);
    // With the first value of each decision, it must be a step.
    const auto first = [&](const std::string& name) -> Result<std::string> {
      const search::Knob* knob = Find(sketch_, name);
      if (knob == nullptr) return Status::Invalid(Unknown(name));
      return knob->value(0).Text();
    };
    size_t column = 0;
    const auto filled = Filled(line.step, first, &column);
    if (!filled.ok()) return Wrong(begin + column, filled.status().message());
    if (const auto step = ParseStep(*filled); !step.ok()) return Wrong(begin, step.status().message());
    line.place = fmt::format("{}:{}:{}", place_, number_, begin + 1);
    sketch_.lines.push_back(std::move(line));
    return Status();
  }

  // `column` is that of the condition.
  Status CheckCondition(const Condition& condition, size_t column) const {
    const search::Knob* knob = Find(sketch_, condition.decision);
    if (knob == nullptr) return Wrong(column, Unknown(condition.decision));
    std::vector<std::string> values;
    for (size_t i = 0; i < knob->size(); ++i) values.push_back(knob->value(i).Text());
    if (std::find(values.begin(), values.end(), condition.value) != values.end()) return Status();
    return Wrong(column + condition.decision.size() + 1, "decision `" + condition.decision + "` has no value `" +
                                                             condition.value + "`" +
                                                             SuggestionText(condition.value, values));
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
  if (!(sketch.algorithm == Algorithm())) text += kAlgorithm + sketch.algorithm.Text() + "\n";
  for (const search::Knob& knob : sketch.decisions) {
    text += kDecide + knob.name();
    for (size_t i = 0; i < knob.size(); ++i) text += " " + knob.value(i).Text();
    text += "\n";
  }
  for (const Line& line : sketch.lines) {
    for (const Condition& condition : line.conditions) {
      text += condition.decision + "=" + condition.value + (&condition == &line.conditions.back() ? ": " : " ");
    }
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
  if (!sketch.cores.empty()) space.SetSampler(SampleCores(space, sketch.cores));
  return space;
}

std::vector<const Line*> LinesOf(const Sketch& sketch, const Config& config) {
  std::vector<const Line*> lines;
  for (const Line& line : sketch.lines) {
    const bool counts = std::all_of(line.conditions.begin(), line.conditions.end(),
                                    [&](const Condition& c) { return ValueIn(config, c.decision) == c.value; });
    if (counts) lines.push_back(&line);
  }
  return lines;
}

Result<Step> StepOf(const Line& line, const Config& config) {
  const auto value = [&](const std::string& name) { return Result<std::string>(ValueIn(config, name)); };
  size_t column = 0;
  HONE_ASSIGN_OR_RETURN(const std::string text, Filled(line.step, value, &column));
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
  Sketch decided{.name = sketch.name, .algorithm = sketch.algorithm};
  for (const search::Knob& knob : sketch.decisions) {
    decided.decisions.push_back(Decision(knob.name(), {ValueIn(config, knob.name())}));
  }
  for (const Line* line : LinesOf(sketch, config)) decided.lines.push_back({.step = line->step});
  return decided;
}

Result<Config> BestByEstimate(const Sketch& sketch, const search::Space& space) {
  constexpr PointIndex kAll = 100000;
  constexpr int kRandom = 2000;
  std::optional<PointIndex> best;
  double least = 0;
  const auto consider = [&](PointIndex index) {
    const double cost = sketch.cost ? sketch.cost(space.At(index)).front() : 0;
    const bool better = !best || cost < least || std::isnan(least);
    if (better) best = index, least = cost;
    return better;
  };
  if (space.size() <= kAll) {
    space.ForEach(0, space.size(), [&](PointIndex index, bool legal) {
      if (legal) consider(index);
      return !best || sketch.cost != nullptr;  // without an estimate all are equal
    });
  } else {
    Rng rng(1);
    for (int i = 0; i < kRandom; ++i) {
      const auto index = space.SampleLegal(rng);
      if (!index) break;
      consider(*index);
    }
  }
  if (!best) return Status::Invalid("sketch `{}` has no legal point", sketch.name);
  for (bool better = space.size() > kAll; better;) {
    better = false;
    std::vector<size_t> digits = space.Digits(*best);
    for (size_t k = 0; k < digits.size(); ++k) {
      const size_t kept = digits[k];
      size_t chosen = kept;
      for (digits[k] = 0; digits[k] < space.knobs()[k].size(); ++digits[k]) {
        const PointIndex index = space.IndexOf(digits);
        if (digits[k] != kept && space.Legal(index) && consider(index)) chosen = digits[k], better = true;
      }
      digits[k] = chosen;
    }
  }
  return space.At(*best);
}

// For a rule that does not store constants in another order.
template <auto kDerive>
static std::optional<Sketch> WithoutConstants(const te::Tensor& output, const std::vector<std::string>&,
                                              const Target& target) {
  return kDerive(output, target);
}

static std::vector<DerivationRule>& AllRules() {
  static std::vector<DerivationRule> rules = {
      {.name = "sums", .version = 2, .family = kCpuFamily, .derive = SumTiles, .others = true},
      {"rows", 1, kCpuFamily, WithoutConstants<ReduceRows>},
      {.name = "windows", .version = 1, .family = kCpuFamily, .derive = WindowTiles, .others = true},
      {"stages", 1, kCpuFamily, WithoutConstants<StageNests>},
      {.name = "transformed",
       .version = 1,
       .family = kCpuFamily,
       .derive = TransformedTiles,
       .direct = false,
       .others = true},
      {"gpu_sums", 2, kGpuFamily, GpuSumTiles},
      {"gpu_rows", 2, kGpuFamily, WithoutConstants<GpuRowBlocks>},
      {"gpu_stages", 1, kGpuFamily, WithoutConstants<GpuStageNests>},
  };
  return rules;
}

const std::vector<DerivationRule>& Rules() { return AllRules(); }

void AddRule(DerivationRule rule) { AllRules().push_back(std::move(rule)); }

const DerivationRule* FindRule(std::string_view sketch) {
  const DerivationRule* found = nullptr;
  for (const DerivationRule& rule : Rules()) {
    if (sketch == rule.name) return &rule;  // a user's rule may be called `transformed_mine`
    const bool trial = sketch.find('.') != sketch.npos;  // `transformed_m4.trial7`, of --write-sketch
    if (rule.others && sketch.starts_with(rule.name + "_") && !trial) found = &rule;
  }
  return found;
}

static std::optional<Sketch> Derive(const DerivationRule& rule, const te::Tensor& output,
                                    const std::vector<std::string>& constants, const Target& target,
                                    std::vector<Status>* failures) {
  std::optional<Sketch> sketch;
  if (rule.plugin.empty()) {
    sketch = rule.derive(output, constants, target);
  } else if (auto made = DeriveUser(rule, output, constants, target); made.ok()) {
    sketch = std::move(*made);
  } else if (failures != nullptr) {
    failures->push_back(made.status());
  }
  if (!sketch) return {};
  HONE_CHECK(sketch->name == rule.name);
  sketch->version = rule.version;
  sketch->plugin = !rule.plugin.empty();
  return sketch;
}

static std::vector<Sketch> MakeSketches(bool direct, const std::vector<te::Tensor>& outputs,
                                        const std::vector<std::string>& constants, const Target& target,
                                        std::vector<Status>* failures) {
  std::vector<Sketch> sketches;
  if (outputs.size() != 1) return sketches;
  for (const DerivationRule& rule : Rules()) {
    if (rule.family != target.family() || !(direct ? rule.direct : rule.others)) continue;
    if (auto sketch = Derive(rule, outputs[0], constants, target, failures)) sketches.push_back(std::move(*sketch));
  }
  return sketches;
}

std::vector<Sketch> MakeSketches(const std::vector<te::Tensor>& outputs, const std::vector<std::string>& constants,
                                 const Target& target, std::vector<Status>* failures) {
  return MakeSketches(true, outputs, constants, target, failures);
}

std::vector<Sketch> MakeSketches(const std::vector<te::Tensor>& outputs, const std::vector<std::string>& constants,
                                 const Target& target, const Algorithm& algorithm, const std::string& suffix) {
  std::vector<Sketch> sketches = MakeSketches(false, outputs, constants, target, nullptr);
  for (Sketch& sketch : sketches) sketch.name += "_" + suffix, sketch.algorithm = algorithm;
  return sketches;
}

}  // namespace hone::sketch
