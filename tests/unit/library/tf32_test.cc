// The error of a network with layers in TF32. The fake device's convolutions round their factors like tensor cores, and
// the outputs are within the tolerance; if, in addition, a product is left out of every sum, they are not.
#include "cuda_library.h"

namespace hone::library {
namespace {

// To 10 bits after the leading one, ties away from zero: PTX's cvt.rna.tf32.f32.
float Tf32(float value) {
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);  // in [0.5, 1)
  return static_cast<float>(std::ldexp(std::round(std::ldexp(mantissa, 11)), exponent - 11));
}

void Round(const std::string&, std::vector<float>* data, std::vector<float>* weights) {
  for (std::vector<float>* values : {data, weights}) {
    for (float& value : *values) value = Tf32(value);
  }
}

// In addition, sums of the second convolution use 16 x 9 instead of 17 x 9 products: an image's outer axis is its
// channels.
void RoundAndLeaveOut(const std::string& symbol, std::vector<float>* data, std::vector<float>* weights) {
  Round(symbol, data, weights);
  if (symbol.find("hone_k1_") == 0) std::fill_n(data->begin(), data->size() / 17, 0.0f);
}

class CudaTf32 : public CudaLibrary {
 protected:
  static void SetUpTestSuite() {
    fake_arithmetic.rounding = 1.0 / 256;  // as declared by templates for tensor cores
    CudaLibrary::SetUpTestSuite();
  }
  static void TearDownTestSuite() {
    CudaLibrary::TearDownTestSuite();
    fake_arithmetic = {};
  }

  // The error of the network with kernels that compute like this, and whether it is accepted.
  Status Verify(decltype(FakeArithmetic::change) change, double* error) {
    fake_arithmetic.change = change;
    HONE_ASSIGN_OR_RETURN(const LibraryFolder folder, CheckedLibrary(dir_->path()));
    std::vector<float> out;
    EXPECT_EQ(Run(Create(), 1, &out), HONE_NET_OK);
    return VerifyOutputs(folder.dir, folder.rounding, {out}, {Expected(SmallNetwork(1), 1)}, error);
  }
};

TEST_F(CudaTf32, RoundsAsTheDefinitionSays) {
  EXPECT_EQ(Tf32(1 + 0x1p-11f), 1 + 0x1p-10f);
  EXPECT_EQ(Tf32(-1 - 0x1p-11f), -1 - 0x1p-10f);
  EXPECT_EQ(Tf32(1 + 0x1p-12f), 1);
  EXPECT_EQ(Tf32(3), 3);
  EXPECT_EQ(Tf32(0), 0);
}

TEST_F(CudaTf32, TheLibrarySaysWhatItMayBeOff) {
  const auto folder = Must(CheckedLibrary(dir_->path()));
  // Three layers in TF32; the dense one is in f32.
  EXPECT_DOUBLE_EQ(folder.rounding, std::sqrt(3.0) / 256);
}

TEST_F(CudaTf32, RoundedFactorsAreAcceptedAndAProductLeftOutIsNot) {
  double plain = 0, rounded = 0, wrong = 0;
  EXPECT_TRUE(Verify(nullptr, &plain).ok());
  EXPECT_LT(plain, 1e-5);
  Must(Verify(Round, &rounded));
  EXPECT_GT(rounded, 10 * plain) << "nothing was rounded";
  EXPECT_EQ(Verify(RoundAndLeaveOut, &wrong).kind(), StatusKind::kCorrupt);
  EXPECT_GT(wrong, 10 * rounded);
}

}  // namespace
}  // namespace hone::library
