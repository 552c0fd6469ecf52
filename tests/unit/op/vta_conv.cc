#include "unit/op/vta_conv.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "base/check.h"

namespace hone::op {
namespace {

// A loop around the block, and what an iteration adds to each index.
struct Loop {
  int64_t extent, dst, src, wgt;
};

uint32_t U(int64_t value) { return static_cast<uint32_t>(value); }

class Builder {
 public:
  Builder(const PackedConv& conv, const PackedTile& tile, const std::vector<VtaAluStage>& stages,
          const VtaConvAddresses& at)
      : c_(conv), t_(tile), stages_(stages), at_(at), threads_(tile.Threads()) {
    inp_ = t_.in_blocks * t_.InHeight(c_) * t_.InWidth(c_);
    wgt_ = t_.out_blocks * t_.in_blocks * c_.kernel * c_.kernel;
    acc_ = t_.out_blocks * t_.height * t_.width;
    loaded_.resize(threads_ * (2 + stages.size()), -1);
  }

  VtaConvProgram Build() {
    for (int64_t v = 0; v < threads_; ++v) Store({.push_prev = 1});
    for (int64_t h = 0; h < c_.OutHeight() / t_.height / t_.row_threads; ++h) {
      for (int64_t co = 0; co < c_.out_blocks / t_.out_blocks / t_.channel_threads; ++co) {
        for (int64_t w = 0; w < c_.OutWidth() / t_.width; ++w) Group(h, co, w);
      }
    }
    for (int64_t v = 0; v < threads_; ++v) Wait({.pop_next = 1});
    // Synchronise: store and load, then compute.
    Store({.push_prev = 1});
    Emit({.opcode = HONE_VTA_LOAD, .push_next = 1, .memory = HONE_VTA_INP});
    Wait({.pop_prev = 1, .pop_next = 1});
    Emit({.opcode = HONE_VTA_FINISH});
    return std::move(made_);
  }

 private:
  void Emit(const HoneVtaInstruction& instruction) { made_.instructions.push_back(instruction); }
  void Wait(HoneVtaInstruction tokens) {
    tokens.opcode = HONE_VTA_LOAD, tokens.memory = HONE_VTA_UOP;
    Emit(tokens);
  }
  void Store(HoneVtaInstruction store) {
    store.opcode = HONE_VTA_STORE, store.memory = HONE_VTA_OUT;
    Emit(store);
  }

  // A tile for each virtual thread.
  void Group(int64_t h, int64_t co, int64_t w) {
    const auto row = [&](int64_t v) { return (h * t_.row_threads + v / t_.channel_threads) * t_.height; };
    const auto channel = [&](int64_t v) { return (co * t_.channel_threads + v % t_.channel_threads) * t_.out_blocks; };
    for (int64_t v = 0; v < threads_; ++v) Reset(v);
    for (int64_t k = 0; k < c_.in_blocks; k += t_.in_blocks) {
      for (int64_t v = 0; v < threads_; ++v) LoadInputs(v, k, row(v), w * t_.width), LoadWeights(v, channel(v), k);
      for (int64_t v = 0; v < threads_; ++v) Multiply(v);
    }
    for (int64_t v = 0; v < threads_; ++v) Emit({.opcode = HONE_VTA_LOAD, .pop_next = 1, .memory = HONE_VTA_INP});
    for (size_t stage = 0; stage < stages_.size(); ++stage) {
      for (int64_t v = 0; v < threads_; ++v) Alu(v, stage);
    }
    for (int64_t v = 0; v < threads_; ++v) StoreResults(v, channel(v), row(v), w * t_.width);
  }

  // The list of micro-operations number `kernel` of a thread, loaded before its first use; sets begin and end.
  void UseList(int64_t v, size_t kernel, const std::vector<HoneVtaUop>& list, HoneVtaInstruction* user) {
    int64_t& begin = loaded_[v * (2 + stages_.size()) + kernel];
    if (begin < 0) {
      begin = static_cast<int64_t>(made_.uops.size());
      made_.uops.insert(made_.uops.end(), list.begin(), list.end());
      const HoneVtaConfig config = hone_vta_default_config();
      const uint32_t most = hone_vta_entries(&config, HONE_VTA_UOP);
      if (made_.uops.size() > most) {
        throw std::length_error(fmt::format("more than {} micro-operations: this builder never replaces a list", most));
      }
      Emit({.opcode = HONE_VTA_LOAD,
            .memory = HONE_VTA_UOP,
            .sram_base = U(begin),
            .dram_base = U(at_.uops + begin),
            .y_size = 1,
            .x_size = U(list.size()),
            .x_stride = U(list.size())});
    }
    user->uop_begin = U(begin), user->uop_end = U(begin + list.size());
  }

  // All results of a tile lie one after another.
  void Reset(int64_t v) {
    HoneVtaInstruction reset{.opcode = HONE_VTA_GEMM,
                             .pop_next = 1,
                             .push_prev = 1,
                             .reset = 1,
                             .iter_out = U(acc_),
                             .iter_in = 1,
                             .dst_out = 1};
    UseList(v, 0, {{U(v * acc_), 0, 0}}, &reset);
    Emit(reset);
  }
  void Alu(int64_t v, size_t stage) {
    HoneVtaInstruction alu{.opcode = HONE_VTA_ALU,
                           .push_next = stage + 1 == stages_.size(),
                           .iter_out = 1,
                           .iter_in = U(acc_),
                           .dst_in = 1,
                           .src_in = 1,
                           .alu_opcode = stages_[stage].opcode,
                           .use_imm = 1,
                           .imm = stages_[stage].imm};
    UseList(v, 2 + stage, {{U(v * acc_), U(v * acc_), 0}}, &alu);
    Emit(alu);
  }

  void Multiply(int64_t v) {
    const int64_t ih = t_.InHeight(c_), iw = t_.InWidth(c_), k = c_.kernel, s = c_.stride;
    std::vector<Loop> loops;
    for (const Loop& loop :
         {Loop{t_.in_blocks, 0, ih * iw, k * k}, Loop{t_.width, 1, s, 0}, Loop{k, 0, 1, 1}, Loop{k, 0, iw, k},
          Loop{t_.out_blocks, t_.height * t_.width, 0, t_.in_blocks * k * k}, Loop{t_.height, t_.width, s * iw, 0}}) {
      if (loop.extent > 1) loops.push_back(loop);
    }
    const Loop once{1, 0, 0, 0};
    const Loop out = loops.empty() ? once : loops[0], in = loops.size() < 2 ? once : loops[1];
    std::vector<HoneVtaUop> list = {{U(v * acc_), U(v * inp_), U(v * wgt_)}};
    for (size_t l = 2; l < loops.size(); ++l) {  // each loop inside the ones before
      std::vector<HoneVtaUop> longer;
      for (const HoneVtaUop& uop : list) {
        for (int64_t i = 0; i < loops[l].extent; ++i) {
          longer.push_back(
              {U(uop.dst + i * loops[l].dst), U(uop.src + i * loops[l].src), U(uop.wgt + i * loops[l].wgt)});
        }
      }
      list = std::move(longer);
    }
    HoneVtaInstruction gemm{.opcode = HONE_VTA_GEMM,
                            .pop_prev = 1,
                            .push_prev = 1,
                            .iter_out = U(out.extent),
                            .iter_in = U(in.extent),
                            .dst_out = U(out.dst),
                            .dst_in = U(in.dst),
                            .src_out = U(out.src),
                            .src_in = U(in.src),
                            .wgt_out = U(out.wgt),
                            .wgt_in = U(in.wgt)};
    UseList(v, 1, list, &gemm);
    Emit(gemm);
  }

  void LoadInputs(int64_t v, int64_t block, int64_t row, int64_t column) {
    const int64_t top = row * c_.stride - c_.padding, left = column * c_.stride - c_.padding;
    const int64_t bottom = top + t_.InHeight(c_), right = left + t_.InWidth(c_);
    const int64_t y0 = std::max<int64_t>(top, 0), x0 = std::max<int64_t>(left, 0);
    const int64_t y1 = std::min(bottom, c_.height), x1 = std::min(right, c_.width);
    HoneVtaInstruction load{.opcode = HONE_VTA_LOAD,
                            .pop_next = 1,
                            .memory = HONE_VTA_INP,
                            .sram_base = U(v * inp_),
                            .dram_base = U(at_.data + (block * c_.height + y0) * c_.width + x0)};
    if (c_.padding > 0) {
      load.y_size = U(y1 - y0), load.x_size = U(x1 - x0), load.x_stride = U(y1 - y0 > 1 ? c_.width : x1 - x0);
      load.y_pad_0 = U(y0 - top), load.y_pad_1 = U(bottom - y1), load.x_pad_0 = U(x0 - left),
      load.x_pad_1 = U(right - x1);
    } else {
      SetRows(MergeRows({t_.in_blocks, y1 - y0, x1 - x0}, {c_.in_blocks, c_.height, c_.width}), &load);
    }
    Emit(load);
  }

  void LoadWeights(int64_t v, int64_t channel, int64_t block) {
    const int64_t window = c_.kernel * c_.kernel;
    HoneVtaInstruction load{.opcode = HONE_VTA_LOAD,
                            .push_next = 1,
                            .memory = HONE_VTA_WGT,
                            .sram_base = U(v * wgt_),
                            .dram_base = U(at_.weights + (channel * c_.in_blocks + block) * window)};
    SetRows(MergeRows({t_.out_blocks, t_.in_blocks, window}, {c_.out_blocks, c_.in_blocks, window}), &load);
    Emit(load);
  }

  void StoreResults(int64_t v, int64_t channel, int64_t row, int64_t column) {
    const int64_t oh = c_.OutHeight(), ow = c_.OutWidth();
    HoneVtaInstruction store{.pop_prev = 1,
                             .push_prev = 1,
                             .sram_base = U(v * acc_),
                             .dram_base = U(at_.out + (channel * oh + row) * ow + column)};
    SetRows(MergeRows({t_.out_blocks, t_.height, t_.width}, {c_.out_blocks, oh, ow}), &store);
    Store(store);
  }

  static void SetRows(const std::optional<TransferRows>& rows, HoneVtaInstruction* transfer) {
    HONE_CHECK(rows.has_value());
    transfer->y_size = U(rows->rows), transfer->x_size = U(rows->columns), transfer->x_stride = U(rows->stride);
  }

  const PackedConv c_;
  const PackedTile t_;
  const std::vector<VtaAluStage> stages_;
  const VtaConvAddresses at_;
  const int64_t threads_;
  int64_t inp_, wgt_, acc_;  // entries of a thread
  std::vector<int64_t> loaded_;
  VtaConvProgram made_;
};

}  // namespace

VtaConvProgram MakeVtaConv(const PackedConv& conv, const PackedTile& tile, const std::vector<VtaAluStage>& stages,
                           const VtaConvAddresses& at) {
  return Builder(conv, tile, stages, at).Build();
}

VtaConvData RandomVtaData(const PackedConv& c) {
  VtaConvData made{std::vector<int8_t>(16 * c.in_blocks * c.height * c.width),
                   std::vector<int8_t>(256 * c.out_blocks * c.in_blocks * c.kernel * c.kernel)};
  uint32_t random = 7;
  for (auto* values : {&made.data, &made.weights}) {
    for (int8_t& value : *values) value = static_cast<int8_t>((random = random * 1664525 + 1013904223) >> 24);
  }
  return made;
}

int8_t ExpectedOutput(const PackedConv& c, const VtaConvData& d, int64_t channel, int64_t y, int64_t x) {
  int64_t sum = 0;
  for (int64_t ci = 0; ci < 16 * c.in_blocks; ++ci) {
    for (int64_t kh = 0; kh < c.kernel; ++kh) {
      for (int64_t kw = 0; kw < c.kernel; ++kw) {
        const int64_t row = y * c.stride + kh - c.padding, column = x * c.stride + kw - c.padding;
        if (row < 0 || row >= c.height || column < 0 || column >= c.width) continue;
        const int64_t block = channel / 16 * c.in_blocks + ci / 16;
        sum += d.data[((ci / 16 * c.height + row) * c.width + column) * 16 + ci % 16] *
               d.weights[(((block * c.kernel + kh) * c.kernel + kw) * 16 + channel % 16) * 16 + ci % 16];
      }
    }
  }
  return static_cast<int8_t>(std::clamp<int64_t>(sum >> 8, 0, 127));
}

std::vector<int8_t> ExpectedOutputs(const PackedConv& c, const VtaConvData& d) {
  std::vector<int8_t> all;
  for (int64_t block = 0; block < c.out_blocks; ++block) {
    for (int64_t y = 0; y < c.OutHeight(); ++y) {
      for (int64_t x = 0; x < c.OutWidth(); ++x) {
        for (int64_t lane = 0; lane < 16; ++lane) all.push_back(ExpectedOutput(c, d, block * 16 + lane, y, x));
      }
    }
  }
  return all;
}

std::vector<HoneVtaCounters> TimeVtaConv(const PackedConv& conv, const PackedTile& tile,
                                         const std::vector<VtaAluStage>& stages,
                                         const std::vector<HoneVtaTiming>& timings) {
  const HoneVtaConfig config = hone_vta_default_config();
  const VtaConvProgram program = MakeVtaConv(conv, tile, stages);
  const size_t count = program.instructions.size();
  std::vector<unsigned char> bytes(count * HONE_VTA_INSTRUCTION_BYTES);
  for (size_t i = 0; i < count; ++i) {
    HONE_CHECK(!hone_vta_encode(&config, &program.instructions[i], &bytes[i * HONE_VTA_INSTRUCTION_BYTES]));
  }
  HoneVtaStream stream;
  char message[512];
  HONE_CHECK(hone_vta_read_stream(&config, bytes.data(), U(count), &stream, message, sizeof message) == 0);
  std::vector<HoneVtaCounters> found;
  for (const HoneVtaTiming& timing : timings) {
    HoneVtaCounters& counters = found.emplace_back(HoneVtaCounters{});
    hone_vta_count(&config, &stream, &counters);
    HONE_CHECK(hone_vta_time(&config, &timing, &stream, &counters, message, sizeof message) == 0);
  }
  hone_vta_release_stream(&stream);
  return found;
}

}  // namespace hone::op
