// The twice task (twice_task.h) on a device, for tests.
#pragma once

#include <gtest/gtest.h>

#include "unit/measure/twice_on_fake_cuda.h"

namespace hone::measure {

class DeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    setup_ = TwiceTask(dir_);
    setup_.protocol.cold_bytes = 4096;
  }

  BuiltKernel Kernel(const std::string& symbol, const std::string& format, const std::string& bytes) {
    return TwiceKernel(dir_, symbol, format, bytes);
  }

  TempDir dir_ = Must(TempDir::Create());
  TaskSetup setup_;
};

}  // namespace hone::measure
