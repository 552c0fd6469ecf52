// The complete manifest of one network with one task (net.ninja), and the additions for accepted libraries;
// unit/pipeline has their other tests. tests/cli/manifest runs such manifests under Ninja.
#include "golden/golden.h"
#include "unit/pipeline/plan_case.h"

namespace hone::pipeline {
namespace {

PlanInput OneNetwork() {
  PlanInput input = Input({Network("net", {"cpu"})});
  input.lists["net.cpu"] = List({"x"});
  input.reads = {"../pipelines", "../pipelines/net.toml", "../bin/hone-plan"};
  return input;
}

TEST(GoldenManifest, OfOneNetwork) { ExpectGolden(Manifest(OneNetwork()), "net.ninja"); }

// The main series measures the current libraries. The replay builds the accepted graph and choice, whatever the
// pipeline's current numerics; if the choice is unknown, it has nothing to do.
TEST(Nights, AnAcceptedLibraryIsMeasuredAndBuiltAgain) {
  PlanInput input = OneNetwork();
  input.folder.pipelines[0].tune.winograd = 4;
  EXPECT_EQ(Statement(Manifest(input), "nights/verdict.tonight"),
            "build nights/verdict.tonight: verdict || ../bin/hone-report\n  series = main\n  dir = report/nightly");
  input.accepted["net.cpu"] = {"0123", true};
  const std::string manifest = Manifest(input);
  EXPECT_EQ(Statement(manifest, "nights/net.cpu.tonight"),
            "build nights/net.cpu.tonight: nightly out/net.cpu/libnet.so | out/net.cpu/manifest.json || "
            "../bin/hone-bench\n  job = net.cpu\n  dir = out/net.cpu\n  series = main\n  pool = device-cpu");
  const std::string replay = Statement(manifest, "nights/replay/out/net.cpu/libnet.so");
  EXPECT_NE(replay.find(": build accepted/net.cpu/0123/net.graph.json | accepted/net.cpu/0123/choice.json "),
            std::string::npos)
      << replay;
  EXPECT_EQ(replay.find("numerics"), std::string::npos) << replay;
  EXPECT_NE(Statement(manifest, "nights/replay/net.cpu.tonight").find("nightly nights/replay/out/net.cpu/libnet.so"),
            std::string::npos);
  for (const std::string series : {"", "replay/"}) {
    EXPECT_NE(Statement(manifest, "nights/" + series + "verdict.tonight")
                  .find("verdict || nights/" + series + "net.cpu.tonight ../bin/hone-report\n"),
              std::string::npos);
  }
  input.accepted["net.cpu"].choice = false;
  EXPECT_EQ(Manifest(input).find("nights/replay/out"), std::string::npos);
}

TEST(GoldenManifest, APipelineWithoutAlternativesExtractsItsTasksAlone) {
  PlanInput input = OneNetwork();
  EXPECT_EQ(Statement(Manifest(input), "tasks/net.cpu.tasks.json").find("alone ="), std::string::npos);
  input.folder.pipelines[0].alternatives = false;
  EXPECT_NE(Statement(Manifest(input), "tasks/net.cpu.tasks.json").find("\n  alone = --alone"), std::string::npos);
}

}  // namespace
}  // namespace hone::pipeline
