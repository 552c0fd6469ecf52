#include "records_folder.h"

#include <algorithm>

#include "pipeline/task_list.h"

namespace hone {
namespace {

Outcome Of(int64_t unroll) {
  Outcome o;
  o.config = {"dense", static_cast<uint64_t>(unroll), {{"unroll", KnobKind::kOther, {unroll}, {}}}};
  o.proposer = "random";
  o.artifact_digest = std::to_string(unroll);
  o.steps = "unroll out k";
  o.compile_seconds = 0.25;
  o.measure_seconds = 0.5;
  return o;
}

}  // namespace

Outcome Ok(int64_t unroll, double seconds) {
  Outcome o = Of(unroll);
  o.state = TrialState::kOk;
  o.samples = {seconds, 1.5 * seconds, 0.5 * seconds};
  o.median = seconds;
  return o;
}

Outcome Pruned(int64_t unroll, double seconds) {
  Outcome o = Ok(unroll, seconds);
  o.state = TrialState::kPruned;
  o.samples = {seconds};
  return o;
}

Outcome Failed(int64_t unroll, TrialError error, const std::string& text) {
  Outcome o = Of(unroll);
  o.state = TrialState::kFailed;
  o.error = error;
  o.error_text = text;
  return o;
}

void RecordsFolderTest::SetUp() {
  Result<TempDir> dir = TempDir::Create("hone-records");
  ASSERT_TRUE(dir.ok()) << dir.status().message();
  dir_.emplace(std::move(*dir));
}

void RecordsFolderTest::Write(const std::string& name, const std::string& text) {
  ASSERT_TRUE(MakeDirs(DirName(Path(name))).ok());
  ASSERT_TRUE(WriteFileAtomic(Path(name), text).ok());
}

std::string RecordsFolderTest::Read(const std::string& name) const {
  const Result<std::string> text = ReadFile(Path(name));
  EXPECT_TRUE(text.ok()) << text.status().message();
  return text.ok() ? *text : "";
}

void RecordsFolderTest::Record(const std::string& id, const std::string& workload, const std::vector<Outcome>& outcomes,
                               const std::string& fingerprint, double started) {
  auto store = record::Store::OpenForWriting(Path("records/" + id + ".db"), {id, workload, kTarget, {{"dense", 1}}});
  ASSERT_TRUE(store.ok()) << store.status().message();
  record::Session session;
  session.started = started;
  session.host = "the-host";
  session.device = "a device";
  session.fingerprint = fingerprint;
  session.tool_version = "1.2.3";
  session.seed = 7;
  session.settings = "{}";
  const Result<int64_t> number = (*store)->BeginSession(session);
  ASSERT_TRUE(number.ok()) << number.status().message();
  ASSERT_TRUE((*store)->Append(*number, outcomes).ok());
  ASSERT_TRUE((*store)->EndSession(*number, started + 10).ok());
}

void RecordsFolderTest::WriteTaskList(const std::vector<std::pair<std::string, std::string>>& tasks) {
  pipeline::TaskList list{"net", kTarget, "cpu", {}};
  for (const auto& [id, workload] : tasks) list.tasks.push_back({id, workload, 2, 1000000});
  Write("tasks/net.cpu.tasks.json", pipeline::TaskListText(list));
}

CommandResult RecordsFolderTest::Run(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<std::string> argv = {program};
  argv.insert(argv.end(), arguments.begin(), arguments.end());
  CommandOptions options;
  options.cwd = Path(".");
  const Result<CommandResult> result = RunCommand(argv, options);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? *result : CommandResult();
}

CommandResult RecordsFolderTest::PickBest(const std::vector<std::string>& more) {
  std::vector<std::string> arguments = {"--tasks", "tasks/net.cpu.tasks.json", "--records", "records",
                                        "--out",   "best/net.cpu.json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return Run(HONE_PICK_BEST, arguments);
}

void RecordsFolderTest::ExpectRefused(const CommandResult& result, const std::vector<std::string>& parts, int code) {
  EXPECT_EQ(result.status.code, code) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  for (const std::string& part : parts) EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
}

}  // namespace hone
