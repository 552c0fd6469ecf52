// A temporary project for tests of the manifest: pipelines/, bin/ with hone-plan and stand-ins for the other tools
// (fake_tool.sh), and work/.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/subprocess.h"

namespace hone {

class WorkFolderTest : public testing::Test {
 protected:
  // Networks one (tasks a, b) and two (b, c); pipelines alpha (one) and beta (two) on target cpu, 4 trials a task. Not
  // planned yet.
  void SetUp() override;

  std::string Path(const std::string& name) const { return dir_->Join(name); }
  // Replaces a file (and makes its folder). What Ninja looks at is later than the end of the last run, in file times
  // too.
  void Write(const std::string& name, const std::string& text);
  void Touch(const std::string& name);
  std::string Read(const std::string& name) const;
  void WritePipeline(const std::string& name, const std::string& network, int trials);

  CommandResult RunPlan(const std::vector<std::string>& arguments = {});
  // Runs `ninja -C work ARGUMENTS`; `env` is added to the environment. HONE_LAUNCHER is empty unless given there.
  CommandResult Ninja(const std::vector<std::string>& arguments,
                      std::vector<std::pair<std::string, std::string>> env = {});
  // As Ninja, and expects success.
  std::string NinjaOk(const std::vector<std::string>& arguments);

  // What the tools were called for since the last time this was asked, sorted: "tune a 4" is task a, 4 trials measured.
  std::vector<std::string> Calls();

  std::string project_ = "project";  // name of the folder below dir_ that holds all of it

 private:
  // Lets the clock of the file system advance once after something was run.
  void WaitForTick();

  std::optional<TempDir> dir_;
  bool ran_ = false;
};

}  // namespace hone
