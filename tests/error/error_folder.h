// A project that has been through the whole chain once, so that every tool has good inputs to be spoilt one at a time.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "chain_folder.h"

namespace hone {

// The project of a whole suite; made once, as the chain takes seconds.
class Project : public ChainFolder {
 public:
  void Make();  // runs the chain of network one with invented times
  void Clear() { ChainFolder::TearDown(); }
  using ChainFolder::Db;
  using ChainFolder::InventTimes;
  using ChainFolder::Path;
  using ChainFolder::Plan;
  using ChainFolder::Read;
  using ChainFolder::RealTimes;
  using ChainFolder::Run;
  using ChainFolder::Tasks;
  using ChainFolder::Work;
  using ChainFolder::Write;

 private:
  void TestBody() override {}
};

class ErrorFolder : public testing::Test {
 protected:
  static void SetUpTestSuite();
  static void TearDownTestSuite();

  // A tool with good inputs, all outputs below "new/", its name first; paths are relative to the project.
  static std::vector<std::string> Good(const std::string& tool);
  // The same with another value behind `flag`; the flag and its value are added if it has none.
  static std::vector<std::string> With(const std::string& tool, const std::string& flag, const std::string& value);

  static CommandResult RunTool(std::vector<std::string> argv);
  // Runs it and expects a clean refusal: exit code 1 or 2, nothing on stdout, one line on stderr that begins with the
  // tool's name and has all `parts` in it, and no file of the project made, changed or gone.
  static void ExpectRefused(const std::vector<std::string>& argv, const std::vector<std::string>& parts);
  // Runs it and expects success or a clean refusal. True for success. What it wrote is removed.
  static bool ExpectNoCrash(const std::vector<std::string>& argv);

  // Every file of the project with its size and time, logs and caches of reference outputs aside.
  static std::map<std::string, std::string> Snapshot();
  static std::string Text(const CommandResult& result);

  static std::unique_ptr<Project> project_;
};

}  // namespace hone
