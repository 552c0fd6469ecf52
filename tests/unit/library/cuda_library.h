// Libraries for CUDA on a driver without a device (unit/device/fake_cuda.cc). A kernel computes its operator's
// reference, in f32 or modified by `fake_arithmetic`.
#pragma once

#include <mutex>

#include "op/operator.h"
#include "small_network.h"
#include "unit/device/fake_cuda_control.h"

namespace hone::library {

inline Target CudaTarget(const std::string& arch) { return Must(Target::Parse("cuda -arch=" + arch)); }

// What the fake device computes for a kernel's symbol.
struct Meaning {
  Workload workload;
  Target target;
  int64_t elements = 0;  // of a copy: "negate", "copy"
};
inline std::map<std::string, Meaning>* meanings = nullptr;
inline std::vector<std::string>* launched = nullptr;
inline std::mutex* launched_mutex = nullptr;

// Changes that convolutions make to their inputs and weights before they compute, by the kernel's symbol; and the
// rounding that their kernels declare.
struct FakeArithmetic {
  void (*change)(const std::string& symbol, std::vector<float>* data, std::vector<float>* weights) = nullptr;
  double rounding = 0;
};
inline FakeArithmetic fake_arithmetic;

inline void OnLaunch(const char* symbol, void* const* addresses, const unsigned*, const unsigned*) {
  std::lock_guard<std::mutex> lock(*launched_mutex);
  launched->push_back(symbol);
  const std::string name = symbol;
  const Meaning& meaning = meanings->at(name);
  if (meaning.elements > 0) {
    const float* from = static_cast<const float*>(addresses[0]);
    const float sign = name.find("negate") != std::string::npos ? -1.0f : 1.0f;
    for (int64_t i = 0; i < meaning.elements; ++i) static_cast<float*>(addresses[1])[i] = sign * from[i];
    return;
  }
  const op::Operator* op = *op::FindOperator(meaning.workload);
  const std::vector<Operand> operands = op->Operands(meaning.workload, meaning.target);
  std::vector<float*> buffers;
  for (size_t i = 0; i < operands.size(); ++i) buffers.push_back(static_cast<float*>(addresses[i]));
  std::vector<float> changed[2];
  if (meaning.workload.op == "conv2d" && fake_arithmetic.change) {
    for (size_t i = 0; i < 2; ++i) changed[i].assign(buffers[i], buffers[i] + operands[i].PhysicalElements());
    fake_arithmetic.change(name, &changed[0], &changed[1]);
    for (size_t i = 0; i < 2; ++i) buffers[i] = changed[i].data();
  }
  op->Reference(meaning.workload, meaning.target, {buffers.begin(), buffers.end()});
}

// Kernels as a compiler might make them: those of convolutions read weights that a prepare function negated, and first
// restore them in a workspace; the others are one launch.
inline Result<std::vector<NetworkKernel>> FakeKernels(const std::vector<Workload>& workloads, const Target& target,
                                                      const pipeline::BestFile*, int) {
  std::vector<NetworkKernel> kernels;
  for (size_t k = 0; k < workloads.size(); ++k) {
    NetworkKernel kernel{.workload = workloads[k], .source = "fixed"};
    kernel.compiled.format = "cubin";
    kernel.compiled.object = "fake cubin";
    HONE_ASSIGN_OR_RETURN(const op::Operator* op, op::FindOperator(workloads[k]));
    const std::vector<Operand> operands = op->Operands(workloads[k], target);
    const std::string symbol = "hone_k" + std::to_string(k);
    EntryPoint& entry = kernel.compiled.kernel;
    entry.symbol = symbol;
    Launch main{.symbol = symbol + "_main" + std::to_string(operands.size())};
    main.grid[0] = 3;
    main.block[0] = 64;
    for (size_t i = 0; i < operands.size(); ++i) {
      entry.args.push_back(
          {operands[i].name, operands[i].logical.type, operands[i].PhysicalElements(), i + 1 == operands.size()});
      kernel.compiled.kernel_args.push_back({ArgSource::Kind::kOperand, static_cast<int>(i)});
      main.args.push_back(static_cast<int>(i));
    }
    (*meanings)[main.symbol] = {workloads[k], target, 0};
    if (workloads[k].op == "conv2d") {
      const int64_t elements = operands[1].PhysicalElements();
      compile::CompiledKernel& compiled = kernel.compiled;
      compiled.rounding = fake_arithmetic.rounding;
      compiled.has_prepare = true;
      compiled.prepared.push_back({"packed", operands[1].logical.type, elements});
      compiled.prepare.symbol = symbol + "_prepare";
      compiled.prepare.args = {entry.args[1], entry.args[1]};
      compiled.prepare_args = {{ArgSource::Kind::kOperand, 1}, {ArgSource::Kind::kPrepared, 0}};
      compiled.kernel_args[1] = {ArgSource::Kind::kPrepared, 0};
      compiled.prepare.launches = {{symbol + "_prepare_negate2", {1, 1, 1}, {32, 1, 1}, 0, 0, {0, 1}}};
      (*meanings)[symbol + "_prepare_negate2"] = {workloads[k], target, elements};
      entry.workspace_buffers = {elements * 4};
      entry.launches.push_back({symbol + "_negate2", {1, 1, 1}, {32, 1, 1}, 65536, 65536, {1, -1}});
      (*meanings)[symbol + "_negate2"] = {workloads[k], target, elements};
      main.args[1] = -1;
    }
    entry.launches.push_back(main);
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

class CudaLibrary : public ::testing::Test {
 protected:
  // Loads the driver under its usual name, so that a library's libcuda.so.1 is this one.
  static void SetUpTestSuite() {
    fake_ = FakeCudaControl::Load(FAKE_CUDA);
    meanings = new std::map<std::string, Meaning>;
    launched = new std::vector<std::string>;
    launched_mutex = new std::mutex;
    dir_ = new TempDir(*TempDir::Create());
    auto built = Must(Build("sm_90", dir_->path()));
    ASSERT_THAT(built.library, HasSubstr("libdl.so.2")) << "where dlopen is on older systems";
    net_ = new LoadedNetwork(Must(LoadedNetwork::Load(dir_->Join("libsmall.so"), "small")));
  }
  static void TearDownTestSuite() {
    delete std::exchange(net_, nullptr);
    delete std::exchange(dir_, nullptr);
    delete std::exchange(launched_mutex, nullptr);
    delete std::exchange(launched, nullptr);
    delete std::exchange(meanings, nullptr);
  }
  static Result<BuiltLibrary> Build(const std::string& arch, const std::string& dir) {
    BuildInput input{.graph = SmallNetwork(1), .target = CudaTarget(arch), .name = "small", .compile = FakeKernels};
    HONE_ASSIGN_OR_RETURN(BuiltLibrary built, BuildLibrary(std::move(input)));
    HONE_RETURN_IF_ERROR(WriteLibrary(built, dir));
    return built;
  }

  void SetUp() override {
    ASSERT_NE(net_, nullptr);
    fake_.reset(OnLaunch);
    launched->clear();
  }
  void TearDown() override {
    EXPECT_STREQ(fake_.complaint(), "");
    EXPECT_EQ(fake_.alive(), 0) << "something was not released";
    EXPECT_EQ(fake_.contexts(), 0) << "the caller's context was not put back";
  }

  static Instance Create(int device = 0, int code = HONE_NET_OK) {
    return {*net_, dir_->Join("small.params"), {.device = device}, code};
  }
  static void ExpectRight(const std::vector<float>& found, uint64_t seed) {
    const std::vector<double> expected = Expected(SmallNetwork(1), seed);
    ASSERT_EQ(found.size(), expected.size());
    ExpectClose(found.data(), expected);
  }
  // With inputs of `seed`, and the layers' seconds if they are asked for.
  static int Run(HoneNet* instance, uint64_t seed, std::vector<float>* out, double* seconds = nullptr) {
    const std::vector<float> in = RandomValues(3 * 13 * 13, seed);
    out->resize(5);
    const void* inputs[] = {in.data()};
    void* outputs[] = {out->data()};
    return seconds ? net_->profile_run(instance, inputs, outputs, seconds) : net_->run(instance, inputs, outputs);
  }
  static void RunAndCompare(HoneNet* instance, uint64_t seed) {
    std::vector<float> out;
    const int code = Run(instance, seed, &out);
    ASSERT_EQ(code, HONE_NET_OK) << net_->strerror(code) << ": " << net_->error_detail();
    ExpectRight(out, seed);
  }

  static inline FakeCudaControl fake_;
  static inline TempDir* dir_ = nullptr;
  static inline LoadedNetwork* net_ = nullptr;
};

}  // namespace hone::library
