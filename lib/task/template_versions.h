// The versions of templates. Raise a template's version when one of its configs generates different code: trials of the
// older version then no longer count.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace hone {

using TemplateVersions = std::map<std::string, int64_t>;  // by the template's name

// 0 for an unknown template.
inline int64_t VersionIn(const TemplateVersions& versions, const std::string& name) {
  const auto found = versions.find(name);
  return found == versions.end() ? 0 : found->second;
}

}  // namespace hone
