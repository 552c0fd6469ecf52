#include "test_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/clock.h"
#include "base/json.h"
#include "base/text.h"

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

const CommandResult& ExpectOk(const CommandResult& result) {
  EXPECT_TRUE(result.status.ok()) << result.status.ToString() << "\n" << result.out << result.err;
  return result;
}

void ExpectFails(const CommandResult& result, const Words& parts) {
  EXPECT_FALSE(result.status.ok());
  ExpectHas(result.out + result.err, parts);
}

void ExpectRefused(const CommandResult& result, int code, const Words& parts) {
  EXPECT_EQ(result.status.ToString(), "exited " + std::to_string(code)) << result.err;
  EXPECT_EQ(result.out, "");
  std::string line = result.err;
  if (StartsWith(line, "waiting for this machine: ")) line.erase(0, line.find('\n') + 1);  // others may measure on it
  EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1) << result.err;
  EXPECT_EQ(line.rfind("hone-", 0), 0u) << result.err;
  ExpectHas(result.err, parts);
}

TestFolder::TestFolder(const std::string& inner)
    : dir_(std::make_shared<TempDir>(Must(TempDir::Create("hone-test")))), inner_(inner.empty() ? "" : inner + "/") {
  Must(MakeDirs(Path("")));
}

Json TestFolder::ReadJson(const std::string& name) const { return Must(ReadJsonFile(Path(name))); }

// The clock of file times advances in ticks of the kernel, 4 to 10 ms, and Ninja sees no change within one.
void TestFolder::WaitForTick() {
  if (ran_) RealClock()->SleepSeconds(0.015);
  ran_ = false;
}

// Not WriteFileAtomic, which waits for the disk, as a test writes dozens of files. An existing file may be
// write-protected or a running program: it is replaced, not overwritten.
void TestFolder::Write(const std::string& name, const std::string& text) {
  WaitForTick();
  const std::string path = Path(name);
  Must(MakeDirs(DirName(path)));
  std::ofstream file(path + ".new", std::ios::binary | std::ios::trunc);
  file << text;
  ASSERT_TRUE(file.flush().good()) << path;
  file.close();
  std::filesystem::rename(path + ".new", path);
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
  Must(IsDirectory(Path(name)) ? RemoveTree(Path(name)) : Remove(Path(name)));
}

std::string TestFolder::Snapshot(const std::string& folder, const Words& aside) const {
  Words lines;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(Path(folder))) {
    const std::string path = entry.path().string();
    struct stat st{};
    const bool counts = std::ranges::none_of(aside, [&](const std::string& end) { return path.ends_with(end); });
    if (!counts || lstat(path.c_str(), &st) != 0 || S_ISDIR(st.st_mode)) continue;
    lines.push_back(path + ": " + std::to_string(st.st_size) + " bytes, " + std::to_string(st.st_mtim.tv_sec) +
                    " s + " + std::to_string(st.st_mtim.tv_nsec) + " ns");
  }
  std::sort(lines.begin(), lines.end());
  return Join(lines, "\n");
}

CommandResult TestFolder::Run(const Words& argv, const std::vector<std::pair<std::string, std::string>>& env) {
  CommandOptions options;
  options.cwd = Path("");
  options.env = {{"HONE_LAUNCHER", ""}, {"NINJA_STATUS", ""}};
  options.env.insert(options.env.end(), env.begin(), env.end());
  options.timeout_seconds = timeout_seconds_;
  ran_ = true;
  return Must(RunCommand(argv, options));
}

std::string TestFolder::RunOk(const Words& argv) { return ExpectOk(Run(argv)).out; }

bool TestFolder::WaitFor(double seconds, const std::function<bool()>& there) {
  const Deadline deadline(seconds);
  while (!there()) {
    if (deadline.Passed()) return false;
    RealClock()->SleepSeconds(0.01);
  }
  return true;
}

Result<Subprocess> StartQuietly(const Words& argv, const std::string& folder) {
  SpawnOptions options{.argv = argv, .env = {{"HONE_LAUNCHER", ""}}, .cwd = folder};
  const int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  options.stdin_fd = options.stdout_fd = options.stderr_fd = null_fd;
  Result<Subprocess> process = Subprocess::Spawn(options);
  close(null_fd);
  return process;
}

Subprocess TestFolder::Start(const Words& argv) {
  ran_ = true;
  return Must(StartQuietly(argv, Path("")));
}

}  // namespace hone
