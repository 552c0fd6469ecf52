// Designs of VTA beside the published one: block 8 and 32, batch 2, halved memories.
#pragma once

#include <vector>

#include "target/vta/config.h"

namespace hone::vta {

inline std::vector<HoneVtaConfig> VtaDesigns() {
  std::vector<HoneVtaConfig> configs(5, hone_vta_default_config());
  configs[1].log_block = 3, configs[1].log_inp_buff_size = 14, configs[1].log_acc_buff_size = 16;
  configs[1].log_wgt_buff_size = 16;
  configs[2].log_block = 5;
  configs[3].log_batch = 1;
  configs[4].log_inp_buff_size = 14, configs[4].log_wgt_buff_size = 17, configs[4].log_acc_buff_size = 16;
  configs[4].log_uop_buff_size = 14;
  return configs;
}

}  // namespace hone::vta
