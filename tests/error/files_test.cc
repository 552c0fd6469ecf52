// Every JSON input of every tool, damaged in every way of a table, and at random.
#include "base/json.h"
#include "base/rng.h"
#include "error_folder.h"

namespace hone {
namespace {

struct Input {
  std::string tool, flag;
  std::string good;  // the undamaged file, relative to the project
};

class Files : public ErrorFolder {
 protected:
  std::vector<Input> Inputs() const {
    return {{"hone-extract", "--network", "pipelines/models/one.json"},
            {"hone-extract", "--target", "work/targets/cpu.json"},
            {"hone-tune", "--task", "work/tasks/" + Tasks("one").at(0) + ".task.json"},
            {"hone-tune", "--settings", "work/settings/one.tune.json"},
            {"hone-pick-best", "--tasks", "work/tasks/one.cpu.tasks.json"},
            {"hone-build", "--graph", "work/nets/one.graph.json"},
            {"hone-build", "--target", "work/targets/cpu.json"},
            {"hone-build", "--best", "work/best/one.cpu.json"},
            {"hone-bench", "--settings", "work/settings/one.bench.json"},
            {"hone-report", "--bench", "work/bench/one.cpu.json"},
            {"hone-report", "--tasks", "work/tasks/one.cpu.tasks.json"},
            {"hone-report", "--best", "work/best/one.cpu.json"}};
  }

  // Expects an error that names the file if the input has these bytes.
  void ExpectBytesRefused(const Input& input, const std::string& bytes, const Words& parts = {}) {
    ExpectRefused(WithBytes(input, bytes), parts + Words{"bad/" + BaseName(input.good)});
  }
  // Keeps the file's name, in another folder: some tools take the name of the target or network from it.
  Words WithBytes(const Input& input, const std::string& bytes) {
    const std::string bad = "bad/" + BaseName(input.good);
    Write(bad, bytes);
    return With(input.tool, input.flag, bad);
  }
};

TEST_F(Files, ThatAreMissingOrNoFiles) {
  for (const Input& input : Inputs()) {
    ExpectRefused(With(input.tool, input.flag, "bad/none.json"), {"bad/none.json"});
    ASSERT_TRUE(MakeDirs(Path("bad/folder.json")).ok());
    ExpectRefused(With(input.tool, input.flag, "bad/folder.json"), {"bad/folder.json"});
  }
}

TEST_F(Files, ThatAreEmptyTornOrOfAnotherKind) {
  for (const Input& input : Inputs()) {
    const std::string good = Read(input.good);
    ExpectBytesRefused(input, "", {".json:1:"});
    ExpectBytesRefused(input, good.substr(0, good.size() / 2), {".json:"});
    ExpectBytesRefused(input, good + "}", {".json:"});
    ExpectBytesRefused(input, "[]\n");
    ExpectBytesRefused(input, "3\n");
    ExpectBytesRefused(input, std::string("\x7f\x45LF\0\0\xff\xfe\n\n", 10), {".json:1:"});
    ExpectBytesRefused(input, "{\"version\": \"\xff\xfe\"}");
    ExpectBytesRefused(input, std::string(100000, '['), {".json:"});  // a recursive parser would overflow its stack
  }
}

TEST_F(Files, WithAKeyThatIsMisspeltMissingTwiceOrOfAnotherType) {
  for (const Input& input : Inputs()) {
    const Json good = ReadJson(input.good);
    for (const auto& [key, value] : good.items()) {
      Json other = good;
      other[key] = value.is_object() ? Json(3) : Json::object();
      ExpectBytesRefused(input, other.dump(1), {"/" + key});
      other = good;
      other.erase(key);
      other[key + "s"] = value;
      ExpectBytesRefused(input, other.dump(1), {key});
    }
    if (good.contains("version")) {
      Json newer = good;
      newer["version"] = 99;
      ExpectBytesRefused(input, newer.dump(1), {"/version", "99"});
    }
  }
}

// A library with one damaged file. The loader would accept a truncated object and crash on the first access to the
// missing part.
TEST_F(Files, OfALibrary) {
  const Words names = {"libone.so", "one.params", "one.graph.json", "manifest.json"};
  for (const std::string& bad : names) {
    SCOPED_TRACE(bad);
    for (const std::string& name : names) Write("bad/lib/" + name, Read("work/out/one.cpu/" + name));
    const std::string good = Read("work/out/one.cpu/" + bad), path = "bad/lib/" + bad;
    for (const std::string& bytes : {good.substr(0, good.size() / 2), std::string(), std::string("no such file\n")}) {
      Write(path, bytes);
      ExpectRefused(With("hone-bench", "--lib", "bad/lib"), {path});
    }
    Delete(path);
    ExpectRefused(With("hone-bench", "--lib", "bad/lib"), {path});
  }
}

// Whatever the bytes, a tool works or reports an error; it does not crash, hang or fail silently. HONE_FAULT_ROUNDS
// makes it longer.
TEST_F(Files, WithRandomDamage) {
  const char* rounds_text = std::getenv("HONE_FAULT_ROUNDS");
  const int rounds = rounds_text != nullptr ? std::atoi(rounds_text) : 10;
  Rng rng(17);
  int refused = 0;
  for (const Input& input : Inputs()) {
    const std::string good = Read(input.good);
    for (int round = 0; round < rounds && !HasFailure(); ++round) {
      std::string bytes = good;
      for (int i = static_cast<int>(rng.UniformInt(3)); i >= 0; --i) {
        const size_t at = rng.UniformInt(bytes.size());
        constexpr char kLikely[] = "0123456789-.,:\"{}[]xe ()";
        switch (rng.UniformInt(3)) {
          case 0:
            bytes[at] = kLikely[rng.UniformInt(sizeof kLikely - 1)];
            break;
          case 1:
            bytes.erase(at, 1 + rng.UniformInt(8));
            break;
          default:
            bytes.insert(at, 1, kLikely[rng.UniformInt(sizeof kLikely - 1)]);
        }
      }
      refused += !ExpectNoCrash(WithBytes(input, bytes));
      if (HasFailure()) ADD_FAILURE() << input.good << " was:\n" << bytes;
    }
  }
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace hone
