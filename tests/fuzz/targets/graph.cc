// nets/NET.graph.json, and the same graph as hone-extract receives it.
#include "fuzz_target.h"
#include "graph/graph_json.h"

HONE_FUZZ_TARGET(graph) {
  if (input.find("plugins") != std::string_view::npos) return hone::Status::Invalid("no file is loaded here");
  return hone::fuzz::ReadWriteRead(input, hone::graph::ParseGraph, hone::graph::GraphText);
}
