// Builds network libraries for AArch64 and runs them under QEMU's user-mode emulation, by a C program made with the
// cross compiler. Tests are skipped, with the missing package, where one of these is not installed.
#pragma once

#include "base/text.h"
#include "common/emulator.h"
#include "library/loaded_network.h"
#include "library/reference.h"
#include "test_folder.h"

namespace hone {

class CrossFolder : public TestFolder {
 protected:
  void SetUp() override {
    if (const std::string why = CannotEmulate(); !why.empty()) GTEST_SKIP() << why;
    WriteTarget("a53", "cortex-a53", 2);
    WriteTarget("a76", "cortex-a76", 2);
  }
  void WriteTarget(const std::string& name, const std::string& cpu, int threads) {
    Write(name + ".json", fmt::format(R"({{"kind": "cpu", "triple": "aarch64-unknown-linux-gnu", "cpu": "{}", )"
                                      R"("threads": {}}})",
                                      cpu, threads));
  }

  static std::string Tool(const std::string& name) { return std::string(HONE_TOOLS) + "/" + name; }
  // Builds GRAPH.json for TARGET.json into the folder GRAPH.TARGET.
  CommandResult Build(const std::string& graph, const std::string& target, const Words& more = {}) {
    return Run(Words{Tool("hone-build"), "--graph", graph + ".json", "--target", target + ".json", "--untuned",
                     "--name", "net", "--out", graph + "." + target} +
               more);
  }

  // A program under emulation of the CPU.
  CommandResult Emulate(const std::string& cpu, const Words& argv) { return Run(Emulated(cpu, argv)); }
  // Runs the library in `folder` on its inputs of seed 1 under emulation of the CPU; with an empty one on this machine.
  CommandResult RunLibrary(const std::string& folder, const std::string& cpu, int threads) {
    const graph::Graph graph = Must(graph::ReadGraph(Path(folder + "/net.graph.json"), nullptr));
    std::string bytes;
    for (const TensorData& input : library::BenchInputs(graph, 1)) bytes += input.view();
    Write("inputs", bytes);
    if (Has("outputs")) Delete("outputs");
    const std::string program = cpu.empty() ? "run_here" : "run_there";
    if (!Has(program)) {
      ExpectOk(Run({cpu.empty() ? "cc" : kCrossCompiler, "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-I",
                    std::string(HONE_SOURCE_DIR) + "/lib", "-o", program,
                    std::string(HONE_SOURCE_DIR) + "/tests/cli/cross/run_library.c", "-ldl"}));
    }
    const Words argv = {
        Path(program), Path(folder + "/libnet.so"), "net", folder + "/net.params", std::to_string(threads), "inputs",
        "outputs"};
    return cpu.empty() ? Run(argv) : Emulate(cpu, argv);
  }
  // What it computes; all outputs, one after the other.
  std::string Outputs(const std::string& folder, const std::string& cpu, int threads) {
    ExpectOk(RunLibrary(folder, cpu, threads));
    return Read("outputs");
  }
  // Expects outputs to be right by hone-bench's rule; returns the error.
  double Verify(const std::string& folder, const std::string& outputs) {
    const library::LibraryFolder library = Must(library::CheckedLibrary(Path(folder)));
    const graph::Graph graph = Must(graph::ReadGraph(library.GraphPath(), nullptr));
    std::vector<TensorData> found;
    size_t at = 0;
    for (const std::string& name : graph.outputs) {
      TensorData& tensor = found.emplace_back(*graph.FindType(name));
      EXPECT_LE(at + tensor.bytes.size(), outputs.size());
      std::copy_n(outputs.begin() + static_cast<std::ptrdiff_t>(at), tensor.bytes.size(), tensor.bytes.begin());
      at += tensor.bytes.size();
    }
    EXPECT_EQ(at, outputs.size());
    double error = 0;
    Must(library::VerifyOutputs(folder, library.rounding, found,
                                Must(library::ReferenceOutputs(graph, nullptr, 1, 2, Path("reference"))), &error));
    return error;
  }
};

}  // namespace hone
