__device__ __forceinline__ float hone_max_f32(float a, float b) { return a > b ? a : b; }

extern "C" __global__ void __launch_bounds__(50, 1)
kernel(const float* __restrict__ data, float* __restrict__ out) {
  const int threadIdx_x = threadIdx.x;
  float acc[1];
  acc[0] = -__int_as_float(0x7f800000);
  for (int kh = 0; kh < 3; ++kh) {
    for (int kw = 0; kw < 3; ++kw) {
      if (0 < threadIdx_x / 5 % 5 * 2 + kh && threadIdx_x / 5 % 5 * 2 + kh < 10 && (0 < threadIdx_x % 5 * 2 + kw && threadIdx_x % 5 * 2 + kw < 10)) {
        acc[0] = data[threadIdx_x / 25 * 81 + threadIdx_x / 5 % 5 * 18 + threadIdx_x % 5 * 2 + kh * 9 + kw - 10] != data[threadIdx_x / 25 * 81 + threadIdx_x / 5 % 5 * 18 + threadIdx_x % 5 * 2 + kh * 9 + kw - 10] ? data[threadIdx_x / 25 * 81 + threadIdx_x / 5 % 5 * 18 + threadIdx_x % 5 * 2 + kh * 9 + kw - 10] : hone_max_f32(data[threadIdx_x / 25 * 81 + threadIdx_x / 5 % 5 * 18 + threadIdx_x % 5 * 2 + kh * 9 + kw - 10], acc[0]);
      }
    }
  }
  out[threadIdx_x] = acc[0];
}
