// Calibration inputs: raw values and NumPy's format.
#include "fuzz_target.h"
#include "quantise/samples.h"

namespace hone::quantise {

HONE_FUZZ_TARGET(calibration) {
  const TensorType type{DType::Float(32), {1, 2, 3}};
  HONE_ASSIGN_OR_RETURN(const Samples samples, ParseSamples(input, "fuzz", type, 5));
  const Samples again = *ParseSamples(NpyText({samples.count, 2, 3}, samples.values), "fuzz", type, samples.count);
  HONE_CHECK(again.values == samples.values);
  return Status();
}

}  // namespace hone::quantise
