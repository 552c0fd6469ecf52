// The members of chains as te stages, and the steps of their innermost loops, which do not depend on the chain.
//
// Stages of member i: "m<i>.acc" (a register tile, without the epilogue) and "m<i>" (with it; "out" for the last). All
// have the axes n co oh ow ci; a convolution reduces over c (all channels) kh kw, a window over kh kw. A convolution
// with padding reads a copy with zeros around it, "pad", once per chain. An average whose windows are not all alike has
// "columns", see pool_te.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "op/conv/conv2d_shape.h"
#include "op/epilogue.h"
#include "op/operator.h"
#include "te/tensor.h"

namespace hone::op {

struct ChainMember {
  std::string name;                   // of its last stage
  te::Tensor source;                  // its input
  te::Tensor raw, weight;             // for convolutions: the operand, and its form in whole blocks of channels
  int64_t block = 0;                  // consecutive input channels in the weight, the loop of a register tile
  te::Tensor pad, acc, columns, out;  // stages; pad and columns only if needed
  EpilogueTensors epilogue;
};

// The members of a chain in order, each as its workload says; the first one reads the argument "data". Only a first
// convolution may have a plain input, which is one block of all channels.
class ChainStages {
 public:
  ChainStages(const Workload& chain, const Target& target);

  const ChainMember& operator[](size_t i) const { return members_[i]; }
  Computation MakeComputation() const;
  // The steps that store the weights, then `steps`. A convolution's weights are stored as [tile][io][kh][kw][ic][ocv *
  // lanes], for register tiles of `ocv` vectors of output channels: one number per member, 1 for those without such
  // tiles.
  Candidate MakeCandidate(const std::vector<int64_t>& ocv, const std::vector<Step>& steps) const;

 private:
  void Convolution(const Conv2dShape& s);  // requires groups == 1
  void Depthwise(const Conv2dShape& s);    // requires groups == channels; a condition excludes positions outside
  void Pool();
  const Workload& Begin(const std::vector<int64_t>& data_shape);
  void Finally(const std::vector<int64_t>& stored, int64_t channels, const te::Tensor& acc);

  std::vector<Workload> parts_;
  int64_t lanes_;
  te::Tensor data_;
  std::vector<ChainMember> members_;
};

// The algorithm "direct" of all chains.
Result<Computation> ComputeChain(const Workload& chain, const Target& target, const Algorithm& algorithm);

// The steps of a convolution's register tile: the loop ow.o of its last stage runs over tiles; the loops inside it are
// ow.i and co.i (unrolled) and, last, ci (vectors). `unroll_ic` input channels are unrolled.
void AddConvTile(const ChainMember& member, int64_t unroll_ic, std::vector<Step>* steps);
// The same for windows of single channels, depthwise convolutions and pools, without co.i.
void AddWindowTile(const ChainMember& member, bool unroll_kw, std::vector<Step>* steps);
// All steps of a convolution before the last member, in tiles of `ocv` vectors of channels and `columns` pixels, whose
// result the loop `place` of "out" stores.
void AddStoredConv(const ChainMember& member, int64_t ocv, int64_t columns, int64_t unroll_ic, const std::string& place,
                   std::vector<Step>* steps);

}  // namespace hone::op
