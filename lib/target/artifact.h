// Artifact: what code generation hands to the run side, and all that they share. Plain data; can be written to a file, sent
// to another machine, hashed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/hash.h"
#include "base/result.h"

namespace hone {

struct ArtifactArg {
  std::string name;
  DType type;
  int64_t elements = 0;
  bool written = false;
};

// One callable function. ABI: runtime/host/kernel_abi.h.
struct EntryPoint {
  std::string symbol;
  std::vector<ArtifactArg> args;   // in calling order
  int64_t workspace_bytes = 0;     // one block for the call, shared by its threads
  int64_t scratch_bytes = 0;       // one block for each thread
};

struct Artifact {
  std::string format;              // "elf-object" | "elf-shared"
  std::string bytes;
  std::vector<EntryPoint> entries;

  const EntryPoint* Find(const std::string& symbol) const;
  Digest ContentDigest() const;    // of the bytes and the entries
};

// The entries as JSON text and back (the bytes travel beside it).
std::string EntriesText(const std::vector<EntryPoint>& entries);
Result<std::vector<EntryPoint>> ParseEntries(const std::string& text);

}  // namespace hone
