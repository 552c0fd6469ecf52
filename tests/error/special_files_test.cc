// A pipe or a device in the place of every file that a tool opens: an error at once, and never a wait. Also writes
// beyond the limit on file sizes.
#include <sys/stat.h>
#include <unistd.h>

#include "error_folder.h"

namespace hone {
namespace {

struct Place {
  Words argv;
  std::string file;  // is replaced
};

class SpecialFiles : public ErrorFolder {
 protected:
  void SetUp() override {
    ErrorFolder::SetUp();
    timeout_seconds_ = 60;
  }

  // A copy of the project's inputs below bad/, in which each file may be replaced.
  void Copy() {
    const std::string task = Tasks("one").at(0);
    Must(RemoveTree(Path("bad")));
    Write("bad/r.db", Read("work/records/cpu/" + task + ".db"));
    Write("bad/records/" + task + ".db", Read("bad/r.db"));
    for (const char* name : {"libone.so", "one.params", "one.graph.json", "manifest.json"}) {
      Write(std::string("bad/lib/") + name, Read(std::string("work/out/one.cpu/") + name));
    }
  }

  std::vector<Place> Places() const {
    const std::string db = "bad/r.db", records = "bad/records/" + Tasks("one").at(0) + ".db";
    const auto shown = [&](const Words& more) { return Words{"hone-records"} + more; };
    const Words tune = With("hone-tune", "--db", db), bench = With("hone-bench", "--lib", "bad/lib");
    const Words night = {"hone-bench",       "nightly",    "--job",   "one.cpu",  "--lib",
                         "work/out/one.cpu", "--accepted", "bad/acc", "--nights", "bad/nights"};
    return {{With("hone-plan", "--pipelines", "bad/p"), "bad/p/one.toml"},
            {{"hone-plan", "--run-job", "bad/jobs", "--job", "1"}, "bad/jobs"},
            {With("hone-extract", "--network", "bad/m.json"), "bad/m.json"},
            {With("hone-extract", "--network", "bad/m.onnx"), "bad/m.onnx"},
            {{"hone-extract", "--check", "bad/m.onnx"}, "bad/m.onnx"},
            {With("hone-extract", "--target", "bad/cpu.json"), "bad/cpu.json"},
            {With("hone-extract", "--plugin", "bad/p.so"), "bad/p.so"},
            {With("hone-extract", "--parameter-file", "bad/x.params"), "bad/x.params"},
            {With("hone-quantise", "--network", "bad/m.json"), "bad/m.json"},
            {With("hone-quantise", "--settings", "bad/q.json"), "bad/q.json"},
            {With("hone-quantise", "--data", "bad/in.npy"), "bad/in.npy"},
            {With("hone-tune", "--task", "bad/t.json"), "bad/t.json"},
            {With("hone-tune", "--settings", "bad/s.json"), "bad/s.json"},
            {tune, db},
            {tune, db + "-journal"},
            {tune, db + ".lock"},
            {tune, "bad/r.log"},
            {With("hone-tune", "--stamp", "bad/stamp"), "bad/stamp"},
            {With("hone-pick-best", "--tasks", "bad/one.tasks.json"), "bad/one.tasks.json"},
            {With("hone-pick-best", "--records", "bad/records"), records},
            {With("hone-pick-best", "--records", "bad/records"), records + "-journal"},
            {With("hone-build", "--graph", "bad/one.graph.json"), "bad/one.graph.json"},
            {With("hone-build", "--target", "bad/cpu.json"), "bad/cpu.json"},
            {With("hone-build", "--best", "bad/best.json"), "bad/best.json"},
            {bench, "bad/lib/libone.so"},
            {bench, "bad/lib/one.params"},
            {bench, "bad/lib/one.graph.json"},
            {bench, "bad/lib/manifest.json"},
            {With("hone-bench", "--settings", "bad/s.json"), "bad/s.json"},
            {night, "bad/acc/one.cpu.jsonl"},
            {{"hone-report", "nightly", "--nights", "bad/nights", "--accepted", "bad/acc"}, "bad/nights/night.json"},
            {With("hone-report", "--bench", "bad/bench.json"), "bad/bench.json"},
            {With("hone-report", "--best", "bad/best.json"), "bad/best.json"},
            {With("hone-report", "--records", "bad/records"), records},
            {shown({"list", db}), db},
            {shown({"list", db}), db + "-journal"},
            {shown({"verify", db}), db},
            {shown({"export", db}), db},
            {shown({"explain", "bad/best.json"}), "bad/best.json"},
            {shown({"salvage", db}), db + ".lock"},
            {shown({"forget", db, "--error", "compile"}), db + ".lock"},
            {shown({"merge", "--out", "new", db}), db},
            {shown({"import", "bad/log.json", "--db", "new/f.db"}), "bad/log.json"},
            {shown({"import", "bad/log.json", "--db", "new/f.db", "--format", "t4"}), "bad/log.json"},
            {shown({"compare", db, db}), db}};
  }

  void Replace(const std::string& name, const std::string& kind) {
    const std::string path = Path(name);
    Must(RemoveTree(path));
    Must(MakeDirs(DirName(path)));
    const int made = kind == "pipe" ? mkfifo(path.c_str(), 0600) : symlink(kind.c_str(), path.c_str());
    ASSERT_EQ(made, 0) << name;
  }
};

TEST_F(SpecialFiles, AreRefusedAtOnceInThePlaceOfEveryFile) {
  for (const Place& place : Places()) {
    for (const char* kind : {"pipe", "/dev/zero"}) {  // file_test has the others
      SCOPED_TRACE(kind);
      Copy();
      Replace(place.file, kind);
      ExpectRefused(place.argv, {place.file});
      Must(RemoveTree(Path("new")));
    }
  }
}

TEST_F(SpecialFiles, PipesOfTheShellAreRead) {
  Words argv = With("hone-extract", "--target", "/dev/stdin");
  argv[0] = Path("bin/" + argv[0]);
  ExpectOk(Run(Words{"sh", "-c", "cat work/targets/cpu.json | \"$@\"", "sh"} + argv));
  Must(RemoveTree(Path("new")));
}

// Every tool that writes, with room for 512 bytes a file.
TEST_F(SpecialFiles, AWriteBeyondTheLimitOnFileSizesIsAnError) {
  Copy();
  Write("bad/log.json",
        R"({"input": ["cuda", "t", [["TENSOR", [1, 4], "float32"]], {}], "result": [[0.002], 0, 1, 1], )"
        R"("config": {"index": 0, "code_hash": null, "entity": []}, "version": 0.2})"
        "\n");
  Json total = ReadJson("work/settings/one.tune.json");
  total["trials_total"] = 100;
  total["tuner"] = std::string(600, 'x');  // makes the written files longer than the limit
  Write("bad/total.json", total.dump());
  {
    const auto store = Must(record::Store::OpenForWriting(Path("bad/f.db"), {"f", "dense", "cpu", {{"dense", 1}}}));
    const Outcome wrong{.error = TrialError::kWrong, .error_text = "out[0] is 1"};
    Must(store->Append(Must(store->BeginSession({})), {wrong}, 1));
  }
  const std::string db = "bad/r.db", tasks = "work/tasks/one.cpu.tasks.json";
  const std::vector<Words> writers = {Good("hone-plan"),
                                      Good("hone-extract"),
                                      Good("hone-tune"),
                                      Good("hone-pick-best"),
                                      Good("hone-confirm"),
                                      Good("hone-build"),
                                      Good("hone-bench"),
                                      Good("hone-report"),
                                      {"hone-plan", "--work", "work", "--export-jobs", "new.jsonl"},
                                      {"hone-allocate", "--tasks", tasks, "--settings", "bad/total.json", "--round",
                                       "1", "--stamps", "none", "--out", "new"},
                                      {"hone-report", "accept", "--work", "work", "--reason", "x", "one.cpu"},
                                      {"hone-records", "merge", "--out", "new", db},
                                      {"hone-records", "import", "bad/log.json", "--db", "new/f.db"},
                                      {"hone-records", "salvage", db},
                                      {"hone-records", "forget", "bad/f.db", "--error", "wrong"}};
  for (Words argv : writers) {
    SCOPED_TRACE(Join(argv, " "));
    const std::string tool = argv[0];
    argv[0] = Path("bin/" + tool);
    const CommandResult result = Run(Words{"sh", "-c", "ulimit -f 1; exec \"$@\"", "sh"} + argv);
    hone::ExpectRefused(result, 1, {tool + ": ", "File too large", "ulimit -f"});
    Must(RemoveTree(Path("new")));
  }
}

}  // namespace
}  // namespace hone
