/* py_error.h - exceptions as data, and the budget of a render: bytes, depth, steps, time.
 *
 * Layer      common/py
 * Threads    the state is the thread's own
 * Ownership  the current exception belongs to the state until it is taken or cleared
 * Tests      tests/unit/common/test_py_error.c
 */
#ifndef COMMON_PY_PY_ERROR_H
#define COMMON_PY_PY_ERROR_H

#include "common/py/py.h"

/* An exception class. An engine may define its own as static data. */
typedef struct py_exc {
    const char *name;
    const struct py_exc *base; /* NULL: Exception */
} py_exc_t;

extern const py_exc_t py_TypeError, py_ValueError, py_LookupError, py_KeyError, py_IndexError,
    py_AttributeError, py_ArithmeticError, py_ZeroDivisionError, py_OverflowError, py_RuntimeError,
    py_RecursionError, py_StopIteration, py_UnicodeError, py_UnicodeDecodeError, py_UnicodeEncodeError,
    py_MemoryError, py_NotImplementedError, py_UndefinedError;
/* Raised when the budget is used up; not one of Python's. Templates cannot catch it. */
extern const py_exc_t py_LimitError;

typedef struct py_error {
    const py_exc_t *type; /* NULL: none */
    char *message;        /* owned; str() of the exception */
    size_t len;
    py_t *about; /* owned; the undefined value whose use raised it, or NULL */
} py_error_t;

#define PY_ERROR_INIT ROW(NULL, NULL, 0, NULL)
void py_error_free(py_error_t *e);

/* Raise; an exception already there is replaced, but never a LimitError. Return NULL, so that
 * `return py_raise(&py_TypeError, "...")` reads well. The text is cut at a few thousand bytes. */
void *py_raise(const py_exc_t *type, const char *fmt, ...) PRINTF(2, 3);
/* KeyError(key): the message is repr(key). */
void *py_raise_key(py_t *key);
/* The same for functions that return int: always -1. */
#define py_raise_int(...) (py_raise(__VA_ARGS__), -1)

const py_exc_t *py_raised(void);
/* True when the pending exception is of that class. */
bool py_raised_is(const py_exc_t *type);
bool py_exc_is(const py_exc_t *type, const py_exc_t *base);
/* BORROWED; "" when none. */
const char *py_raised_text(void);
/* BORROWED; the undefined value whose use raised it, or NULL. */
py_t *py_raised_about(void);
/* Records the value that the pending exception is about. BORROWED. */
void py_raise_about(py_t *v);
void py_clear(void);
/* The exception becomes the caller's, the state is clean. */
void py_take_error(py_error_t *ret_e);
/* TAKES the text back into the state. */
void py_restore_error(py_error_t *e);

/* ---- budget ---------------------------------------------------------------------------------- */

typedef struct py_limits {
    size_t bytes;        /* of live values at one time; 0: no limit, also below */
    int depth;           /* nested calls, containers, includes */
    uint64_t steps;      /* loop turns and evaluated nodes */
    int64_t deadline_ms; /* clock_mono_ms() */
} py_limits_t;

/* A scope: values made inside count against `limits`, and against those of the scopes around. Leaving frees
 * cycles (`l.append(l)`) that are no longer reachable. */
typedef struct py_scope { /* values of the scope around, restored on leaving */
    py_limits_t limits;
    int64_t bytes_limit, steps_left, steps_given, deadline;
    int depth_limit;
    bool spent;
    void *held;
    size_t notes; /* py_notes() */
} py_scope_t;
void py_scope_enter(py_scope_t *scope, const py_limits_t *limits);
void py_scope_leave(py_scope_t *scope);
/* clock_mono_ms() at which the innermost scope's time is over; 0: never. */
int64_t py_deadline_ms(void);

/* The thread's state; only the inline functions below touch it. */
typedef struct py_state {
    int64_t live;        /* bytes */
    int64_t bytes_limit; /* of `live` */
    int64_t fuel;        /* steps until the next slow check */
    int depth, depth_limit;
    bool peers; /* a text of this thread has, or had, a mark of py_peer.h */
} py_state_t;
extern _Thread_local py_state_t py_state;

int py_tick_slow_(void);
void *py_too_deep_(void);

/* Counts a step of work, for loops whose length a template decides. 0, or -1 with LimitError raised. */
static inline int
py_tick(void)
{
    return __builtin_expect(--py_state.fuel < 0 || py_state.live > py_state.bytes_limit, 0) ? py_tick_slow_()
                                                                                            : 0;
}

/* Around anything that recurses: 0, or -1 raised; py_leave() only after a 0. */
static inline int
py_enter(void)
{
    if (__builtin_expect(py_state.depth >= py_state.depth_limit, 0)) {
        py_too_deep_();
        return -1;
    }
    py_state.depth++;
    return 0;
}

static inline void
py_leave(void)
{
    py_state.depth--;
}

/* Before something of `bytes` is made: 0, or -1 with LimitError raised. */
int py_room(size_t bytes);
/* The most that py_room() grants now. */
size_t py_room_left(void);
/* The same for a loop that fills `out`, whose size counts too. 0, or -1 with LimitError raised. */
static inline int
py_tick_out(const buf_t *out)
{
    return py_tick() < 0 ? -1 : py_room(0);
}
/* While on, buffers and texts that exceed the limit of bytes stay short, LimitError is raised, and every step
 * from then on fails until the scope is left. Switch off around work that is not a template's: reading a
 * file, a function of the minion. Returns the former setting. */
bool py_bound_texts(bool on);
/* True when a text or array of `bytes` may be made; false: LimitError is raised. */
bool py_grant_(size_t bytes);
static inline bool
py_grant(size_t bytes)
{
    return bytes <= BUF_UNASKED || py_grant_(bytes);
}
/* Bytes that a value's owner keeps outside (an output buffer). May be negative. */
static inline void
py_count(int64_t bytes)
{
    py_state.live += bytes;
}

#endif
