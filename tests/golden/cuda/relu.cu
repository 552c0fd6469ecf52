__device__ __forceinline__ float hone_max_f32(float a, float b) { return a > b ? a : b; }

extern "C" __global__ void __launch_bounds__(210, 1)
kernel(const float* __restrict__ data, float* __restrict__ out) {
  const int threadIdx_x = threadIdx.x;
  out[threadIdx_x] = hone_max_f32(0.0f, data[threadIdx_x]);
}
