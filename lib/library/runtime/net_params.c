#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "library/runtime/net_runtime.h"
#include "library/runtime/params_format.h"

#define PAGE 4096u
#define HUGE_PAGE (2u << 20)
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

typedef struct Wanted {
  const uint8_t* digest;
  uint64_t bytes;
  int verify;
} Wanted;

/* Nonzero if every byte is as hone-build wrote it. REQUIRES: the rest of `check` found nothing wrong. The digest does
 * not cover the header and the zeros that follow the entries. */
static int intact(const HoneParamsHeader* header, const char* data, size_t size) {
  const size_t entries = header->count * sizeof(HoneParamsEntry), end = sizeof *header + entries;
  const size_t blobs = (end + HONE_PARAMS_ALIGNMENT - 1) / HONE_PARAMS_ALIGNMENT * HONE_PARAMS_ALIGNMENT;
  if (blobs > size) return 0;
  for (size_t i = end; i < blobs; ++i) {
    if (data[i] != 0) return 0;
  }
  const char* name = hone_net_info()->network;
  char network[sizeof header->network] = {0};
  memcpy(network, name, strnlen(name, sizeof network - 1));
  if (memcmp(network, header->network, sizeof network) != 0) return 0;
  if (entries == 0) return 1;
  const HoneNetBytes digested[2] = {{(const uint8_t*)data + sizeof *header, entries},
                                    {(const uint8_t*)data + blobs, size - blobs}};
  uint8_t digest[sizeof header->digest];
  hone_net_digest(digested, digest);
  return memcmp(digest, header->digest, sizeof digest) == 0;
}

/* The order of the checks decides which error a wrong file gives. */
static int check(const Wanted* wanted, const char* data, size_t size) {
  HoneParamsHeader header;
  if (size < sizeof header.magic || memcmp(data, HONE_PARAMS_MAGIC, sizeof header.magic) != 0)
    return HONE_NET_E_PARAMS_FORMAT;
  if (size < sizeof header) return HONE_NET_E_PARAMS_TRUNCATED;
  memcpy(&header, data, sizeof header);
  if (header.version > HONE_PARAMS_VERSION) return HONE_NET_E_PARAMS_VERSION;
  if (size < header.file_bytes) return HONE_NET_E_PARAMS_TRUNCATED;
  if (header.version != HONE_PARAMS_VERSION || size != header.file_bytes) return HONE_NET_E_PARAMS_DAMAGED;
  if (header.count > (size - sizeof header) / sizeof(HoneParamsEntry)) return HONE_NET_E_PARAMS_DAMAGED;
  uint64_t sum = 14695981039346656037u;
  const unsigned char* table_bytes = (const unsigned char*)data + sizeof header;
  for (size_t i = 0; i < header.count * sizeof(HoneParamsEntry); ++i) sum = (sum ^ table_bytes[i]) * 1099511628211u;
  if (sum != header.table_checksum) return HONE_NET_E_PARAMS_DAMAGED;
  if (memcmp(header.digest, wanted->digest, sizeof header.digest) != 0) return HONE_NET_E_PARAMS_OTHER;
  /* The table's offsets were made for exactly this file. */
  if (size != wanted->bytes) return HONE_NET_E_PARAMS_DAMAGED;
  return !wanted->verify || intact(&header, data, size) ? HONE_NET_OK : HONE_NET_E_PARAMS_DAMAGED;
}

/* Maps the whole file and reads it now, so that no run waits for the disk. Uses huge pages if the kernel and the file
 * system support them for files (both align such a mapping): kernels read megabytes of weights, and small pages cost
 * VGG-16 a tenth of its speed. Parts that are in memory already keep their pages. */
static int map_file(size_t size, int fd, int verify, char** out) {
  char* data = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) return HONE_NET_E_MEMORY;
  *out = data;
  if (size >= HUGE_PAGE) madvise(data, size, MADV_HUGEPAGE);
  const int error = madvise(data, size, MADV_POPULATE_READ) == 0 ? 0 : errno;
  if (error == EINVAL || error == ENOSYS) { /* Linux before 5.14 */
    for (size_t i = 0; i < size; i += PAGE) (void)*(volatile char*)(data + i);
  }
  /* Touching an unreadable part of the file raises SIGBUS. Without `verify`, a run may never need that part. */
  if (!verify || (error != EFAULT && error != EHWPOISON)) return HONE_NET_OK;
  munmap(data, size);
  return HONE_NET_E_PARAMS_DAMAGED;
}

static int open_file(const Wanted* wanted, const char* path, HoneNetParams* params) {
  /* Opening a pipe would wait for its writer. */
  const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return HONE_NET_E_PARAMS_OPEN;
  struct stat st;
  /* glibc has no function fstat before 2.33. */
  if (syscall(SYS_fstat, fd, &st) != 0 || !S_ISREG(st.st_mode)) {
    close(fd);
    return HONE_NET_E_PARAMS_OPEN;
  }
  const size_t size = (size_t)st.st_size;
  if (size == 0) {
    close(fd);
    return HONE_NET_E_PARAMS_FORMAT;
  }
  char* data = NULL;
  int code = map_file(size, fd, wanted->verify, &data);
  close(fd);
  if (code != HONE_NET_OK) return code;
  code = check(wanted, data, size);
  if (code != HONE_NET_OK) {
    munmap(data, size);
    return code;
  }
  params->data = data;
  params->mapped = size;
  return HONE_NET_OK;
}

/* Copies data that is not aligned as kernels need it. */
static int take_memory(const Wanted* wanted, const void* data, size_t size, HoneNetParams* params) {
  const int code = check(wanted, data, size);
  if (code != HONE_NET_OK) return code;
  if ((uintptr_t)data % HONE_PARAMS_ALIGNMENT == 0) {
    params->data = data;
    params->mapped = 0;
    return HONE_NET_OK;
  }
  void* copy = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) return HONE_NET_E_MEMORY;
  memcpy(copy, data, size);
  params->data = copy;
  params->mapped = size;
  return HONE_NET_OK;
}

int hone_net_params_open(const uint8_t digest[16], uint64_t bytes, const HoneNetOptions* options,
                         HoneNetParams* params) {
  const Wanted wanted = {digest, bytes, options->verify};
  if ((options->params_path != NULL) == (options->params_data != NULL)) return HONE_NET_E_ARGUMENT;
  if (options->params_path) return open_file(&wanted, options->params_path, params);
  return take_memory(&wanted, options->params_data, options->params_size, params);
}

void hone_net_params_close(HoneNetParams* params) {
  if (params->mapped) munmap((void*)params->data, params->mapped);
}
