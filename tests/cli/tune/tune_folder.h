// A temporary work folder with one small convolution to tune, and hone-tune to run in it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/subprocess.h"
#include "record/store.h"

namespace hone {

// Times invented from seed 7 in place of measured ones.
inline const std::vector<std::string> kFake = {"--fake-measure", "7"};

class TuneFolder : public testing::Test {
 protected:
  void SetUp() override;

  // Settings with that many trials; `more`: further keys, ", \"early_stop\": 5".
  void WriteSettings(int trials, const std::string& more = "");
  void WriteTask(const std::string& workload);

  std::string Path(const std::string& name) const { return dir_->Join(name); }
  std::string Db() const { return Path("records/t.db"); }
  std::string Stamp() const { return Path("stamps/t.done"); }

  // --task --settings --db --stamp, and `more`.
  std::vector<std::string> Arguments(const std::vector<std::string>& more) const;
  CommandResult Run(const std::vector<std::string>& more);
  // With exactly these arguments.
  CommandResult RunOnly(const std::vector<std::string>& arguments);
  // Another tool: its path, then its arguments.
  CommandResult RunTool(const std::vector<std::string>& argv);
  Subprocess Start(const std::vector<std::string>& more);

  std::vector<record::Trial> Trials() const;
  std::vector<uint64_t> Indices() const;
  std::string StampText() const;
  // Its trials, stamp and records are gone; the job's input files stay.
  void Reset();

  std::unique_ptr<TempDir> dir_;
};

// Children of a process whose command line contains `word`.
std::vector<pid_t> ChildrenOf(pid_t parent, const std::string& word);

}  // namespace hone
