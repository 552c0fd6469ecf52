// Edges of a manifest as hone-plan's questions see them.
#pragma once

#include <string>

#include "pipeline/changes.h"
#include "pipeline/ninja_writer.h"

namespace hone::command {

// The value of a binding; empty if it has none of that name.
std::string Binding(const pipeline::NinjaBuild& build, const std::string& name);

// "tune conv2d-0123456789abcdef", "pick best resnet18.cpu": the rule and its subject.
std::string EdgeName(const pipeline::NinjaBuild& build);

// Of an edge of rule `tune`: the texts it reads, empty where a file is not there; the stamp it wrote last, empty: none.
pipeline::TuneInputs ReadTuneInputs(const std::string& work, const pipeline::NinjaBuild& build);
std::string ReadStamp(const std::string& work, const pipeline::NinjaBuild& build);

}  // namespace hone::command
