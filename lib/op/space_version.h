// The versions of templates, on which records and the tools' outputs depend.
#pragma once

#include <string>

#include "base/result.h"
#include "target/target.h"
#include "task/template_versions.h"
#include "task/workload.h"

namespace hone::op {

// The versions of a task's templates on the target, which its trials have. Returns kUnsupported for an unknown
// operator.
Result<TemplateVersions> TemplatesOf(const Workload& workload, const Target& target);
// The same as text, in the templates' order: "conv2d_direct=1,conv2d_winograd=2".
Result<std::string> TaskSpaceVersion(const Workload& workload, const Target& target);

// "conv2d_direct=1 dense=1 ...": the versions of AllTemplates, part of abi/*.txt.
std::string SpaceVersionText();

}  // namespace hone::op
