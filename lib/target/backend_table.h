// BackendTable: what one layer knows of each back end, found by the name of the target's kind. A layer's table holds the
// lines of target/backends.def, and what tests add.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "target/target.h"

namespace hone {

// `Part` has kind(): the TargetKind it belongs to.
template <typename Part>
class BackendTable {
 public:
  // `what` a back end without such a part lacks, for messages: "code generator".
  BackendTable(const char* what, std::vector<const Part*> parts) : what_(what), parts_(std::move(parts)) {}

  // Before any other thread looks something up. The part must outlive its use.
  void Add(const Part* part) { parts_.push_back(part); }

  // kUnsupported if this kind's back end lacks the part.
  Result<const Part*> Find(const Target& target) const {
    // By name: a plugin has its own copies of the kinds.
    const std::string_view name = target.kind->name();
    for (const Part* part : parts_) {
      if (name == part->kind().name()) return part;
    }
    return Status::Unsupported(fmt::format("this build of Hone has no {} for targets of kind `{}`", what_, name));
  }

  const std::vector<const Part*>& parts() const { return parts_; }

 private:
  const char* what_;
  std::vector<const Part*> parts_;
};

}  // namespace hone
