// Pipeline and target files: one line with the file and its line number, and the earlier manifest stays.
#include "error_folder.h"

namespace hone {
namespace {

class Pipelines : public ErrorFolder {
 protected:
  // Runs hone-plan with another file in place of this one, into a new folder and into one that it made before.
  void ExpectRefusedWith(const std::string& file, const std::string& text, const Words& parts) {
    const std::string good = Read(file);
    Write(file, text);
    for (const char* work : {"new", "work"}) ExpectRefused(With("hone-plan", "--work", work), parts);
    Write(file, good);
  }
  void ExpectRefusedPipeline(const std::string& text, const Words& parts) {
    ExpectRefusedWith("pipelines/one.toml", text, parts);
  }
  void ExpectRefusedTarget(const std::string& text, const Words& parts) {
    ExpectRefusedWith("pipelines/targets/cpu.toml", text, parts);
  }
};

const std::string kHead = "network = \"resnet-18\"\ntargets = [\"cpu\"]\n";

TEST_F(Pipelines, ThatAreMalformed) {
  ExpectRefusedPipeline("network = \n", {"pipelines/one.toml:1:"});
  ExpectRefusedPipeline("netwrok = \"resnet-18\"\ntargets = [\"cpu\"]\n",
                        {"pipelines/one.toml:1:", "did you mean `network`?"});
  ExpectRefusedPipeline("targets = [\"cpu\"]\n", {"pipelines/one.toml", "network"});
  ExpectRefusedPipeline("network = \"resnet-18\"\ntargets = []\n", {"pipelines/one.toml", "targets"});
  ExpectRefusedPipeline(kHead + "batch = 0\n", {"pipelines/one.toml:3:", "batch"});
  ExpectRefusedPipeline(kHead + "batch = \"2\"\n", {"pipelines/one.toml:3:", "batch"});
  ExpectRefusedPipeline(kHead + "[tune]\ntrials = 0\n", {"pipelines/one.toml:4:", "trials"});
  ExpectRefusedPipeline(kHead + "[tune]\ntrials = 1e3\n", {"pipelines/one.toml:4:", "trials"});
  ExpectRefusedPipeline(kHead + "[tune]\ntrials = 99999999999999999999\n", {"pipelines/one.toml:4:"});
  ExpectRefusedPipeline(kHead + "[tune]\ntrails = 3\n", {"pipelines/one.toml:4:", "did you mean `trials`?"});
  ExpectRefusedPipeline(kHead + "[tuen]\ntrials = 3\n", {"pipelines/one.toml:3:", "did you mean `tune`?"});
  ExpectRefusedPipeline(kHead + "[measure]\nfinalists = -1\n", {"pipelines/one.toml:4:", "finalists"});
  ExpectRefusedPipeline(kHead + "[bench]\niterations = nan\n", {"pipelines/one.toml:4:", "iterations"});
  ExpectRefusedPipeline(kHead + kHead, {"pipelines/one.toml:3:"});
  ExpectRefusedPipeline(std::string("\xff\xfe\0\0", 4), {"pipelines/one.toml:1:"});
}

TEST_F(Pipelines, ThatNameWhatIsNotThere) {
  ExpectRefusedPipeline("network = \"models/none.json\"\ntargets = [\"cpu\"]\n",
                        {"pipelines/one.toml:1:", "no such file: pipelines/models/none.json"});
  ExpectRefusedPipeline("targets = [\"cpu\"]\nnetwork = \"none.onnx\"\n",
                        {"pipelines/one.toml:2:", "no such file: pipelines/none.onnx"});
  ExpectRefusedPipeline(
      "network = \"resnet-19\"\ntargets = [\"cpu\"]\n",
      {"pipelines/one.toml:1: `network`: no built-in network `resnet-19`; did you mean `resnet-18`?"});
  ExpectRefusedPipeline("targets = [\"cpu\"]\n\nnetwork = \"lenet\"\n",
                        {"pipelines/one.toml:3: `network`: no built-in network `lenet`; known: resnet-18, "});
  ExpectRefusedPipeline("network = \"resnet-18\"\ntargets = [\"cpu\", \"cup\"]\n", {"pipelines/one.toml:2:", "cup"});
  ExpectRefusedPipeline(kHead + "[tune]\ntrials = 3\ntuner = \"autto\"\n",
                        {"pipelines/one.toml:5:", "unknown tuner `autto`", "did you mean `auto`?"});
  ExpectRefusedPipeline(kHead + "[tune]\nlike = \"autotvn\"\n", {"pipelines/one.toml:4:", "autotvm"});
  ExpectRefusedPipeline("network = \"resnet-18\"\ntargets = []\n", {"pipelines/one.toml:2:", "targets"});
}

TEST_F(Pipelines, WithATargetThatIsMalformed) {
  ExpectRefusedTarget("kind = \"cup\"\n", {"pipelines/targets/cpu.toml:1:", "did you mean `cpu`?"});
  ExpectRefusedTarget("kinds = \"cpu\"\n", {"pipelines/targets/cpu.toml:1:", "did you mean `kind`?"});
  ExpectRefusedTarget("kind = \"cpu\"\nthreads = 0\n", {"pipelines/targets/cpu.toml:2:", "threads"});
  ExpectRefusedTarget("kind = \"cpu\"\nvector_bytes = 17\n", {"pipelines/targets/cpu.toml:2:", "vector_bytes"});
  ExpectRefusedTarget("kind = \"cpu\"\ndevices = 0\n", {"pipelines/targets/cpu.toml:2:", "devices"});
  ExpectRefusedTarget("threads = 2\n", {"pipelines/targets/cpu.toml", "kind"});
}

}  // namespace
}  // namespace hone
