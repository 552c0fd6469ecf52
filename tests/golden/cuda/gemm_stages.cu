__device__ __forceinline__ void hone_copy_async_16(float* to, const float* from, bool inside) { asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"((unsigned int)__cvta_generic_to_shared(to)), "l"(from), "r"(inside ? 16 : 0) : "memory"); }
__device__ __forceinline__ void hone_copy_async_4(float* to, const float* from, bool inside) { asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" :: "r"((unsigned int)__cvta_generic_to_shared(to)), "l"(from), "r"(inside ? 4 : 0) : "memory"); }

extern "C" __global__ void __launch_bounds__(32, 1)
kernel(const float* __restrict__ data, const float* __restrict__ weight_packed, float* __restrict__ out) {
  __shared__ __align__(16) float weight_shared[192];
  __shared__ __align__(16) float windows_shared[384];
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
    hone_copy_async_16(weight_shared + threadIdx_y * 32 + threadIdx_x * 4, weight_packed + blockIdx_y * 8 + threadIdx_y * 64 + (threadIdx_x >> 1) * 16 + (threadIdx_x & 1) * 4, true);
  }
  #pragma unroll
  for (int fetch_turn = 0; fetch_turn < 4; ++fetch_turn) {
    hone_copy_async_4(windows_shared + threadIdx_y * 8 + threadIdx_x + fetch_turn * 32, data + blockIdx_x * 16 + (threadIdx_y & 1) * 8 + threadIdx_x + ((threadIdx_y >> 1) + fetch_turn * 2) / 3 * 6 + ((threadIdx_y >> 1) + fetch_turn * 2) % 3 - 7, blockIdx_x * 16 + (threadIdx_y & 1) * 8 + threadIdx_x < 36 && (0 < blockIdx_x * 2 + (threadIdx_y & 1) + (blockIdx_x * 4 + (threadIdx_y & 1) * 2 + threadIdx_x) / 6 + ((threadIdx_y >> 1) + fetch_turn * 2) / 3 && blockIdx_x * 2 + (threadIdx_y & 1) + (blockIdx_x * 4 + (threadIdx_y & 1) * 2 + threadIdx_x) / 6 + ((threadIdx_y >> 1) + fetch_turn * 2) / 3 < 7 && 0 < (blockIdx_x * 4 + (threadIdx_y & 1) * 2 + threadIdx_x) % 6 + ((threadIdx_y >> 1) + fetch_turn * 2) % 3 && (blockIdx_x * 4 + (threadIdx_y & 1) * 2 + threadIdx_x) % 6 + ((threadIdx_y >> 1) + fetch_turn * 2) % 3 < 7));
  }
  asm volatile("cp.async.commit_group;" ::: "memory");
  if (threadIdx_y < 2) {
    hone_copy_async_16(weight_shared + threadIdx_y * 32 + threadIdx_x * 4 + 64, weight_packed + blockIdx_y * 8 + threadIdx_y * 64 + (threadIdx_x >> 1) * 16 + (threadIdx_x & 1) * 4 + 128, true);
  }
  #pragma unroll
  for (int fetch_turn_1 = 0; fetch_turn_1 < 4; ++fetch_turn_1) {
    hone_copy_async_4(windows_shared + threadIdx_y * 8 + threadIdx_x + fetch_turn_1 * 32 + 128, data + blockIdx_x * 16 + (threadIdx_y & 1) * 8 + threadIdx_x + ((threadIdx_y >> 1) + fetch_turn_1 * 2 + 8) / 9 * 36 + (((threadIdx_y >> 1) + fetch_turn_1 * 2 + 2) / 3 + 2) % 3 * 6 + ((threadIdx_y >> 1) + fetch_turn_1 * 2 + 2) % 3 - 7, blockIdx_x * 16 + (threadIdx_y & 1) * 8 + threadIdx_x < 36 && (0 < blockIdx_x * 2 + (threadIdx_y & 1) + (blockIdx_x * 4 + (threadIdx_y & 1) * 2 + threadIdx_x) / 6 + (((threadIdx_y >> 1) + fetch_turn_1 * 2 + 2) / 3 + 2) % 3 && blockIdx_x * 2 + (threadIdx_y & 1) + (blockIdx_x * 4 + (threadIdx_y & 1) * 2 + threadIdx_x) / 6 + (((threadIdx_y >> 1) + fetch_turn_1 * 2 + 2) / 3 + 2) % 3 < 7 && 0 < (blockIdx_x * 4 + (threadIdx_y & 1) * 2 + threadIdx_x) % 6 + ((threadIdx_y >> 1) + fetch_turn_1 * 2 + 2) % 3 && (blockIdx_x * 4 + (threadIdx_y & 1) * 2 + threadIdx_x) % 6 + ((threadIdx_y >> 1) + fetch_turn_1 * 2 + 2) % 3 < 7));
  }
  asm volatile("cp.async.commit_group;" ::: "memory");
  #pragma unroll 1
  for (int k_o = 0; k_o < 9; ++k_o) {
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    if (k_o < 7) {
      if (threadIdx_y < 2) {
        hone_copy_async_16(weight_shared + threadIdx_y * 32 + threadIdx_x * 4 + (k_o + 2) % 3 * 64, weight_packed + blockIdx_y * 8 + threadIdx_y * 64 + (threadIdx_x >> 1) * 16 + (threadIdx_x & 1) * 4 + k_o * 128 + 256, true);
      }
      #pragma unroll
      for (int fetch_turn_2 = 0; fetch_turn_2 < 4; ++fetch_turn_2) {
        hone_copy_async_4(windows_shared + threadIdx_y * 8 + threadIdx_x + (k_o + 2) % 3 * 128 + fetch_turn_2 * 32, data + blockIdx_x * 16 + (threadIdx_y & 1) * 8 + threadIdx_x + ((threadIdx_y >> 1) + k_o * 8 + fetch_turn_2 * 2 + 7) / 9 * 36 + (k_o * 2 + ((threadIdx_y >> 1) + k_o * 2 + fetch_turn_2 * 2 + 1) / 3 + 2) % 3 * 6 + ((threadIdx_y >> 1) + k_o * 2 + fetch_turn_2 * 2 + 1) % 3 + 29, blockIdx_x * 16 + (threadIdx_y & 1) * 8 + threadIdx_x < 36 && (0 < blockIdx_x * 2 + (threadIdx_y & 1) + (blockIdx_x * 4 + (threadIdx_y & 1) * 2 + threadIdx_x) / 6 + (k_o * 2 + ((threadIdx_y >> 1) + k_o * 2 + fetch_turn_2 * 2 + 1) / 3 + 2) % 3 && blockIdx_x * 2 + (threadIdx_y & 1) + (blockIdx_x * 4 + (threadIdx_y & 1) * 2 + threadIdx_x) / 6 + (k_o * 2 + ((threadIdx_y >> 1) + k_o * 2 + fetch_turn_2 * 2 + 1) / 3 + 2) % 3 < 7 && 0 < (blockIdx_x * 4 + (threadIdx_y & 1) * 2 + threadIdx_x) % 6 + ((threadIdx_y >> 1) + k_o * 2 + fetch_turn_2 * 2 + 1) % 3 && (blockIdx_x * 4 + (threadIdx_y & 1) * 2 + threadIdx_x) % 6 + ((threadIdx_y >> 1) + k_o * 2 + fetch_turn_2 * 2 + 1) % 3 < 7));
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    #pragma unroll 2
    for (int k_i = 0; k_i < 8; ++k_i) {
      #pragma unroll
      for (int f_1 = 0; f_1 < 2; ++f_1) {
        sums[f_1] = sums[f_1] + windows_shared[threadIdx_x + k_o % 3 * 128 + k_i * 16] * weight_shared[threadIdx_y * 2 + k_o % 3 * 64 + k_i * 8 + f_1];
        sums[f_1 + 2] = sums[f_1 + 2] + windows_shared[threadIdx_x + k_o % 3 * 128 + k_i * 16 + 8] * weight_shared[threadIdx_y * 2 + k_o % 3 * 64 + k_i * 8 + f_1];
      }
    }
  }
  if (blockIdx_x * 16 + threadIdx_x < 36) {
    out[blockIdx_y * 288 + blockIdx_x * 16 + threadIdx_y * 72 + threadIdx_x] = sums[0];
    out[blockIdx_y * 288 + blockIdx_x * 16 + threadIdx_y * 72 + threadIdx_x + 36] = sums[1];
  }
  if (blockIdx_x * 16 + threadIdx_x < 28) {
    out[blockIdx_y * 288 + blockIdx_x * 16 + threadIdx_y * 72 + threadIdx_x + 8] = sums[2];
    out[blockIdx_y * 288 + blockIdx_x * 16 + threadIdx_y * 72 + threadIdx_x + 44] = sums[3];
  }
}
