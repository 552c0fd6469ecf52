// Lines of TVM's auto_scheduler (Ansor), version v0.6:
//   {"i": [[workload key, target, hardware, host, layout, inputs], [[], steps]], "r": [times, error, cost, time],
//    "v": "v0.6"}
// The workload key is JSON in a string: a function or the digest of a computation, then its arguments.
#include <fmt/args.h>

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "record/foreign_formats.h"
#include "record/foreign_log.h"

namespace hone::record {
namespace {

constexpr char kAnsorVersion[] = "v0.6";

// "" if the record is well formed, else its error.
std::string WhatAnsorLineMisses(const Json& j) {
  const auto pair = [&](const Json& list) { return list.is_array() && list.size() == 2; };
  if (!j.contains("i") || !pair(j["i"])) return "`i` is not [task, state]";
  const Json &task = j["i"][0], &state = j["i"][1];
  if (!task.is_array() || task.size() < 2 || !task[0].is_string() || !task[1].is_string()) {
    return "`i` does not begin with [workload key, target, ..]";
  }
  if (!pair(state) || !state[1].is_array()) return "`i` does not end with [stages, steps]";
  for (const Json& step : state[1]) {
    if (!step.is_array() || step.empty() || !step[0].is_string()) return "a step is not [kind, ..]";
  }
  return j.contains("r") && IsLogResult(j["r"]) ? "" : "`r` is not [times, error, ..]";
}

// The kinds of steps. `fields` has a letter for each argument: a number, a Text, a List of numbers. In `words`, {k} is
// argument k.
struct StepKind {
  const char *name, *fields, *words;
};
constexpr StepKind kSteps[] = {
    {"AN", "nnn", "stage {0}: loop {1} becomes {2}"},
    {"FU", "nL", "stage {0}: fuse loops {1}"},
    {"PR", "nnT", "stage {0}: at loop {1}, pragma {2}"},
    {"RE", "nL", "stage {0}: order of loops {1}"},
    {"SP", "nnnLn", "stage {0}: split loop {1} of {2} iterations, {4} parts {3}"},
    {"FSP", "nnnn", "stage {0}: split loop {1} as step {2} does, into {3} inner parts"},
    {"FFSP", "nnLnn", "stage {0}: split loop {1} by the product of part {3} of steps {2}, as the {4} part"},
    {"SA", "nnnn", "stage {0}: align the storage at loop {1} to {2}, offset {3}"},
    {"CA", "nnn", "stage {0}: compute at loop {2} of stage {1}"},
    {"CI", "n", "stage {0}: compute where it is read"},
    {"CR", "n", "stage {0}: compute by itself"},
    {"CHR", "nTL", "stage {0}: stages {2} read a copy in {1}"},
    {"CHW", "nT", "stage {0}: compute into a copy in {1}"},
    {"RF", "nnn", "stage {0}: partial results along loop {1}, as axis {2}"},
};
constexpr const char* kAnnotations[] = {"plain",       "unrolled",   "vectorized",  "parallel",
                                        "vthread",     "blockIdx.x", "threadIdx.x", "blockIdx.y",
                                        "threadIdx.y", "blockIdx.z", "threadIdx.z", "tensorized"};

bool Is(char field, const Json& value) {
  if (field == 'T') return value.is_string();
  if (field == 'n') return value.is_number_integer();
  return value.is_array() &&
         std::all_of(value.begin(), value.end(), [](const Json& n) { return n.is_number_integer(); });
}

// An argument in words; `step` and `place` choose those of numbers that stand for something.
std::string ArgumentText(const std::string& step, size_t place, const Json& value) {
  if (value.is_string()) return ReplaceAll(value.get<std::string>(), "$", " ");
  if (value.is_array()) {
    std::vector<std::string> numbers;
    for (const Json& n : value) numbers.push_back(n.dump());
    return "[" + Join(numbers, ",") + "]";
  }
  const int64_t number = value.get<int64_t>();
  if (step == "AN" && place == 2 && number >= 0 && number < static_cast<int64_t>(std::size(kAnnotations))) {
    return kAnnotations[number];
  }
  if ((step == "SP" || step == "FFSP") && place == 4) return number != 0 ? "inner" : "outer";
  return value.dump();
}

AnsorStep StepOf(const Json& json) {
  const std::string name = json[0].get<std::string>();
  AnsorStep step;
  fmt::dynamic_format_arg_store<fmt::format_context> words;
  const auto* kind = std::ranges::find_if(kSteps, [&](const StepKind& k) {
    return k.name == name && std::string_view(k.fields).size() + 1 == json.size();
  });
  if (kind == std::end(kSteps)) return {.words = json.dump()};
  for (size_t i = 0; kind->fields[i] != 0; ++i) {
    const Json& value = json[i + 1];
    if (!Is(kind->fields[i], value)) return {.words = json.dump()};
    if (value.is_string()) step.text = value.get<std::string>();
    auto& numbers = step.arguments.emplace_back();
    if (value.is_number()) numbers.push_back(value.get<int64_t>());
    if (value.is_array()) numbers = value.get<std::vector<int64_t>>();
    words.push_back(ArgumentText(name, i, value));
  }
  step.kind = name;
  step.words = fmt::vformat(kind->words, words);
  return step;
}

}  // namespace

Result<ForeignRecord> ReadAnsor(std::string_view line) {
  HONE_ASSIGN_OR_RETURN(const Json j, ParseLogLine(line));
  if (!j.contains("v")) return Status::Unsupported("no version `v` of Ansor's format; only {} is read", kAnsorVersion);
  if (j["v"] != kAnsorVersion) {
    return Status::Unsupported("version {} of Ansor's format; only {} is read", j["v"].dump(), kAnsorVersion);
  }
  if (const std::string what = WhatAnsorLineMisses(j); !what.empty()) return Status::Invalid(what);
  const Json& task = j["i"][0];
  const std::string key = task[0].get<std::string>();
  ForeignRecord record{.format = "ansor",
                       .target = task[1].get<std::string>(),
                       .task = key,
                       .workload = "[]",
                       .text = std::string(line)};
  if (const Result<Json> parts = ParseJson(key, "");
      parts.ok() && parts->is_array() && !parts->empty() && parts->front().is_string()) {
    record.task = parts->front().get<std::string>();
    Json arguments = *parts;
    arguments.erase(arguments.begin());
    record.workload = arguments.dump();
  }
  ReadLogResult(j["r"], &record);
  return record;
}

std::vector<AnsorStep> AnsorSteps(const ForeignRecord& record) {
  std::vector<AnsorStep> steps;
  const Result<Json> j = ParseLogLine(record.text);
  if (!j.ok() || !WhatAnsorLineMisses(*j).empty()) return steps;
  for (const Json& step : (*j)["i"][1][1]) steps.push_back(StepOf(step));
  return steps;
}

Result<ImportCounts> ImportAnsor(const std::string& path, const std::string& db,
                                 const std::function<void(int64_t, const std::string&)>& report) {
  return ImportLines(path, db, "Ansor's format v0.6", ReadAnsor, report);
}

}  // namespace hone::record
