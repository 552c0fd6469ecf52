// Artifact: the output of code generation and the input of running it, and all that the two share. Plain data: it can
// be written to a file, sent to another machine, hashed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"

namespace hone {

struct ArtifactArg {
  std::string name;
  DType type;
  int64_t elements = 0;
  bool written = false;
};

// A kernel launch on a device, as part of an entry point. All parameters are addresses of buffers.
struct Launch {
  std::string symbol;
  int64_t grid[3] = {1, 1, 1};       // blocks along x, y, z
  int64_t block[3] = {1, 1, 1};      // threads of a block along x, y, z
  int64_t shared_bytes = 0;          // per block, in total
  int64_t dynamic_shared_bytes = 0;  // the part of it that must be given at launch, as the code does not declare it
  std::vector<int> args;             // i: EntryPoint::args[i]; ~i (below 0): EntryPoint::workspace_buffers[i]

  bool operator==(const Launch&) const = default;
};

// One callable function. On a host ("elf-..."), runtime/host/kernel_abi.h is its ABI. On a device ("cubin",
// "opencl-c"), it is a list of launches that run one after the other.
struct EntryPoint {
  std::string symbol;
  std::vector<ArtifactArg> args;   // in calling order
  int64_t workspace_bytes = 0;     // one block for the call, shared by its threads
  int64_t scratch_bytes = 0;       // one block for each thread
  std::vector<Launch> launches;    // for a device only
  std::vector<int64_t> workspace_buffers;  // for a device: bytes of each global buffer that the launches share
};

struct Artifact {
  std::string format;              // "elf-object" | "elf-shared" | "cubin" | "opencl-c"
  std::string bytes;
  std::vector<EntryPoint> entries;

  const EntryPoint* Find(const std::string& symbol) const;
};

// Converts the entries to JSON text and back (the bytes are kept separately). Checks that everything a launch refers to
// exists.
std::string EntriesText(const std::vector<EntryPoint>& entries);
Result<std::vector<EntryPoint>> ParseEntries(const std::string& text);

}  // namespace hone
