#include "base/subprocess.h"
#include "library/backend.h"
#include "library/header_text.h"
#include "library/params_file.h"
#include "library/runtime/params_format.h"
#include "library/tables.h"
#include "small_network.h"
#include "target/architecture.h"

namespace hone::library {
namespace {

TEST(ParamsFile, BlobsAreAlignedAndFound) {
  const std::vector<ConstantBlob> blobs = {{"a", std::string(100, 'a')}, {"b", std::string(64, 'b')}, {"c", "c"}};
  ParamsFile file = MakeParamsFile("net", blobs);
  ASSERT_EQ(file.offsets.size(), 3u);
  for (size_t i = 0; i < blobs.size(); ++i) {
    EXPECT_EQ(file.offsets[i] % HONE_PARAMS_ALIGNMENT, 0u);
    EXPECT_EQ(file.bytes.substr(file.offsets[i], blobs[i].bytes.size()), blobs[i].bytes);
  }
  static_assert(sizeof(HoneParamsHeader) == 96 && sizeof(HoneParamsEntry) == 128);
  HoneParamsHeader header;
  std::memcpy(&header, file.bytes.data(), sizeof(header));
  EXPECT_EQ(header.file_bytes, file.bytes.size());
  EXPECT_STREQ(header.network, "net");
  // Another value changes the digest; another network name alone does not.
  auto other = blobs;
  other[2].bytes = "d";
  EXPECT_NE(MakeParamsFile("net", other).digest, file.digest);
  EXPECT_EQ(MakeParamsFile("net2", blobs).digest, file.digest);
}

TEST(ParamsFile, AnEmptyBlobIsABug) {
  EXPECT_DEATH(MakeParamsFile("net", {{.name = "a", .bytes = ""}}), "blob.bytes.empty");
}

TEST(Header, IdentifiersAreCs) {
  EXPECT_EQ(CIdentifier("resnet18"), "resnet18");
  EXPECT_EQ(CIdentifier("resnet-18.v2"), "resnet_18_v2");
  EXPECT_EQ(CIdentifier("3d"), "net_3d");
}

// C compilers decide: C99 and C++, all warnings, no extensions.
TEST(Header, CompilesCleanly) {
  TempDir dir = *TempDir::Create();
  ASSERT_TRUE(WriteFileAtomic(dir.Join("x.h"), HeaderText(SmallNetwork(1), "x", "x")).ok());
  const std::string use =
      "#include \"x.h\"\nint use(void);\nint use(void) { x_options o = {0}; x_net *n; return x_create(&o, &n); }\n";
  ASSERT_TRUE(WriteFileAtomic(dir.Join("use.c"), use).ok());
  ASSERT_TRUE(WriteFileAtomic(dir.Join("use.cc"),
                              "#include \"x.h\"\n#include \"x.h\"\nint main() { return x_abi_version(); }\n")
                  .ok());
  for (std::vector<std::string> argv : {std::vector<std::string>{"cc", "-std=c99", "-c", "use.c"},
                                        std::vector<std::string>{"c++", "-std=c++11", "-c", "use.cc"}}) {
    argv.insert(argv.end(), {"-Wall", "-Wextra", "-pedantic", "-Werror", "-o", "use.o"});
    CommandOptions options{.cwd = dir.path()};
    auto result = Must(RunCommand(argv, options));
    EXPECT_TRUE(result.status.ok()) << result.err;
  }
}

TEST(CpuFeatures, TheHostHasWhatItsTargetSays) {
  auto target = Must(HostTarget());
  std::vector<HoneNetFeature> features;
  for (const std::string& name : target.features) {
    if (const HoneNetFeature* f = FindCpuFeature(target, name)) features.push_back(*f);
  }
  HoneNetTable table{};
  table.features = features.data();
  table.feature_count = features.size();
  EXPECT_TRUE(hone_net_cpu_fits(&table));
  // A leaf that no CPU has, and a reserved bit (leaf 7, ecx bit 15).
  features.push_back({0x7ffffff0u, 0, 0, 0, 0});
  table.features = features.data();
  table.feature_count = features.size();
  EXPECT_FALSE(hone_net_cpu_fits(&table));
}

TEST(CpuFeatures, AnotherArchitectureIsBuiltForOrNamesThePackage) {
  const std::string other = Architecture(Must(HostTriple())) == "x86_64" ? "aarch64" : "x86_64";
  const Target target{.triple = other + "-unknown-linux-gnu"};
  const auto runtime = CpuLibraries().Runtime(target);
  if (runtime.ok()) {
    EXPECT_THAT(std::string(*runtime), HasSubstr("HONE_NET_create"));
  } else {
    EXPECT_THAT(runtime.status().message(), HasSubstr("install the packages gcc-"));
  }
  EXPECT_EQ(FindCpuFeature(target, other == "aarch64" ? "avx2" : "dotprod"), nullptr);
  EXPECT_NE(FindCpuFeature(target, other == "aarch64" ? "dotprod" : "avx2"), nullptr);
}

}  // namespace
}  // namespace hone::library

// A stub for the tables of a real library: the runtime object is linked into this test for its CPU check, and for the
// parameter files of damaged_params_test.cc.
extern "C" const HoneNetTable hone_net_table = {.info = {.network = "net"}};
