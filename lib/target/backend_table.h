// BackendTable: a layer's part of each back end, found by the name of the target's kind. A layer's table has the
// entries of target/backends.def, and those that tests add.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "target/target.h"

namespace hone {

// `Part` has kind(), the TargetKind that it belongs to.
template <typename Part>
class BackendTable {
 public:
  // `what` names the part in messages about back ends that lack it: "code generator".
  BackendTable(const char* what, std::vector<const Part*> parts) : what_(what), parts_(std::move(parts)) {}

  // Call it before other threads look anything up. The part must outlive its use.
  void Add(const Part* part) { parts_.push_back(part); }

  // Returns kUnsupported if this kind's back end lacks the part.
  Result<const Part*> Find(const Target& target) const {
    // Compares names, because a plugin has its own copies of the kinds.
    const std::string_view name = target.kind->name();
    for (const Part* part : parts_) {
      if (name == part->kind().name()) return part;
    }
    return Status::Unsupported("this build of Hone has no {} for targets of kind `{}`", what_, name);
  }

  const std::vector<const Part*>& parts() const { return parts_; }

 private:
  const char* what_;
  std::vector<const Part*> parts_;
};

}  // namespace hone
