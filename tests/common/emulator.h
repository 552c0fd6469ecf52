// QEMU's user-mode emulation of AArch64, and Debian's cross compiler.
#pragma once

#include <string>
#include <vector>

#include "base/file.h"
#include "base/subprocess.h"

namespace hone {

inline constexpr const char* kCrossRoot = "/usr/aarch64-linux-gnu";  // of Debian's cross packages
inline constexpr const char* kCrossCompiler = "aarch64-linux-gnu-gcc";

// Why programs for AArch64 cannot be made or run here, to skip a test; empty if they can.
inline std::string CannotEmulate() {
  const auto runs = [](const char* program) {
    const auto result = RunCommand({program, "--version"});
    return result.ok() && result->status.ok();
  };
  const bool headers = Exists(std::string(kCrossRoot) + "/include/stdio.h");
  const char* package = !runs("qemu-aarch64")   ? "qemu-user"
                        : !runs(kCrossCompiler) ? "gcc-aarch64-linux-gnu"
                        : !headers              ? "libc6-dev-arm64-cross"
                                                : nullptr;
  return package == nullptr ? "" : std::string("the package ") + package + " is not installed";
}

// The command line of a program on an emulated CPU, such as "cortex-a53" or "max".
inline std::vector<std::string> Emulated(const std::string& cpu, std::vector<std::string> argv) {
  argv.insert(argv.begin(), {"qemu-aarch64", "-L", kCrossRoot, "-cpu", cpu});
  return argv;
}

}  // namespace hone
