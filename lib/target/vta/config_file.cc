#include "target/vta/config_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/fields.h"
#include "base/text.h"

namespace hone::vta {
namespace {

const std::vector<std::string>& Designs() {
  static const std::vector<std::string> designs = {"sim", "tsim", "pynq", "ultra96", "zcu104", "de10nano", "intelfocl"};
  return designs;
}

}  // namespace

static void ListFields(Fields* f, ConfigFile* x) {
  std::string version;
  f->Value("TARGET", &x->target)
      .Check(std::find(Designs().begin(), Designs().end(), x->target) != Designs().end(),
             fmt::format("unknown design `{}`{}", x->target, SuggestionText(x->target, Designs())));
  f->Maybe("HW_VER", &version, false);
  HoneVtaConfig& c = x->config;
  f->Value("LOG_INP_WIDTH", &c.log_inp_width);
  f->Value("LOG_WGT_WIDTH", &c.log_wgt_width);
  f->Value("LOG_ACC_WIDTH", &c.log_acc_width);
  f->Value("LOG_BATCH", &c.log_batch);
  f->Value("LOG_BLOCK", &c.log_block);
  f->Value("LOG_UOP_BUFF_SIZE", &c.log_uop_buff_size);
  f->Value("LOG_INP_BUFF_SIZE", &c.log_inp_buff_size);
  f->Value("LOG_WGT_BUFF_SIZE", &c.log_wgt_buff_size);
  f->Value("LOG_ACC_BUFF_SIZE", &c.log_acc_buff_size);
  c.extensions = x->target == "sim" || x->target == "intelfocl";
}

std::string ConfigFile::Model() const {
  const HoneVtaConfig& c = config;
  return fmt::format("{}_{}x{}_i{}w{}a{}_{}_{}_{}_{}", target, 1 << c.log_batch, 1 << c.log_block, 1 << c.log_inp_width,
                     1 << c.log_wgt_width, 1 << c.log_acc_width, c.log_uop_buff_size, c.log_inp_buff_size,
                     c.log_wgt_buff_size, c.log_acc_buff_size);
}

Result<ConfigFile> ParseConfigFile(std::string_view text, const std::string& name) {
  HONE_ASSIGN_OR_RETURN(ConfigFile file, ParseFields<ConfigFile>(text, name));
  char message[256];
  if (const char* problem = hone_vta_config_problem(&file.config, message, sizeof message)) {
    return Status::Invalid("{}: /{}", name, problem);
  }
  return file;
}

std::string ConfigFileText(const ConfigFile& file) { return FieldsText(file); }

}  // namespace hone::vta
