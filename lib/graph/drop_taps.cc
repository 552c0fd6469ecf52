#include <algorithm>

#include "graph/normalise.h"
#include "semantics/semantics.h"
#include "semantics/window.h"

namespace hone::graph {
namespace {

// The taps first .. last of axis i stay. Those before and after only see padding, and the padding covers them, so the
// window without them starts inside the padded input.
void Trim(semantics::Window* w, size_t i, int64_t* first, int64_t* last) {
  const auto seen = [&](int64_t tap) { return w->InsideOf(i, tap).begin < w->InsideOf(i, tap).end; };
  const int64_t end = w->kernel[i] - 1, d = w->dilation[i];
  *first = 0, *last = end;
  while (*first < *last && !seen(*first) && (*first + 1) * d <= w->before[i]) ++*first;
  while (*first < *last && !seen(*last) && (end - *last + 1) * d <= w->after[i]) --*last;
  w->before[i] -= *first * d, w->after[i] -= (end - *last) * d;
  w->kernel[i] = *last - *first + 1;
  if (w->kernel[i] == 1) w->dilation[i] = 1;
}

void Set(Workload* w, const char* name, const std::vector<int64_t>& values) {
  std::erase_if(w->attributes, [&](const Attribute& a) { return a.name == name; });
  w->attributes.push_back({name, values});
}

}  // namespace

bool DropTapsInPadding(Graph* graph) {
  bool changed = false;
  for (Node& node : graph->nodes) {
    Workload& w = node.workload;
    // A layer with a window whose weight begins with the output channels: not a transposed convolution.
    if (w.chain() || semantics::DefinitionOf(w).channels_of_weight != 0) continue;
    const Parameter* weight = graph->FindParameter(node.inputs[1]);
    Result<semantics::Window> window_of = semantics::WindowOf(w);
    if (weight == nullptr || !window_of.ok()) continue;
    semantics::Window& window = *window_of;
    TensorType type = weight->type;
    std::vector<int64_t> begin = {0, 0};
    for (size_t i = 0; i < window.rank(); ++i) {
      int64_t first = 0, last = 0;
      Trim(&window, i, &first, &last);
      begin.push_back(first);
      type.shape[2 + i] = window.kernel[i];
    }
    if (type == weight->type) continue;
    changed = true;
    node.inputs[1] = node.name + ".inner_weight";
    graph->parameters.push_back(
        {node.inputs[1], type, {.kind = InitKind::kSlice, .from = {weight->name}, .begin = begin}});
    std::vector<int64_t> pad = window.before;
    pad.insert(pad.end(), window.after.begin(), window.after.end());
    Set(&w, "pad", pad);
    Set(&w, "dilation", window.dilation);
    w.inputs[1] = type;
    w = semantics::Canonical(w);
  }
  return changed;
}

}  // namespace hone::graph
