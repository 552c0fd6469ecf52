// Reads VTA's vta_config.json.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "target/vta/config.h"

namespace hone::vta {

struct ConfigFile {
  std::string target = "sim";  // "pynq", "tsim" and so on: the design
  HoneVtaConfig config = hone_vta_default_config();

  // "pynq_1x16_i8w8a32_15_15_18_17": the model in AutoTVM's logs.
  std::string Model() const;
};

// The keys are those of VTA's samples; all are required except HW_VER, which names a file of the hardware's. Errors
// name the file and the key.
Result<ConfigFile> ParseConfigFile(std::string_view text, const std::string& name);
std::string ConfigFileText(const ConfigFile& file);

}  // namespace hone::vta
