// A temporary folder for tests that run real programs in it.
#pragma once

#include "base/file.h"
#include "base/json_fwd.h"
#include "base/subprocess.h"
#include "common/expect.h"

namespace hone {

using Words = std::vector<std::string>;  // of a command line or a text
Words operator+(Words words, const Words& more);

// Expects that the text contains every part, or no part.
void ExpectHas(const std::string& text, const Words& parts);
void ExpectHasNot(const std::string& text, const Words& parts);
const CommandResult& ExpectOk(const CommandResult& result);         // returns it
void ExpectFails(const CommandResult& result, const Words& parts);  // with any code; its output has every part
// Expects a clean error: this exit code, nothing on stdout, one line on stderr that begins with a tool's name and
// contains every part.
void ExpectRefused(const CommandResult& result, int code, const Words& parts);

// Starts a program whose input and output are nowhere.
Result<Subprocess> StartQuietly(const Words& argv, const std::string& folder);

class TestFolder : public testing::Test {
 protected:
  // With `inner`, the test's folder is a subfolder of that name.
  explicit TestFolder(const std::string& inner = "");

  std::string Path(const std::string& name) const { return dir_->Join(inner_ + name); }
  bool Has(const std::string& name) const { return Exists(Path(name)); }
  std::string Read(const std::string& name) const { return Must(ReadFile(Path(name))); }
  Json ReadJson(const std::string& name) const;
  // Replaces a file and creates its folder. The file is newer than everything that the last program wrote, so that
  // Ninja notices it.
  void Write(const std::string& name, const std::string& text);
  void WriteProgram(const std::string& name, const std::string& text);
  void Touch(const std::string& name);
  void Delete(const std::string& name);  // a file or a whole folder
  // Every file below a folder with its size and time, one per line, except names that end in one of `aside`.
  std::string Snapshot(const std::string& folder, const Words& aside = {}) const;

  // Runs a program in the folder; without a launcher unless `env` has one.
  CommandResult Run(const Words& argv, const std::vector<std::pair<std::string, std::string>>& env = {});
  CommandResult Ninja(const Words& arguments, const std::string& launcher = "") {
    return Run(Words{"ninja", "-C", "work"} + arguments, {{"HONE_LAUNCHER", launcher}});
  }
  std::string NinjaOk(const Words& arguments) { return RunOk(Words{"ninja", "-C", "work"} + arguments); }
  // The same for one that must succeed; what it printed.
  std::string RunOk(const Words& argv);
  // Starts one whose input and output are nowhere.
  Subprocess Start(const Words& argv);

  // Waits until `there` holds; false on timeout.
  static bool WaitFor(double seconds, const std::function<bool()>& there);

  double timeout_seconds_ = 240;        // of Run
  std::shared_ptr<const TempDir> dir_;  // a suite may keep one for all of its tests

 private:
  void WaitForTick();

  std::string inner_;  // with its slash
  bool ran_ = false;
};

}  // namespace hone
