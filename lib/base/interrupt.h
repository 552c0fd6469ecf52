// Stopping on request. A tool that is asked to stop finishes or abandons its current step, commits, and exits with 75;
// running the same command again continues.
#pragma once

#include "base/result.h"

namespace hone {

// The exit codes of every tool.
enum ExitCode : int {
  kDone = 0,
  kFailed = 1,        // the work failed; stderr says why
  kMisused = 2,       // wrong flags or input files
  kInterrupted = 75,  // asked to stop; nothing is lost, the same command resumes (EX_TEMPFAIL)
};

// Prints a failure to stderr and returns its exit code: kMisused for malformed or unsupported input (kInvalid,
// kUnsupported), kInterrupted for an interrupt, else kFailed. Every tool ends with this call.
int ExitCodeOf(const Status& status);
int ExitCodeOf(const Result<int>& code);

// Every tool begins with this (Flags calls it). From now on a write beyond the limit on file sizes is an error (EFBIG)
// instead of the end of the process. If Ninja started this process and is killed, this process gets SIGTERM; at once,
// if Ninja is gone already.
void BeginTool();

// From now on SIGINT, SIGTERM, SIGHUP, SIGUSR1 and SIGXCPU (a soft limit of processor time) set a flag instead of ending
// the process, and SIGPIPE is ignored (a write then fails with EPIPE). Call once, early in main, before starting
// threads.
void InstallInterruptHandlers();

bool Interrupted();       // usable from any thread; stays true once set
int InterruptSignal();    // the first signal received, 0 before any
int InterruptFd();        // readable once interrupted; never read from it. -1 before InstallInterruptHandlers()
void RequestInterrupt();  // as if a signal had come; for tests, and for tools that stop themselves
void ClearInterruptForTest();

}  // namespace hone
