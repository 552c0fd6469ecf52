#include "fake/toy/backend.h"

#include <chrono>
#include <cstring>

#include "compile/backend.h"
#include "fake/toy/program.h"
#include "interpreter/interpreter.h"
#include "measure/machine.h"

namespace hone::toy {
namespace {

// lib/target/toy/kind.cc: `toy`, without options.
class ToyKind final : public TargetKind {
 public:
  const char* name() const override { return "toy"; }
  std::string_view family() const override { return kCpuFamily; }
  bool has_device() const override { return true; }
  int FloatLanes(const Target&) const override { return 4; }
  int ChannelBlock(const Target&) const override { return 4; }
  std::string KeysText(const Target&) const override { return ""; }
  Status SetKey(const std::string& key, const std::string&, Target*) const override {
    return Status::Invalid("unknown key `" + key + "`");
  }
  Status Complete(Target*) const override { return Status(); }
  std::vector<TargetKey> FileKeys() const override { return {}; }
  Status ReadFile(JsonReader* reader, Target*) const override { return reader->Finish(); }
  Status CheckFile(const Json&, std::string*) const override { return Status(); }
};

const TargetKind& Kind() {
  static const ToyKind kind;
  return kind;
}

// lib/compile/toy/backend.cc
class ToyCode final : public compile::Backend {
 public:
  const TargetKind& kind() const override { return Kind(); }
  Result<std::vector<EntryPoint>> Generate(const std::vector<ir::Function>& functions, const Target&,
                                           const compile::CompileOptions&,
                                           compile::CompiledKernel* kernel) const override {
    std::vector<EntryPoint> entries;
    Json code = Json::array();
    for (const ir::Function& f : functions) {
      EntryPoint entry;
      entry.symbol = f.name;
      for (const ir::Buffer& b : f.params) entry.args.push_back({b.name(), b->type, b->size, b->written});
      entries.push_back(std::move(entry));
      code.push_back(Encoder().Function(f));
    }
    kernel->format = "toy";
    kernel->object = DumpJson(code);
    return entries;
  }
};

class ToyBuffer final : public runtime::DeviceBuffer {
 public:
  explicit ToyBuffer(int64_t bytes) : DeviceBuffer(bytes), memory(new char[static_cast<size_t>(bytes)]) {}
  ToyBuffer(const ToyBuffer& whole, int64_t first, int64_t bytes)
      : DeviceBuffer(bytes), memory(whole.memory, whole.memory.get() + first) {}
  std::shared_ptr<char[]> memory;
};

char* DataOf(const runtime::DeviceBuffer* buffer) { return static_cast<const ToyBuffer*>(buffer)->memory.get(); }

class ToyModule final : public runtime::DeviceModule {
 public:
  explicit ToyModule(Artifact artifact) : artifact_(std::move(artifact)) {}

  Status Run(const std::string& symbol, const runtime::DeviceArguments& arguments) override {
    HONE_RETURN_IF_ERROR(runtime::CheckArguments(artifact_, symbol, arguments).status());
    HONE_ASSIGN_OR_RETURN(const Json code, ParseJson(artifact_.bytes, "toy"));
    for (const Json& json : code) {
      if (json["name"] != symbol) continue;
      const ir::Function f = Decoder().Function(json);
      std::vector<ir::RunArgument> run;
      for (size_t i = 0; i < f.params.size(); ++i) run.push_back({DataOf(arguments[i]), f.params[i]->size});
      return ir::Run(f, run);
    }
    return Status::Invalid("no function " + symbol);
  }

  Result<double> Time(const std::string& symbol, const runtime::DeviceRuns& before,
                      const runtime::DeviceRuns& runs) override {
    for (int64_t i = 0; i < before.count; ++i) HONE_RETURN_IF_ERROR(Run(symbol, before[i]));
    const auto start = std::chrono::steady_clock::now();
    for (int64_t i = 0; i < runs.count; ++i) HONE_RETURN_IF_ERROR(Run(symbol, runs[i]));
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

 private:
  Artifact artifact_;
};

runtime::DeviceInfo Info() {
  runtime::DeviceInfo info;
  info.name = "a toy";
  info.identity = "1";
  info.driver = "0.1";
  if (const char* release = getenv("TOY_RELEASE")) info.release = release;  // of the driver
  info.lock_name = "cpu";
  return info;
}

class ToyDevice final : public runtime::Device {
 public:
  const runtime::DeviceInfo& info() const override { return info_; }
  Result<std::unique_ptr<runtime::DeviceBuffer>> Allocate(int64_t bytes) override {
    return std::unique_ptr<runtime::DeviceBuffer>(std::make_unique<ToyBuffer>(bytes));
  }
  Result<std::unique_ptr<runtime::DeviceBuffer>> Part(const runtime::DeviceBuffer& whole, int64_t first,
                                                      int64_t bytes) override {
    return std::unique_ptr<runtime::DeviceBuffer>(
        std::make_unique<ToyBuffer>(static_cast<const ToyBuffer&>(whole), first, bytes));
  }
  Status CopyIn(runtime::DeviceBuffer* to, const void* from, int64_t bytes) override {
    std::memcpy(DataOf(to), from, static_cast<size_t>(bytes));
    return Status();
  }
  Status CopyOut(void* to, const runtime::DeviceBuffer& from, int64_t bytes) override {
    std::memcpy(to, DataOf(&from), static_cast<size_t>(bytes));
    return Status();
  }
  Status Copy(runtime::DeviceBuffer* to, const runtime::DeviceBuffer& from, int64_t bytes) override {
    return CopyOut(DataOf(to), from, bytes);
  }
  Status Wait() override { return Status(); }
  Result<std::unique_ptr<runtime::DeviceModule>> Load(const Artifact& artifact) override {
    if (artifact.format != "toy") return Status::Invalid("a toy runs no " + artifact.format);
    return std::unique_ptr<runtime::DeviceModule>(std::make_unique<ToyModule>(artifact));
  }

 private:
  runtime::DeviceInfo info_ = Info();
};

// lib/measure/toy/machine.cc
class ToyMachine final : public measure::Machine {
 public:
  const TargetKind& kind() const override { return Kind(); }
  Result<runtime::DeviceInfo> Describe() const override { return Info(); }
  Result<std::string> LockWithout(const Status& why) const override { return why; }
  Result<std::unique_ptr<runtime::Device>> Open() const override {
    return std::unique_ptr<runtime::Device>(std::make_unique<ToyDevice>());
  }
};

}  // namespace

void AddToyBackend() {
  static const ToyCode code;
  static const ToyMachine machine;
  AddTargetKind(&Kind());
  compile::AddBackend(&code);
  measure::AddMachine(&machine);
}

}  // namespace hone::toy
