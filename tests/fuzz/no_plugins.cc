// For a fuzzer that reads graphs without the operators' templates: a graph may name plugins, but reading it does not
// load them.
#include "op/plugin.h"

namespace hone::op {

Status LoadNamedPlugin(const std::string& path, const std::string&) {
  return Status::Unsupported(path + ": no plugin is loaded here");
}

}  // namespace hone::op
