// Which NVRTC compiles for which architecture, with several, one or none: uses the test's own libraries (fake_nvrtc.c),
// whose "cubins" name their compiler.
#include <dlfcn.h>

#include "base/file.h"
#include "codegen/cuda/codegen.h"
#include "device_case.h"

namespace hone::device_test {
namespace {

using codegen::CudaOptions;

constexpr char kAbsent[] = "libno-such-nvrtc.so.13";

Result<std::string> Cubin(const std::string& arch, const CudaOptions& options) {
  HONE_ASSIGN_OR_RETURN(codegen::CudaCode code, codegen::CompileToCuda({Stencil()}, CudaTarget(arch), options));
  return code.artifact.bytes;
}

std::string Made(const std::string& arch, const CudaOptions& options) {
  const auto cubin = Cubin(arch, options);
  return cubin.ok() ? *cubin : cubin.status().message();
}

TEST(NvrtcVersions, TheFirstThatDoesTheArchitecture) {
  const CudaOptions both{{kAbsent, FAKE_NVRTC_13, FAKE_NVRTC_12}};
  EXPECT_EQ(Made("sm_61", both), "sm_61 by 12.9");
  EXPECT_EQ(Made("sm_70", both), "sm_70 by 12.9");
  EXPECT_EQ(Made("sm_75", both), "sm_75 by 13.5");
  EXPECT_EQ(Made("sm_90", both), "sm_90 by 13.5");
  EXPECT_EQ(Made("sm_90a", both), "sm_90a by 13.5");
  EXPECT_EQ(Made("sm_121", both), "sm_121 by 13.5");
  EXPECT_EQ(Made("sm_90", {{FAKE_NVRTC_12}}), "sm_90 by 12.9");
}

TEST(NvrtcVersions, TheVersionIsOfWhatCompiles) {
  const CudaOptions both{{FAKE_NVRTC_13, FAKE_NVRTC_12}};
  EXPECT_EQ(*codegen::NvrtcVersion("sm_70", both), "NVRTC 12.9");
  EXPECT_EQ(*codegen::NvrtcVersion("sm_80", both), "NVRTC 13.5");
  EXPECT_EQ(*codegen::NvrtcVersion("", both), "NVRTC 13.5") << "the newest";
  EXPECT_FALSE(codegen::NvrtcVersion("sm_70", {{FAKE_NVRTC_13}}).ok());
}

TEST(NvrtcVersions, TheNewestThatTheDriverTakes) {
  const auto under = [](int newest) { return CudaOptions{{FAKE_NVRTC_13, FAKE_NVRTC_12}, false, newest}; };
  EXPECT_EQ(Made("sm_90", under(12)), "sm_90 by 12.9");
  EXPECT_EQ(Made("sm_90", under(13)), "sm_90 by 13.5");
  EXPECT_EQ(Made("sm_90", under(14)), "sm_90 by 13.5") << "a driver takes older code";
  EXPECT_EQ(Made("sm_90", under(0)), "sm_90 by 13.5") << "there is no driver";
  EXPECT_EQ(*codegen::NvrtcVersion("sm_90", under(12)), "NVRTC 12.9");
  EXPECT_EQ(*codegen::NvrtcVersion("", under(12)), "NVRTC 12.9");
}

TEST(NvrtcVersions, NoneThatTheDriverTakes) {
  const Status status = Cubin("sm_90", {{FAKE_NVRTC_13}, false, 12}).status();
  EXPECT_EQ(status.kind(), StatusKind::kUnsupported);
  EXPECT_EQ(status.message(),
            std::string("no NVRTC that compiles CUDA for sm_90: NVRTC 13.5 (") + FAKE_NVRTC_13 +
                ") is newer than the NVIDIA driver (CUDA 12), which may not load its code; install the NVRTC "
                "library of CUDA 12 (pip: nvidia-cuda-nvrtc-cu12) where the loader finds it (LD_LIBRARY_PATH)");
  const std::string old = Made("sm_90", {{FAKE_NVRTC_13, FAKE_NVRTC_12}, false, 11});
  EXPECT_THAT(old, HasSubstr("the NVIDIA driver is of CUDA 11; Hone needs CUDA 12: install driver 525 or newer"));
}

// NVRTC 12, which the driver accepts, does not know it.
TEST(NvrtcVersions, ANewerDriverIsWhatHelpsANewerArchitecture) {
  const std::string advice = "; install NVIDIA driver 580 (CUDA 13) or newer, which code of NVRTC 13 needs";
  for (const std::string& words :
       {Made("sm_121", {{FAKE_NVRTC_13, FAKE_NVRTC_12}, false, 12}), Made("sm_110", {{FAKE_NVRTC_12}, false, 12}),
        Made("sm_110", {{kAbsent}, false, 12})}) {
    EXPECT_THAT(words, HasSubstr(advice));
  }
  const std::string none = Made("sm_999", {{FAKE_NVRTC_13, FAKE_NVRTC_12}, false, 12});
  EXPECT_THAT(none, Not(HasSubstr("driver 580")));
}

TEST(NvrtcVersions, NoneForTheArchitecture) {
  const Status status = Cubin("sm_70", {{FAKE_NVRTC_13, kAbsent, FAKE_NVRTC_99}}).status();
  EXPECT_EQ(status.kind(), StatusKind::kUnsupported);
  EXPECT_EQ(status.message(),
            std::string("no NVRTC that compiles CUDA for sm_70: NVRTC 13.5 (") + FAKE_NVRTC_13 +
                ") compiles for sm_75, sm_80, sm_90, sm_121; " + FAKE_NVRTC_99 +
                ": is NVRTC 99.1; Hone knows NVRTC 12 and 13; install the NVRTC library of CUDA 12 (pip: "
                "nvidia-cuda-nvrtc-cu12) where the loader finds it (LD_LIBRARY_PATH)");
  EXPECT_THAT(Made("sm_999", {{FAKE_NVRTC_13}}), HasSubstr("; install the NVRTC library of CUDA 12 or 13 (pip: "));
}

TEST(NvrtcVersions, ALibraryOfTwoPathsIsNamedOnce) {
  const std::string words = Made("sm_70", {{FAKE_NVRTC_13, FAKE_NVRTC_13}});
  EXPECT_EQ(words.find("NVRTC 13.5"), words.rfind("NVRTC 13.5")) << words;
}

TEST(NvrtcVersions, None) {
  const Status status = Cubin("sm_90", {{kAbsent, "libno-such-nvrtc.so.12"}}).status();
  EXPECT_EQ(status.kind(), StatusKind::kNotFound);
  EXPECT_EQ(status.message().find(std::string("no NVRTC, which compiles CUDA for sm_90: ") + kAbsent + ": "), 0U)
      << status.message();
  EXPECT_THAT(status.message(), HasSubstr("install the NVRTC library of CUDA 12 or 13"));
  EXPECT_THAT(Made("sm_61", {{kAbsent}}), HasSubstr("install the NVRTC library of CUDA 12 (pip"));
}

TEST(NvrtcVersions, OfAnUnknownVersion) {
  EXPECT_EQ(Cubin("sm_90", {{FAKE_NVRTC_99}}).status().kind(), StatusKind::kUnsupported);
  EXPECT_EQ(Made("sm_90", {{FAKE_NVRTC_99, FAKE_NVRTC_12}}), "sm_90 by 12.9") << "is passed over";
}

TEST(NvrtcVersions, ADamagedFileIsNamed) {
  const TempDir folder = *TempDir::Create();
  const std::string path = folder.Join("libnvrtc.so.13");
  ASSERT_TRUE(WriteFileAtomic(path, "not a library").ok());
  const Status status = Cubin("sm_90", {{kAbsent, path}}).status();
  EXPECT_EQ(status.kind(), StatusKind::kUnsupported);
  EXPECT_THAT(status.message(), HasSubstr(path + ": "));
  EXPECT_EQ(Made("sm_90", {{path, FAKE_NVRTC_13}}), "sm_90 by 13.5") << "is passed over";
}

TEST(NvrtcVersions, ADeprecatedArchitectureIsNoWarningOfTheCode) {
  EXPECT_EQ(Made("sm_70", {{FAKE_NVRTC_12}, /*warnings_fail=*/true}), "sm_70 by 12.9");
  EXPECT_EQ(Made("sm_61", {{FAKE_NVRTC_12}, true}), "a warning of NVRTC: kernel.cu(1): warning #1: something else");
  EXPECT_EQ(Made("sm_61", {{FAKE_NVRTC_12}, false}), "sm_61 by 12.9");
}

// Opening a name returns a library that already has that name: from here on the loader's NVRTCs are these.
TEST(NvrtcVersions, TheLoadersOfBothVersions) {
  ASSERT_NE(dlopen(FAKE_NVRTC_13, RTLD_NOW | RTLD_LOCAL), nullptr) << dlerror();
  ASSERT_NE(dlopen(FAKE_NVRTC_12, RTLD_NOW | RTLD_LOCAL), nullptr) << dlerror();
  EXPECT_EQ(Made("sm_70", {}), "sm_70 by 12.9");
  EXPECT_EQ(Made("sm_90", {}), "sm_90 by 13.5");
}

}  // namespace
}  // namespace hone::device_test
