__device__ __forceinline__ float hone_max_f32(float a, float b) { return a > b ? a : b; }

extern "C" __global__ void __launch_bounds__(32, 1)
kernel(const float* __restrict__ data, const float* __restrict__ weight_packed, const float* __restrict__ bias, float* __restrict__ out) {
  __shared__ __align__(16) float weight_shared[128];
  __shared__ __align__(16) float windows_shared[256];
  const int blockIdx_x = blockIdx.x;
  const int blockIdx_y = blockIdx.y;
  const int threadIdx_x = threadIdx.x;
  const int threadIdx_y = threadIdx.y;
  float sums[4];
  #pragma unroll
  for (int f = 0; f < 2; ++f) {
    sums[f] = 0.0f;
    sums[f + 2] = 0.0f;
  }
  if (threadIdx_y < 2) {
    const float4 weight_packed_v = *(const float4*)(weight_packed + blockIdx_y * 8 + threadIdx_y * 64 + (threadIdx_x >> 1) * 16 + (threadIdx_x & 1) * 4);
    *(float4*)(weight_shared + threadIdx_y * 32 + threadIdx_x * 4) = make_float4(weight_packed_v.x, weight_packed_v.y, weight_packed_v.z, weight_packed_v.w);
  }
  #pragma unroll
  for (int fetch_turn = 0; fetch_turn < 4; ++fetch_turn) {
    windows_shared[threadIdx_y * 8 + threadIdx_x + fetch_turn * 32] = blockIdx_x * 16 + (threadIdx_y & 1) * 8 + threadIdx_x < 36 ? ((0 < blockIdx_x * 2 + (threadIdx_y & 1) + (blockIdx_x * 4 + (threadIdx_y & 1) * 2 + threadIdx_x) / 6 + ((threadIdx_y >> 1) + fetch_turn * 2) / 3 && blockIdx_x * 2 + (threadIdx_y & 1) + (blockIdx_x * 4 + (threadIdx_y & 1) * 2 + threadIdx_x) / 6 + ((threadIdx_y >> 1) + fetch_turn * 2) / 3 < 7 && 0 < (blockIdx_x * 4 + (threadIdx_y & 1) * 2 + threadIdx_x) % 6 + ((threadIdx_y >> 1) + fetch_turn * 2) % 3 && (blockIdx_x * 4 + (threadIdx_y & 1) * 2 + threadIdx_x) % 6 + ((threadIdx_y >> 1) + fetch_turn * 2) % 3 < 7) ? data[blockIdx_x * 16 + (threadIdx_y & 1) * 8 + threadIdx_x + ((threadIdx_y >> 1) + fetch_turn * 2) / 3 * 6 + ((threadIdx_y >> 1) + fetch_turn * 2) % 3 - 7] : 0.0f) : 0.0f;
  }
  #pragma unroll 1
  for (int k_o = 0; k_o < 9; ++k_o) {
    __syncthreads();
    float windows_shared_next[4];
    float weight_shared_next[4];
    if (k_o < 8) {
      if (threadIdx_y < 2) {
        const float4 weight_packed_v_1 = *(const float4*)(weight_packed + blockIdx_y * 8 + threadIdx_y * 64 + (threadIdx_x >> 1) * 16 + (threadIdx_x & 1) * 4 + k_o * 128 + 128);
        weight_shared_next[0] = weight_packed_v_1.x;
        weight_shared_next[1] = weight_packed_v_1.y;
        weight_shared_next[2] = weight_packed_v_1.z;
        weight_shared_next[3] = weight_packed_v_1.w;
      }
      windows_shared_next[0] = blockIdx_x * 16 + (threadIdx_y & 1) * 8 + threadIdx_x < 36 ? ((0 < blockIdx_x * 2 + (threadIdx_y & 1) + (blockIdx_x * 4 + (threadIdx_y & 1) * 2 + threadIdx_x) / 6 + (k_o * 2 + ((threadIdx_y >> 1) + k_o * 2 + 2) / 3 + 2) % 3 && blockIdx_x * 2 + (threadIdx_y & 1) + (blockIdx_x * 4 + (threadIdx_y & 1) * 2 + threadIdx_x) / 6 + (k_o * 2 + ((threadIdx_y >> 1) + k_o * 2 + 2) / 3 + 2) % 3 < 7 && 0 < (blockIdx_x * 4 + (threadIdx_y & 1) * 2 + threadIdx_x) % 6 + ((threadIdx_y >> 1) + k_o * 2 + 2) % 3 && (blockIdx_x * 4 + (threadIdx_y & 1) * 2 + threadIdx_x) % 6 + ((threadIdx_y >> 1) + k_o * 2 + 2) % 3 < 7) ? data[blockIdx_x * 16 + (threadIdx_y & 1) * 8 + threadIdx_x + ((threadIdx_y >> 1) + k_o * 8 + 8) / 9 * 36 + (k_o * 2 + ((threadIdx_y >> 1) + k_o * 2 + 2) / 3 + 2) % 3 * 6 + ((threadIdx_y >> 1) + k_o * 2 + 2) % 3 - 7] : 0.0f) : 0.0f;
      windows_shared_next[1] = blockIdx_x * 16 + (threadIdx_y & 1) * 8 + threadIdx_x < 36 ? ((0 < blockIdx_x * 2 + (threadIdx_y & 1) + (blockIdx_x * 4 + (threadIdx_y & 1) * 2 + threadIdx_x) / 6 + (k_o * 2 + ((threadIdx_y >> 1) + k_o * 2 + 1) / 3) % 3 && blockIdx_x * 2 + (threadIdx_y & 1) + (blockIdx_x * 4 + (threadIdx_y & 1) * 2 + threadIdx_x) / 6 + (k_o * 2 + ((threadIdx_y >> 1) + k_o * 2 + 1) / 3) % 3 < 7 && 0 < (blockIdx_x * 4 + (threadIdx_y & 1) * 2 + threadIdx_x) % 6 + ((threadIdx_y >> 1) + k_o * 2 + 1) % 3 && (blockIdx_x * 4 + (threadIdx_y & 1) * 2 + threadIdx_x) % 6 + ((threadIdx_y >> 1) + k_o * 2 + 1) % 3 < 7) ? data[blockIdx_x * 16 + (threadIdx_y & 1) * 8 + threadIdx_x + ((threadIdx_y >> 1) + k_o * 8 + 1) / 9 * 36 + (k_o * 2 + ((threadIdx_y >> 1) + k_o * 2 + 1) / 3) % 3 * 6 + ((threadIdx_y >> 1) + k_o * 2 + 1) % 3 + 29] : 0.0f) : 0.0f;
      windows_shared_next[2] = blockIdx_x * 16 + (threadIdx_y & 1) * 8 + threadIdx_x < 36 ? ((0 < blockIdx_x * 2 + (threadIdx_y & 1) + (blockIdx_x * 4 + (threadIdx_y & 1) * 2 + threadIdx_x) / 6 + (k_o * 2 + ((threadIdx_y >> 1) + k_o * 2) / 3 + 1) % 3 && blockIdx_x * 2 + (threadIdx_y & 1) + (blockIdx_x * 4 + (threadIdx_y & 1) * 2 + threadIdx_x) / 6 + (k_o * 2 + ((threadIdx_y >> 1) + k_o * 2) / 3 + 1) % 3 < 7 && 0 < (blockIdx_x * 4 + (threadIdx_y & 1) * 2 + threadIdx_x) % 6 + ((threadIdx_y >> 1) + k_o * 2) % 3 && (blockIdx_x * 4 + (threadIdx_y & 1) * 2 + threadIdx_x) % 6 + ((threadIdx_y >> 1) + k_o * 2) % 3 < 7) ? data[blockIdx_x * 16 + (threadIdx_y & 1) * 8 + threadIdx_x + ((threadIdx_y >> 1) + k_o * 8 + 3) / 9 * 36 + (k_o * 2 + ((threadIdx_y >> 1) + k_o * 2) / 3 + 1) % 3 * 6 + ((threadIdx_y >> 1) + k_o * 2) % 3 + 29] : 0.0f) : 0.0f;
      windows_shared_next[3] = blockIdx_x * 16 + (threadIdx_y & 1) * 8 + threadIdx_x < 36 ? ((0 < blockIdx_x * 2 + (threadIdx_y & 1) + (blockIdx_x * 4 + (threadIdx_y & 1) * 2 + threadIdx_x) / 6 + (k_o * 2 + ((threadIdx_y >> 1) + k_o * 2 + 2) / 3 + 1) % 3 && blockIdx_x * 2 + (threadIdx_y & 1) + (blockIdx_x * 4 + (threadIdx_y & 1) * 2 + threadIdx_x) / 6 + (k_o * 2 + ((threadIdx_y >> 1) + k_o * 2 + 2) / 3 + 1) % 3 < 7 && 0 < (blockIdx_x * 4 + (threadIdx_y & 1) * 2 + threadIdx_x) % 6 + ((threadIdx_y >> 1) + k_o * 2 + 2) % 3 && (blockIdx_x * 4 + (threadIdx_y & 1) * 2 + threadIdx_x) % 6 + ((threadIdx_y >> 1) + k_o * 2 + 2) % 3 < 7) ? data[blockIdx_x * 16 + (threadIdx_y & 1) * 8 + threadIdx_x + ((threadIdx_y >> 1) + k_o * 8 + 5) / 9 * 36 + (k_o * 2 + ((threadIdx_y >> 1) + k_o * 2 + 2) / 3 + 1) % 3 * 6 + ((threadIdx_y >> 1) + k_o * 2 + 2) % 3 + 29] : 0.0f) : 0.0f;
    }
    #pragma unroll 2
    for (int k_i = 0; k_i < 8; ++k_i) {
      #pragma unroll
      for (int f_1 = 0; f_1 < 2; ++f_1) {
        sums[f_1] = sums[f_1] + windows_shared[threadIdx_x + (k_o & 1) * 128 + k_i * 16] * weight_shared[threadIdx_y * 2 + (k_o & 1) * 64 + k_i * 8 + f_1];
        sums[f_1 + 2] = sums[f_1 + 2] + windows_shared[threadIdx_x + (k_o & 1) * 128 + k_i * 16 + 8] * weight_shared[threadIdx_y * 2 + (k_o & 1) * 64 + k_i * 8 + f_1];
      }
    }
    if (k_o < 8) {
      if (threadIdx_y < 2) {
        *(float4*)(weight_shared + threadIdx_y * 32 + threadIdx_x * 4 + ((k_o + 1) & 1) * 64) = make_float4(weight_shared_next[0], weight_shared_next[1], weight_shared_next[2], weight_shared_next[3]);
      }
      windows_shared[threadIdx_y * 8 + threadIdx_x + ((k_o + 1) & 1) * 128] = windows_shared_next[0];
      windows_shared[threadIdx_y * 8 + threadIdx_x + ((k_o + 1) & 1) * 128 + 32] = windows_shared_next[1];
      windows_shared[threadIdx_y * 8 + threadIdx_x + ((k_o + 1) & 1) * 128 + 64] = windows_shared_next[2];
      windows_shared[threadIdx_y * 8 + threadIdx_x + ((k_o + 1) & 1) * 128 + 96] = windows_shared_next[3];
    }
  }
  if (blockIdx_x * 16 + threadIdx_x < 36) {
    out[blockIdx_y * 288 + blockIdx_x * 16 + threadIdx_y * 72 + threadIdx_x] = hone_max_f32(0.0f, sums[0] + bias[blockIdx_y * 8 + threadIdx_y * 2]);
    out[blockIdx_y * 288 + blockIdx_x * 16 + threadIdx_y * 72 + threadIdx_x + 36] = hone_max_f32(0.0f, sums[1] + bias[blockIdx_y * 8 + threadIdx_y * 2 + 1]);
  }
  if (blockIdx_x * 16 + threadIdx_x < 28) {
    out[blockIdx_y * 288 + blockIdx_x * 16 + threadIdx_y * 72 + threadIdx_x + 8] = hone_max_f32(0.0f, sums[2] + bias[blockIdx_y * 8 + threadIdx_y * 2]);
    out[blockIdx_y * 288 + blockIdx_x * 16 + threadIdx_y * 72 + threadIdx_x + 44] = hone_max_f32(0.0f, sums[3] + bias[blockIdx_y * 8 + threadIdx_y * 2 + 1]);
  }
}
