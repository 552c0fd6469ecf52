// Concatenations without copying: the parts are slices of the whole, and the kernel that computes a part writes it
// directly into its place.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "graph/graph.h"
#include "target/target.h"

namespace hone::library {

struct Slice {
  std::string whole;   // a concatenation, which may itself be a slice of another one
  int64_t offset = 0;  // bytes from its start
};

struct ConcatSlices {
  std::map<std::string, Slice> parts;     // by tensor
  std::map<std::string, int64_t> wholes;  // size in bytes of each concatenation that becomes unnecessary

  // The place of a tensor in the outermost whole. A tensor that is not a part is its own whole.
  Slice Find(const std::string& tensor) const;
};

// A concatenation of channels becomes unnecessary if each part is contiguous in the result and a node computes it for
// this concatenation alone, where it occurs once. Contiguous means: one image (doc/internals/graph.md, Memory, explains
// why not several), and parts that fill whole blocks of channels (except the last part) or, if stored plainly, whole
// lines of 64 bytes (Backend::slice_alignment: devices have their own). The concatenation stays if it or a part is an
// input or output of the network, as these belong to the caller. REQUIRES: canonical workloads.
ConcatSlices FindConcatSlices(const graph::Graph& graph, const Target& target);

}  // namespace hone::library
