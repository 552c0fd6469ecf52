// A test's access to the fake management library (fake_nvml.h).
#pragma once

#include <dlfcn.h>

#include <stdexcept>
#include <string>
#include <type_traits>

extern "C" {
#include "fake_nvml.h"
}

namespace hone {

struct FakeNvmlControl {
  decltype(&fake_nvml_reset) reset = nullptr;
  decltype(&fake_nvml_know) know = nullptr;
  decltype(&fake_nvml_power) power = nullptr;
  decltype(&fake_nvml_throttle) throttle = nullptr;
  decltype(&fake_nvml_process) process = nullptr;
  decltype(&fake_nvml_use) use = nullptr;
  decltype(&fake_nvml_asked) asked = nullptr;

  // Loads the library permanently: opening libnvidia-ml.so.1 later gives this one. Throws if something is missing.
  static FakeNvmlControl Load(const char* path) {
    void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) throw std::runtime_error(dlerror());
    const auto find = [&](auto* function, const char* name) {
      *function = reinterpret_cast<std::remove_reference_t<decltype(*function)>>(dlsym(library, name));
      if (*function == nullptr) throw std::runtime_error(name);
    };
    FakeNvmlControl control;
    find(&control.reset, "fake_nvml_reset");
    find(&control.know, "fake_nvml_know");
    find(&control.power, "fake_nvml_power");
    find(&control.throttle, "fake_nvml_throttle");
    find(&control.process, "fake_nvml_process");
    find(&control.use, "fake_nvml_use");
    find(&control.asked, "fake_nvml_asked");
    control.reset();
    return control;
  }
};

}  // namespace hone
