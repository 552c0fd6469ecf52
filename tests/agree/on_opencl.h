// A fixture for tests on this machine's OpenCL device (usually PoCL's CPU).
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "base/result.h"
#include "runtime/opencl/opencl_device.h"

namespace hone::agree {

// One device for all tests: opening PoCL's takes longer than a test.
template <typename Param>
class OnOpenCl : public ::testing::TestWithParam<Param> {
 protected:
  static void SetUpTestSuite() {
    // These tests check the text, so optimisation is off: PoCL 3.1's optimiser moves jumps around barriers and then
    // loses the work items of some kernels that have guards on both sides of one.
    runtime::OpenClOptions options;
    options.optimise = false;
    auto opened = runtime::OpenOpenClDevice(options);
    why_not_ = opened.status();
    if (opened.ok()) device_ = std::move(*opened);
  }
  static void TearDownTestSuite() { device_.reset(); }

  inline static std::unique_ptr<runtime::Device> device_;
  inline static Status why_not_;  // kNotFound: no OpenCL on this machine
};

}  // namespace hone::agree
