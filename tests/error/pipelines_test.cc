// Pipeline and target files through hone-plan: one line with the file and its line number, and the earlier manifest
// stays. unit/pipeline has the other mistakes of these files.
#include "error_folder.h"

namespace hone {
namespace {

class Pipelines : public ErrorFolder {};

TEST_F(Pipelines, AMistakeIsNamedAndTheEarlierManifestStays) {
  const std::string pipeline = "pipelines/one.toml", target = "pipelines/targets/cpu.toml";
  const std::string head = "network = \"resnet-18\"\ntargets = [\"cpu\"]\n";
  struct Row {
    std::string file, text;
    Words parts;
  };
  const Row rows[] = {
      {pipeline, std::string("\xff\xfe\0\0", 4), {pipeline + ":1:"}},
      {pipeline, head + "[tune]\ntrails = 3\n", {pipeline + ":4:", "did you mean `trials`?"}},
      // Names that hone-plan looks up in other layers.
      {pipeline, "network = \"resnet-19\"\n", {pipeline + ":1: `network`: no built-in", "did you mean `resnet-18`?"}},
      {pipeline, "\n\nnetwork = \"lenet\"\n", {pipeline + ":3: `network`: no built-in", "known: resnet-18, "}},
      {pipeline, head + "[tune]\ntuner = \"autto\"\n", {pipeline + ":4:", "unknown tuner `autto`", "`auto`?"}},
      {target, "kind = \"cup\"\n", {target + ":1:", "did you mean `cpu`?"}},
  };
  for (const Row& row : rows) {
    const std::string good = Read(row.file);
    Write(row.file, row.text);
    // Into a new folder, and into one that it made before.
    for (const char* work : {"new", "work"}) ExpectRefused(With("hone-plan", "--work", work), row.parts);
    Write(row.file, good);
  }
}

}  // namespace
}  // namespace hone
