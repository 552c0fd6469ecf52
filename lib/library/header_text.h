// NET.h: the C99 header of a network library. Its structs are those of runtime/net_runtime.h under public names.
#pragma once

#include <string>

#include "graph/graph.h"

namespace hone::library {

// A C identifier from a network's file name: "resnet18", "resnet-18" -> "resnet_18", "1x" -> "net_1x".
std::string CIdentifier(const std::string& name);

// `name` is that of the files (libNAME.so); `identifier` is the prefix of everything in the header; `device` is true
// for a library for a GPU.
std::string HeaderText(const graph::Graph& graph, const std::string& name, const std::string& identifier,
                       bool device = false);

}  // namespace hone::library
