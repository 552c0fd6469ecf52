// The functions described in an artifact.
#include "fuzz_target.h"
#include "target/artifact.h"

HONE_FUZZ_TARGET(entries) { return hone::fuzz::ReadWriteRead(input, hone::ParseEntries, hone::EntriesText); }
