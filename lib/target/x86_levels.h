// The levels of the x86-64 psABI, https://gitlab.com/x86-psABIs/x86-64-ABI, section 3.1.1: names of CPUs whose features
// are known without a table of products.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace hone {

// LLVM's names of what "x86-64", "x86-64-v2", "-v3" or "-v4" has beyond the baseline (SSE2), sorted; of what code
// generation makes use of. Nothing for another name.
std::optional<std::vector<std::string>> X86LevelFeatures(const std::string& cpu);

// The highest level that these features make up, in any order.
std::string X86Level(const std::vector<std::string>& features);

// Without the features of AVX-512 if "avx512vl" is not among them, as on Knights Landing: of such a CPU LLVM does not
// find all instructions, and ends the process ("Cannot select"). AVX2 is left. In the same order.
std::vector<std::string> WithoutPartialAvx512(std::vector<std::string> features);

// The features that a target file may name: those that a built library can look for before it runs.
const std::vector<std::string>& X86Features();

}  // namespace hone
