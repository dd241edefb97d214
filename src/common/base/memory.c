/* memory.c - see memory.h. */
#include "common/base/memory.h"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include "salt/base.h"

static _Thread_local bool sparing, refused;

static void *
json_malloc(size_t n)
{
    void *p = malloc(n);
    if (p == NULL && !sparing)
        salt_no_memory(n);
    refused |= p == NULL;
    return p;
}

static void
json_free(void *p)
{
    if (p != NULL)
        explicit_bzero(p, malloc_usable_size(p));
    free(p);
}

void
memory_spare(void)
{
    sparing = true;
    refused = false;
}

bool
memory_end_spare(void)
{
    sparing = false;
    return refused;
}

void
memory_begin(void)
{
    json_set_alloc_funcs(json_malloc, json_free);
}

static int
base_memory_let_go(struct dl_phdr_info *object, size_t size, void *cookie)
{
    uintptr_t page = *(const uintptr_t *) cookie;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t at = object->dlpi_addr + part->p_vaddr, end = at + part->p_filesz;
        /* Pages that can't be written are the same as in the file. */
        if (part->p_type == PT_LOAD && !(part->p_flags & PF_W) && part->p_filesz > 0)
            (void) madvise((void *) (at & ~(page - 1)), end - (at & ~(page - 1)), MADV_DONTNEED);
    }
    return 0;
}

void
memory_rest(void)
{
    uintptr_t page = (uintptr_t) sysconf(_SC_PAGESIZE);
    (void) malloc_trim(0);
    (void) dl_iterate_phdr(base_memory_let_go, &page);
}
