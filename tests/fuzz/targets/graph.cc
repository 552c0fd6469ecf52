// nets/NET.graph.json, and the same graph as hone-extract has it.
#include "base/check.h"
#include "fuzz_target.h"
#include "graph/graph_json.h"

namespace hone::graph {

HONE_FUZZ_TARGET(graph) {
  if (input.find("plugins") != std::string_view::npos) return Status::Invalid("no file is loaded here");
  HONE_ASSIGN_OR_RETURN(const Graph graph, ParseGraph(input, "fuzz"));
  const std::string text = GraphText(graph);
  const auto again = ParseGraph(text, "fuzz");
  HONE_CHECK(again.ok());
  fuzz::CheckSame(text, GraphText(*again));
  return Status();
}

}  // namespace hone::graph
