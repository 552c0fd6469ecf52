// The manifest.json beside a network library.
#include "fuzz_target.h"
#include "library/loaded_network.h"

HONE_FUZZ_TARGET(library_folder) {
  return hone::library::ParseLibraryManifest(input, "fuzz", "fuzz/manifest.json").status();
}
