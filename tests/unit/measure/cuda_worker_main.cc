// The measuring child on the fake driver, which replaces libcuda.so.1. HONE_FAKE_CUDA_LIVES names a file with a line
// for each future child, "FUNCTION ERROR SKIP STICKY" (fake_cuda_fail), "throttled REASONS TIMES 0"
// (fake_nvml_throttle) or "well"; each child removes the first line.
#include <sstream>

#include "measure/measure_worker.h"
#include "unit/device/fake_cuda_control.h"
#include "unit/device/fake_nvml_control.h"
#include "unit/measure/twice_on_fake_cuda.h"

int main() {
  using namespace hone;
  const FakeCudaControl cuda = FakeCudaControl::Load(FAKE_CUDA);
  cuda.reset(measure::LaunchTwice);
  const std::string path = std::getenv("HONE_FAKE_CUDA_LIVES");
  const std::string lives = *ReadFile(path);
  const size_t end = lives.find('\n');
  std::istringstream life(lives.substr(0, end));
  std::string function;
  int error = 0, skip = 0, sticky = 0;
  if (life >> function >> error >> skip >> sticky) {
    if (function == "throttled") {
      const FakeNvmlControl nvml = FakeNvmlControl::Load(FAKE_NVML);
      nvml.know("GPU-01112131-4151-6171-8191-a1b1c1d1e1f1");
      nvml.throttle(static_cast<unsigned long long>(error), skip);
    } else {
      cuda.fail(function.c_str(), error, skip, sticky);
    }
  }
  if (end != std::string::npos && !WriteFileAtomic(path, lives.substr(end + 1)).ok()) return 2;
  return measure::RunMeasureWorker(3);
}
