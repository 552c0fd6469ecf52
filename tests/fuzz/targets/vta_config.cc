// VTA's vta_config.json.
#include "fuzz_target.h"
#include "target/vta/config_file.h"

HONE_FUZZ_TARGET(vta_config) {
  return hone::fuzz::ReadWriteRead(input, hone::vta::ParseConfigFile, hone::vta::ConfigFileText);
}
