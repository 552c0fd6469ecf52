// A test's access to the fake driver (fake_cuda.h).
#pragma once

#include <dlfcn.h>

#include <stdexcept>
#include <string>
#include <type_traits>

#include "fake_cuda.h"

namespace hone {

struct FakeCudaControl {
  decltype(&fake_cuda_reset) reset = nullptr;
  decltype(&fake_cuda_fail) fail = nullptr;
  decltype(&fake_cuda_hurry) hurry = nullptr;
  decltype(&fake_cuda_elapse) elapse = nullptr;
  decltype(&fake_cuda_complaint) complaint = nullptr;
  decltype(&fake_cuda_alive) alive = nullptr;
  decltype(&fake_cuda_largest) largest = nullptr;
  decltype(&fake_cuda_captured) captured = nullptr;
  decltype(&fake_cuda_largest_graph) largest_graph = nullptr;
  decltype(&fake_cuda_spoil) spoil = nullptr;
  decltype(&fake_cuda_calls) calls = nullptr;
  decltype(&fake_cuda_contexts) contexts = nullptr;

  // Loads the driver permanently: opening libcuda.so.1 later gives this one. Throws if something is missing.
  static FakeCudaControl Load(const char* path) {
    void* driver = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (driver == nullptr) throw std::runtime_error(dlerror());
    const auto find = [&](auto* function, const char* name) {
      *function = reinterpret_cast<std::remove_reference_t<decltype(*function)>>(dlsym(driver, name));
      if (*function == nullptr) throw std::runtime_error(name);
    };
    FakeCudaControl control;
    find(&control.reset, "fake_cuda_reset");
    find(&control.fail, "fake_cuda_fail");
    find(&control.hurry, "fake_cuda_hurry");
    find(&control.elapse, "fake_cuda_elapse");
    find(&control.complaint, "fake_cuda_complaint");
    find(&control.alive, "fake_cuda_alive");
    find(&control.largest, "fake_cuda_largest");
    find(&control.captured, "fake_cuda_captured");
    find(&control.largest_graph, "fake_cuda_largest_graph");
    find(&control.spoil, "fake_cuda_spoil");
    find(&control.calls, "fake_cuda_calls");
    find(&control.contexts, "fake_cuda_contexts");
    return control;
  }
};

}  // namespace hone
