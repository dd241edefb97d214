/* live.c - counts what a program holds of allocated memory, to the byte. Each block has a head with its size;
 * the counts stand at a fixed address, where tests/bench/live.py reads them out of /proc/PID/mem. The pages
 * of a process say less: free blocks that the C library keeps for the next ones are in them.
 *
 * With LIVE_DEPTH=N they are counted by place, too, which is the N callers: slow, and tells who holds what
 * grows. A forked child counts on from what it has inherited. */
#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* As in live.py. */
#define AT     ((void *) 0x600000000000)
#define MAGIC  0x4c495645
#define CALLS  12
#define PLACES 8192
#define OWN    2 /* callers that are in this file */

typedef struct live_place {
    uint64_t hash; /* 0: nobody's */
    int64_t bytes, blocks, allocated;
    void *callers[CALLS];
} live_place_t;

typedef struct live_table {
    uint64_t magic;
    int64_t bytes, blocks, allocated;
    uint64_t unused[4];
    live_place_t places[PLACES]; /* of the first are blocks without a place */
} live_table_t;

/* Before each block, as long as its alignment wants. */
typedef struct live_head {
    uint32_t place, shift; /* shift: bytes from what the C library gave */
    uint64_t size;
} live_head_t;

#define UNIT sizeof(live_head_t)

extern void *__libc_malloc(size_t size);
extern void *__libc_memalign(size_t align, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void __libc_free(void *block);

static live_table_t *table;
static atomic_flag locked = ATOMIC_FLAG_INIT;
static _Thread_local int looks; /* backtrace() allocates at its first call */
static int depth;

static void
take(void)
{
    while (atomic_flag_test_and_set(&locked))
        ;
}

static void
give(void)
{
    atomic_flag_clear(&locked);
}

static void
begin(void)
{
    if (table != NULL)
        return;
    table = mmap(AT, sizeof(*table), PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE | MAP_NORESERVE, -1, 0);
    if (table == MAP_FAILED)
        abort();
    table->magic = MAGIC;
}

__attribute__((constructor)) static void
live_start(void)
{
    void *callers[1];
    const char *asked = getenv("LIVE_DEPTH");

    begin();
    looks = 1;
    (void) backtrace(callers, 1);
    looks = 0;
    depth = asked != NULL ? atoi(asked) : 0;
    if (depth > CALLS)
        depth = CALLS;
    (void) pthread_atfork(take, give, give);
}

/* The row of who calls. A full table gives the first. */
static uint32_t
place(void)
{
    void *callers[CALLS + OWN];
    uint64_t hash = 1469598103934665603U;
    uint32_t at, tries = 0;

    if (depth == 0 || looks)
        return 0;
    looks = 1;
    int n = backtrace(callers, depth + OWN);
    looks = 0;
    for (int i = OWN; i < n; i++)
        hash = (hash ^ (uint64_t) callers[i]) * 1099511628211U;
    at = 1 + (uint32_t) ((hash ^ hash >> 29) % (PLACES - 1));
    take();
    while (table->places[at].hash != 0 && table->places[at].hash != hash && ++tries < PLACES)
        at = 1 + at % (PLACES - 1);
    if (tries == PLACES)
        at = 0;
    else if (table->places[at].hash == 0) {
        table->places[at].hash = hash;
        for (int i = OWN; i < n; i++)
            table->places[at].callers[i - OWN] = callers[i];
    }
    give();
    return at;
}

static void
count(uint32_t at, int64_t bytes, int64_t blocks)
{
    live_place_t *one = &table->places[at];

    take();
    table->bytes += bytes;
    table->blocks += blocks;
    table->allocated += blocks > 0;
    one->bytes += bytes;
    one->blocks += blocks;
    one->allocated += blocks > 0;
    give();
}

static live_head_t *
head(void *block)
{
    return (live_head_t *) block - 1;
}

static void *
allocate(size_t size, size_t align)
{
    char *given;

    begin();
    if (align < UNIT)
        align = UNIT;
    if (size > PTRDIFF_MAX - align) {
        errno = ENOMEM;
        return NULL;
    }
    given = align == UNIT ? __libc_malloc(size + align) : __libc_memalign(align, size + align);
    if (given == NULL)
        return NULL;
    *head(given + align) = (live_head_t){ .place = place(), .shift = (uint32_t) align, .size = size };
    count(head(given + align)->place, (int64_t) size, 1);
    return given + align;
}

void *
malloc(size_t size)
{
    return allocate(size, UNIT);
}

void
free(void *block)
{
    int kept = errno;

    if (block == NULL)
        return;
    count(head(block)->place, -(int64_t) head(block)->size, -1);
    __libc_free((char *) block - head(block)->shift);
    errno = kept;
}

void *
calloc(size_t n, size_t size)
{
    size_t all;
    void *block = NULL;

    if (__builtin_mul_overflow(n, size, &all))
        errno = ENOMEM;
    else
        block = allocate(all, UNIT);
    return block != NULL ? memset(block, 0, all) : NULL;
}

/* The block stays its place's. */
void *
realloc(void *block, size_t size)
{
    if (block == NULL)
        return allocate(size, UNIT);
    if (size == 0) {
        free(block);
        return NULL;
    }
    live_head_t was = *head(block);
    if (was.shift == UNIT && size <= PTRDIFF_MAX - UNIT) {
        char *given = __libc_realloc((char *) block - UNIT, size + UNIT);
        if (given == NULL)
            return NULL;
        ((live_head_t *) given)->size = size;
        count(was.place, (int64_t) size - (int64_t) was.size, 0);
        return given + UNIT;
    }
    void *fresh = allocate(size, UNIT);
    if (fresh != NULL) {
        memcpy(fresh, block, was.size < size ? was.size : size);
        free(block);
    }
    return fresh;
}

void *
reallocarray(void *block, size_t n, size_t size)
{
    size_t all;

    if (!__builtin_mul_overflow(n, size, &all))
        return realloc(block, all);
    errno = ENOMEM;
    return NULL;
}

void *
memalign(size_t align, size_t size)
{
    return allocate(size, align);
}

void *
aligned_alloc(size_t align, size_t size)
{
    return allocate(size, align);
}

int
posix_memalign(void **ret, size_t align, size_t size)
{
    void *block = allocate(size, align);

    if (block == NULL)
        return ENOMEM;
    *ret = block;
    return 0;
}

size_t
malloc_usable_size(void *block)
{
    return block != NULL ? head(block)->size : 0;
}
