// options.verify rejects a parameter file with any changed byte, padding included, or with an unreadable part.
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "library/params_file.h"
#include "library/runtime/params_format.h"
#include "small_network.h"

// The runtime in this program calls this one: it can fail to read a file's pages.
static int populate_error = 0;
extern "C" int madvise(void* memory, size_t size, int advice) noexcept {
  constexpr int kPopulateRead = 22;
  if (advice != kPopulateRead || populate_error == 0)
    return static_cast<int>(syscall(SYS_madvise, memory, size, advice));
  errno = populate_error;
  return -1;
}

namespace hone::library {
namespace {

// Positions that no kernel reads: the end of the network's name in the header, and the zeros behind the entries and
// behind each blob.
std::vector<uint64_t> Padding(const std::string& file) {
  HoneParamsHeader header;
  std::memcpy(&header, file.data(), sizeof(header));
  std::vector<uint64_t> at;
  const auto add = [&](uint64_t begin, uint64_t end) {
    for (; begin < end; ++begin) at.push_back(begin);
  };
  const auto rounded = [](uint64_t x) {
    return (x + HONE_PARAMS_ALIGNMENT - 1) / HONE_PARAMS_ALIGNMENT * HONE_PARAMS_ALIGNMENT;
  };
  add(offsetof(HoneParamsHeader, network) + strlen(header.network), sizeof(header));
  const uint64_t end = sizeof(header) + header.count * sizeof(HoneParamsEntry);
  add(end, rounded(end));
  for (uint32_t i = 0; i < header.count; ++i) {
    HoneParamsEntry entry;
    std::memcpy(&entry, file.data() + sizeof(header) + i * sizeof(entry), sizeof(entry));
    add(entry.offset + entry.bytes, rounded(entry.offset + entry.bytes));
  }
  return at;
}

// Each kind of damage as one that it does at random to a file of more than 4 KiB.
using Damage = void (*)(Rng* rng, std::string* file);
const std::pair<const char*, Damage> kDamages[] = {
    {"a bit is flipped",
     [](Rng* rng, std::string* file) {
       (*file)[rng->UniformInt(file->size())] ^= static_cast<char>(1 << rng->UniformInt(8));
     }},
    {"a bit of the padding is flipped",
     [](Rng* rng, std::string* file) {
       const std::vector<uint64_t> padding = Padding(*file);
       (*file)[padding[rng->UniformInt(padding.size())]] ^= static_cast<char>(1 << rng->UniformInt(8));
     }},
    {"bytes are overwritten",
     [](Rng* rng, std::string* file) {
       const uint64_t count = 1 + rng->UniformInt(100), at = rng->UniformInt(file->size() - count);
       for (uint64_t i = 0; i < count; ++i) (*file)[at + i] = static_cast<char>(rng->Next());
     }},
    {"a sector is zero",
     [](Rng* rng, std::string* file) {
       const size_t at = rng->UniformInt(file->size() / 512) * 512;
       std::fill_n(file->begin() + static_cast<ptrdiff_t>(at), 512, '\0');
     }},
    {"two blocks are swapped",
     [](Rng* rng, std::string* file) {
       const uint64_t blocks = file->size() / HONE_PARAMS_ALIGNMENT, count = 1 + rng->UniformInt(8);
       const uint64_t a = rng->UniformInt(blocks - 2 * count), b = a + count + rng->UniformInt(blocks - a - 2 * count);
       char* const first = file->data() + a * HONE_PARAMS_ALIGNMENT;
       std::swap_ranges(first, first + count * HONE_PARAMS_ALIGNMENT, file->data() + b * HONE_PARAMS_ALIGNMENT);
     }},
    {"the end is missing", [](Rng* rng, std::string* file) { file->resize(rng->UniformInt(file->size())); }},
    {"the end is zero",
     [](Rng* rng, std::string* file) {
       const size_t size = file->size();
       file->resize(rng->UniformInt(size));
       file->resize(size, '\0');
     }},
    {"a byte is inserted",
     [](Rng* rng, std::string* file) {
       file->insert(rng->UniformInt(file->size()), 1, static_cast<char>(rng->Next()));
       if (rng->UniformInt(2) == 0) file->pop_back();
     }},
};

class DamagedParams : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    dir_.emplace(Must(TempDir::Create()));
    BuildInput input = HostInput(SmallNetwork(1), "small");
    input.graph.name = std::string(60, 'n');  // the file has room for 47 bytes
    Must(WriteLibrary(Must(BuildLibrary(std::move(input))), dir_->path()));
    net_.emplace(Must(LoadedNetwork::Load(dir_->Join("libsmall.so"), "small")));
    good_ = Must(ReadFile(dir_->Join("small.params")));
  }
  static void TearDownTestSuite() {
    net_.reset();
    dir_.reset();
  }
  void SetUp() override { ASSERT_TRUE(net_.has_value()); }

  static int CodeWith(HoneNetOptions options, bool verify) {
    options.threads = 1;
    options.verify = verify;
    HoneNet* instance = nullptr;
    const int code = net_->create(&options, &instance);
    net_->destroy(instance);
    return code;
  }
  // The code of create for a file with these bytes, and for the same bytes in memory, which must be equal.
  static int Code(const std::string& bytes, bool verify) {
    const std::string path = dir_->Join("other.params");
    Must(WriteFileAtomic(path, bytes));
    const int code = CodeWith({.params_path = path.c_str()}, verify);
    EXPECT_EQ(CodeWith({.params_data = bytes.data(), .params_size = bytes.size()}, verify), code);
    return code;
  }

  static inline std::optional<TempDir> dir_;
  static inline std::optional<LoadedNetwork> net_;
  static inline std::string good_;
};

TEST_F(DamagedParams, VerifyRejectsEveryDamagedFile) {
  ASSERT_GT(good_.size(), 4096u);
  EXPECT_EQ(Code(good_, true), HONE_NET_OK);
  std::map<std::string, int> accepted;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    Rng rng(seed);
    const auto& [name, damage] = kDamages[seed % std::size(kDamages)];
    SCOPED_TRACE(name + (", seed " + std::to_string(seed)));
    std::string bytes = good_;
    while (bytes == good_) damage(&rng, &bytes);
    const int code = Code(bytes, true);
    EXPECT_GE(code, HONE_NET_E_PARAMS_FORMAT);
    EXPECT_LE(code, HONE_NET_E_PARAMS_OTHER);
    if (Code(bytes, false) == HONE_NET_OK) ++accepted[name];
  }
  EXPECT_GT(accepted["a bit is flipped"], 0) << "without verify: otherwise the test shows nothing";
  EXPECT_EQ(accepted["a bit of the padding is flipped"], 50);
  EXPECT_GT(accepted["two blocks are swapped"], 0);
  EXPECT_EQ(accepted["the end is missing"], 0);
}

TEST_F(DamagedParams, EveryByteOfPaddingCounts) {
  const std::vector<uint64_t> padding = Padding(good_);
  ASSERT_GT(padding.size(), 1u + 32);
  for (const uint64_t at : padding) {
    std::string bytes = good_;
    ASSERT_EQ(bytes[at], '\0') << at;
    bytes[at] = 1;
    ASSERT_EQ(CodeWith({.params_data = bytes.data(), .params_size = bytes.size()}, true), HONE_NET_E_PARAMS_DAMAGED)
        << at;
  }
}

TEST(VerifyParams, TheDigestIsTheWriters) {
  Rng rng(3);
  for (size_t size = 192; size < 5000; size += 64) {
    std::string bytes(size, '\0');
    for (char& c : bytes) c = static_cast<char>(rng.Next());
    const size_t first = rng.UniformInt(size / 64 + 1) * 64;
    const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
    const HoneNetBytes parts[2] = {{data, first}, {data + first, size - first}};
    Digest found;
    uint8_t digest[16];
    hone_net_digest(parts, digest);
    for (int i = 0; i < 8; ++i) {
      found.hi = found.hi << 8 | digest[i];
      found.lo = found.lo << 8 | digest[8 + i];
    }
    ASSERT_EQ(found, Digest128(bytes)) << size;
  }
}

// The code of the runtime in this program, whose table (parts_test.cc) names the network "net".
int Open(const ParamsFile& file, const std::string& bytes) {
  const HoneNetOptions options{.params_data = bytes.data(), .params_size = bytes.size(), .verify = 1};
  HoneNetParams params{};
  const int code =
      hone_net_params_open(reinterpret_cast<const uint8_t*>(file.digest.data()), file.bytes.size(), &options, &params);
  if (code == HONE_NET_OK) hone_net_params_close(&params);
  return code;
}

// Linux reports unreadable parts of a mapped file so (a bad sector, or a file that has shrunk meanwhile).
TEST(VerifyParams, AnUnreadablePartIsAnErrorAndNoSignal) {
  const TempDir dir = Must(TempDir::Create());
  const std::string path = dir.Join("net.params");
  const ParamsFile file = MakeParamsFile("net", {{.name = "a", .bytes = std::string(5000, 'x')}});
  Must(WriteFileAtomic(path, file.bytes));
  const auto code = [&](int verify) {
    const HoneNetOptions options{.params_path = path.c_str(), .verify = verify};
    HoneNetParams params{};
    const int opened = hone_net_params_open(reinterpret_cast<const uint8_t*>(file.digest.data()), file.bytes.size(),
                                            &options, &params);
    if (opened == HONE_NET_OK) hone_net_params_close(&params);
    return opened;
  };
  for (const int error : {EFAULT, EHWPOISON}) {
    populate_error = error;
    EXPECT_EQ(code(1), HONE_NET_E_PARAMS_DAMAGED) << error;
    EXPECT_EQ(code(0), HONE_NET_OK) << error;
  }
  for (const int error : {EINVAL, ENOSYS, ENOMEM, 0}) {  // the first two from older kernels
    populate_error = error;
    EXPECT_EQ(code(1), HONE_NET_OK) << error;
  }
}

TEST(VerifyParams, FewAndSmallBlobsAreVerified) {
  const std::vector<ConstantBlob> cases[] = {{},
                                             {{.name = "a", .bytes = "1234"}},
                                             {{.name = "a", .bytes = std::string(65, 'x')}},
                                             {{.name = "a", .bytes = "1"}, {.name = "b", .bytes = "2"}}};
  for (const std::vector<ConstantBlob>& blobs : cases) {
    SCOPED_TRACE(blobs.size());
    const ParamsFile file = MakeParamsFile("net", blobs);
    EXPECT_EQ(Open(file, file.bytes), HONE_NET_OK);
    for (size_t at = 0; at < file.bytes.size(); ++at) {
      std::string bytes = file.bytes;
      bytes[at] = static_cast<char>(bytes[at] ^ 4);
      ASSERT_NE(Open(file, bytes), HONE_NET_OK) << at;
    }
  }
  const ParamsFile other = MakeParamsFile("other", cases[1]);
  EXPECT_EQ(Open(other, other.bytes), HONE_NET_E_PARAMS_DAMAGED) << "the name is not the table's";
}

}  // namespace
}  // namespace hone::library
