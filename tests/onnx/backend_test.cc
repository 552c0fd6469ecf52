// onnx_backend [--reference] [--verbose] [--expect FILE [--update]] FOLDER [NAME..]: runs all cases of ONNX's backend
// tests in a folder, or the named ones, and prints how many passed, passed by folding alone, failed, or are
// unsupported, by operator and in total. Fails if a case fails, if none passes, or if a case that FILE lists does not
// pass. --update writes FILE instead.
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend_case.h"
#include "expectation.h"
#include "perf/flags.h"

namespace hone::onnx {
namespace {

constexpr unsigned kCaseSeconds = 120;

// In a separate process, so that a crash or an endless loop is one failed case.
CaseResult RunApart(const std::string& dir, bool reference) {
  int ends[2];
  if (pipe(ends) != 0) return {Outcome::kFailed, "?", "no pipe"};
  const pid_t child = fork();
  if (child == 0) {
    alarm(kCaseSeconds);
    const CaseResult result = RunCase(dir, reference);
    const std::string text = fmt::format("{}\n{}\n{}", static_cast<int>(result.outcome), result.op, result.reason);
    _exit(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof(buffer))) > 0;) text.append(buffer, static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  const size_t first = text.find('\n'), second = text.find('\n', first + 1);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || second == std::string::npos) {
    return {Outcome::kFailed, "?", fmt::format("its process ended with status {}", status)};
  }
  return {static_cast<Outcome>(text[0] - '0'), text.substr(first + 1, second - first - 1), text.substr(second + 1)};
}

constexpr const char* kWords[] = {"passed", "folded", "FAILED", "not supported"};  // by Outcome

struct Counts {
  int of[4] = {0, 0, 0, 0};
  std::string reason;  // the first unsupported one's
};

void PrintRow(const std::string& name, const Counts& counts) {
  fmt::print("{:<24} {:>6} {:>6} {:>6} {:>6}  {}\n", name, counts.of[0], counts.of[1], counts.of[2], counts.of[3],
             counts.reason);
}

// Prints the differences of a whole folder's passes to stdout, one per line; returns true if the lists are equal.
bool AsExpected(const std::string& file, const Passes& found, const std::map<std::string, std::string>& reasons) {
  const auto text = ReadFile(file);
  const auto wanted = text.ok() ? ParsePasses(*text, file) : Result<Passes>(text.status());
  if (!wanted.ok()) {
    fmt::print("no list of what must pass (--update writes it): {}\n", wanted.status().message());
    return false;
  }
  const std::vector<std::string> lines = NoLonger(*wanted, found);
  for (const std::string& line : lines) {
    const auto reason = reasons.find(line.substr(0, line.find(':')));
    fmt::print("NO LONGER: {}{}\n", line, reason == reasons.end() ? "" : ": " + reason->second);
  }
  size_t more = 0;
  for (const auto& [name, how] : found) more += wanted->count(name) == 0;
  if (more > 0) fmt::print("{} pass that {} does not have: --update adds them\n", more, file);
  return lines.empty();
}

int Main(int argc, char** argv) {
  perf::Flags flags("onnx_backend [--reference] [--verbose] [--expect FILE [--update]] FOLDER [NAME..]", argc, argv);
  const bool reference = flags.Has("--reference"), verbose = flags.Has("--verbose"), update = flags.Has("--update");
  const std::string expect = flags.Text("--expect");
  std::vector<std::string> names = flags.Words();
  if (names.empty()) flags.Misused("no folder");
  const std::string folder = names[0];
  names.erase(names.begin());
  const bool whole = names.empty();
  if (whole) {
    auto listed = ListDir(folder);
    if (!listed.ok()) {
      fmt::print(stderr, "{}\n", listed.status().message());
      return 2;
    }
    names = *listed;
  }
  std::map<std::string, Counts> operators;
  std::map<std::string, std::string> reasons;  // of cases that do not pass
  Passes passes;
  Counts total;
  for (const std::string& name : names) {
    const std::string dir = JoinPath(folder, name);
    if (!Exists(JoinPath(dir, "model.onnx"))) continue;
    const CaseResult result = RunApart(dir, reference);
    Counts& counts = operators[result.op];
    ++counts.of[static_cast<int>(result.outcome)];
    ++total.of[static_cast<int>(result.outcome)];
    if (result.outcome == Outcome::kUnsupported && counts.reason.empty()) counts.reason = result.reason;
    if (result.outcome == Outcome::kPassed || result.outcome == Outcome::kFolded) {
      passes[name] = kWords[static_cast<int>(result.outcome)];
    } else {
      reasons[name] = result.reason;
    }
    if (result.outcome == Outcome::kFailed || verbose) {
      fmt::print("{}: {} {}\n", kWords[static_cast<int>(result.outcome)], name, result.reason);
      fflush(stdout);
    }
  }
  fmt::print("\n{:<24} {:>6} {:>6} {:>6} {:>6}  {}\n", "operator", "passed", "folded", "failed", "n.s.",
             "the first reason");
  for (const auto& [name, counts] : operators) PrintRow(name, counts);
  fmt::print("{} passed, {} passed by folding alone, {} failed, {} not supported\n", total.of[0], total.of[1],
             total.of[2], total.of[3]);
  bool right = total.of[2] == 0 && total.of[0] + total.of[1] > 0;
  if (whole && !expect.empty() && update) {
    const Status written = WriteFileAtomic(expect, PassesText(passes));
    if (!written.ok()) fmt::print(stderr, "{}\n", written.message());
    right = right && written.ok();
  } else if (whole && !expect.empty()) {
    right = AsExpected(expect, passes, reasons) && right;
  }
  return right ? 0 : 1;
}

}  // namespace
}  // namespace hone::onnx

int main(int argc, char** argv) { return hone::onnx::Main(argc, argv); }
