// A temporary work folder with a tiny network in it, and the tools that turn it into a library.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/subprocess.h"
#include "graph/graph.h"

namespace hone {

class BuildFolderTest : public testing::Test {
 protected:
  // targets/cpu.json and tiny.json: a graph of two convolutions with a residual, 17 channels, and 20 classes.
  void SetUp() override;

  static graph::Graph Tiny();
  std::string Path(const std::string& name) const { return dir_->Join(name); }
  void Write(const std::string& name, const std::string& text);
  std::string Read(const std::string& name) const;

  // Runs a program in the folder.
  CommandResult Run(std::vector<std::string> argv);
  CommandResult Extract(const std::string& network = "tiny.json", std::vector<std::string> more = {});
  CommandResult Build(std::vector<std::string> more = {"--untuned"});
  // Expects a clean failure with this exit code: one line on stderr that starts with the tool's name and contains
  // `words`.
  static void ExpectRefused(const CommandResult& result, int code, const std::string& words);

 private:
  std::optional<TempDir> dir_;
};

}  // namespace hone
