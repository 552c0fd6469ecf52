#include "plugin/plugin.h"

namespace {
hone::Result<hone::search::Space> Space(const hone::Workload&, const hone::Target&) { return hone::search::Space("t"); }
hone::Result<std::vector<hone::Step>> Steps(const hone::Workload&, const hone::Target&, const hone::Config&) {
  return std::vector<hone::Step>();
}
hone::Result<hone::op::Computation> Compute(const hone::Workload&, const hone::Target&) {
  return hone::op::Computation();
}
hone::Result<hone::semantics::Shape> Shape(const hone::Workload& w) { return w.inputs[0].shape; }
void Evaluate(const hone::Workload&, const std::vector<const hone::semantics::Values*>&, const hone::semantics::Shape&,
              int, hone::semantics::Values*) {}
double Flop(const hone::Workload&, const hone::semantics::Shape&) { return 1; }
}  // namespace

HONE_OPERATOR(relu) {
  op->definition.shape = Shape;
  op->definition.evaluate = Evaluate;
  op->definition.flop = Flop;
  op->compute = Compute;
  op->templates = {{"t", 1, "cpu", Space, Steps}};
}
