// Calls into a plugin: no exception may pass from it into Hone.
#pragma once

#include <exception>
#include <string>

#include "base/result.h"

namespace hone {

// What `call` returns, a T or a Result<T>; kInvalid if it throws. `who` names the plugin and its part.
template <typename T, typename F>
Result<T> Guarded(const std::string& who, F call) {
  const auto threw = [&](const char* what) {
    return Status::Invalid("{} threw an exception: {}; functions of plugins must not throw", who, what);
  };
  try {
    return call();
  } catch (const std::exception& e) {
    return threw(e.what());
  } catch (...) {
    return threw("of an unknown type");
  }
}

}  // namespace hone
