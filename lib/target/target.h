// Target: the device kind and everything that code generation depends on. Its canonical text is part of a record's
// identity.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "target/device_limits.h"
#include "target/kind.h"

namespace hone {

struct Target {
  const TargetKind* kind = &CpuKind();  // never null
  std::string triple;                 // cpu: "x86_64-unknown-linux-gnu"
  std::string cpu;                    // cpu: LLVM's name, "sapphirerapids"; cuda: "sm_90"
  std::vector<std::string> features;  // cpu: LLVM's names of enabled relevant features, sorted: "avx512f", "fma"
  int threads = 1;                    // cpu: worker threads of a kernel
  int vector_bytes = 16;              // cpu: width of the vectors to use: 64, 32 or 16
  int vector_registers = 16;          // cpu: 32 with AVX-512 and on AArch64
  DeviceLimits limits;                // cuda, opencl

  std::string_view family() const { return kind->family(); }
  int FloatLanes() const { return kind->FloatLanes(*this); }
  int ChannelBlock() const { return kind->ChannelBlock(*this); }
  // Canonical, one line: "cpu -triple=x86_64-unknown-linux-gnu -cpu=sapphirerapids -features=avx2,avx512f,fma
  // -threads=2 -vector=64"; "cuda -arch=sm_90 -threads=1024 -block=1024x1024x64 -grid=2147483647x65535x65535
  // -shared=49152 -registers=65536 -thread-registers=255 -warp=32 -vector=16 -multiprocessors=132".
  std::string Text() const;
  static Result<Target> Parse(const std::string& text);
};

// This machine: cpu name and features from the system (base/cpu.h; LLVM is not used), threads = logical cores.
Result<Target> HostTarget();

// Reads a target file (JSON, as hone-plan writes it from pipelines/targets/*.toml). {"kind": "cpu"} alone means the
// host; cpu, triple, features, threads and vector_bytes override it. `cpu` is a level of the x86-64 psABI, which
// implies features, or LLVM's name of another CPU, whose features must be listed. For "cuda" (with `arch`) and "opencl"
// the keys are those of LimitKeys(). Errors are unknown keys, vectors wider than the features allow, AVX-512 without
// avx512vl, and impossible limits.
Result<Target> ReadTargetFile(const std::string& path);
Result<Target> ParseTargetFile(std::string_view text, const std::string& path);

}  // namespace hone
