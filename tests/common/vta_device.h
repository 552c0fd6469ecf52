// A VTA simulator with typed copies, and programs for it as lists of instructions.
#pragma once

#include "common/expect.h"
#include "runtime/vta/simulator.h"

namespace hone::vta {

using Program = std::vector<HoneVtaInstruction>;

inline HoneVtaInstruction Finish() { return {.opcode = HONE_VTA_FINISH}; }

class SimulatedDevice {
 public:
  explicit SimulatedDevice(HoneVtaSimulation options = {}, HoneVtaConfig config = hone_vta_default_config())
      : config_(config) {
    if (options.timing.name == nullptr) options.timing = *hone_vta_find_preset("pynq");
    device_ = hone_vta_open_simulator(&config, &options);
    if (device_ == nullptr) throw std::runtime_error("cannot open a simulator");
  }
  ~SimulatedDevice() { hone_vta_close(device_); }
  SimulatedDevice(const SimulatedDevice&) = delete;
  SimulatedDevice& operator=(const SimulatedDevice&) = delete;

  HoneVtaDevice* get() { return device_; }
  const HoneVtaConfig& config() const { return config_; }
  const HoneVtaCounters& counters() const { return *hone_vta_counters(device_); }

  // The device address of a copy.
  template <typename T>
  uint64_t Put(const std::vector<T>& values) {
    const uint64_t address = hone_vta_allocate(device_, values.size() * sizeof(T));
    if (address == 0 || hone_vta_copy_in(device_, address, values.data(), values.size() * sizeof(T)) != 0) {
      throw std::runtime_error("cannot copy to the simulator");
    }
    return address;
  }
  // The same as dram_base of instructions that access `memory`.
  template <typename T>
  uint32_t PutEntries(int memory, const std::vector<T>& values) {
    return static_cast<uint32_t>(Put(values) / hone_vta_entry_bytes(&config_, memory));
  }
  uint32_t PutUops(const std::vector<HoneVtaUop>& uops) {
    std::vector<uint32_t> words(uops.size());
    for (size_t i = 0; i < uops.size(); ++i) {
      const char* bad = hone_vta_encode_uop(&config_, &uops[i], &words[i]);
      if (bad != nullptr) throw std::runtime_error(std::string("micro-operation: ") + bad);
    }
    return PutEntries(HONE_VTA_UOP, words);
  }
  std::vector<int8_t> Get(uint64_t address, size_t count) {
    std::vector<int8_t> values(count);
    if (hone_vta_copy_out(device_, values.data(), address, count) != 0) throw std::runtime_error(message());
    return values;
  }

  // Runs it and returns "" or the message of the failure.
  std::string Run(const Program& program) {
    const uint64_t stream = Put(Encode(program));
    const int failed = hone_vta_run(device_, stream, static_cast<uint32_t>(program.size()));
    hone_vta_release(device_, stream);
    return failed ? message() : "";
  }
  std::vector<unsigned char> Encode(const Program& program) const {
    std::vector<unsigned char> bytes(program.size() * HONE_VTA_INSTRUCTION_BYTES);
    for (size_t i = 0; i < program.size(); ++i) {
      const char* bad = hone_vta_encode(&config_, &program[i], &bytes[i * HONE_VTA_INSTRUCTION_BYTES]);
      if (bad != nullptr) throw std::runtime_error("instruction " + std::to_string(i) + ": " + bad);
    }
    return bytes;
  }
  std::string message() const { return hone_vta_message(device_); }

 private:
  HoneVtaConfig config_;
  HoneVtaDevice* device_ = nullptr;
};

}  // namespace hone::vta
