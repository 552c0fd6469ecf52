// A fixture for tests on the device that OpenCL has here (PoCL's CPU mostly).
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "base/result.h"
#include "runtime/opencl/opencl_device.h"

namespace hone::agree {

// One device for all: to open PoCL's takes longer than what a test does with it.
template <typename Param>
class OnOpenCl : public ::testing::TestWithParam<Param> {
 protected:
  static void SetUpTestSuite() {
    // What is tested is the text. PoCL 3.1's optimiser moves jumps around barriers, and then loses the work items of
    // some kernels whose guards stand on both sides of one; without it all is well.
    runtime::OpenClOptions options;
    options.optimise = false;
    auto opened = runtime::OpenOpenClDevice(options);
    why_not_ = opened.status();
    if (opened.ok()) device_ = std::move(*opened);
  }
  static void TearDownTestSuite() { device_.reset(); }

  inline static std::unique_ptr<runtime::Device> device_;
  inline static Status why_not_;  // kNotFound: there is no OpenCL here
};

}  // namespace hone::agree
