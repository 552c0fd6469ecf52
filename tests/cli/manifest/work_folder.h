// A temporary project for tests of the manifest: pipelines/, bin/ with hone-plan, hone-allocate and stand-ins for the
// other tools (fake_tool.sh), and work/.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "test_folder.h"

namespace hone {

class WorkFolder : public TestFolder {
 protected:
  explicit WorkFolder(const std::string& name = "project") : TestFolder(name) {}

  // Networks resnet-18 (tasks a, b) and resnet-34 (b, c); pipelines alpha (the first network) and beta on target cpu, 4
  // trials per task. Not planned yet.
  void SetUp() override;

  // pipelines/NAME.toml: `tune` is the table's text, `more` what follows it.
  void WritePipeline(const std::string& name, const std::string& network, const std::string& tune,
                     const std::string& more = "");
  void WritePipeline(const std::string& name, const std::string& network, int trials);

  CommandResult Plan(const Words& arguments = {});
  void PlanOk();  // without any output on stderr

  // The calls of the tools since the last call of this function, sorted: "tune a 4" is task a, 4 trials measured.
  Words Calls();
  // Runs Ninja and expects these calls.
  void ExpectCalls(const Words& goals, const Words& calls);
  // Expects that Ninja has nothing to do.
  void ExpectNoWork(const Words& goals = {});
  int64_t Trials(const std::string& task) const;  // measured so far; 0 without records
};

}  // namespace hone
