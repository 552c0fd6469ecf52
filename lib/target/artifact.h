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

// One kernel of a device, started by its entry point. All its parameters are addresses of buffers.
struct Launch {
  std::string symbol;
  int64_t grid[3] = {1, 1, 1};       // blocks along x, y, z
  int64_t block[3] = {1, 1, 1};      // threads of a block along x, y, z
  int64_t shared_bytes = 0;          // of a block, all of it
  int64_t dynamic_shared_bytes = 0;  // of those, what is to be given at launch and not declared in the code
  std::vector<int> args;             // i: EntryPoint::args[i]; ~i (below 0): EntryPoint::workspace_buffers[i]

  bool operator==(const Launch&) const = default;
};

// One callable function. On a host ("elf-..."): the ABI is runtime/host/kernel_abi.h. On a device ("cubin",
// "opencl-c"): its launches, in order, each after the one before is through.
struct EntryPoint {
  std::string symbol;
  std::vector<ArtifactArg> args;   // in calling order
  int64_t workspace_bytes = 0;     // one block for the call, shared by its threads
  int64_t scratch_bytes = 0;       // one block for each thread
  std::vector<Launch> launches;            // of a device only
  std::vector<int64_t> workspace_buffers;  // of a device: bytes of each buffer of global memory that the launches share
};

struct Artifact {
  std::string format;              // "elf-object" | "elf-shared" | "cubin" | "opencl-c"
  std::string bytes;
  std::vector<EntryPoint> entries;

  const EntryPoint* Find(const std::string& symbol) const;
  Digest ContentDigest() const;    // of the bytes and the entries
};

// The entries as JSON text and back (the bytes travel beside it). Checks that everything a launch refers to exists.
std::string EntriesText(const std::vector<EntryPoint>& entries);
Result<std::vector<EntryPoint>> ParseEntries(const std::string& text);

}  // namespace hone
