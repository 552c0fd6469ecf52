// Common functions of tools, in addition to base/interrupt.h.
#pragma once

#include <cerrno>
#include <cstdio>
#include <string_view>

#include "base/interrupt.h"
#include "base/os_error.h"
#include "base/status.h"

namespace hone::command {

// Writes data for people or programs to stdout, unchanged.
inline Status WriteOut(std::string_view text) {
  errno = 0;
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  return written ? Status() : ErrnoStatus(errno != 0 ? errno : EIO, "stdout: cannot be written");
}

// For a tool that writes its files at its end: returns kInterrupted if it was asked to stop.
inline Status StoppedBeforeWriting() {
  if (!Interrupted()) return Status();
  return Status::Interrupted("interrupted; nothing was written, the same command starts again");
}

}  // namespace hone::command
