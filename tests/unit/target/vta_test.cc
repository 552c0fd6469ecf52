// VTA's configuration, instructions and micro-operations. The bit positions are those of VTA's hw_spec.h.
#include "common/expect.h"
#include "common/vta_designs.h"
#include "target/vta/config_file.h"
#include "target/vta/instruction.h"

namespace hone::vta {
namespace {

constexpr const char* kPynq = R"({"TARGET": "pynq", "HW_VER": "0.0.2", "LOG_INP_WIDTH": 3, "LOG_WGT_WIDTH": 3,
  "LOG_ACC_WIDTH": 5, "LOG_BATCH": 0, "LOG_BLOCK": 4, "LOG_UOP_BUFF_SIZE": 15, "LOG_INP_BUFF_SIZE": 15,
  "LOG_WGT_BUFF_SIZE": 18, "LOG_ACC_BUFF_SIZE": 17})";

// kPynq with the number of one key replaced.
std::string With(const std::string& key, int value) {
  std::string text = kPynq;
  const size_t begin = text.find(":", text.find(key)) + 2;
  return text.replace(begin, text.find_first_of(",}", begin) - begin, std::to_string(value));
}

TEST(VtaConfig, ReadsTheSampleAndKnowsItsSizes) {
  const ConfigFile file = Must(ParseConfigFile(kPynq, "c.json"));
  EXPECT_EQ(file.Model(), "pynq_1x16_i8w8a32_15_15_18_17");
  EXPECT_EQ(file.config.extensions, 0);
  struct Size {
    int memory;
    uint32_t bytes, elements, entries;
    int bits;
  };
  for (const Size& size : {Size{HONE_VTA_INP, 16, 16, 2048, 11}, Size{HONE_VTA_WGT, 256, 256, 1024, 10},
                           Size{HONE_VTA_ACC, 64, 16, 2048, 11}, Size{HONE_VTA_OUT, 16, 16, 2048, 11},
                           Size{HONE_VTA_UOP, 4, 1, 8192, 13}, Size{HONE_VTA_ACC_8BIT, 16, 16, 2048, 11}}) {
    SCOPED_TRACE(hone_vta_memory_name(size.memory));
    EXPECT_EQ(hone_vta_entry_bytes(&file.config, size.memory), size.bytes);
    EXPECT_EQ(hone_vta_entry_elements(&file.config, size.memory), size.elements);
    EXPECT_EQ(hone_vta_entries(&file.config, size.memory), size.entries);
    EXPECT_EQ(hone_vta_index_bits(&file.config, size.memory), size.bits);
  }
  const ConfigFile again = Must(ParseConfigFile(ConfigFileText(file), "again"));
  EXPECT_EQ(ConfigFileText(again), ConfigFileText(file));
  EXPECT_EQ(again.Model(), file.Model());
}

TEST(VtaConfig, RefusesDesignsThatCannotBe) {
  const std::pair<std::string, const char*> cases[] = {
      {With("LOG_INP_WIDTH", 2), "c.json: /LOG_INP_WIDTH: must be 3 (int8), is 2"},
      {With("LOG_ACC_WIDTH", 4), "c.json: /LOG_ACC_WIDTH: must be 5 (int32), is 4"},
      {With("LOG_BATCH", -1), "c.json: /LOG_BATCH: must be from 0 to 12, is -1"},
      {With("LOG_BLOCK", 7), "c.json: /LOG_BLOCK: an entry of WGT has 16384 bytes, more than a page of 4096"},
      {With("LOG_BATCH", 7), "c.json: /LOG_BATCH: an entry of ACC has 8192 bytes, more than a page of 4096"},
      {With("LOG_WGT_BUFF_SIZE", 7),
       "c.json: /LOG_WGT_BUFF_SIZE: 2^7 bytes cannot hold an entry of WGT, which has 256 bytes"},
      {With("LOG_INP_BUFF_SIZE", -5),
       "c.json: /LOG_INP_BUFF_SIZE: 2^-5 bytes cannot hold an entry of INP, which has 16 bytes"},
      {With("LOG_UOP_BUFF_SIZE", 1),
       "c.json: /LOG_UOP_BUFF_SIZE: 2^1 bytes cannot hold an entry of UOP, which has 4 bytes"},
      {With("LOG_UOP_BUFF_SIZE", 16),
       "c.json: /LOG_UOP_BUFF_SIZE: 16, but instructions can address only 2^13 micro-operations"},
      {With("LOG_ACC_BUFF_SIZE", 2000000000), "c.json: /LOG_ACC_BUFF_SIZE: 2^1999999994 entries, more than 2^16"},
      {With("LOG_WGT_BUFF_SIZE", 19),
       "c.json: /LOG_WGT_BUFF_SIZE: indices of ACC, INP and WGT have 11 + 11 + 11 bits, more than the 32 of a "
       "micro-operation: make the memories smaller or the block larger"},
      {With("LOG_BLOCK", 3),
       "c.json: /LOG_WGT_BUFF_SIZE: indices of ACC, INP and WGT have 12 + 12 + 12 bits, more than the 32 of a "
       "micro-operation: make the memories smaller or the block larger"},
      {With("LOG_BATCH", 13), "c.json: /LOG_BATCH: must be from 0 to 12, is 13"},
      {R"({"TARGET": "pinq"})", "c.json: /TARGET: unknown design `pinq`; did you mean `pynq`?"},
      {R"({"TARGET": "pynq"})", "c.json: /LOG_INP_WIDTH: missing"},
      {std::string(kPynq).insert(1, R"("LOG_BLOCKS": 4, )"),
       "c.json: /: unknown key `LOG_BLOCKS`; did you mean `LOG_BLOCK`?"},
      {"[1]", "c.json: /: expected an object, found a list"},
  };
  for (const auto& [text, message] : cases) {
    const auto read = ParseConfigFile(text, "c.json");
    EXPECT_EQ(read.status().message(), message);
  }
  HoneVtaConfig alu = hone_vta_default_config();  // a larger ACC with fewer weights: 12 + 11 + 9
  alu.log_acc_buff_size = 18, alu.log_wgt_buff_size = 17;
  char message[256];
  EXPECT_STREQ(hone_vta_config_problem(&alu, message, sizeof message),
               "LOG_ACC_BUFF_SIZE: indices of ACC and INP have 12 + 11 bits, more than the 22 of an ALU instruction");
}

uint32_t* FieldOf(HoneVtaInstruction* instruction, const HoneVtaField& field) {
  return reinterpret_cast<uint32_t*>(reinterpret_cast<char*>(instruction) + field.offset);
}

TEST(VtaInstruction, EveryFieldKeepsItsLargestValue) {
  for (const HoneVtaConfig& config : VtaDesigns()) {
    char message[256];
    ASSERT_EQ(hone_vta_config_problem(&config, message, sizeof message), nullptr) << message;
    for (uint32_t opcode = 0; opcode <= HONE_VTA_ALU; ++opcode) {
      HoneVtaField fields[HONE_VTA_MOST_FIELDS];
      const int count = hone_vta_fields(&config, opcode, fields);
      ASSERT_GT(count, 0);
      uint64_t used[2] = {0, 0};
      for (int f = 0; f < count; ++f) {
        SCOPED_TRACE(testing::Message() << "opcode " << opcode << " " << fields[f].name);
        // No field overlaps another or crosses the middle.
        EXPECT_LE(fields[f].bit % 64 + fields[f].width, 64);
        const uint64_t bits = ((uint64_t{1} << fields[f].width) - 1) << fields[f].bit % 64;
        EXPECT_EQ(used[fields[f].bit / 64] & bits, 0u);
        used[fields[f].bit / 64] |= bits;
        if (f == 0) continue;  // the opcode itself
        HoneVtaInstruction instruction{.opcode = opcode};
        const bool imm = std::string(fields[f].name) == "imm";
        uint32_t* value = FieldOf(&instruction, fields[f]);
        *value = imm ? 32767 : static_cast<uint32_t>((uint64_t{1} << fields[f].width) - 1);
        unsigned char bytes[16];
        ASSERT_EQ(hone_vta_encode(&config, &instruction, bytes), nullptr);
        uint64_t words[2];
        std::memcpy(words, bytes, sizeof words);
        EXPECT_EQ(words[fields[f].bit / 64] & bits, imm ? bits >> 1 & bits : bits);
        HoneVtaInstruction decoded;
        ASSERT_EQ(hone_vta_decode(&config, bytes, &decoded), 1);
        EXPECT_EQ(std::memcmp(&decoded, &instruction, sizeof decoded), 0);
        if (fields[f].width == 32) continue;
        *value += 1;
        EXPECT_STREQ(hone_vta_encode(&config, &instruction, bytes), fields[f].name);
      }
    }
  }
}

TEST(VtaInstruction, BitsAreThoseOfTheDefaultDesign) {
  const HoneVtaConfig config = hone_vta_default_config();
  const auto places = [&](uint32_t opcode) {
    HoneVtaField fields[HONE_VTA_MOST_FIELDS];
    const int count = hone_vta_fields(&config, opcode, fields);
    std::map<std::string, std::pair<int, int>> map;  // first and last bit
    for (int f = 0; f < count; ++f) map[fields[f].name] = {fields[f].bit, fields[f].bit + fields[f].width - 1};
    return map;
  };
  using Places = std::map<std::string, std::pair<int, int>>;
  const Places common = {
      {"opcode", {0, 2}}, {"pop_prev", {3, 3}}, {"pop_next", {4, 4}}, {"push_prev", {5, 5}}, {"push_next", {6, 6}}};
  EXPECT_EQ(places(HONE_VTA_FINISH), common);
  Places load = common;
  load.insert({{"memory", {7, 9}}, {"sram_base", {10, 25}}, {"dram_base", {26, 57}}, {"y_size", {64, 79}}});
  load.insert({{"x_size", {80, 95}}, {"x_stride", {96, 111}}, {"y_pad_0", {112, 115}}, {"y_pad_1", {116, 119}}});
  load.insert({{"x_pad_0", {120, 123}}, {"x_pad_1", {124, 127}}});
  EXPECT_EQ(places(HONE_VTA_LOAD), load);
  EXPECT_EQ(places(HONE_VTA_STORE), load);
  Places nest = common;
  nest.insert({{"reset", {7, 7}}, {"uop_begin", {8, 20}}, {"uop_end", {21, 34}}, {"iter_out", {35, 48}}});
  nest.insert({{"iter_in", {49, 62}}, {"dst_out", {64, 74}}, {"dst_in", {75, 85}}, {"src_out", {86, 96}}});
  nest.insert({{"src_in", {97, 107}}});
  Places gemm = nest, alu = nest;
  gemm.insert({{"wgt_out", {108, 117}}, {"wgt_in", {118, 127}}});
  alu.insert({{"alu_opcode", {108, 110}}, {"use_imm", {111, 111}}, {"imm", {112, 127}}});
  EXPECT_EQ(places(HONE_VTA_GEMM), gemm);
  EXPECT_EQ(places(HONE_VTA_ALU), alu);
  EXPECT_TRUE(places(5).empty());
}

TEST(VtaInstruction, SignedImmediatesAndUnknownOpcodes) {
  const HoneVtaConfig config = hone_vta_default_config();
  unsigned char bytes[16];
  HoneVtaInstruction decoded;
  for (int imm : {-32768, -1, 0, 127, 32767}) {
    const HoneVtaInstruction alu{.opcode = HONE_VTA_ALU, .alu_opcode = HONE_VTA_MAX, .use_imm = 1, .imm = imm};
    ASSERT_EQ(hone_vta_encode(&config, &alu, bytes), nullptr);
    ASSERT_EQ(hone_vta_decode(&config, bytes, &decoded), 1);
    EXPECT_EQ(decoded.imm, imm);
    EXPECT_EQ(static_cast<int16_t>(bytes[14] | bytes[15] << 8), imm);
  }
  const HoneVtaInstruction low{.opcode = HONE_VTA_ALU, .imm = -32769};
  EXPECT_STREQ(hone_vta_encode(&config, &low, bytes), "imm");
  const HoneVtaInstruction unknown{.opcode = 5};
  EXPECT_STREQ(hone_vta_encode(&config, &unknown, bytes), "opcode");
  std::memset(bytes, 0xff, sizeof bytes);
  EXPECT_EQ(hone_vta_decode(&config, bytes, &decoded), 0);
  EXPECT_EQ(decoded.opcode, 7u);
}

TEST(VtaInstruction, MicroOperations) {
  for (const HoneVtaConfig& config : VtaDesigns()) {
    const HoneVtaUop most{hone_vta_entries(&config, HONE_VTA_ACC) - 1, hone_vta_entries(&config, HONE_VTA_INP) - 1,
                          hone_vta_entries(&config, HONE_VTA_WGT) - 1};
    for (int index = 0; index < 3; ++index) {
      HoneVtaUop uop{}, over{};
      (index == 0   ? uop.dst
       : index == 1 ? uop.src
                    : uop.wgt) = index == 0   ? most.dst
                                 : index == 1 ? most.src
                                              : most.wgt;
      over = uop;
      (index == 0 ? over.dst : index == 1 ? over.src : over.wgt) += 1;
      uint32_t word = 0;
      ASSERT_EQ(hone_vta_encode_uop(&config, &uop, &word), nullptr);
      const HoneVtaUop decoded = hone_vta_decode_uop(&config, word);
      EXPECT_EQ(std::memcmp(&decoded, &uop, sizeof uop), 0);
      const char* const names[] = {"dst", "src", "wgt"};
      EXPECT_STREQ(hone_vta_encode_uop(&config, &over, &word), names[index]);
    }
  }
  const HoneVtaConfig config = hone_vta_default_config();
  const HoneVtaUop uop{1, 2, 3};
  uint32_t word = 0;
  ASSERT_EQ(hone_vta_encode_uop(&config, &uop, &word), nullptr);
  EXPECT_EQ(word, 1u | 2u << 11 | 3u << 22);
}

TEST(VtaInstruction, Disassembles) {
  const HoneVtaConfig config = hone_vta_default_config();
  const auto text = [&](const HoneVtaInstruction& instruction, int size = 512) {
    std::string line(size, '\0');
    hone_vta_disassemble(&config, &instruction, line.data(), size);
    return std::string(line.c_str());
  };
  EXPECT_EQ(text({.opcode = HONE_VTA_LOAD,
                  .pop_next = 1,
                  .memory = HONE_VTA_INP,
                  .sram_base = 4,
                  .dram_base = 4294967295u,
                  .y_size = 2,
                  .x_size = 3,
                  .x_stride = 56}),
            "LOAD INP pop_next sram_base=4 dram_base=4294967295 y_size=2 x_size=3 x_stride=56");
  EXPECT_EQ(text({.opcode = HONE_VTA_GEMM, .push_prev = 1, .reset = 1, .uop_end = 1, .iter_out = 7, .iter_in = 2}),
            "GEMM reset push_prev uop_end=1 iter_out=7 iter_in=2");
  EXPECT_EQ(text({.opcode = HONE_VTA_ALU, .alu_opcode = HONE_VTA_SHR, .use_imm = 1, .imm = -3}),
            "ALU SHR use_imm imm=-3");
  EXPECT_EQ(text({.opcode = HONE_VTA_LOAD, .memory = 7}), "LOAD ? memory=7");
  EXPECT_EQ(text({.opcode = HONE_VTA_ALU, .reset = 1, .alu_opcode = 5}), "ALU ? reset alu_opcode=5");
  EXPECT_EQ(text({.opcode = HONE_VTA_FINISH}), "FINISH");
  EXPECT_EQ(text({.opcode = 6}), "unknown opcode 6");
  EXPECT_EQ(text({.opcode = HONE_VTA_STORE, .memory = 4, .y_size = 100}, 16), "STORE memory=4 ");
}

TEST(VtaInstruction, DisassemblesUnknownOpcodesIntoShortBuffers) {
  const HoneVtaConfig config = hone_vta_default_config();
  const std::string whole = "unknown opcode 6";
  const HoneVtaInstruction unknown{.opcode = 6};
  for (int size : {1, 8, 14, 15, 16, 17}) {
    std::string buffer(64, '#');
    hone_vta_disassemble(&config, &unknown, buffer.data(), size);
    EXPECT_EQ(buffer.c_str(), whole.substr(0, size - 1));
    EXPECT_EQ(buffer.substr(size), std::string(64 - size, '#')) << size;
  }
}

}  // namespace
}  // namespace hone::vta
