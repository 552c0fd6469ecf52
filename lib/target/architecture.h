// Architectures of CPUs: of targets, and of this machine.
#pragma once

#include <string>

#include "target/target.h"

namespace hone {

// The first word of a triple: "x86_64", "aarch64".
std::string Architecture(const std::string& triple);

// The triple of this machine: "x86_64-unknown-linux-gnu". Returns kUnsupported if it is neither x86-64 nor AArch64.
Result<std::string> HostTriple();

// Returns kUnsupported if the target is a CPU of another architecture than this machine's. Does not compare features.
// An empty triple is this machine's.
Status CheckRunsHere(const Target& target);

}  // namespace hone
