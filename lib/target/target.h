// Target: the device kind and everything that code generation depends on. Its canonical text is part of a record's identity.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace hone {

enum class TargetKind { kCpu, kCuda, kOpenCl, kVta };

struct Target {
  TargetKind kind = TargetKind::kCpu;
  std::string triple;    // cpu: "x86_64-unknown-linux-gnu"
  std::string cpu;       // cpu: LLVM's name, "sapphirerapids"; cuda: "sm_90"
  std::vector<std::string> features;  // cpu: LLVM's feature names that are on and matter, sorted: "avx512f", "fma"
  int threads = 1;       // cpu: worker threads of a kernel
  int vector_bytes = 16; // cpu: width of the vectors to use: 64, 32 or 16
  int vector_registers = 16;  // cpu: 32 with AVX-512 and on AArch64

  int FloatLanes() const { return vector_bytes / 4; }  // also the channel block of NCHWc tensors
  // Canonical: "cpu -triple=x86_64-unknown-linux-gnu -cpu=sapphirerapids -features=avx2,avx512f,fma -threads=2 -vector=64"
  std::string Text() const;
  static Result<Target> Parse(const std::string& text);
};

// This machine: cpu name and features from the system (no LLVM here; base/cpu.h), threads = logical cores.
Result<Target> HostTarget();

// A target file (JSON, as hone-plan writes from pipelines/targets/*.toml): {"kind": "cpu"} alone means the host; cpu, triple,
// features, threads, vector_bytes override. `cpu` is a level of the x86-64 psABI, whose features are then on, or LLVM's
// name of another, whose features must be listed. Unknown keys, and vectors wider than the features have, are errors.
Result<Target> ReadTargetFile(const std::string& path);

}  // namespace hone
