// A Slurm cluster of two nodes on this machine, for tests: its own munge, slurmctld and two slurmd in a temporary
// folder, run by the test's user, independent of any other Slurm on the machine.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "base/subprocess.h"

namespace hone {

class SlurmCluster {
 public:
  // The missing program; empty if all programs exist.
  static std::string Missing();

  // Two idle nodes, n1 and n2, with two CPUs each; partitions `main` (the default) and `high`, whose jobs requeue those
  // of `main`. Sets SLURM_CONF of this process. Returns kTimeout, with the end of the daemons' logs, if the nodes do
  // not come up.
  static Result<std::unique_ptr<SlurmCluster>> Start();
  ~SlurmCluster();  // ends the daemons

  // --gres=gpu:1 assigns device files, which only root can create.
  bool has_devices() const { return has_devices_; }

  Status StopNode(const std::string& name);  // SIGKILL to its daemon: the controller sees a dead machine
  Status StartNode(const std::string& name);

 private:
  explicit SlurmCluster(TempDir dir) : dir_(std::move(dir)) {}
  Status WriteFiles();
  Status StartDaemons();
  Status WaitForNodes();
  std::string LogTails() const;

  TempDir dir_;
  bool has_devices_ = false;
  Subprocess munge_, controller_, nodes_[2];
};

}  // namespace hone
