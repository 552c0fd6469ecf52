// The levels of the x86-64 psABI, https://gitlab.com/x86-psABIs/x86-64-ABI, section 3.1.1: CPU names whose features are
// known without a table of products.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace hone {

// The features of "x86-64", "x86-64-v2", "-v3" or "-v4" beyond the baseline (SSE2) that code generation uses, sorted,
// as LLVM names them. Nothing for another name.
std::optional<std::vector<std::string>> X86LevelFeatures(const std::string& cpu);

// The highest level that these features, in any order, fully include.
std::string X86Level(const std::vector<std::string>& features);

// Removes the features of AVX-512 if "avx512vl" is not among them, as on Knights Landing: for such a CPU, LLVM lacks
// some instructions and ends the process ("Cannot select"). Keeps AVX2 and the order.
std::vector<std::string> WithoutPartialAvx512(std::vector<std::string> features);

// The features that a target file may name: those that a built library can check before it runs.
const std::vector<std::string>& X86Features();

}  // namespace hone
