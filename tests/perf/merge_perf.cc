// The cost of merging records: 1,000 databases of 1,000 trials, of 50 tasks on 20 machines. Usage: merge_perf
// HONE_RECORDS [TASKS MACHINES TRIALS [FOLDER]]; FOLDER keeps the databases for the next time. Rows are as large as a
// convolution's: 250 bytes of config, 900 of steps, seven samples. Prints seconds, the goal, and the bytes read and
// written (doc/reference/records.md).
#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/file.h"
#include "base/statistics.h"
#include "base/subprocess.h"
#include "record/store.h"

namespace hone {
namespace {

constexpr double kBound = 20;
constexpr int kSamples = 7;

Outcome Trial(int task, int machine, int64_t i) {
  Outcome o;
  o.config = {"conv2d_direct", static_cast<uint64_t>(i), {}};
  for (int knob = 0; knob < 9; ++knob) {
    o.config.values.push_back({fmt::format("tile_of_{}", knob), KnobKind::kOther, {(i >> knob) & 7}, {}});
  }
  o.state = TrialState::kOk;
  for (int s = 0; s < kSamples; ++s) o.samples.push_back(1e-3 * (1 + ((i * 7 + s * 13 + machine) % 97) / 97.0));
  o.median = Median(o.samples);
  o.proposer = "auto";
  o.artifact_digest = fmt::format("{:016x}{:08x}{:08x}", i * 0x9e3779b97f4a7c15ull, task, machine);
  for (int line = 0; line < 30; ++line) o.steps += fmt::format("split out axis{} {} tail\n", line, i % 64);
  return o;
}

Status Make(const std::string& path, int task, int machine, int64_t trials) {
  if (Exists(path)) return Status();
  record::Meta meta{fmt::format("conv2d-{:016x}", task),
                    "conv2d(f32[1,64,56,56], f32[64,64,3,3], pad=1,1,1,1)",
                    "cpu",
                    {{"conv2d_direct", 3}}};
  HONE_ASSIGN_OR_RETURN(const auto store, record::Store::OpenForWriting(path, meta));
  record::Session session;
  session.started = 1000 + machine;
  session.host = fmt::format("node{}", machine);
  session.fingerprint = fmt::format("cpu=machine {}", machine);
  session.settings = "{}";
  HONE_ASSIGN_OR_RETURN(const int64_t id, store->BeginSession(session));
  std::vector<Outcome> outcomes;
  for (int64_t i = 0; i < trials; ++i) outcomes.push_back(Trial(task, machine, i));
  return store->Append(id, outcomes);
}

int Main(const std::string& records, int tasks, int machines, int64_t trials, const std::string& folder) {
  Result<TempDir> dir = TempDir::Create("hone-merge-perf");
  if (!dir.ok()) return fmt::print(stderr, "{}\n", dir.status().message()), 1;
  std::vector<std::string> argv = {records, "merge", "--out", dir->Join("merged")};
  int64_t bytes = 0;
  for (int machine = 0; machine < machines; ++machine) {
    argv.push_back(JoinPath(folder.empty() ? dir->Join("in") : folder, fmt::format("m{}", machine)));
    for (int task = 0; task < tasks; ++task) {
      const std::string path = fmt::format("{}/t{}.db", argv.back(), task);
      const Status made = Make(path, task, machine, trials);
      if (!made.ok()) return fmt::print(stderr, "{}\n", made.message()), 1;
      bytes += *FileSize(path);
    }
  }
  CommandOptions options;
  options.timeout_seconds = 600;
  fmt::print("{} databases of {} trials, {:.0f} MB\n{:<24} {:>8} {:>8} {:>7}\n", tasks * machines, trials,
             1e-6 * static_cast<double>(bytes), "seconds", "taken", "bound", "ratio");
  for (const char* what : {"merge into new files", "merge the same again"}) {
    const double start = RealClock()->NowSeconds();
    const auto result = RunCommand(argv, options);
    const double seconds = RealClock()->NowSeconds() - start;
    if (!result.ok() || !result->status.ok()) {
      return fmt::print(stderr, "{}\n", result.ok() ? result->err : result.status().message()), 1;
    }
    fmt::print("{:<24} {:>8.2f} {:>8.1f} {:>7.2f}\n", what, seconds, kBound, seconds / kBound);
  }
  return 0;
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  if (argc < 2) {
    fmt::print(stderr, "usage: merge_perf HONE_RECORDS [TASKS MACHINES TRIALS [FOLDER]]\n");
    return 2;
  }
  const auto number = [&](int i, int usual) { return argc > i ? std::atoi(argv[i]) : usual; };
  return hone::Main(argv[1], number(2, 50), number(3, 20), number(4, 1000), argc > 5 ? argv[5] : "");
}
