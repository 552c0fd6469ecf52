// The versions of templates and sketches, on which records and the tools' outputs depend.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "propose/propose.h"
#include "target/target.h"
#include "task/candidate.h"
#include "task/template_versions.h"
#include "task/workload.h"

namespace hone::propose {

// The versions of proposers, which their trials have.
TemplateVersions VersionsOf(const Proposers& proposers);
// Those of AllProposers. Returns kUnsupported for an unknown operator.
Result<TemplateVersions> VersionsOf(const Workload& workload, const Target& target);
// Those of ProposersOf as text, in their order: "dense_packed=3,sums=2".
Result<std::string> TaskSpaceVersion(const Workload& workload, const Target& target);

// "dense_packed=3 .. sums=2 ..": the versions of all templates and rules, part of abi/*.txt.
std::string SpaceVersionText();

// The bytes of all constants of one kernel as it reads them, packed (for Winograd up to seven times as much) or
// unchanged (a bias): what one node of a network adds to its library's parameters. Compiles nothing. Returns an error
// if the candidate does not fit the workload.
Result<int64_t> ConstantBytes(const Workload& workload, const Target& target, const Candidate& candidate);

}  // namespace hone::propose
