#include <fmt/format.h>

#include "base/rng.h"
#include "base/text.h"
#include "build_folder.h"
#include "graph/reference.h"

namespace hone {
namespace {

class DeployTest : public BuildFolder {
 protected:
  void SetUp() override {
    BuildFolder::SetUp();
    ExtractAndBuild();
  }
};

// examples/deploy_c with its own Makefile, as a user would: all warnings are errors there.
TEST_F(DeployTest, TheExampleFindsTheReferencesTopFive) {
  RunOk({"make", "-f", std::string(HONE_SOURCE_DIR) + "/examples/deploy_c/Makefile", "LIB=out/tiny.cpu", "NET=tiny",
         "OUT=deploy"});
  Rng rng(9);
  std::vector<float> data(3 * 13 * 13);
  for (float& v : data) v = static_cast<float>(rng.UniformDouble() * 2 - 1);
  Write("image.f32", {reinterpret_cast<const char*>(data.data()), data.size() * sizeof(float)});

  const graph::Graph graph = Tiny();
  auto scores = graph::RunReference(graph, *graph::MakeParameters(graph, nullptr), {{"data", data}}, 1)->at("fc");
  std::vector<int> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return scores[static_cast<size_t>(a)] > scores[static_cast<size_t>(b)]; });

  const Words lines = Split(RunOk({Path("deploy"), "out/tiny.cpu/tiny.params", "image.f32"}), '\n');
  ASSERT_EQ(lines.size(), 6u);
  for (size_t i = 0; i < 5; ++i) EXPECT_TRUE(StartsWith(lines[i], fmt::format("{}. class {},", i + 1, order[i])));

  Write("short.f32", "abcd");
  CommandResult result = Run({Path("deploy"), "out/tiny.cpu/tiny.params", "short.f32"});
  EXPECT_EQ(result.status.code, 1);
  ExpectHas(result.err, {"must hold exactly 2028 bytes"});
  result = Run({Path("deploy"), "image.f32", "image.f32"});
  EXPECT_EQ(result.status.code, 1);
  ExpectHas(result.err, {"not one of Hone's"});
}

// It needs only libc (with the dynamic loader), and exports only the interface.
TEST_F(DeployTest, TheLibraryNeedsLibcAlone) {
  Words libraries, names;
  for (const std::string& line : Split(RunOk({"readelf", "-d", "out/tiny.cpu/libtiny.so"}), '\n')) {
    if (line.find("(NEEDED)") != std::string::npos) libraries.push_back(SplitWords(line).back());
  }
  EXPECT_EQ(libraries, Words{"[libc.so.6]"});
  for (const std::string& line : Split(Trim(RunOk({"nm", "-D", "--defined-only", "out/tiny.cpu/libtiny.so"})), '\n')) {
    names.push_back(SplitWords(line).back());
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (Words{"tiny_abi_version", "tiny_create", "tiny_describe", "tiny_destroy", "tiny_profile_run",
                          "tiny_run", "tiny_strerror", "tiny_workspace_size"}));
}

}  // namespace
}  // namespace hone
