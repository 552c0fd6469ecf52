// The cost of the manifest: hone-plan for 10,000 tasks, Ninja with nothing to do for their manifest and for that of
// three small networks; for comparison, Ninja with as many files and edges in the simplest manifest. Usage: plan_perf
// HONE_PLAN [TASKS]. Prints the figures with their goals (doc/internals/measuring.md). Called by the name of a tool (it
// makes such links to itself), it only makes that tool's outputs.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/clock.h"
#include "base/file.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "pipeline/plan.h"

namespace hone {
namespace {

namespace fs = std::filesystem;

constexpr int kRepeats = 15;

void Create(const std::string& path, const std::string& text) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path) << text;
}

std::string Id(const std::string& network, int i) { return fmt::format("conv2d-{}{:08x}", network, i); }

// Plays the tools for Ninja.
int StandIn(const std::string& tool, int argc, char** argv) {
  std::map<std::string, std::string> flags;
  for (int i = 1; i < argc; ++i) {
    if (std::string(argv[i]) == "--abi") return fmt::print("version 1\n"), 0;
    if (std::string(argv[i]) == "--untuned") continue;
    if (i + 1 < argc) flags[argv[i]] = argv[i + 1], ++i;
  }
  if (tool == "hone-extract") {
    pipeline::TaskList list{flags["--network"], "cpu", "cpu", {}};
    const std::string stem = BaseName(flags["--graph"]).substr(0, BaseName(flags["--graph"]).find('.'));
    const int count = std::atoi(flags["--network"].c_str() + std::strlen("tasks("));
    for (int i = 0; i < count; ++i) {
      const std::string workload =
          "conv2d(f32[1,64,56,56], f32[64,64,3,3], stride=1x1, pad=1,1,1,1) + bias + add + relu";
      list.tasks.push_back({Id(stem, i), workload, 1, 231211008});
      Create(JoinPath(flags["--task-dir"], list.tasks.back().id + ".task.json"), "{}");
    }
    Create(flags["--graph"], "{}");
    Create(flags["--tasks"], pipeline::TaskListText(list));
  } else if (tool == "hone-tune") {
    Create(flags["--stamp"], "done");
  } else if (tool == "hone-build") {
    const std::string net = flags["--name"];
    for (const std::string& name :
         {"lib" + net + ".so", net + ".h", net + ".params", net + ".graph.json", std::string("manifest.json")}) {
      Create(JoinPath(flags["--out"], name), "x");
    }
  } else if (tool == "hone-report") {
    for (const char* name : {"index.html", "report.json", "junit.xml", "report.md"}) {
      Create(JoinPath(flags["--out"], name), "x");
    }
  } else {
    Create(flags["--out"], "x");
    if (flags.count("--choice") > 0) Create(flags["--choice"], "x");
  }
  return 0;
}

double Run(const std::vector<std::string>& argv, const std::string& cwd, std::string* out = nullptr) {
  CommandOptions options;
  options.cwd = cwd;
  options.timeout_seconds = 600;
  options.env = {{"HONE_LAUNCHER", ""}};
  const double start = RealClock()->NowSeconds();
  const Result<CommandResult> result = RunCommand(argv, options);
  const double seconds = RealClock()->NowSeconds() - start;
  if (result.ok() && result->status.ok()) {
    if (out != nullptr) *out = result->out;
    return seconds;
  }
  fmt::print(stderr, "{} failed: {}\n", argv[0], result.ok() ? result->out + result->err : result.status().message());
  std::exit(1);
}

struct Case {
  std::string what;
  std::vector<std::string> argv;
  std::string cwd;
  double bound;  // 0: none, it is there to compare with
  std::vector<double> seconds = {};
};

// Minimum and median of commands that are run again and again, in turns.
void Report(std::vector<Case> cases) {
  for (int i = 0; i < kRepeats; ++i) {
    for (Case& c : cases) {
      std::string out;
      c.seconds.push_back(Run(c.argv, c.cwd, &out));
      if (c.argv[0] != "ninja" || out.find("no work to do") != std::string::npos) continue;
      fmt::print(stderr, "{}: there was something to do: {}\n", c.what, out);
      std::exit(1);
    }
  }
  fmt::print("{:<44} {:>8} {:>8} {:>8} {:>7}\n", "seconds", "min", "median", "bound", "ratio");
  for (Case& c : cases) {
    std::sort(c.seconds.begin(), c.seconds.end());
    const double median = c.seconds[kRepeats / 2];
    fmt::print("{:<44} {:>8.3f} {:>8.3f}", c.what, c.seconds.front(), median);
    if (c.bound > 0) fmt::print(" {:>8.1f} {:>7.2f}", c.bound, median / c.bound);
    fmt::print("\n");
  }
}

// For Ninja's own time: the simplest manifest with as many files and edges.
void Plainest(const std::string& work, int tasks) {
  std::string text = "rule touch\n  command = touch $out\n";
  for (int i = 0; i < tasks; ++i) {
    const std::string id = Id("big", i);
    Create(fmt::format("{}/tasks/{}.task.json", work, id), "{}");
    text += fmt::format("build stamps/{}.cpu.done: touch tasks/{}.task.json\n", id, id);
  }
  Create(work + "/build.ninja", text);
}

void Project(const std::string& root, const std::string& plan, const std::map<std::string, int>& networks) {
  for (const auto& [name, tasks] : networks) {
    Create(fmt::format("{}/pipelines/{}.toml", root, name),
           fmt::format("network = \"tasks({})\"\ntargets = [\"cpu\"]\n", tasks));
  }
  Create(root + "/pipelines/targets/cpu.toml", "kind = \"cpu\"\ndevices = 16\n");
  fs::create_directories(root + "/bin");
  for (const char* tool : pipeline::kTools)
    fs::create_symlink(fs::read_symlink("/proc/self/exe"), root + "/bin/" + tool);
  fs::create_symlink(fs::absolute(plan), root + "/bin/hone-plan");
}

int Main(const std::string& plan, int tasks) {
  Result<TempDir> dir = TempDir::Create("hone-plan-perf");
  if (!dir.ok()) return fmt::print(stderr, "{}\n", dir.status().message()), 1;
  const std::string big = dir->Join("big"), small = dir->Join("small");
  Project(big, plan, {{"big", tasks}});
  Project(small, plan, {{"resnet18", 12}, {"resnet34", 12}, {"resnet50", 24}});
  const std::vector<std::string> ninja = {"ninja", "-C", "work"};
  for (const std::string& root : {big, small}) {
    const std::vector<std::string> argv = {root + "/bin/hone-plan", "--tools", root + "/bin"};
    Run(argv, root);
    const double seconds = Run(ninja, root);
    if (root == big)
      fmt::print("all edges of {} tasks run once, with tools that do nothing: {:.1f} s\n", tasks, seconds);
  }
  const std::string plain = dir->Join("plain");
  Plainest(plain + "/work", tasks);
  Run(ninja, plain);
  Report({{"hone-plan, large", {big + "/bin/hone-plan", "--tools", big + "/bin"}, big, 1.0},
          {"ninja with nothing to do, large", ninja, big, 0.1},
          {"ninja with as many files and edges, no more", ninja, plain, 0},
          {"ninja with nothing to do, three networks", ninja, small, 0.2}});
  return 0;
}

}  // namespace
}  // namespace hone

int main(int argc, char** argv) {
  const std::string name = hone::BaseName(argv[0]);
  if (hone::StartsWith(name, "hone-")) return hone::StandIn(name, argc, argv);
  if (argc < 2) {
    fmt::print(stderr, "usage: plan_perf HONE_PLAN [TASKS]\n");
    return 2;
  }
  return hone::Main(argv[1], argc > 2 ? std::atoi(argv[2]) : 10000);
}
