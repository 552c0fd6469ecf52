#include "base/version.h"

#include <map>

#include "base/text.h"

namespace hone {

static std::map<std::string, int, std::less<>>& Pretended() {
  static auto* versions = new std::map<std::string, int, std::less<>>;
  return *versions;
}

int VersionOf(std::string_view part, int own) {
  const auto found = Pretended().find(part);
  return found == Pretended().end() ? own : found->second;
}

void PretendVersions(std::string_view text) {
  for (const std::string& item : Split(std::string(text), ',')) {
    const size_t equal = item.find('=');
    if (equal == std::string::npos) continue;
    const auto version = ParseInt(item.substr(equal + 1));
    if (version.ok()) Pretended()[item.substr(0, equal)] = static_cast<int>(*version);
  }
}

}  // namespace hone
