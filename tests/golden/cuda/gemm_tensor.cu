__device__ __forceinline__ float hone_max_f32(float a, float b) { return a > b ? a : b; }
__device__ __forceinline__ float hone_tf32(float value) { unsigned int rounded; asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(value)); return __uint_as_float(rounded); }
__device__ __forceinline__ void hone_copy_async_16(float* to, const float* from, bool inside) { asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" :: "r"((unsigned int)__cvta_generic_to_shared(to)), "l"(from), "r"(inside ? 16 : 0) : "memory"); }
__device__ __forceinline__ void hone_copy_async_4(float* to, const float* from, bool inside) { asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" :: "r"((unsigned int)__cvta_generic_to_shared(to)), "l"(from), "r"(inside ? 4 : 0) : "memory"); }
__device__ __forceinline__ void hone_mma_tf32(float& d0, float& d1, float& d2, float& d3, float a0, float a1, float a2, float a3, float b0, float b1, float c0, float c1, float c2, float c3) { asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13};" : "=f"(d0), "=f"(d1), "=f"(d2), "=f"(d3) : "r"(__float_as_uint(a0)), "r"(__float_as_uint(a1)), "r"(__float_as_uint(a2)), "r"(__float_as_uint(a3)), "r"(__float_as_uint(b0)), "r"(__float_as_uint(b1)), "f"(c0), "f"(c1), "f"(c2), "f"(c3)); }

extern "C" __global__ void __launch_bounds__(64, 1)
kernel(const float* __restrict__ data, const float* __restrict__ weight_packed, const float* __restrict__ bias, float* __restrict__ out) {
  __shared__ __align__(16) float weight_shared[1920];
  __shared__ __align__(16) float windows_shared[1920];
  const int blockIdx_x = blockIdx.x;
  const int threadIdx_x = threadIdx.x;
  const int threadIdx_y = threadIdx.y;
  const int threadIdx_z = threadIdx.z;
  float sums[4];
  #pragma unroll
  for (int p = 0; p < 2; ++p) {
    sums[p] = 0.0f;
    sums[p + 2] = 0.0f;
  }
  hone_copy_async_16(weight_shared + threadIdx_z * 320 + threadIdx_y * 40 + threadIdx_x * 4, weight_packed + threadIdx_z * 128 + threadIdx_y * 16 + threadIdx_x * 4, true);
  #pragma unroll
  for (int fetch_turn = 0; fetch_turn < 4; ++fetch_turn) {
    hone_copy_async_4(windows_shared + threadIdx_z * 80 + (threadIdx_y >> 2) * 40 + (threadIdx_y & 3) * 4 + threadIdx_x + fetch_turn * 160, data + blockIdx_x * 16 + (threadIdx_y & 3) * 4 + threadIdx_x + (threadIdx_z * 2 + (threadIdx_y >> 2) + fetch_turn * 4) / 9 * 36 + (fetch_turn + (threadIdx_z * 2 + (threadIdx_y >> 2) + fetch_turn) / 3) % 3 * 6 + (threadIdx_z * 2 + (threadIdx_y >> 2) + fetch_turn) % 3 - 7, blockIdx_x * 16 + (threadIdx_y & 3) * 4 + threadIdx_x < 36 && 0 < blockIdx_x * 2 + (blockIdx_x * 4 + (threadIdx_y & 3) * 4 + threadIdx_x) / 6 + (fetch_turn + (threadIdx_z * 2 + (threadIdx_y >> 2) + fetch_turn) / 3) % 3 && blockIdx_x * 2 + (blockIdx_x * 4 + (threadIdx_y & 3) * 4 + threadIdx_x) / 6 + (fetch_turn + (threadIdx_z * 2 + (threadIdx_y >> 2) + fetch_turn) / 3) % 3 < 7 && 0 < (blockIdx_x * 4 + (threadIdx_y & 3) * 4 + threadIdx_x) % 6 + (threadIdx_z * 2 + (threadIdx_y >> 2) + fetch_turn) % 3 && (blockIdx_x * 4 + (threadIdx_y & 3) * 4 + threadIdx_x) % 6 + (threadIdx_z * 2 + (threadIdx_y >> 2) + fetch_turn) % 3 < 7);
  }
  asm volatile("cp.async.commit_group;" ::: "memory");
  hone_copy_async_16(weight_shared + threadIdx_z * 320 + threadIdx_y * 40 + threadIdx_x * 4 + 640, weight_packed + threadIdx_z * 128 + threadIdx_y * 16 + threadIdx_x * 4 + 256, true);
  #pragma unroll
  for (int fetch_turn_1 = 0; fetch_turn_1 < 4; ++fetch_turn_1) {
    hone_copy_async_4(windows_shared + threadIdx_z * 80 + (threadIdx_y >> 2) * 40 + (threadIdx_y & 3) * 4 + threadIdx_x + fetch_turn_1 * 160 + 640, data + blockIdx_x * 16 + (threadIdx_y & 3) * 4 + threadIdx_x + (threadIdx_z * 2 + (threadIdx_y >> 2) + fetch_turn_1 * 4 + 7) / 9 * 36 + (fetch_turn_1 + (threadIdx_z * 2 + (threadIdx_y >> 2) + fetch_turn_1 + 1) / 3 + 2) % 3 * 6 + (threadIdx_z * 2 + (threadIdx_y >> 2) + fetch_turn_1 + 1) % 3 + 29, blockIdx_x * 16 + (threadIdx_y & 3) * 4 + threadIdx_x < 36 && 0 < blockIdx_x * 2 + (blockIdx_x * 4 + (threadIdx_y & 3) * 4 + threadIdx_x) / 6 + (fetch_turn_1 + (threadIdx_z * 2 + (threadIdx_y >> 2) + fetch_turn_1 + 1) / 3 + 2) % 3 && blockIdx_x * 2 + (blockIdx_x * 4 + (threadIdx_y & 3) * 4 + threadIdx_x) / 6 + (fetch_turn_1 + (threadIdx_z * 2 + (threadIdx_y >> 2) + fetch_turn_1 + 1) / 3 + 2) % 3 < 7 && 0 < (blockIdx_x * 4 + (threadIdx_y & 3) * 4 + threadIdx_x) % 6 + (threadIdx_z * 2 + (threadIdx_y >> 2) + fetch_turn_1 + 1) % 3 && (blockIdx_x * 4 + (threadIdx_y & 3) * 4 + threadIdx_x) % 6 + (threadIdx_z * 2 + (threadIdx_y >> 2) + fetch_turn_1 + 1) % 3 < 7);
  }
  asm volatile("cp.async.commit_group;" ::: "memory");
  #pragma unroll 1
  for (int k_o = 0; k_o < 5; ++k_o) {
    asm volatile("cp.async.wait_group 1;" ::: "memory");
    __syncthreads();
    if (k_o < 3) {
      hone_copy_async_16(weight_shared + threadIdx_z * 320 + threadIdx_y * 40 + threadIdx_x * 4 + (k_o + 2) % 3 * 640, weight_packed + threadIdx_z * 128 + threadIdx_y * 16 + threadIdx_x * 4 + k_o * 256 + 512, true);
      #pragma unroll
      for (int fetch_turn_2 = 0; fetch_turn_2 < 4; ++fetch_turn_2) {
        hone_copy_async_4(windows_shared + threadIdx_z * 80 + (threadIdx_y >> 2) * 40 + (threadIdx_y & 3) * 4 + threadIdx_x + (k_o + 2) % 3 * 640 + fetch_turn_2 * 160, data + blockIdx_x * 16 + (threadIdx_y & 3) * 4 + threadIdx_x + k_o * 36 + (threadIdx_z * 2 + (threadIdx_y >> 2) + k_o * 7 + fetch_turn_2 * 4 + 5) / 9 * 36 + (k_o * 2 + fetch_turn_2 + (threadIdx_z * 2 + (threadIdx_y >> 2) + k_o + fetch_turn_2 + 2) / 3 + 1) % 3 * 6 + (threadIdx_z * 2 + (threadIdx_y >> 2) + k_o + fetch_turn_2 + 2) % 3 + 101, threadIdx_z * 2 + (threadIdx_y >> 2) + k_o * 16 + fetch_turn_2 * 4 < 40 && blockIdx_x * 16 + (threadIdx_y & 3) * 4 + threadIdx_x < 36 && 0 < blockIdx_x * 2 + (blockIdx_x * 4 + (threadIdx_y & 3) * 4 + threadIdx_x) / 6 + (k_o * 2 + fetch_turn_2 + (threadIdx_z * 2 + (threadIdx_y >> 2) + k_o + fetch_turn_2 + 2) / 3 + 1) % 3 && blockIdx_x * 2 + (blockIdx_x * 4 + (threadIdx_y & 3) * 4 + threadIdx_x) / 6 + (k_o * 2 + fetch_turn_2 + (threadIdx_z * 2 + (threadIdx_y >> 2) + k_o + fetch_turn_2 + 2) / 3 + 1) % 3 < 7 && 0 < (blockIdx_x * 4 + (threadIdx_y & 3) * 4 + threadIdx_x) % 6 + (threadIdx_z * 2 + (threadIdx_y >> 2) + k_o + fetch_turn_2 + 2) % 3 && (blockIdx_x * 4 + (threadIdx_y & 3) * 4 + threadIdx_x) % 6 + (threadIdx_z * 2 + (threadIdx_y >> 2) + k_o + fetch_turn_2 + 2) % 3 < 7);
      }
    }
    asm volatile("cp.async.commit_group;" ::: "memory");
    #pragma unroll
    for (int k_i = 0; k_i < 2; ++k_i) {
      float a_fragments[4];
      float b_fragments[2];
      a_fragments[0] = weight_shared[threadIdx_y + threadIdx_x * 40 + k_o % 3 * 640 + k_i * 320];
      a_fragments[1] = weight_shared[threadIdx_y + threadIdx_x * 40 + k_o % 3 * 640 + k_i * 320 + 8];
      a_fragments[2] = weight_shared[threadIdx_y + threadIdx_x * 40 + k_o % 3 * 640 + k_i * 320 + 160];
      a_fragments[3] = weight_shared[threadIdx_y + threadIdx_x * 40 + k_o % 3 * 640 + k_i * 320 + 168];
      b_fragments[0] = hone_tf32(windows_shared[threadIdx_z * 8 + threadIdx_y + threadIdx_x * 40 + k_o % 3 * 640 + k_i * 320]);
      b_fragments[1] = hone_tf32(windows_shared[threadIdx_z * 8 + threadIdx_y + threadIdx_x * 40 + k_o % 3 * 640 + k_i * 320 + 160]);
      hone_mma_tf32(sums[0], sums[1], sums[2], sums[3], a_fragments[0], a_fragments[1], a_fragments[2], a_fragments[3], b_fragments[0], b_fragments[1], sums[0], sums[1], sums[2], sums[3]);
    }
  }
  if (blockIdx_x * 8 + threadIdx_z * 4 + threadIdx_x < 18) {
    const float once = bias[threadIdx_y];
    *(float2*)(out + blockIdx_x * 16 + threadIdx_z * 8 + threadIdx_y * 36 + threadIdx_x * 2) = make_float2(hone_max_f32(0.0f, sums[0] + once), hone_max_f32(0.0f, sums[1] + once));
    const float once_1 = bias[threadIdx_y + 8];
    *(float2*)(out + blockIdx_x * 16 + threadIdx_z * 8 + threadIdx_y * 36 + threadIdx_x * 2 + 288) = make_float2(hone_max_f32(0.0f, sums[2] + once_1), hone_max_f32(0.0f, sums[3] + once_1));
  }
}
