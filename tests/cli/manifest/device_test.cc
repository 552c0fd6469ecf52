// A GPU's tasks under a real Ninja: the device is looked for once, before they are tuned, and by no one else.
#include <algorithm>

#include "work_folder.h"

namespace hone {
namespace {

using Lines = std::vector<std::string>;

class DeviceEdge : public WorkFolderTest {
 protected:
  void SetUp() override {
    WorkFolderTest::SetUp();
    Write("pipelines/targets/cuda.toml", "kind = \"cuda\"\narch = \"sm_80\"\n");
    for (const auto& [name, network] : {std::pair("alpha", "resnet-18"), std::pair("beta", "resnet-34")}) {
      Write("pipelines/" + std::string(name) + ".toml",
            std::string("network = \"") + network +
                "\"\ntargets = [\"cpu\"]\non_request = [\"cuda\"]\n[tune]\ntrials = 4\n[tune.cuda]\ntrials = 2\n");
    }
    const CommandResult plan = RunPlan();
    ASSERT_TRUE(plan.status.ok()) << plan.err;
  }

  // That begin with `word`.
  Lines CallsOf(const std::string& word) {
    Lines calls = Calls();
    std::erase_if(calls, [&](const std::string& call) { return call.rfind(word + " ", 0) != 0; });
    return calls;
  }
};

TEST_F(DeviceEdge, IsLookedForOnceAndNotByWhoeverNeedsNone) {
  NinjaOk({});
  EXPECT_EQ(CallsOf("find"), Lines());
  NinjaOk({"tune-alpha-cuda"});
  const Lines calls = Calls();
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "find targets/cuda.json"), 1);
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "tune a 2"), 1) << "the budget of [tune.cuda]";
  NinjaOk({"tune-all-cuda"});
  EXPECT_EQ(CallsOf("find"), Lines());
  EXPECT_NE(NinjaOk({"tune-all-cuda"}).find("no work to do"), std::string::npos);
  Touch("work/devices/cuda.json");  // another device, say, found again: dirties nothing
  EXPECT_NE(NinjaOk({"tune-all-cuda"}).find("no work to do"), std::string::npos);
}

TEST_F(DeviceEdge, AMissingDeviceIsToldOnceAndNothingIsTuned) {
  Write("bin/no-device", "");
  const CommandResult result = Ninja({"-k", "0", "-j", "8", "tune-all-cuda"});
  EXPECT_FALSE(result.status.ok());
  const std::string told = "no device for targets/cuda.json";
  const size_t at = result.out.find(told);
  ASSERT_NE(at, std::string::npos) << result.out;
  EXPECT_EQ(result.out.find(told, at + 1), std::string::npos) << result.out;
  const Lines calls = Calls();
  EXPECT_EQ(std::count(calls.begin(), calls.end(), "find targets/cuda.json"), 1);
  for (const std::string& call : calls) EXPECT_NE(call.rfind("tune ", 0), 0u) << call;
  NinjaOk({});  // the CPU's jobs are as they were
  ASSERT_TRUE(Remove(Path(project_ + "/bin/no-device")).ok());
  NinjaOk({"tune-alpha-cuda"});
}

// In a folder where nothing was made yet Ninja needs the task lists before it knows the manifest whole; nothing else is
// done before the device is looked for.
TEST_F(DeviceEdge, AFreshFolderIsToldAfterTheTaskListsAlone) {
  Write("bin/no-device", "");
  const CommandResult result = Ninja({"tune-alpha-cuda"});
  EXPECT_EQ(result.status.code, 1) << result.out;
  Lines calls = Calls();
  EXPECT_EQ(std::erase_if(calls, [](const std::string& call) { return call.rfind("extract ", 0) == 0; }), 4U);
  EXPECT_EQ(calls, Lines({"find targets/cuda.json"}));
}

// One that is gone again is noticed by the tools themselves; the manifest asks only before the first task.
TEST_F(DeviceEdge, IsFoundThroughTheLauncher) {
  Write("launch", "#!/bin/sh\necho \"$2\" >>\"${0%/*}/launched\"\nexec \"$@\"\n");
  ASSERT_TRUE(RunCommand({"chmod", "+x", Path(project_ + "/launch")}, {}).ok());
  const CommandResult result = Ninja({"devices/cuda.json"}, {{"HONE_LAUNCHER", Path(project_ + "/launch")}});
  ASSERT_TRUE(result.status.ok()) << result.out;
  EXPECT_NE(Read("launched").find("--find-device"), std::string::npos);
}

}  // namespace
}  // namespace hone
