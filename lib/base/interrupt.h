// Stopping on request. A tool that was asked to stop finishes or abandons its current step, commits, and exits 75: the
// same command then continues.
#pragma once

#include "base/status.h"

namespace hone {

// The exit codes of every tool.
enum ExitCode : int {
  kDone = 0,
  kFailed = 1,        // the work could not be done; stderr says why
  kMisused = 2,       // flags or input files are wrong
  kInterrupted = 75,  // asked to stop; nothing lost, the same command resumes (EX_TEMPFAIL)
};

// Prints a failure on stderr and returns the exit code for it: kMisused for an input that is malformed or that Hone
// cannot do (kInvalid, kUnsupported), kInterrupted, else kFailed. Every tool's last step.
int ExitCodeOf(const Status& status);

// SIGINT, SIGTERM, SIGHUP and SIGUSR1 set a flag from now on instead of ending the process; SIGPIPE is ignored (a write
// then fails with EPIPE). Call once, early in main, before threads.
void InstallInterruptHandlers();

bool Interrupted();       // any thread; never goes back to false by itself
int InterruptSignal();    // the signal that came first, 0 if none
int InterruptFd();        // readable once interrupted; never read from it. -1 before InstallInterruptHandlers()
void RequestInterrupt();  // as if a signal had come; for tests, and for tools that stop themselves
void ClearInterruptForTest();

}  // namespace hone
