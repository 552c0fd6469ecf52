// The GPUs of the fake driver's machine.
#pragma once

#include <cctype>
#include <cstdlib>
#include <vector>

constexpr int kFirstDevice = 7;

// The machine has GPUs 0, 1, 2, ...: those listed in CUDA_VISIBLE_DEVICES, in its order; without it, or if it names
// those of a real driver, only the first.
inline std::vector<int> VisibleDevices() {
  const char* text = getenv("CUDA_VISIBLE_DEVICES");
  if (text == nullptr || *text == 0 || isalpha(static_cast<unsigned char>(*text))) return {kFirstDevice};
  std::vector<int> devices;
  for (const char* at = text; *at != 0; at += *at == ',') {
    char* end = nullptr;
    const long device = strtol(at, &end, 10);
    if (end == at) break;
    devices.push_back(kFirstDevice + static_cast<int>(device));
    at = end;
  }
  return devices;
}
