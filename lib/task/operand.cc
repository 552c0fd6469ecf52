#include "task/operand.h"

#include "base/text.h"

namespace hone {

const char* LayoutName(Layout layout) {
  for (const auto& [known, name] : kLayoutNames) {
    if (known == layout) return name;
  }
  return "?";
}

Result<Layout> LayoutNamed(const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [layout, known] : kLayoutNames) {
    if (name == known) return layout;
    names.emplace_back(known);
  }
  return Status::Invalid("`{}` is no layout{}", name, SuggestionText(name, names));
}

}  // namespace hone
