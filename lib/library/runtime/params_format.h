/* The file NET.params: the packed constants of a network library. C11, shared by the writer (library/params_file.cc)
 * and the reader (net_params.c). doc/reference/library.md says the same in prose.
 *
 * Little endian. A header, `count` entries, then the blobs, each at a multiple of HONE_PARAMS_ALIGNMENT from the start
 * of the file, zeros between them. DO NOT CHANGE without raising HONE_PARAMS_VERSION. */
#ifndef HONE_LIBRARY_RUNTIME_PARAMS_FORMAT_H_
#define HONE_LIBRARY_RUNTIME_PARAMS_FORMAT_H_

#include <stdint.h>

#define HONE_PARAMS_MAGIC "HONEPARM"
#define HONE_PARAMS_VERSION 1u
#define HONE_PARAMS_ALIGNMENT 64u

typedef struct HoneParamsHeader {
  char magic[8];
  uint32_t version;
  uint32_t count;          /* entries */
  uint64_t file_bytes;     /* of the whole file */
  uint8_t digest[16];      /* Digest128 of the entries, then all from the first blob on; identifies the library */
  uint64_t table_checksum; /* FNV-1a, 64 bit, of the entries */
  char network[48];        /* name, cut if longer, then zeros; for messages and people */
} HoneParamsHeader;

typedef struct HoneParamsEntry {
  uint64_t offset; /* from the start of the file */
  uint64_t bytes;
  uint8_t digest[16]; /* Digest128 of the blob */
  char name[96];      /* "layer1.0.conv1.bn/weight", zero-terminated, cut if longer */
} HoneParamsEntry;

#endif
