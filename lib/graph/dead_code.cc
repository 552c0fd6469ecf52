#include "graph/dead_code.h"

#include <set>

namespace hone::graph {

bool DropDeadCode(Graph* graph) {
  std::set<std::string> needed(graph->outputs.begin(), graph->outputs.end());
  for (size_t i = graph->nodes.size(); i-- > 0;) {
    if (needed.count(graph->nodes[i].name)) needed.insert(graph->nodes[i].inputs.begin(), graph->nodes[i].inputs.end());
  }
  // Sources stand before what is derived from them.
  for (size_t i = graph->parameters.size(); i-- > 0;) {
    const Parameter& p = graph->parameters[i];
    if (needed.count(p.name)) needed.insert(p.init.from.begin(), p.init.from.end());
  }
  const auto dead = [&](const auto& item) { return needed.count(item.name) == 0; };
  const size_t nodes = std::erase_if(graph->nodes, dead);
  const size_t parameters = std::erase_if(graph->parameters, dead);
  return nodes + parameters > 0;
}

}  // namespace hone::graph
