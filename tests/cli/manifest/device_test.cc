// A GPU's tasks under a real Ninja: the device is looked for once, before they are tuned, and only for them.
#include "work_folder.h"

namespace hone {
namespace {

class DeviceEdge : public WorkFolder {
 protected:
  void SetUp() override {
    WorkFolder::SetUp();
    Write("pipelines/targets/cuda.toml", "kind = \"cuda\"\narch = \"sm_80\"\n");
    for (const auto& [name, network] : {std::pair("alpha", "resnet-18"), std::pair("beta", "resnet-34")}) {
      Write(fmt::format("pipelines/{}.toml", name),
            fmt::format("network = \"{}\"\ntargets = [\"cpu\"]\non_request = [\"cuda\"]\n[tune]\ntrials = 4\n"
                        "[tune.cuda]\ntrials = 2\n",
                        network));
    }
    PlanOk();
  }
};

TEST_F(DeviceEdge, IsLookedForOnceAndNotByWhoeverNeedsNone) {
  NinjaOk({});
  ExpectHasNot(Join(Calls(), "\n"), {"find"});
  NinjaOk({"records-alpha-cuda"});
  EXPECT_EQ(Calls(), (Words{"find targets/cuda.json", "tune a 2", "tune b 2"})) << "the budget of [tune.cuda]";
  NinjaOk({"tune-all-cuda"});
  ExpectHasNot(Join(Calls(), "\n"), {"find"});
  ExpectNoWork({"tune-all-cuda"});
  Touch("work/devices/cuda.json");  // for example another device found again: dirties nothing
  ExpectNoWork({"tune-all-cuda"});
}

// In a new folder, Ninja needs the task lists before it knows the whole manifest; nothing else runs before the device
// was looked for.
TEST_F(DeviceEdge, AMissingDeviceIsToldOnceAndNothingIsTuned) {
  Write("bin/no-device", "");
  const CommandResult result = Ninja({"-k", "0", "-j", "8", "tune-all-cuda"});
  EXPECT_EQ(result.status.code, 1) << result.out;
  const std::string told = "no device for targets/cuda.json";
  ExpectHas(result.out, {told});
  EXPECT_EQ(result.out.find(told), result.out.rfind(told)) << result.out;
  Words calls = Calls();
  EXPECT_EQ(std::erase_if(calls, [](const std::string& call) { return StartsWith(call, "extract "); }), 4U);
  EXPECT_EQ(calls, Words{"find targets/cuda.json"});
  NinjaOk({});  // the CPU's jobs are unaffected
  Delete("bin/no-device");
  NinjaOk({"tune-alpha-cuda"});
}

// The tools themselves notice a device that disappears later; the manifest checks only before the first task.
TEST_F(DeviceEdge, IsFoundThroughTheLauncher) {
  WriteProgram("launch", "#!/bin/sh\necho \"$2\" >>\"${0%/*}/launched\"\nexec \"$@\"\n");
  ExpectOk(Ninja({"devices/cuda.json"}, Path("launch")));
  ExpectHas(Read("launched"), {"--find-device"});
}

}  // namespace
}  // namespace hone
