// Allocations and copies of a device, and the board's registers and polling, against memory of this test.
#include "common/vta_device.h"

#include "runtime/vta/board.h"

namespace hone::vta {
namespace {

TEST(VtaDevice, AllocatesWholePages) {
  SimulatedDevice device({.dram_bytes = 4 * 4096});
  EXPECT_EQ(hone_vta_allocate(device.get(), 5 * 4096), 0u);
  const uint64_t a = hone_vta_allocate(device.get(), 1), b = hone_vta_allocate(device.get(), 4097);
  const uint64_t c = hone_vta_allocate(device.get(), 0);
  EXPECT_EQ(a, 4096u);  // 0 is no address
  EXPECT_EQ(b, 2 * 4096u);
  EXPECT_EQ(c, 4 * 4096u);
  EXPECT_EQ(hone_vta_allocate(device.get(), 1), 0u);
  hone_vta_release(device.get(), b);
  EXPECT_EQ(hone_vta_allocate(device.get(), 8193), 0u);
  EXPECT_EQ(hone_vta_allocate(device.get(), 8192), b);
  hone_vta_release(device.get(), 0);
  hone_vta_release(device.get(), uint64_t{1} << 40);
  hone_vta_release(device.get(), a);
  EXPECT_EQ(hone_vta_allocate(device.get(), 4096), a);
}

TEST(VtaDevice, CopiesOnlyWithinAnAllocation) {
  SimulatedDevice device;
  const uint64_t a = device.Put(std::vector<int8_t>{1, 2, 3}), b = device.Put(std::vector<int8_t>{4});
  EXPECT_THAT(device.Get(a + 1, 2), ElementsAre(2, 3));
  int8_t bytes[8] = {};
  EXPECT_EQ(hone_vta_copy_out(device.get(), bytes, a + 3, 0), 0);
  for (const auto& [address, count] : std::vector<std::pair<uint64_t, uint64_t>>{
           {a + 1, 3}, {a + 4, 0}, {0, 1}, {a - 1, 1}, {b + 4096, 1}, {UINT64_MAX, 1}, {a, UINT64_MAX}}) {
    EXPECT_EQ(hone_vta_copy_out(device.get(), bytes, address, count), 1) << address;
    EXPECT_THAT(device.message(), HasSubstr("they are not in one allocation"));
    EXPECT_EQ(hone_vta_copy_in(device.get(), address, bytes, count), 1) << address;
  }
  hone_vta_release(device.get(), b);
  EXPECT_EQ(hone_vta_copy_out(device.get(), bytes, b, 1), 1);
}

TEST(VtaDevice, RefusesAConfigurationThatCannotBe) {
  HoneVtaConfig config = hone_vta_default_config();
  config.log_wgt_buff_size = 3;
  const HoneVtaSimulation options{};
  EXPECT_EQ(hone_vta_open_simulator(&config, &options), nullptr);
  hone_vta_close(nullptr);
}

// A board whose accelerator is this test: it looks at the registers when the host pauses.
class FakeBoard {
 public:
  FakeBoard() : memory_(4 * 4096) {}

  HoneVtaBoard Map() {
    return {.fetch = fetch_,
            .load = load_,
            .compute = compute_,
            .store = store_,
            .memory = memory_.data(),
            .physical = 0x10000000,
            .bytes = memory_.size(),
            .pause = Pause,
            .context = this,
            .polls = 5};
  }

  int pauses_ = 0, done_after_ = 3;
  std::vector<uint32_t> started_;  // the registers at the first pause
  std::vector<unsigned char> memory_;
  uint32_t fetch_[16] = {}, load_[16] = {}, compute_[16] = {}, store_[16] = {};

 private:
  static void Pause(void* context) {
    auto* board = static_cast<FakeBoard*>(context);
    if (board->pauses_++ == 0) {
      board->started_ = {board->fetch_[0],   board->load_[0],     board->compute_[0], board->store_[0],
                         board->fetch_[4],   board->fetch_[6],    board->load_[4],    board->load_[6],
                         board->compute_[8], board->compute_[10], board->store_[4],   board->compute_[4]};
      board->compute_[6] = 0;  // the first instruction clears it
    }
    if (board->pauses_ == board->done_after_) board->compute_[6] = 1;
  }
};

TEST(VtaBoard, StartsTheCoresAndPolls) {
  FakeBoard board;
  std::fill(std::begin(board.load_), std::end(board.load_), 99u);
  board.compute_[6] = 1, board.compute_[8] = board.compute_[10] = board.store_[4] = 99u;  // left by another program
  const HoneVtaConfig config = hone_vta_default_config();
  const HoneVtaBoard map = board.Map();
  HoneVtaDevice* device = hone_vta_open_board(&config, &map);
  ASSERT_NE(device, nullptr);
  const uint64_t stream = hone_vta_allocate(device, 48);
  EXPECT_EQ(stream, 0x10000000u);
  // Two rows of three weights; 5 x 7 products of two micro-operations.
  const HoneVtaInstruction load{
      .opcode = HONE_VTA_LOAD, .push_next = 1, .memory = HONE_VTA_WGT, .y_size = 2, .x_size = 3, .x_stride = 3};
  HoneVtaInstruction gemm{.opcode = HONE_VTA_GEMM, .pop_prev = 1, .uop_end = 2, .iter_out = 5, .iter_in = 7};
  const auto put = [&] {
    const std::vector<unsigned char> instructions = SimulatedDevice().Encode({load, gemm, Finish()});
    EXPECT_EQ(hone_vta_copy_in(device, stream, instructions.data(), 48), 0);
    EXPECT_TRUE(std::equal(instructions.begin(), instructions.end(), board.memory_.begin()));
  };
  put();
  EXPECT_EQ(hone_vta_run(device, stream, 3), 0);
  EXPECT_EQ(board.pauses_, 3);
  // fetch starts once, the others for each instruction; count and address; every base is 0; done is cleared.
  EXPECT_THAT(board.started_, ElementsAre(0x1, 0x81, 0x81, 0x81, 3, 0x10000000, 0, 0, 0, 0, 0, 0));
  EXPECT_EQ(hone_vta_counters(device)->instructions, 3u);
  EXPECT_EQ(hone_vta_counters(device)->load_bytes[HONE_VTA_WGT], 6u * 256);
  EXPECT_EQ(hone_vta_counters(device)->gemm, 70u);
  EXPECT_EQ(hone_vta_counters(device)->cycles, 0u);

  board.pauses_ = 0, board.done_after_ = 6;
  EXPECT_EQ(hone_vta_run(device, stream, 3), 1);
  EXPECT_EQ(board.pauses_, 5);
  EXPECT_STREQ(hone_vta_message(device),
               "the board has not finished 3 instructions after 5 polls: allow more polls, or reset it");
  EXPECT_EQ(hone_vta_run(device, stream, 4), 1);
  EXPECT_STREQ(hone_vta_message(device), "4 instructions at device address 0x10000000 are not in one allocation");

  // A stream that would never end is not started.
  board.pauses_ = 0;
  EXPECT_EQ(hone_vta_run(device, stream, 2), 1);
  EXPECT_STREQ(hone_vta_message(device),
               "a stream of 2 instructions does not end with FINISH: it may have been cut short");
  gemm.pop_prev = 0;
  put();
  EXPECT_EQ(hone_vta_run(device, stream, 3), 1);
  EXPECT_STREQ(hone_vta_message(device),
               "instruction 0 (LOAD WGT) of load: pushes a token to l2g that no instruction pops");
  gemm.pop_prev = gemm.pop_next = 1;
  put();
  EXPECT_EQ(hone_vta_run(device, stream, 3), 1);
  EXPECT_STREQ(hone_vta_message(device),
               "deadlock: instruction 1 (GEMM) of compute waits (pop_next) for a token in s2g, which no instruction "
               "pushes");
  EXPECT_EQ(board.pauses_, 0);
  EXPECT_EQ(hone_vta_counters(device)->instructions, 0u);
  hone_vta_close(device);
}

TEST(VtaBoard, RefusesMemoryThatItCannotAddress) {
  FakeBoard board;
  const HoneVtaConfig config = hone_vta_default_config();
  for (uint64_t physical : {uint64_t{0}, uint64_t{100}, uint64_t{0xffffe000}, uint64_t{1} << 40, UINT64_MAX - 4095}) {
    HoneVtaBoard map = board.Map();
    map.physical = physical;
    EXPECT_EQ(hone_vta_open_board(&config, &map), nullptr) << physical;
  }
}

}  // namespace
}  // namespace hone::vta
