/* Classifies one image with a network that Hone built: reads a raw file of float32 values in the input layout, prints
 * the five classes with the highest scores. C99; needs the network's header and library and nothing else of Hone.
 *
 * The Makefile says which network: NET_HEADER is its header, NET(name) puts its prefix before a name. */
#include NET_HEADER

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JOIN2(a, b) a##_##b
#define JOIN(a, b) JOIN2(a, b)
#define NET(name) JOIN(NET_PREFIX, name)

static int fail(const char *what, const char *why) {
  fprintf(stderr, "deploy: %s: %s\n", what, why);
  return 1;
}

/* Reads exactly `bytes` bytes of the file at `path`; returns 0 on success. */
static int read_file(const char *path, void *data, size_t bytes) {
  FILE *file = fopen(path, "rb");
  if (!file) return fail(path, "cannot be opened");
  size_t count = fread(data, 1, bytes, file);
  int more = fgetc(file) != EOF;
  fclose(file);
  if (count == bytes && !more) return 0;
  fprintf(stderr, "deploy: %s: must hold exactly %lu bytes of float32\n", path, (unsigned long)bytes);
  return 1;
}

static void print_top(const float *scores, size_t count, size_t wanted) {
  char *taken = calloc(count, 1);
  if (!taken) return;
  for (size_t rank = 0; rank < wanted && rank < count; ++rank) {
    size_t best = count;
    for (size_t i = 0; i < count; ++i) {
      if (!taken[i] && (best == count || scores[i] > scores[best])) best = i;
    }
    taken[best] = 1;
    printf("%lu. class %lu, score %.6g\n", (unsigned long)(rank + 1), (unsigned long)best, (double)scores[best]);
  }
  free(taken);
}

static int classify(NET(net) * net, const NET(info) * info, const char *path) {
  float *input = malloc((size_t)info->inputs[0].bytes);
  float *output = malloc((size_t)info->outputs[0].bytes);
  int failed = !input || !output;
  if (failed) fail("buffers", "out of memory");
  if (!failed) failed = read_file(path, input, (size_t)info->inputs[0].bytes);
  if (!failed) {
    const void *inputs[1];
    void *outputs[1];
    inputs[0] = input;
    outputs[0] = output;
    int code = NET(run)(net, inputs, outputs);
    failed = code != 0;
    if (failed) fail("run", NET(strerror)(code));
  }
  /* The first image of the batch. */
  const uint64_t classes = info->outputs[0].bytes / sizeof(float) / (uint64_t)info->outputs[0].shape[0];
  if (!failed) print_top(output, (size_t)classes, 5);
  free(input);
  free(output);
  return failed;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s PARAMETERS INPUT\n", argv[0]);
    return 2;
  }
  const NET(info) *info = NET(describe)();
  if (info->input_count != 1 || info->output_count != 1) {
    return fail(info->network, "this program is for networks of one input and one output");
  }
  if (strcmp(info->inputs[0].type, "f32") || strcmp(info->outputs[0].type, "f32")) {
    return fail(info->network, "this program is for networks of float32");
  }
  NET(options) options = {0};
  options.params_path = argv[1];
  NET(net) *net = NULL;
  int code = NET(create)(&options, &net);
  if (code != 0) return fail(argv[1], NET(strerror)(code));
  int failed = classify(net, info, argv[2]);
  NET(destroy)(net);
  return failed;
}
