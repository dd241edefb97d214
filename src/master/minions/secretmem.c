/* secretmem.c - an allocator for libzmq's short-lived handshake secrets: 128 places of 512 bytes in one locked
 * mapping, with a bitmap of those in use. The functions below have libsodium's names and stand before its own
 * in the dynamic linker's order; anything that does not fit is passed on to libsodium through
 * dlsym(RTLD_NEXT). */
#include "master/minions/secretmem.h"

#include <dlfcn.h>
#include <pthread.h>

#include <sys/mman.h>

#define WORD_BITS 64
#define WORDS     (FLEETING_PLACES / WORD_BITS)
#define ALL_BYTES ((size_t) FLEETING_PLACES * FLEETING_SIZE)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint8_t *places; /* NULL: not open */
static uint64_t taken[WORDS], served;

void *sodium_allocarray(size_t count, size_t size);
void sodium_free(void *p);

typedef void *alloc_fn(size_t count, size_t size);
typedef void free_fn(void *p);

/* Failure to map is not an error: `places` stays NULL and libsodium serves. Failure to lock is accepted too
 * (RLIMIT_MEMLOCK), as libsodium does with its own. */
void
secretmem_open(void)
{
    if (places != NULL)
        return;
    void *p = mmap(NULL, ALL_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return;
    (void) mlock(p, ALL_BYTES);
    (void) madvise(p, ALL_BYTES, MADV_DONTDUMP);
    places = p;
}

uint64_t
secretmem_served(void)
{
    (void) pthread_mutex_lock(&lock);
    uint64_t n = served;
    (void) pthread_mutex_unlock(&lock);
    return n;
}

/* The first free place, found by the lowest zero bit; NULL when all are in use. */
static void *
secretmem_take(void)
{
    void *p = NULL;
    (void) pthread_mutex_lock(&lock);
    for (size_t i = 0; i < WORDS && p == NULL; i++)
        if (~taken[i]) {
            size_t bit = (size_t) __builtin_ctzll(~taken[i]);
            taken[i] |= UINT64_C(1) << bit;
            p = places + (i * WORD_BITS + bit) * FLEETING_SIZE;
            served++;
        }
    (void) pthread_mutex_unlock(&lock);
    return p;
}

/* Wipe a place before it is marked free, so that its next owner never sees the secret. False when `p` lies
 * outside the mapping: libsodium allocated it. */
static bool
secretmem_give_back(void *p)
{
    uintptr_t at = (uintptr_t) p - (uintptr_t) places;
    if (places == NULL || at >= ALL_BYTES)
        return false;
    size_t n = at / FLEETING_SIZE;
    explicit_bzero(p, FLEETING_SIZE);
    (void) pthread_mutex_lock(&lock);
    taken[n / WORD_BITS] &= ~(UINT64_C(1) << n % WORD_BITS);
    (void) pthread_mutex_unlock(&lock);
    return true;
}

/* Interposes libsodium's function. The division avoids an overflow of count * size. */
void *
sodium_allocarray(size_t count, size_t size)
{
    bool fits = places != NULL && size > 0 && count <= FLEETING_SIZE / size;
    void *p = fits ? secretmem_take() : NULL;
    if (p != NULL)
        return p;
    alloc_fn *next;
    *(void **) &next = dlsym(RTLD_NEXT, "sodium_allocarray");
    salt_assert(next);
    return next(count, size);
}

void
sodium_free(void *p)
{
    if (secretmem_give_back(p))
        return;
    free_fn *next;
    *(void **) &next = dlsym(RTLD_NEXT, "sodium_free");
    salt_assert(next);
    next(p);
}
