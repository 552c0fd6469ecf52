#include "test_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "base/clock.h"
#include "base/json.h"

namespace hone {

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

void ExpectHas(const std::string& text, const Words& parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(text.find(part), std::string::npos) << "`" << part << "` is missing in:\n" << text;
  }
}

void ExpectHasNot(const std::string& text, const Words& parts) {
  for (const std::string& part : parts) {
    EXPECT_EQ(text.find(part), std::string::npos) << "`" << part << "` is in:\n" << text;
  }
}

void ExpectOk(const CommandResult& result) {
  EXPECT_TRUE(result.status.ok()) << result.status.ToString() << "\n" << result.out << result.err;
}

void ExpectRefused(const CommandResult& result, int code, const Words& parts) {
  EXPECT_EQ(result.status.ToString(), "exited " + std::to_string(code)) << result.err;
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  EXPECT_EQ(result.err.rfind("hone-", 0), 0u) << result.err;
  ExpectHas(result.err, parts);
}

TestFolder::TestFolder(const std::string& inner)
    : dir_(*TempDir::Create("hone-test")), inner_(inner.empty() ? "" : inner + "/") {
  EXPECT_TRUE(MakeDirs(Path("")).ok());
}

std::string TestFolder::Read(const std::string& name) const {
  const Result<std::string> text = ReadFile(Path(name));
  EXPECT_TRUE(text.ok()) << text.status().message();
  return text.ok() ? *text : "";
}

Json TestFolder::ReadJson(const std::string& name) const {
  const Result<Json> json = ReadJsonFile(Path(name));
  EXPECT_TRUE(json.ok()) << json.status().message();
  return json.ok() ? *json : Json();
}

// The clock of file times advances in ticks of the kernel, 4 to 10 ms, and Ninja sees no change within one.
void TestFolder::WaitForTick() {
  if (ran_) RealClock()->SleepSeconds(0.015);
  ran_ = false;
}

// Not WriteFileAtomic: it waits for the disk, and a test writes dozens. A file that is there may be write-protected, or
// a program that runs: another one takes its place.
void TestFolder::Write(const std::string& name, const std::string& text) {
  WaitForTick();
  const std::string path = Path(name);
  ASSERT_TRUE(MakeDirs(DirName(path)).ok());
  std::ofstream file(path + ".new", std::ios::binary | std::ios::trunc);
  file << text;
  ASSERT_TRUE(file.flush().good()) << path;
  file.close();
  const Status renamed = Rename(path + ".new", path);
  ASSERT_TRUE(renamed.ok()) << renamed.message();
}

void TestFolder::WriteProgram(const std::string& name, const std::string& text) {
  Write(name, text);
  ASSERT_EQ(chmod(Path(name).c_str(), 0755), 0) << name;
}

void TestFolder::Touch(const std::string& name) {
  WaitForTick();
  ASSERT_EQ(utimensat(AT_FDCWD, Path(name).c_str(), nullptr, 0), 0) << name;
}

void TestFolder::Delete(const std::string& name) {
  ASSERT_TRUE(Has(name)) << name;
  const Status deleted = IsDirectory(Path(name)) ? RemoveTree(Path(name)) : Remove(Path(name));
  ASSERT_TRUE(deleted.ok()) << deleted.message();
}

CommandResult TestFolder::Run(const Words& argv, const std::vector<std::pair<std::string, std::string>>& env) {
  CommandOptions options;
  options.cwd = Path("");
  options.env = {{"HONE_LAUNCHER", ""}, {"NINJA_STATUS", ""}};
  options.env.insert(options.env.end(), env.begin(), env.end());
  options.timeout_seconds = timeout_seconds_;
  const Result<CommandResult> result = RunCommand(argv, options);
  ran_ = true;
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? *result : CommandResult{{1, 0}, "", ""};
}

std::string TestFolder::RunOk(const Words& argv) {
  const CommandResult result = Run(argv);
  ExpectOk(result);
  return result.out;
}

Subprocess TestFolder::Start(const Words& argv) {
  SpawnOptions options;
  options.argv = argv;
  options.cwd = Path("");
  options.env = {{"HONE_LAUNCHER", ""}};
  const int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  options.stdin_fd = options.stdout_fd = options.stderr_fd = null_fd;
  Result<Subprocess> process = Subprocess::Spawn(options);
  close(null_fd);
  ran_ = true;
  EXPECT_TRUE(process.ok()) << process.status().message();
  return process.ok() ? std::move(*process) : Subprocess();
}

}  // namespace hone
