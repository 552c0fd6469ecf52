// A Slurm cluster of two nodes on this machine, for tests: its own munge, slurmctld and two slurmd in a temporary
// folder, run by the test's user, independent of any other Slurm on the machine.
#pragma once

#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/rng.h"
#include "base/text.h"
#include "test_folder.h"

namespace hone {

inline constexpr double kStartSeconds = 120;
// Times are the shortest that Slurm accepts: a node counts as dead after 15 s, and a requeued job starts when its old
// credential has expired.
inline constexpr const char* kConfiguration = R"(ClusterName=honetest
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={dir}/munge.socket,cred_expire=5
CredType=cred/munge
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool-%n
SlurmctldPidFile={dir}/controller.pid
SlurmdPidFile={dir}/node-%n.pid
SlurmctldLogFile={dir}/controller.log
SlurmdLogFile={dir}/node-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1,batch_sched_delay=0,sched_min_interval=100000
SlurmdParameters=config_overrides
ReturnToService=2
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
KillWait=5
MinJobAge=5
SlurmdTimeout=15
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
{gres}NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 Port={port1} CPUs=2 RealMemory=1000 {node_gres}
NodeName=n2 NodeHostname={host} NodeAddr=127.0.0.1 Port={port2} CPUs=2 RealMemory=1000 {node_gres}
PartitionName=main Nodes=n[1-2] Default=YES PriorityTier=1 MaxTime=INFINITE
PartitionName=high Nodes=n[1-2] PriorityTier=10 MaxTime=INFINITE
)";

inline std::string Fill(std::string text, const std::vector<std::pair<std::string, std::string>>& values) {
  for (const auto& [name, value] : values) text = ReplaceAll(text, "{" + name + "}", value);
  return text;
}

inline std::string FindDaemon(const char* name) {
  for (const char* folder : {"/usr/sbin/", "/usr/bin/", "/usr/local/sbin/", "/usr/local/bin/"}) {
    if (Exists(folder + std::string(name))) return folder + std::string(name);
  }
  return "";
}

class SlurmCluster {
 public:
  // The missing program; empty if all programs exist.
  static std::string Missing() {
    for (const char* name : {"munged", "slurmctld", "slurmd", "srun", "sbatch", "scancel", "sinfo", "squeue"}) {
      if (FindDaemon(name).empty()) return name;
    }
    return "";
  }

  // Two idle nodes, n1 and n2, with two CPUs each; partitions `main` (the default) and `high`, whose jobs requeue those
  // of `main`. Sets SLURM_CONF of this process. Returns kTimeout, with the end of the daemons' logs, if the nodes do
  // not come up.
  static Result<std::unique_ptr<SlurmCluster>> Start() {
    HONE_ASSIGN_OR_RETURN(TempDir dir, TempDir::Create("hone-slurm"));
    std::unique_ptr<SlurmCluster> cluster(new SlurmCluster(std::move(dir)));
    // Munge requires that no other user can write to the folders above its socket; --force turns that into a warning.
    HONE_RETURN_IF_ERROR(cluster->WriteFiles());
    HONE_RETURN_IF_ERROR(cluster->StartDaemons());
    return cluster;
  }
  // Ends the daemons.
  ~SlurmCluster() {
    for (Subprocess& node : nodes_) node.KillAndWait();
    controller_.KillAndWait();
    munge_.KillAndWait();
    unsetenv("SLURM_CONF");
  }

  // --gres=gpu:1 assigns device files, which only root can create.
  bool has_devices() const { return has_devices_; }

  // SIGKILL to its daemon: the controller sees a dead machine.
  Status StopNode(const std::string& name) {
    nodes_[name == "n2"].KillAndWait();
    return Status();
  }
  Status StartNode(const std::string& name) {
    auto node =
        StartQuietly({FindDaemon("slurmd"), "-D", "-c", "-N", name, "-f", dir_.Join("slurm.conf")}, dir_.path());
    HONE_RETURN_IF_ERROR(node.status());
    nodes_[name == "n2"] = std::move(*node);
    return Status();
  }

 private:
  explicit SlurmCluster(TempDir dir) : dir_(std::move(dir)) {}
  Status WriteFiles() {
    for (const char* name : {"state", "spool-n1", "spool-n2"}) HONE_RETURN_IF_ERROR(MakeDirs(dir_.Join(name)));
    Rng rng(static_cast<uint64_t>(getpid()));
    std::string key;
    for (int i = 0; i < 1024; ++i) key += static_cast<char>(rng.UniformInt(256));
    HONE_RETURN_IF_ERROR(WriteFileAtomic(dir_.Join("munge.key"), key));
    chmod(dir_.Join("munge.key").c_str(), 0600);
    // /dev/null serves as a device file that does nothing.
    has_devices_ = true;
    for (const char* name : {"gpu0", "gpu1"}) {
      has_devices_ = mknod(dir_.Join(name).c_str(), S_IFCHR | 0666, makedev(1, 3)) == 0 && has_devices_;
    }
    std::string gres;
    for (const char* node : {"n1", "n2"})
      gres += fmt::format("NodeName={} Name=gpu File={}/gpu[0-1]\n", node, dir_.path());
    if (has_devices_) HONE_RETURN_IF_ERROR(WriteFileAtomic(dir_.Join("gres.conf"), gres));
    const int port = 20000 + static_cast<int>(getpid() % 10000) * 3;
    const char* user = getenv("USER");
    const std::string text = Fill(kConfiguration, {{"dir", dir_.path()},
                                                   {"host", Hostname()},
                                                   {"user", getuid() == 0 ? "root"
                                                            : user        ? user
                                                                          : "nobody"},
                                                   {"port1", std::to_string(port + 1)},
                                                   {"port2", std::to_string(port + 2)},
                                                   {"port", std::to_string(port)},
                                                   {"gres", has_devices_ ? "GresTypes=gpu\n" : ""},
                                                   {"node_gres", has_devices_ ? "Gres=gpu:2" : ""}});
    HONE_RETURN_IF_ERROR(WriteFileAtomic(dir_.Join("slurm.conf"), text));
    setenv("SLURM_CONF", dir_.Join("slurm.conf").c_str(), 1);
    return Status();
  }
  Status StartDaemons() {
    HONE_ASSIGN_OR_RETURN(
        munge_, StartQuietly({FindDaemon("munged"), "--foreground", "--force", "--key-file=" + dir_.Join("munge.key"),
                              "--socket=" + dir_.Join("munge.socket"), "--pid-file=" + dir_.Join("munge.pid"),
                              "--log-file=" + dir_.Join("munge.log"), "--seed-file=" + dir_.Join("munge.seed")},
                             dir_.path()));
    for (int tries = 0; !Exists(dir_.Join("munge.socket")) && tries < 100; ++tries) RealClock()->SleepSeconds(0.05);
    HONE_ASSIGN_OR_RETURN(
        controller_, StartQuietly({FindDaemon("slurmctld"), "-D", "-c", "-f", dir_.Join("slurm.conf")}, dir_.path()));
    HONE_RETURN_IF_ERROR(StartNode("n1"));
    HONE_RETURN_IF_ERROR(StartNode("n2"));
    return WaitForNodes();
  }
  Status WaitForNodes() {
    const double deadline = RealClock()->NowSeconds() + kStartSeconds;
    CommandOptions options;
    options.timeout_seconds = 10;
    while (RealClock()->NowSeconds() < deadline) {
      auto result = RunCommand({"sinfo", "-h", "-p", "main", "-t", "idle", "-o", "%D"}, options);
      if (result.ok() && result->status.ok() && Trim(result->out) == "2") return Status();
      RealClock()->SleepSeconds(0.2);
    }
    return Status::Timeout("the nodes do not come up\n" + LogTails());
  }
  std::string LogTails() const {
    std::string text;
    for (const char* name : {"munge.log", "controller.log", "node-n1.log", "node-n2.log"}) {
      const auto log = ReadFile(dir_.Join(name));
      if (log.ok())
        text += fmt::format("{}:\n{}\n", name, log->substr(log->size() - std::min<size_t>(log->size(), 1500)));
    }
    return text;
  }

  TempDir dir_;
  bool has_devices_ = false;
  Subprocess munge_, controller_, nodes_[2];
};

}  // namespace hone
