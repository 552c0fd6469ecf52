// The measuring child without the compiler that hone-worker links.
#include "measure/measure_worker.h"

int main() { return hone::measure::RunMeasureWorker(3); }
