// Common functions of tools, in addition to base/interrupt.h.
#pragma once

#include <cstdio>
#include <string_view>

#include "base/interrupt.h"
#include "base/status.h"

namespace hone::command {

// Writes data for people or programs to stdout, unchanged.
inline Status WriteOut(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  return written && std::fflush(stdout) == 0 ? Status() : Status::Io("stdout: cannot be written");
}

// For a tool that writes its files at its end: returns kInterrupted if it was asked to stop.
inline Status StoppedBeforeWriting() {
  if (!Interrupted()) return Status();
  return Status::Interrupted("interrupted; nothing was written, the same command starts again");
}

}  // namespace hone::command
