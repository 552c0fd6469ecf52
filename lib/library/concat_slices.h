// Concatenations that need no copying: their parts are slices of the whole, and whoever computes a part writes it where
// it belongs.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "graph/graph.h"
#include "target/target.h"

namespace hone::library {

struct Slice {
  std::string whole;   // a concatenation, which may be a slice of another one itself
  int64_t offset = 0;  // bytes from its begin
};

struct ConcatSlices {
  std::map<std::string, Slice> parts;     // by tensor
  std::map<std::string, int64_t> wholes;  // the concatenations that vanish: bytes of each

  // Where a tensor lies: in the outermost whole. A tensor that is no part lies in itself.
  Slice Find(const std::string& tensor) const;
};

// A concatenation of channels vanishes if each of its parts lies in one piece in the result: one image
// (doc/internals/graph.md, Memory, has why not several), parts that fill whole blocks of channels (but for the last
// one) or, where it is stored plainly, whole lines of 64 bytes (Backend::slice_alignment: on a device its own); and
// if each part is computed by a node, for this concatenation alone and there once. It stays if it, or a part, belongs
// to the caller: an input or output of the network.
// REQUIRES: canonical workloads.
ConcatSlices FindConcatSlices(const graph::Graph& graph, const Target& target);

}  // namespace hone::library
