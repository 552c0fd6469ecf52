// A project that has completed the whole chain, so that every tool has good inputs, which the tests damage one at a
// time.
#pragma once

#include <memory>
#include <string>

#include "base/text.h"
#include "chain_folder.h"

namespace hone {

// All tests of a suite share one project, as the chain takes seconds.
class ErrorFolder : public ChainFolder {
 protected:
  void SetUp() override;  // runs the chain of network one with simulated times
  static void TearDownTestSuite() { kept_.reset(); }

  // The command line of a tool with good inputs and all outputs below "new/"; paths are relative to the project.
  Words Good(const std::string& tool) const;
  // The same with another value for `flag`; adds the flag if it is missing.
  Words With(const std::string& tool, const std::string& flag, const std::string& value) const;

  CommandResult RunTool(Words argv);
  // Runs it and expects a clean error: exit code 1 or 2, nothing on stdout, one line on stderr that begins with the
  // tool's name and contains all `parts`, and no file of the project created, changed or removed.
  void ExpectRefused(const Words& argv, Words parts);
  // Runs it and expects success or a clean error. Returns true for success. Removes its output.
  bool ExpectNoCrash(const Words& argv);

 private:
  static inline std::shared_ptr<const TempDir> kept_;
};

}  // namespace hone
