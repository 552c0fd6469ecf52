// nets/NET.graph.json, and the same graph as hone-extract receives it.
#include "graph/graph.h"

#include "fuzz_target.h"

HONE_FUZZ_TARGET(graph) {
  const auto parse = [](std::string_view text, const std::string& path) { return hone::graph::ParseGraph(text, path); };
  return hone::fuzz::ReadWriteRead(input, parse, hone::graph::GraphText);
}
