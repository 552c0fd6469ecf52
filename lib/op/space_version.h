// The versions of templates, on which records and the tools' outputs depend.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "target/target.h"
#include "task/candidate.h"
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

// The bytes of all constants of one kernel as it reads them, packed (for Winograd up to seven times as much) or
// unchanged (a bias): what one node of a network adds to its library's parameters. Compiles nothing. Returns an error
// if the candidate does not fit the workload.
Result<int64_t> ConstantBytes(const Workload& workload, const Target& target, const Candidate& candidate);

}  // namespace hone::op
