#include "target/artifact.h"

#include "common/expect.h"

namespace hone {
namespace {

Artifact Example() {
  Artifact artifact{.format = "elf-object"};
  artifact.bytes = std::string(
      "\x7f"
      "ELF\0\1",
      6);
  artifact.entries = {{"conv", {{"data", DType::Float(32), 12, false}, {"out", DType::Float(32), 24, true}}, 128, 64},
                      {"prepare", {}, 0, 0}};
  return artifact;
}

TEST(Artifact, EntriesSurviveTheirText) {
  Artifact artifact = Example();
  auto parsed = Must(ParseEntries(EntriesText(artifact.entries)));
  ASSERT_EQ(parsed.size(), 2U);
  const EntryPoint& entry = parsed[0];
  EXPECT_EQ(entry.symbol, "conv");
  EXPECT_EQ(entry.workspace_bytes, 128);
  EXPECT_EQ(entry.scratch_bytes, 64);
  ASSERT_EQ(entry.args.size(), 2U);
  EXPECT_EQ(entry.args[1].name, "out");
  EXPECT_EQ(entry.args[1].type, DType::Float(32));
  EXPECT_EQ(entry.args[1].elements, 24);
  EXPECT_TRUE(entry.args[1].written);
  EXPECT_EQ(EntriesText(parsed), EntriesText(artifact.entries));
}

EntryPoint OfADevice() {
  EntryPoint entry{"conv", {{"in", DType::Float(32), 12, false}, {"out", DType::Float(32), 24, true}}, 0, 0};
  entry.workspace_buffers = {4096};
  entry.launches.push_back({"conv_0", {7, 2, 1}, {32, 4, 1}, 2048, 0, {0, -1}});
  entry.launches.push_back({"conv_1", {3, 1, 5}, {64, 1, 1}, 65536, 65536, {-1, 1}});
  return entry;
}

TEST(Artifact, LaunchesSurviveTheirText) {
  const std::string text = EntriesText({OfADevice()});
  auto parsed = Must(ParseEntries(text));
  EXPECT_EQ(parsed[0].launches, OfADevice().launches);
  EXPECT_EQ(parsed[0].workspace_buffers, OfADevice().workspace_buffers);
  EXPECT_EQ(EntriesText(parsed), text);
}

// As before devices existed: digests in records include this text.
TEST(Artifact, AHostsEntriesSayNothingOfLaunches) {
  EXPECT_EQ(EntriesText({{"f", {}, 0, 0}}),
            "{\"entries\":[{\"symbol\":\"f\",\"args\":[],\"workspace_bytes\":0,\"scratch_bytes\":0}]}\n");
}

TEST(Artifact, BadLaunchesAreRefused) {
  const auto refused = [](const std::function<void(EntryPoint*)>& spoil) {
    EntryPoint entry = OfADevice();
    spoil(&entry);
    return !ParseEntries(EntriesText({entry})).ok();
  };
  EXPECT_FALSE(refused([](EntryPoint*) {}));
  EXPECT_TRUE(refused([](EntryPoint* e) { e->launches[0].args[0] = 2; }));
  EXPECT_TRUE(refused([](EntryPoint* e) { e->launches[0].args[1] = -2; }));
  EXPECT_TRUE(refused([](EntryPoint* e) { e->launches[0].grid[1] = 0; }));
  EXPECT_TRUE(refused([](EntryPoint* e) { e->launches[1].block[0] = -64; }));
  EXPECT_TRUE(refused([](EntryPoint* e) { e->launches[0].dynamic_shared_bytes = 4096; }));
  EXPECT_TRUE(refused([](EntryPoint* e) { e->workspace_buffers[0] = -1; }));
}

TEST(Artifact, BadEntriesAreRefused) {
  for (
      const char* text :
      {"", "[]", "{}", R"({"entries": 1})", R"({"entries": [], "extra": 1})", R"({"entries": [{"symbol": "x"}]})",
       R"({"entries": [{"symbol": "x", "args": [], "workspace_bytes": -1, "scratch_bytes": 0}]})",
       R"({"entries": [{"symbol": "x", "args": [{"name": "a", "type": "f33", "elements": 1, "written": true}], "workspace_bytes": 0, "scratch_bytes": 0}]})"}) {
    EXPECT_FALSE(ParseEntries(text).ok()) << text;
  }
}

}  // namespace
}  // namespace hone
