__device__ __forceinline__ float hone_max_f32(float a, float b) { return a > b ? a : b; }

extern "C" __global__ void __launch_bounds__(64, 1)
kernel(const float* __restrict__ data, const float* __restrict__ weight, const float* __restrict__ bias, float* __restrict__ out) {
  __shared__ __align__(16) float sums_board[64];
  const int blockIdx_x = blockIdx.x;
  const int threadIdx_x = threadIdx.x;
  const int threadIdx_y = threadIdx.y;
  float sums[1];
  float sums_part[1];
  sums_part[0] = 0.0f;
  for (int k_o = 0; k_o < 2; ++k_o) {
    sums_part[0] = sums_part[0] + data[threadIdx_x + k_o * 64] * weight[blockIdx_x * 200 + threadIdx_y * 100 + threadIdx_x + k_o * 64];
    if (threadIdx_x + k_o * 64 < 68) {
      sums_part[0] = sums_part[0] + data[threadIdx_x + k_o * 64 + 32] * weight[blockIdx_x * 200 + threadIdx_y * 100 + threadIdx_x + k_o * 64 + 32];
    }
  }
  sums_board[threadIdx_y * 32 + threadIdx_x] = sums_part[0];
  __syncthreads();
  if (threadIdx_x < 16) {
    sums_board[threadIdx_y * 32 + threadIdx_x] = sums_board[threadIdx_y * 32 + threadIdx_x] + sums_board[threadIdx_y * 32 + threadIdx_x + 16];
  }
  __syncthreads();
  if (threadIdx_x < 8) {
    sums_board[threadIdx_y * 32 + threadIdx_x] = sums_board[threadIdx_y * 32 + threadIdx_x] + sums_board[threadIdx_y * 32 + threadIdx_x + 8];
  }
  __syncthreads();
  if (threadIdx_x < 4) {
    sums_board[threadIdx_y * 32 + threadIdx_x] = sums_board[threadIdx_y * 32 + threadIdx_x] + sums_board[threadIdx_y * 32 + threadIdx_x + 4];
  }
  __syncthreads();
  if (threadIdx_x < 2) {
    sums_board[threadIdx_y * 32 + threadIdx_x] = sums_board[threadIdx_y * 32 + threadIdx_x] + sums_board[threadIdx_y * 32 + threadIdx_x + 2];
  }
  __syncthreads();
  if (threadIdx_x < 1) {
    sums_board[threadIdx_y * 32] = sums_board[threadIdx_y * 32] + sums_board[threadIdx_y * 32 + 1];
  }
  __syncthreads();
  sums[0] = sums_board[threadIdx_y * 32];
  if (threadIdx_x < 1) {
    out[blockIdx_x * 2 + threadIdx_y] = hone_max_f32(0.0f, sums[0] + bias[blockIdx_x * 2 + threadIdx_y]);
  }
}
