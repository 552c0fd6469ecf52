#include "base/seccomp_list.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <linux/kd.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/channel.h"

namespace hone {
namespace {

constexpr uint32_t kOpenToWrite = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;
constexpr uint32_t kStderr = STDERR_FILENO;
constexpr uint32_t kChannel = kChannelFd;

constexpr ArgumentRule Is(int index, uint32_t value) { return {ArgumentRule::Kind::kIs, index, value}; }
constexpr ArgumentRule Not(int index, uint32_t value) { return {ArgumentRule::Kind::kNot, index, value}; }
constexpr ArgumentRule Self(int index) { return {ArgumentRule::Kind::kSelf, index, 0}; }
constexpr ArgumentRule Null(int index) { return {ArgumentRule::Kind::kNull, index, 0}; }
constexpr ArgumentRule Lacks(int index, uint32_t bits) { return {ArgumentRule::Kind::kLacks, index, bits}; }

constexpr CallRule kHost[] = {
    // The pool and its clocks. The first calls are those of every timed run.
    {SYS_futex, "threads wait for work and are woken"},
    {SYS_sched_yield, "threads wait for each other where there are more threads than cores"},
    {SYS_clock_gettime, "the processor time of a thread; the wall time where the vDSO lacks it"},
    {SYS_getrusage, "whether the calling thread slept in a run", {Is(0, RUSAGE_THREAD)}},
    {SYS_pread64, "time lost to neighbours, from files of /proc that are open; a kernel's ELF header"},
    {SYS_clock_nanosleep, "pauses after a disturbed run"},
    {SYS_sched_setaffinity, "the end of the pool unpins the calling thread", {Is(0, 0)}},
    {SYS_sched_getaffinity, "malloc, when many threads use it", {Is(0, 0)}},
    // The channel to the parent, and last words.
    {SYS_recvfrom, "messages of the parent", {Is(0, kChannel), Null(4)}},
    {SYS_sendto, "answers to the parent", {Is(0, kChannel), Null(4)}},
#ifdef SYS_poll
    {SYS_poll, "waits for the parent"},
#else
    {SYS_ppoll, "waits for the parent"},
#endif
    {SYS_restart_syscall, "goes on with a wait after SIGSTOP and SIGCONT"},
    {SYS_write, "last words", {Is(0, kStderr)}},
    {SYS_writev, "last words of libc", {Is(0, kStderr)}},
    // Loading a kernel. Landlock says from which folders.
    {SYS_openat, "opens a kernel's file, only for reading", {Lacks(2, kOpenToWrite)}},
#ifdef SYS_open
    {SYS_open, "the same", {Lacks(1, kOpenToWrite)}},
    {SYS_access, "whether a kernel's file is missing"},
#else
    {SYS_faccessat, "whether a kernel's file is missing"},
#endif
    {SYS_read, "its ELF header"},
    {SYS_lseek, "stdio of files"},
    {SYS_fstat, "whether the loader has this file already"},
    {SYS_newfstatat, "the same; glibc asks in this way"},
    {SYS_close, "closes it"},
    // Memory. Huge and locked pages are taken from everybody.
    {SYS_mmap, "buffers, and segments of a kernel's file", {Lacks(3, MAP_HUGETLB | MAP_LOCKED)}},
    {SYS_munmap, "frees them"},
    {SYS_mprotect, "guard pages; a kernel's relocated data"},
    {SYS_mremap, "realloc"},
    {SYS_brk, "malloc"},
    {SYS_madvise, "free gives pages back", {Is(2, MADV_DONTNEED)}},
    {SYS_madvise, "buffers of 2 MB and more (runtime/host/buffer.cc)", {Is(2, MADV_HUGEPAGE)}},
    // The end.
    {SYS_getpid, "abort"},
    {SYS_gettid, "abort"},
    {SYS_tgkill, "abort", {Self(0), Is(2, SIGABRT)}},
    {SYS_rt_sigprocmask, "abort"},
    {SYS_rt_sigreturn, "ends the handler of a fatal signal; the signal repeats"},
    {SYS_exit, "the end of a thread"},
    {SYS_exit_group, "the end of the process"},
};

// Drivers start threads, compilers and linkers, keep caches, and talk to their device by ioctl and to services of this
// machine by local sockets. Nothing here reaches another process by its pid, and nothing changes the machine. clone3 is
// not here since a filter cannot see its flags; libc then uses clone.
constexpr uint32_t kNamespaces = CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWIPC |
                                 CLONE_NEWUTS | CLONE_NEWCGROUP | CLONE_PTRACE;

constexpr CallRule kDriver[] = {
    // The device. TIOCSTI and TIOCLINUX type into a terminal; the others change flags of a file that is only read.
    {SYS_ioctl,
     "commands to the device",
     {Not(1, TIOCSTI), Not(1, TIOCLINUX), Not(1, FS_IOC_SETFLAGS), Not(1, FS_IOC_FSSETXATTR)}},
    {SYS_fcntl, "descriptors that programs do not inherit", {Is(1, F_GETFD)}},
    {SYS_fcntl, "the same", {Is(1, F_SETFD)}},
    {SYS_fcntl, "modes of a pipe", {Is(1, F_GETFL)}},
    {SYS_fcntl, "modes of a pipe", {Is(1, F_SETFL), Lacks(2, O_ASYNC)}},
    {SYS_fcntl, "copies of descriptors", {Is(1, F_DUPFD)}},
    {SYS_fcntl, "the same", {Is(1, F_DUPFD_CLOEXEC)}},
    {SYS_fcntl, "locks of a cache", {Is(1, F_GETLK)}},
    {SYS_fcntl, "locks of a cache", {Is(1, F_SETLK)}},
    {SYS_fcntl, "locks of a cache", {Is(1, F_SETLKW)}},
    {SYS_mmap, "memory of the device; huge pages of its buffers"},
    {SYS_madvise, "memory that a child does not inherit"},
    {SYS_mlock, "memory that the device reads"},
    {SYS_munlock, "frees it"},
    {SYS_mincore, "whether an address is mapped"},
    {SYS_msync, "whether an address is mapped"},
    {SYS_memfd_create, "memory that threads and programs share"},
    {SYS_membarrier, "fences of a compiler in the driver"},
    {SYS_getrandom, "seeds of hash tables"},
    {SYS_getrusage, "times of a compiler"},
    {SYS_times, "times of a compiler"},
    {SYS_sysinfo, "how much memory there is"},
    {SYS_uname, "the version of the kernel"},
    {SYS_clock_getres, "clocks"},
    {SYS_gettimeofday, "clocks"},
    {SYS_nanosleep, "pauses"},
#ifdef SYS_time
    {SYS_time, "clocks"},
    {SYS_alarm, "time limits of a compiler"},
#endif
    // Files: caches, sources and objects of compilers. Landlock says where.
    {SYS_openat, "caches, and the device"},
    {SYS_write, "caches, pipes"},
    {SYS_writev, "the same"},
    {SYS_readv, "the same"},
    {SYS_pwrite64, "the same"},
    {SYS_ftruncate, "caches"},
    {SYS_fallocate, "caches"},
    {SYS_fsync, "caches"},
    {SYS_fdatasync, "caches"},
    {SYS_flock, "locks of a cache"},
    {SYS_getdents64, "lists devices and caches"},
    {SYS_getcwd, "paths of a compiler"},
    {SYS_chdir, "paths of a compiler"},
    {SYS_faccessat, "whether a file is there"},
    {SYS_faccessat2, "whether a file is there"},
    {SYS_readlinkat, "paths"},
    {SYS_statx, "what a file is"},
    {SYS_statfs, "where a cache may be"},
    {SYS_fstatfs, "the same"},
    {SYS_unlinkat, "caches"},
    {SYS_mkdirat, "caches"},
    {SYS_renameat2, "caches"},
    {SYS_fchmod, "modes of a linked object"},
    {SYS_fchmodat, "modes of a linked object"},
    {SYS_umask, "modes of a linked object"},
    {SYS_utimensat, "age of a cache's entries"},
#ifdef SYS_open
    {SYS_open, "as openat"},
    {SYS_stat, "what a file is"},
    {SYS_lstat, "what a file is"},
    {SYS_readlink, "paths"},
    {SYS_unlink, "caches"},
    {SYS_mkdir, "caches"},
    {SYS_rmdir, "caches"},
    {SYS_rename, "caches"},
    {SYS_chmod, "modes of a linked object"},
    {SYS_getdents, "lists devices and caches"},
    {SYS_pipe, "output of a compiler"},
    {SYS_dup2, "output of a compiler"},
    {SYS_select, "waits"},
    {SYS_epoll_wait, "waits"},
    {SYS_vfork, "starts a compiler or a linker"},
    {SYS_fork, "the same"},
    {SYS_arch_prctl, "a program's start"},
    {SYS_getpgrp, "a program's start"},
#endif
    {SYS_copy_file_range, "copies of a linked object"},
    {SYS_sendfile, "copies of a linked object"},
    {SYS_pipe2, "wakes a thread of the driver; output of a compiler"},
    {SYS_dup, "output of a compiler"},
    {SYS_close_range, "descriptors that programs do not inherit"},
    {SYS_fadvise64, "objects that a linker reads"},
    {SYS_dup3, "output of a compiler"},
    {SYS_eventfd2, "wakes a thread of the driver"},
    {SYS_epoll_create1, "waits"},
    {SYS_epoll_ctl, "waits"},
    {SYS_epoll_pwait, "waits"},
    {SYS_ppoll, "waits"},
    {SYS_pselect6, "waits"},
    // Services of this machine, such as a daemon that keeps the device's state.
    {SYS_socket, "services of this machine", {Is(0, AF_UNIX)}},
    {SYS_socket, "news of devices from the kernel", {Is(0, AF_NETLINK)}},
    {SYS_socketpair, "threads and programs of the driver", {Is(0, AF_UNIX)}},
    {SYS_connect, "services of this machine"},
    {SYS_bind, "the same"},
    {SYS_sendto, "the same"},
    {SYS_recvfrom, "the same"},
    {SYS_sendmsg, "the same"},
    {SYS_recvmsg, "the same"},
    {SYS_shutdown, "the same"},
    {SYS_getsockopt, "the same"},
    {SYS_setsockopt, "the same"},
    {SYS_getsockname, "the same"},
    {SYS_getpeername, "the same"},
    // Threads and programs.
    {SYS_clone, "starts threads, a compiler or a linker", {Lacks(0, kNamespaces)}},
    {SYS_execve, "the same"},
    {SYS_wait4, "waits for it"},
    {SYS_waitid, "waits for it"},
    {SYS_set_robust_list, "a thread's start"},
    {SYS_rseq, "a thread's start"},
    {SYS_set_tid_address, "a program's start"},
    {SYS_prlimit64, "a stack's size", {Is(0, 0), Null(2)}},
    {SYS_prlimit64, "a larger stack of NVIDIA's compiler", {Is(0, 0), Is(1, RLIMIT_STACK)}},
#ifdef SYS_getrlimit
    {SYS_getrlimit, "a stack's size"},
#endif
    {SYS_sched_getaffinity, "how many cores there are"},
    {SYS_sched_getparam, "how a thread is scheduled", {Is(0, 0)}},
    {SYS_sched_getscheduler, "how a thread is scheduled", {Is(0, 0)}},
    {SYS_sched_get_priority_max, "priorities of the driver's threads"},
    {SYS_sched_get_priority_min, "priorities of the driver's threads"},
    {SYS_getcpu, "on which core a thread runs"},
    {SYS_get_mempolicy, "on which node memory is"},
    {SYS_set_mempolicy, "on which node memory is taken"},
    {SYS_mbind, "on which node memory is taken"},
    {SYS_prctl, "names of threads", {Is(0, 15 /* PR_SET_NAME */)}},
    {SYS_prctl, "names of threads", {Is(0, 16 /* PR_GET_NAME */)}},
    {SYS_getppid, "a program's start"},
    {SYS_getuid, "where a cache is"},
    {SYS_geteuid, "where a cache is"},
    {SYS_getgid, "where a cache is"},
    {SYS_getegid, "where a cache is"},
    {SYS_getresuid, "where a cache is"},
    {SYS_getresgid, "where a cache is"},
    {SYS_tgkill, "signals between threads", {Self(0)}},
    {SYS_kill, "the same", {Self(0)}},
    {SYS_rt_sigaction, "handlers of the driver"},
    {SYS_rt_sigsuspend, "handlers of the driver"},
    {SYS_rt_sigtimedwait, "handlers of the driver"},
    {SYS_sigaltstack, "handlers of the driver"},
    {SYS_setitimer, "time limits of the driver"},
    {SYS_timer_create, "time limits of the driver"},
    {SYS_timer_settime, "time limits of the driver"},
    {SYS_timer_delete, "time limits of the driver"},
    {SYS_timerfd_create, "time limits of the driver"},
    {SYS_timerfd_settime, "time limits of the driver"},
};

}  // namespace

std::span<const CallRule> HostCalls() { return kHost; }
std::span<const CallRule> DriverCalls() { return kDriver; }

}  // namespace hone
