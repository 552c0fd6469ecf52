// The manifest.json beside a network library.
#include "base/file.h"
#include "fuzz_target.h"
#include "library/loaded_network.h"

namespace hone::library {

HONE_FUZZ_TARGET(library_folder) { return ParseLibraryManifest(input, "fuzz", "fuzz/manifest.json").status(); }

}  // namespace hone::library
