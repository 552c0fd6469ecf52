/* All that the linker has to get right: calls into the other object and into libc, pointers to data and functions,
 * zeros, read-only tables, variables of a thread, a function that runs when the library is loaded. */
#include <stdlib.h>
#include <string.h>

extern int elf_more(int x);
extern const char* const elf_more_names[3];
extern int elf_more_count;

static const int table[5] = {3, 1, 4, 1, 5};
static int zeros[1000];
static int ready;
static int (*const functions[2])(int) = {elf_more, abs};
static _Thread_local int counter = 40;
static _Thread_local char text[64];

__attribute__((constructor)) static void Begin(void) { ready = 7; }

int elf_ready(void) { return ready; }
int elf_sum(void) {
  int sum = 0;
  for (int i = 0; i < 5; ++i) sum += table[i] + zeros[200 * i];
  return sum;
}
int elf_call(int which, int x) { return functions[which](x); }
int elf_count(void) { return ++counter; }
const char* elf_text(const char* what) {
  strncpy(text, what, sizeof(text) - 1);
  return text;
}
const char* elf_name(int i) { return elf_more_names[i]; }
int elf_share(void) { return ++elf_more_count; }
char* elf_copy(const char* what) {
  char* copy = malloc(strlen(what) + 1);
  return copy ? strcpy(copy, what) : NULL;
}
