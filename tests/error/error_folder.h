// A project that has been through the whole chain once, so that every tool has good inputs to be spoilt one at a time.
#pragma once

#include <memory>
#include <string>

#include "base/text.h"
#include "chain_folder.h"

namespace hone {

// All tests of a suite work in one project: the chain takes seconds.
class ErrorFolder : public ChainFolder {
 protected:
  void SetUp() override;  // runs the chain of network one with invented times
  static void TearDownTestSuite() { kept_.reset(); }

  // A tool with good inputs, all outputs below "new/", its name first; paths are relative to the project.
  Words Good(const std::string& tool) const;
  // The same with another value behind `flag`; the flag and its value are added if it has none.
  Words With(const std::string& tool, const std::string& flag, const std::string& value) const;

  CommandResult RunTool(Words argv);
  // Runs it and expects a clean refusal: exit code 1 or 2, nothing on stdout, one line on stderr that begins with the
  // tool's name and has all `parts` in it, and no file of the project made, changed or gone.
  void ExpectRefused(const Words& argv, Words parts);
  // Runs it and expects success or a clean refusal. True for success. What it wrote is removed.
  bool ExpectNoCrash(const Words& argv);

 private:
  static inline std::shared_ptr<const TempDir> kept_;
};

}  // namespace hone
