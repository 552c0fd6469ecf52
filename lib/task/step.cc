#include "task/step.h"

#include <fmt/format.h>

#include <string_view>

#include "base/text.h"

namespace hone {
namespace {

// The parts of a step's text after its kind and stage.
enum class Part {
  kAxis,      // one word into axes
  kAxes,      // one or more words into axes
  kFactors,   // [n,n,..] into values
  kValue,     // one integer into values
  kMaybe,     // one integer into values, optional
  kArgument,  // one word into argument
  kResult,    // "->" and one word into results
  kResults,   // "->" and two or more words into results
};

struct Form {
  StepKind kind;
  const char* word;
  std::vector<Part> parts;
  const char* usage;
};

const std::vector<Form>& Forms() {
  using enum StepKind;
  using enum Part;
  static const std::vector<Form> forms = {
      {kSplit, "split", {kAxis, kFactors, kResults}, "split S axis [f1,f2,..] -> outer mid.. inner"},
      {kFuse, "fuse", {kAxes, kResult}, "fuse S a b .. -> fused"},
      {kReorder, "reorder", {kAxes}, "reorder S a b .."},
      {kVectorize, "vectorize", {kAxis}, "vectorize S axis"},
      {kUnroll, "unroll", {kAxis}, "unroll S axis"},
      {kParallel, "parallel", {kAxis}, "parallel S axis"},
      {kBind, "bind", {kAxis, kArgument}, "bind S axis thread"},
      {kComputeAt, "compute_at", {kArgument, kAxis}, "compute_at S consumer axis"},
      {kComputeRoot, "compute_root", {}, "compute_root S"},
      {kInline, "inline", {}, "inline S"},
      {kCacheRead, "cache_read", {kArgument, kAxes, kResult}, "cache_read T scope readers.. -> name"},
      {kCacheWrite, "cache_write", {kArgument, kResult}, "cache_write S scope -> name"},
      {kRelayout, "relayout", {kAxes, kResult}, "relayout T d0/16 d1 d0%16 .. -> name"},
      {kRfactor, "rfactor", {kAxis, kResult}, "rfactor S axis -> name"},
      {kSetScope, "set_scope", {kArgument}, "set_scope S scope"},
      {kStorageAlign, "storage_align", {kAxis, kValue, kValue}, "storage_align S axis factor offset"},
      {kDoubleBuffer, "double_buffer", {}, "double_buffer S"},
      {kPrefetch, "prefetch", {kAxis, kAxis, kValue, kMaybe}, "prefetch S T axis distance level"},
      {kTensorize, "tensorize", {kAxis, kArgument}, "tensorize S axis intrinsic"},
      {kPragma, "pragma", {kAxis, kArgument, kValue}, "pragma S axis key value"},
  };
  return forms;
}

const Form& FormOf(StepKind kind) { return Forms()[static_cast<size_t>(kind)]; }

// Reads one step's words from the front.
class StepReader {
 public:
  StepReader(const std::string& line, std::vector<std::string> words) : line_(line), words_(std::move(words)) {}

  Result<Step> Read() {
    if (words_.empty()) return Status::Invalid("empty step; expected a line such as `split S axis [4] -> outer inner`");
    const Form* form = nullptr;
    std::vector<std::string> known;
    for (const Form& f : Forms()) {
      known.push_back(f.word);
      if (words_[0] == f.word) form = &f;
    }
    if (!form) {
      return Status::Invalid("unknown step `{}` in `{}`{}", words_[0], line_, SuggestionText(words_[0], known));
    }
    next_ = 1;
    Step step;
    step.kind = form->kind;
    if (!TakeName(&step.stage)) return Bad(*form, "no stage");
    for (Part part : form->parts) {
      if (const char* problem = ReadPart(part, &step)) return Bad(*form, problem);
    }
    if (next_ < words_.size()) return Bad(*form, "more words than it takes");
    if (step.kind == StepKind::kSplit && step.results.size() != step.values.size() + 1) {
      return Bad(*form, "needs one more result than factors");
    }
    return step;
  }

 private:
  Status Bad(const Form& form, const char* problem) const {
    return Status::Invalid("step `{}`: {}; expected `{}`", line_, problem, form.usage);
  }

  bool TakeName(std::string* name) {
    if (next_ >= words_.size() || words_[next_] == "->" || words_[next_][0] == '[') return false;
    *name = words_[next_++];
    return true;
  }

  // Null on success, else the error.
  const char* ReadPart(Part part, Step* step) {
    std::string word;
    switch (part) {
      case Part::kAxis:
        if (!TakeName(&word)) return "a name is missing";
        step->axes.push_back(word);
        return nullptr;
      case Part::kAxes:
        while (TakeName(&word)) step->axes.push_back(word);
        return step->axes.empty() ? "a name is missing" : nullptr;
      case Part::kArgument:
        return TakeName(&step->argument) ? nullptr : "a name is missing";
      case Part::kMaybe:
        return next_ < words_.size() ? ReadPart(Part::kValue, step) : nullptr;
      case Part::kValue: {
        if (!TakeName(&word)) return "a number is missing";
        Result<int64_t> value = ParseInt(word);
        if (!value.ok()) return "not a number where one belongs";
        step->values.push_back(*value);
        return nullptr;
      }
      case Part::kFactors: {
        if (next_ >= words_.size()) return "factors are missing";
        std::string_view text = words_[next_++];
        if (text.size() < 2 || text.front() != '[' || text.back() != ']') return "factors are missing";
        for (const std::string& piece : Split(text.substr(1, text.size() - 2), ',')) {
          Result<int64_t> value = ParseInt(piece);
          if (!value.ok()) return "factors are integers between [ and ], without spaces";
          step->values.push_back(*value);
        }
        return nullptr;
      }
      case Part::kResult:
      case Part::kResults:
        if (next_ >= words_.size() || words_[next_] != "->") return "`->` is missing";
        ++next_;
        while (TakeName(&word)) step->results.push_back(word);
        if (step->results.empty()) return "no name after `->`";
        return part == Part::kResult && step->results.size() > 1 ? "one name follows `->`" : nullptr;
    }
    return nullptr;
  }

  const std::string& line_;
  std::vector<std::string> words_;
  size_t next_ = 0;
};

}  // namespace

std::string StepText(const Step& step) {
  const Form& form = FormOf(step.kind);
  std::string text = std::string(form.word) + " " + step.stage;
  size_t axis = 0, value = 0;
  auto add = [&](const std::string& word) { text += " " + word; };
  for (Part part : form.parts) {
    switch (part) {
      case Part::kAxis:
        add(axis < step.axes.size() ? step.axes[axis++] : "?");
        break;
      case Part::kAxes:
        while (axis < step.axes.size()) add(step.axes[axis++]);
        break;
      case Part::kFactors:
        add(fmt::format("[{}]", fmt::join(step.values, ",")));
        break;
      case Part::kValue:
        add(value < step.values.size() ? std::to_string(step.values[value++]) : "?");
        break;
      case Part::kMaybe:
        if (value < step.values.size()) add(std::to_string(step.values[value++]));
        break;
      case Part::kArgument:
        add(step.argument);
        break;
      case Part::kResult:
      case Part::kResults:
        add("-> " + Join(step.results, " "));
        break;
    }
  }
  return text;
}

Result<Step> ParseStep(const std::string& line) { return StepReader(line, SplitWords(line)).Read(); }

std::string StepsText(const std::vector<Step>& steps) {
  std::string text;
  for (const Step& step : steps) text += StepText(step) + "\n";
  return text;
}

Result<std::vector<Step>> ParseSteps(const std::string& text) {
  std::vector<Step> steps;
  int number = 0;
  for (const std::string& line : Split(text, '\n')) {
    ++number;
    if (Trim(line).empty()) continue;
    Result<Step> step = ParseStep(line);
    if (!step.ok()) return step.status().WithContext(fmt::format("line {}", number));
    steps.push_back(*std::move(step));
  }
  return steps;
}

}  // namespace hone
