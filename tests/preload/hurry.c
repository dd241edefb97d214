/* hurry.c - a library to preload: time passes ten times as fast, for what measures how long it has waited. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

#define TIMES 10
#define NS    1000000000LL

int
clock_gettime(clockid_t id, struct timespec *t)
{
    int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    static long long begins_ns[2];
    int rc = real(id, t);

    /* Newer ones of libcurl go by the raw clock. */
    if (rc != 0 || (id != CLOCK_MONOTONIC && id != CLOCK_MONOTONIC_RAW))
        return rc;
    long long *begun_ns = &begins_ns[id == CLOCK_MONOTONIC_RAW];
    long long now_ns = t->tv_sec * NS + t->tv_nsec;
    if (*begun_ns == 0)
        *begun_ns = now_ns;
    now_ns = *begun_ns + (now_ns - *begun_ns) * TIMES;
    t->tv_sec = now_ns / NS;
    t->tv_nsec = now_ns % NS;
    return 0;
}
