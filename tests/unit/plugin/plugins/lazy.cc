// Throws in every later call.
#include <stdexcept>

#include "plugin/plugin.h"

namespace {
hone::Result<hone::search::Space> Space(const hone::Workload&, const hone::Target&) {
  throw std::runtime_error("no space");
}
hone::Result<std::vector<hone::Step>> Steps(const hone::Workload&, const hone::Target&, const hone::Config&) {
  throw 7;
}
hone::Result<hone::op::Computation> Compute(const hone::Workload&, const hone::Target&) { throw 8; }
hone::Result<hone::semantics::Shape> Shape(const hone::Workload& w) {
  if (w.inputs[0].shape[0] == 13) throw std::runtime_error("thirteen");
  return w.inputs[0].shape;
}
void Evaluate(const hone::Workload&, const std::vector<const hone::semantics::Values*>&, const hone::semantics::Shape&,
              int, hone::semantics::Values*) {}
double Flop(const hone::Workload&, const hone::semantics::Shape&) { return 1; }
}  // namespace

HONE_OPERATOR(lazy) {
  op->definition.shape = Shape;
  op->definition.evaluate = Evaluate;
  op->definition.flop = Flop;
  op->compute = Compute;
  op->templates = {{"lazy_cpu", 1, "cpu", Space, Steps}};
}
