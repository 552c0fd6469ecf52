#include "build_folder.h"

#include <algorithm>

#include "graph/graph_json.h"
#include "graph/network_builder.h"

namespace hone {

graph::Graph BuildFolderTest::Tiny() {
  graph::NetworkBuilder net("tiny", 3);
  std::string x = net.Input("data", {1, 3, 13, 13});
  x = net.Relu("r1", net.BatchNorm("b1", net.Conv("c1", x, 17, {{3}, {1}, {1}})));
  x = net.Relu("r2", net.Add("a", net.BatchNorm("b2", net.Conv("c2", x, 17, {{3}, {1}, {1}})), x));
  return net.Finish({net.Dense("fc", net.Unary("flat", "flatten", net.Unary("gap", "global_avg_pool", x)), 20)});
}

void BuildFolderTest::SetUp() {
  dir_.emplace(*TempDir::Create());
  Write("targets/cpu.json", "{\"kind\": \"cpu\", \"threads\": 2}");
  Write("tiny.json", graph::GraphText(Tiny()));
}

void BuildFolderTest::Write(const std::string& name, const std::string& text) {
  ASSERT_TRUE(MakeDirs(DirName(Path(name))).ok());
  ASSERT_TRUE(WriteFileAtomic(Path(name), text).ok());
}

std::string BuildFolderTest::Read(const std::string& name) const {
  auto bytes = ReadFile(Path(name));
  EXPECT_TRUE(bytes.ok()) << bytes.status().message();
  return bytes.ok() ? *bytes : "";
}

CommandResult BuildFolderTest::Run(std::vector<std::string> argv) {
  CommandOptions options;
  options.cwd = dir_->path();
  options.timeout_seconds = 120;
  auto result = RunCommand(argv, options);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? *result : CommandResult{};
}

CommandResult BuildFolderTest::Extract(const std::string& network, std::vector<std::string> more) {
  std::vector<std::string> argv = {HONE_EXTRACT,
                                   "--network",
                                   network,
                                   "--target",
                                   "targets/cpu.json",
                                   "--graph",
                                   "nets/tiny.graph.json",
                                   "--tasks",
                                   "tasks/tiny.cpu.tasks.json",
                                   "--task-dir",
                                   "tasks"};
  argv.insert(argv.end(), more.begin(), more.end());
  return Run(argv);
}

CommandResult BuildFolderTest::Build(std::vector<std::string> more) {
  std::vector<std::string> argv = {HONE_BUILD,         "--graph", "nets/tiny.graph.json", "--target",
                                   "targets/cpu.json", "--out",   "out/tiny.cpu"};
  argv.insert(argv.end(), more.begin(), more.end());
  return Run(argv);
}

void BuildFolderTest::ExpectRefused(const CommandResult& result, int code, const std::string& words) {
  EXPECT_EQ(result.status.ToString(), "exited " + std::to_string(code)) << result.err;
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_EQ(result.err.rfind("hone-", 0), 0u) << result.err;
  EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
  EXPECT_EQ(result.out, "");
}

}  // namespace hone
