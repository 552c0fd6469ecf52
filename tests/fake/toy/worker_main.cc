// hone-worker with the toy back end.
#include <cstring>

#include "fake/toy/backend.h"
#include "measure/measure_worker.h"
#include "session/compile_worker.h"

int main(int, char** argv) {
  hone::toy::AddToyBackend();
  return std::strcmp(argv[1], "compile") == 0 ? hone::session::RunCompileWorker(3) : hone::measure::RunMeasureWorker(3);
}
