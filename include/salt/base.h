/* base.h - the base of every file of Halite: failures, ownership, assertions.
 *
 * Layer      lowest; libc and jansson only
 * Ownership  NEW      the caller destroys what it gets
 *            BORROWED do not destroy, do not keep past the next change of the owner
 *            TAKES    consumed; the caller's pointer is NULL afterwards, success or not
 * Errors     0, or a negative errno with the reason in a fail_t
 * Tests      tests/unit/common/test_base.c
 */
#ifndef SALT_BASE_H
#define SALT_BASE_H

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h> /* before the poisoning below: it declares the banned time functions */

#include <jansson.h>

#define NELEMS(a)     (sizeof(a) / sizeof((a)[0]))
#define STRINGIFY_(x) #x
#define STRINGIFY(x)  STRINGIFY_(x) /* the value of a macro as a literal */
#define PRINTF(f, a)  __attribute__((format(printf, f, a)))
#define ROW(...)                                                                                             \
    {                                                                                                        \
        __VA_ARGS__                                                                                          \
    } /* a struct's initializer that is a single argument of a macro, or a row of a table */
#define UNUSED   __attribute__((unused))
#define NORETURN __attribute__((noreturn))

/* True for builds with a sanitizer. gcc defines macros for them, clang has features. */
#ifdef __has_feature
#define HAS_FEATURE_(what) __has_feature(what)
#else
#define HAS_FEATURE_(what) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || HAS_FEATURE_(address_sanitizer)
#define SANITIZED_ADDRESS 1
#else
#define SANITIZED_ADDRESS 0
#endif
#if defined(__SANITIZE_THREAD__) || HAS_FEATURE_(thread_sanitizer)
#define SANITIZED_THREAD 1
#else
#define SANITIZED_THREAD 0
#endif
#define SANITIZED (SANITIZED_ADDRESS || SANITIZED_THREAD)

/* AUTO(buf) b = ...: runs buf_destroy(&b) on every way out of the scope, so it must be initialised. `unused`
 * keeps clang quiet about variables that only hold something until the scope ends. */
#define AUTO(type) __attribute__((unused, cleanup(type##_destroy))) type##_t *
#define AUTO_FREE  __attribute__((unused, cleanup(auto_free_)))
#define AUTO_FD    __attribute__((unused, cleanup(auto_fd_))) int
#define AUTO_FILE  __attribute__((unused, cleanup(auto_file_))) FILE *
/* Moves a value out of an AUTO variable, which is NULL afterwards. */
#define STEAL(p)                                                                                             \
    ({                                                                                                       \
        __typeof__(p) stolen_ = (p);                                                                         \
        (p) = NULL;                                                                                          \
        stolen_;                                                                                             \
    })

void auto_free_(void *pp);
void auto_fd_(int *fd);
void auto_file_(FILE **fp);

/* Checks an invariant of our own code, in every build: prints the place and aborts. Never use it for
 * input. */
#define salt_assert(expr)                                                                                    \
    do {                                                                                                     \
        if (__builtin_expect(!(expr), 0))                                                                    \
            salt_panic(__FILE__, __LINE__, #expr);                                                           \
    } while (0)
void salt_panic(const char *file, int line, const char *what) NORETURN;

/* Memory is gone: says so once, on stderr and in the log, and ends the process as kill -9 would. No cleanup
 * runs, as it would work on half of the data. Stored data is whole at any such moment, and the service
 * manager or parent starts the process again. */
void salt_no_memory(size_t size) NORETURN;
#define EXIT_NO_MEMORY 71 /* EX_OSERR of sysexits.h */
/* Writes a process's last message, a whole line, without memory and locks: to stderr, and to the log as soon as
 * log.c has set its own. */
typedef void salt_last_fn(const char *line, size_t len);
void salt_last_words(salt_last_fn *fn);

/* The kind of a failure, which decides its wording for a Salt user (see common/plugin/call.h). */
typedef enum fail_kind {
    FAIL_GENERIC,    /* an exception in Salt's words */
    FAIL_COMMAND,    /* CommandExecutionError: the work failed */
    FAIL_PROGRAM,    /* CommandNotFoundError: a program is missing */
    FAIL_INVOCATION, /* SaltInvocationError: the call makes no sense */
    FAIL_ARGUMENTS,  /* TypeError: missing or surplus arguments */
    FAIL_UNAVAILABLE /* no such function here */
} fail_kind_t;

typedef struct fail {
    int code;         /* 0, or a negative errno */
    fail_kind_t kind; /* FAIL_GENERIC unless set by fail_kind() */
    char *text;       /* owned; NULL when nothing failed */
} fail_t;

#define FAIL_INIT   ROW(0, FAIL_GENERIC, NULL)
/* fail_auto_t err = FAIL_INIT; clears itself at the end of the scope. */
#define fail_auto_t __attribute__((cleanup(fail_clear))) fail_t

/* Records a failure. Only the first one on a fail_t is kept, because it is the cause. Returns `code`, a
 * negative errno, so that `return fail_set(err, -ENOENT, "...")` works. `err` may be NULL. */
int fail_set(fail_t *err, int code, const char *fmt, ...) PRINTF(3, 4);
/* The same with a kind other than FAIL_GENERIC. */
int fail_kind(fail_t *err, fail_kind_t kind, int code, const char *fmt, ...) PRINTF(4, 5);
/* Puts context in front of the recorded text: "pillar base.sls: line 4: ..." */
void fail_prefix(fail_t *err, const char *fmt, ...) PRINTF(2, 3);
/* The recorded text, or "unknown error". BORROWED. */
const char *fail_text(const fail_t *err);
void fail_clear(fail_t *err);

/* Allocation for our own small structures; ends the process by salt_no_memory() when memory is gone. Check a
 * size that a peer or a file decides against a limit first. */
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t size);
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
/* Formats a text. NEW. */
char *xasprintf(const char *fmt, ...) PRINTF(1, 2);
char *xvasprintf(const char *fmt, va_list ap) PRINTF(1, 0);

#endif
