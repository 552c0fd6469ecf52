// A Slurm cluster of two nodes on this machine, for tests: its own munge, slurmctld and two slurmd in a temporary
// folder, as the user who runs the test, beside whatever Slurm the machine may have.
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
  // Empty if all programs are here; else which one is missing.
  static std::string Missing();

  // Two idle nodes, n1 and n2, of two CPUs each; partitions `main` (the default) and `high`, whose jobs send those of
  // `main` back into the queue. SLURM_CONF of this process points to it. kTimeout if the nodes do not come up; the
  // message has the end of the daemons' logs.
  static Result<std::unique_ptr<SlurmCluster>> Start();
  ~SlurmCluster();  // ends the daemons

  // Devices that --gres=gpu:1 hands out are device files, which only root can make.
  bool has_devices() const { return has_devices_; }

  Status StopNode(const std::string& name);  // SIGKILL to its daemon: a dead machine, as far as the controller knows
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
