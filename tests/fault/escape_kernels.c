/* Hostile candidates for the task of unit/measure/twice_task.h: each tries one thing that reaches beyond its process. A
 * call that the sandbox forbids does not return. One that does return is reported, and fails the test. The test puts a
 * file beside this one, FILE.args: the pid of the test, and a folder whose files are to be spared. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timex.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "unit/measure/twice_kernels.h"

static int parent;
static char folder[1024], records[1100], other[1100];

static void ReadArguments(void) {
  Dl_info info;
  char path[4096];
  if (!dladdr(&parent, &info)) _exit(2);
  snprintf(path, sizeof path, "%s.args", info.dli_fname);
  FILE* file = fopen(path, "r");
  if (!file || fscanf(file, "%d %1023s", &parent, folder) != 2) _exit(2);
  fclose(file);
  snprintf(records, sizeof records, "%s/records.db", folder);
  snprintf(other, sizeof other, "%s/other", folder);
}

static void Report(const char* what, long result) {
  char text[256];
  const int size = snprintf(text, sizeof text, "%s returned %ld, errno %d\n", what, result, errno);
  (void)!write(2, text, (size_t)size);
  _exit(3);
}

#define MISDEED(name, ...)              \
  KERNEL(name) {                        \
    UNUSED;                             \
    ReadArguments();                    \
    Report(#name, (long)(__VA_ARGS__)); \
  }
#define CALL(name, ...) MISDEED(name, syscall(__VA_ARGS__))

static const int kOne = 1;
static struct timespec now;
static struct rlimit limit = {64, 64};
static struct sched_param scheduling = {0};
static char bytes[4096];

/* Typing into the user's shell, and signals through descriptors. */
MISDEED(terminal_types, ioctl(open("/dev/tty", O_RDONLY), TIOCSTI, "x"))
MISDEED(stderr_types, ioctl(2, TIOCSTI, "x"))
MISDEED(signals_by_owner, fcntl(3, F_SETOWN, parent))
MISDEED(signals_by_owner_of_choice, fcntl(3, F_SETSIG, SIGKILL))
MISDEED(signals_by_mode, fcntl(3, F_SETFL, O_ASYNC))
/* The parent's limits and priorities. */
CALL(limits_of_parent, SYS_prlimit64, parent, RLIMIT_NOFILE, &limit, 0)
CALL(own_limits, SYS_prlimit64, 0, RLIMIT_FSIZE, &limit, 0)
CALL(scheduler_of_parent, SYS_sched_setscheduler, parent, SCHED_IDLE, &scheduling)
CALL(scheduling_of_parent, SYS_sched_setparam, parent, &scheduling)
CALL(attributes_of_parent, SYS_sched_setattr, parent, bytes, 0)
CALL(priority_of_parent, SYS_setpriority, PRIO_PROCESS, parent, 19)
CALL(cores_of_parent, SYS_sched_setaffinity, parent, sizeof kOne, &kOne)
CALL(disk_priority_of_parent, SYS_ioprio_set, 1, parent, 3 << 13)
/* Files. */
MISDEED(flags_of_records, ioctl(open(records, O_RDONLY), FS_IOC_SETFLAGS, &kOne))
MISDEED(lock_of_records, fcntl(open(records, O_RDONLY), F_SETLK, &(struct flock){.l_type = F_RDLCK}))
CALL(flock_of_records, SYS_flock, open(records, O_RDONLY), LOCK_SH)
CALL(lease_of_records, SYS_fcntl, open(records, O_RDONLY), F_SETLEASE, F_RDLCK)
MISDEED(write_records, open(records, O_WRONLY))
MISDEED(truncate_by_open, open(records, O_RDONLY | O_TRUNC))
MISDEED(create, open(other, O_RDONLY | O_CREAT, 0600))
MISDEED(unnamed_file, open(folder, O_TMPFILE | O_RDWR, 0600))
CALL(open_by_new_call, SYS_openat2, AT_FDCWD, records, bytes, 24)
MISDEED(truncate_records, truncate(records, 0))
MISDEED(rename_records, rename(records, other))
MISDEED(remove_records, unlink(records))
MISDEED(link_records, link(records, other))
MISDEED(symlink_records, symlink(records, other))
MISDEED(make_folder, mkdir(other, 0700))
MISDEED(make_fifo, mkfifo(other, 0600))
MISDEED(mode_of_records, chmod(records, 0))
MISDEED(owner_of_records, chown(records, 1, 1))
MISDEED(age_of_records, utimensat(AT_FDCWD, records, 0, 0))
CALL(attribute_of_records, SYS_setxattr, records, "user.x", "y", 1, 0)
CALL(list_folder, SYS_getdents64, open(folder, O_RDONLY), bytes, sizeof bytes)
/* Memory and queues that stay. */
MISDEED(shared_memory, shmget(IPC_PRIVATE, 1 << 20, 0600 | IPC_CREAT))
MISDEED(message_queue, msgget(IPC_PRIVATE, 0600 | IPC_CREAT))
MISDEED(semaphores, semget(IPC_PRIVATE, 1, 0600 | IPC_CREAT))
CALL(named_queue, SYS_mq_open, "hone-escape", O_RDWR | O_CREAT, 0600, 0)
CALL(memory_file, SYS_memfd_create, "x", 0)
MISDEED(huge_pages, (long)mmap(0, 2 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0))
CALL(locked_memory, SYS_mlockall, 3)
CALL(key, SYS_add_key, "user", "hone-escape", "x", 1, -1)
/* Threads and processes. */
CALL(thread, SYS_clone, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD, 0)
CALL(thread_by_new_call, SYS_clone3, bytes, 88)
CALL(process, SYS_clone, SIGCHLD, 0)
MISDEED(program, execl("/bin/true", "true", (char*)0))
CALL(signal_to_parent, SYS_kill, parent, SIGUSR1)
CALL(signal_to_group, SYS_kill, 0, SIGTERM)
CALL(signal_to_all, SYS_kill, -1, 0)
CALL(signal_to_thread, SYS_tgkill, parent, parent, SIGUSR1)
CALL(signal_with_value, SYS_rt_sigqueueinfo, parent, SIGUSR1, bytes)
CALL(kills_itself_as_from_outside, SYS_tgkill, getpid(), gettid(), SIGKILL)
CALL(handle_of_parent, SYS_pidfd_open, parent, 0)
CALL(trace_parent, SYS_ptrace, 16 /* PTRACE_ATTACH */, parent, 0, 0)
CALL(read_parent, SYS_process_vm_readv, parent, bytes, 1, bytes, 1, 0)
CALL(write_parent, SYS_process_vm_writev, parent, bytes, 1, bytes, 1, 0)
CALL(session, SYS_setsid)
CALL(parents_pid, SYS_getppid)
/* The machine. Should it come through, each does little. */
CALL(reboot_keys, SYS_reboot, 0xfee1dead, 0x28121969, 0 /* CAD_OFF */, 0)
MISDEED(clock_set, clock_gettime(CLOCK_REALTIME, &now) || clock_settime(CLOCK_REALTIME, &now))
CALL(day_set, SYS_settimeofday, 0, 0)
CALL(clock_adjust, SYS_clock_adjtime, CLOCK_REALTIME, bytes)
CALL(kernel_program, SYS_bpf, 0, bytes, 48)
CALL(counters, SYS_perf_event_open, bytes, 0, -1, -1, 0)
CALL(page_faults, SYS_userfaultfd, 0)
CALL(ring, SYS_io_uring_setup, 4, bytes)
CALL(kernel_log, SYS_syslog, 2, bytes, sizeof bytes)
CALL(module, SYS_init_module, bytes, 0, "")
CALL(host_name, SYS_sethostname, "escaped", -1)
CALL(swap_file, SYS_swapon, records, 0)
CALL(mount_folder, SYS_mount, "none", folder, "tmpfs", 0, 0)
CALL(unmount_folder, SYS_umount2, "/proc", 0)
CALL(root_folder, SYS_chroot, folder)
CALL(namespace, SYS_unshare, CLONE_NEWUSER)
CALL(other_namespace, SYS_setns, 0, 0)
CALL(user, SYS_setuid, 0)
CALL(capabilities, SYS_capset, bytes, bytes)
CALL(accounting, SYS_acct, records)
/* The network, and the parent's end of the channel. */
MISDEED(network, socket(AF_INET, SOCK_STREAM, 0))
MISDEED(network_of_packets, socket(AF_INET6, SOCK_DGRAM, 0))
MISDEED(local_socket, socket(AF_UNIX, SOCK_STREAM, 0))
CALL(descriptors_to_parent, SYS_sendmsg, 3, bytes, 0)
CALL(answer_by_write, SYS_write, 3, "HNC1", 4)
CALL(output, SYS_write, 1, "x", 1)
CALL(new_channel, SYS_dup2, 2, 3)
CALL(shut_channel, SYS_shutdown, 3, 2)
/* Its own guards. */
MISDEED(handler_of_sigsys, signal(SIGSYS, SIG_IGN))
CALL(second_filter, SYS_seccomp, 1, 0, bytes)
CALL(keeps_rights, SYS_prctl, 38 /* PR_SET_NO_NEW_PRIVS */, 0, 0, 0, 0)
CALL(dies_later, SYS_prctl, 1 /* PR_SET_PDEATHSIG */, 0, 0, 0, 0)
CALL(unknown_call, 8000)
#if defined(__x86_64__)
CALL(x32_call, 0x40000000 | SYS_getpid)
static long OldCall(void) {
  long result;
  __asm__ volatile("int $0x80" : "=a"(result) : "a"(20 /* getpid of i386 */) : "memory");
  return result;
}
MISDEED(call_of_i386, OldCall())
#endif

/* Reading: the call is allowed, but the file is not. Right if it stays closed; otherwise the error text has the
 * content. */
static void ExpectClosed(void* const* buffers, const char* path) {
  const int file = open(path, O_RDONLY);
  if (file >= 0) {
    const long size = read(file, bytes, sizeof bytes);
    (void)!write(2, bytes, size > 0 ? (size_t)size : 0);
    Report(path, size);
  }
  Right(buffers);
}
static void ExpectParentsClosed(void* const* buffers, const char* name) {
  char path[64];
  ReadArguments();
  snprintf(path, sizeof path, "/proc/%d/%s", parent, name);
  ExpectClosed(buffers, path);
}

KERNEL(read_passwords) {
  UNUSED;
  ExpectClosed(buffers, "/etc/shadow");
}
KERNEL(read_users) {
  UNUSED;
  ExpectClosed(buffers, "/etc/passwd");
}
KERNEL(read_records) {
  UNUSED;
  ReadArguments();
  ExpectClosed(buffers, records);
}
KERNEL(read_records_by_detour) {
  UNUSED;
  ReadArguments();
  char path[2200];
  snprintf(path, sizeof path, "/proc/self/root%s", records);
  ExpectClosed(buffers, path);
}
KERNEL(read_own_environment) {
  UNUSED;
  ExpectClosed(buffers, "/proc/self/environ");
}
KERNEL(read_environment_of_parent) {
  UNUSED;
  ExpectParentsClosed(buffers, "environ");
}
KERNEL(read_memory_of_parent) {
  UNUSED;
  ExpectParentsClosed(buffers, "mem");
}
KERNEL(read_terminal) {
  UNUSED;
  ExpectClosed(buffers, "/dev/tty");
}
KERNEL(read_root) {
  UNUSED;
  ExpectClosed(buffers, "/");
}
