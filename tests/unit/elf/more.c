/* The other object of parts.c. */
int elf_more_count = 10;
const char* const elf_more_names[3] = {"zero", "one", "two"};
static int hidden(int x) { return 100 * x; }
int elf_more(int x) { return hidden(x) + elf_more_count; }
