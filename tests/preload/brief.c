/* brief.c - a library to preload into an interpreter: its time.sleep() takes a hundredth of its time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/select.h>
#include <time.h>

#define PART 100
#define NS   1000000000LL

static struct timespec
of_ns(long long ns)
{
    return (struct timespec){ .tv_sec = ns / NS, .tv_nsec = ns % NS };
}

static long long
ns_of(const struct timespec *t)
{
    return t->tv_sec * NS + t->tv_nsec;
}

/* As Python 3.11 sleeps. */
int
clock_nanosleep(clockid_t id, int flags, const struct timespec *t, struct timespec *left)
{
    int (*real)(clockid_t, int, const struct timespec *, struct timespec *) = dlsym(RTLD_NEXT,
                                                                                    "clock_nanosleep");
    struct timespec now = { 0 }, until;

    if ((flags & TIMER_ABSTIME) != 0)
        clock_gettime(id, &now);
    until = of_ns(ns_of(&now) + (ns_of(t) - ns_of(&now)) / PART);
    return real(id, flags, &until, left);
}

/* As older ones do. */
int
select(int n, fd_set *in, fd_set *out, fd_set *err, struct timeval *t)
{
    int (*real)(int, fd_set *, fd_set *, fd_set *, struct timeval *) = dlsym(RTLD_NEXT, "select");

    if (n == 0 && t != NULL) {
        long long us = (t->tv_sec * 1000000LL + t->tv_usec) / PART;
        *t = (struct timeval){ .tv_sec = us / 1000000, .tv_usec = us % 1000000 };
    }
    return real(n, in, out, err, t);
}
