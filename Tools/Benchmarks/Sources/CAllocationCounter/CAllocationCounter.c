#include "CAllocationCounter.h"

#include <errno.h>
#include <malloc.h>
#include <stddef.h>

// An executable's own definitions stand before those of the C library for every library that it loads, the Swift
// runtime among them. glibc keeps its allocator reachable under the names below.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static uint64_t counter;

static void count_one(void) { __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED); }

uint64_t allocation_counter_octets(void) {
    struct mallinfo2 information = mallinfo2();
    return information.uordblks + information.hblkhd;
}

uint64_t allocation_counter_value(void) { return __atomic_load_n(&counter, __ATOMIC_RELAXED); }

void *malloc(size_t size) {
    count_one();
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    count_one();
    return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
    count_one();
    return __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size) {
    count_one();
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count_one();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0) { return EINVAL; }
    count_one();
    void *result = __libc_memalign(alignment, size);
    if (result == NULL) { return ENOMEM; }
    *block = result;
    return 0;
}
