__device__ __forceinline__ float hone_max_f32(float a, float b) { return a > b ? a : b; }

extern "C" __global__ void __launch_bounds__(128, 1)
kernel(const float* __restrict__ data, float* __restrict__ out) {
  const int blockIdx_x = blockIdx.x;
  const int threadIdx_x = threadIdx.x;
  if (blockIdx_x * 128 + threadIdx_x < 210) {
    out[blockIdx_x * 128 + threadIdx_x] = hone_max_f32(0.0f, data[blockIdx_x * 128 + threadIdx_x]);
  }
}
