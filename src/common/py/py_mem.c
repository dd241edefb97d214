/* py_mem.c - memory of values: a cache of small blocks per thread, the budget of scopes, and the search for
 * cycles.
 *
 * Blocks up to 384 bytes are kept in free lists by size class. The budget counts bytes of values and buffers,
 * steps (in portions, so that a tick is one subtraction) and a deadline. Containers are linked per scope;
 * leaving a scope finds those that only refer to each other and frees them. */
#include <pthread.h>

#include "common/base/clock.h"
#include "common/py/py_obj.h"
#include "salt/limits.h"

/* Released blocks are cached by size, in steps of 16 bytes, up to a total per size. Fuel is the number of
 * steps between two looks at the limits. */
enum { STEP = 16, CLASSES = 25, KEEP_BYTES = 256 * 1024, FUEL = 4096 };

/* A cached block. */
typedef struct spare {
    struct spare *next;
} spare_t;

/* Free blocks of this thread: one bounded list per size class. */
static _Thread_local struct {
    spare_t *head[CLASSES];
    uint32_t n[CLASSES];
    bool known;
} cache;

static pthread_once_t cache_once = PTHREAD_ONCE_INIT;
static pthread_key_t cache_key;

_Thread_local py_state_t py_state = { .bytes_limit = INT64_MAX, .fuel = FUEL, .depth_limit = LIMIT_PY_DEPTH };

/* The rest of the budget: what the inline functions need not see. */
static _Thread_local struct {
    py_limits_t limits;
    int64_t steps_left; /* without `fuel` */
    int64_t deadline;   /* 0: none */
    pyheld_t *held;     /* containers made in this scope */
    bool spent;         /* a request was refused: every further step fails */
} budget = { .steps_left = INT64_MAX - FUEL };

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Runs when the thread ends. */
static void
py_mem_cache_clear(void *unused)
{
    for (size_t i = 0; i < CLASSES; i++) {
        for (spare_t *s = cache.head[i], *next; s != NULL; s = next) {
            next = s->next;
            free(s);
        }
        cache.head[i] = NULL;
        cache.n[i] = 0;
    }
}

static void
cache_key_make(void)
{
    salt_assert(pthread_key_create(&cache_key, py_mem_cache_clear) == 0);
}

/* Registers the cache's destructor when a thread keeps its first block. */
static void
cache_announce(void)
{
    pthread_once(&cache_once, cache_key_make);
    pthread_setspecific(cache_key, &cache);
    cache.known = true;
}

/* Bytes that a block costs in the C library: rounded up, plus its header. */
static int64_t
cost(size_t class)
{
    return (int64_t) ((class + 1) * STEP);
}

/* From the cache of released blocks, if there is one of the size. */
void *
py_alloc(size_t size)
{
    size_t class = (size + STEP - 1) / STEP;

    py_state.live += cost(class);
    if (class < CLASSES && cache.head[class] != NULL) {
        spare_t *s = cache.head[class];
        cache.head[class] = s->next;
        cache.n[class]--;
        return s;
    }
    return xrealloc(NULL, class < CLASSES ? class * STEP : size);
}

void
py_release(void *p, size_t size)
{
    size_t class = (size + STEP - 1) / STEP;

    py_state.live -= cost(class);
#if !SANITIZED_ADDRESS
    if (class<CLASSES &&class> 0 && cache.n[class] * class < KEEP_BYTES / STEP) {
        if (__builtin_expect(!cache.known, 0))
            cache_announce();
        spare_t *s = p;
        s->next = cache.head[class];
        cache.head[class] = s;
        cache.n[class]++;
        return;
    }
#else
    (void) class, (void) cache_announce;
#endif
    free(p);
}

void *
py_resize(void *p, size_t old, size_t size)
{
    size_t class = (size + STEP - 1) / STEP, had = (old + STEP - 1) / STEP;

    /* Sizes that the cache takes are taken from it too: else each list that grew would leave it one block
     * more. */
    if (class<CLASSES &&class> 0 && class != had) {
        void *new = py_alloc(size);
        memcpy(new, p, old < size ? old : size);
        py_release(p, old);
        return new;
    }
    py_state.live += cost(class) - cost(had);
    return xrealloc(p, class < CLASSES ? class * STEP : size);
}

void *
py_new(size_t size, py_type_t type)
{
    py_t *v = py_alloc(size);

    v->refs = 1;
    v->type = (uint8_t) type;
    v->flags = 0;
    v->aux = 0;
    return v;
}

/* Containers are linked into the scope's list, where cycles are searched. */
void *
py_new_held(size_t size, py_type_t type)
{
    pyheld_t *v = py_new(size, type);

    v->prev = NULL;
    v->next = budget.held;
    if (budget.held != NULL)
        budget.held->prev = v;
    budget.held = v;
    return v;
}

void
py_unlink(pyheld_t *v)
{
    if (v->next != NULL)
        v->next->prev = v->prev;
    if (v->prev != NULL)
        v->prev->next = v->next;
    else if (budget.held == v)
        budget.held = v->next;
}

/* ---- cycles ---------------------------------------------------------------------------------- */

/* Trial deletion over one list: subtract the references that come from members of the list; what keeps some
 * is alive, with all that is reachable from it. Meanwhile `prev` holds the count. */
static void
set_outside(pyheld_t *v, intptr_t n)
{
    v->prev = (pyheld_t *) n;
}

static intptr_t
py_mem_outside(const pyheld_t *v)
{
    return (intptr_t) v->prev;
}

static bool
being_tried(const py_t *v)
{
    return v != NULL && !py_small(v) && (v->flags & PY_F_TRIED) != 0;
}

/* Takes off a reference held by another value under trial; what remains are references from outside. */
static void
subtract(py_t *v, void *unused)
{
    if (being_tried(v)) {
        pyheld_t *held = (pyheld_t *) v;
        set_outside(held, py_mem_outside(held) - 1);
    }
}

/* Containers under trial, by the search for cycles. */
typedef struct tried {
    pyheld_t **v;
    size_t n, cap;
} tried_t;

static void
py_mem_push(tried_t *list, pyheld_t *v)
{
    if (list->n == list->cap) {
        list->cap = list->cap * 2 + 64;
        list->v = xrealloc(list->v, list->cap * sizeof(*list->v));
    }
    list->v[list->n++] = v;
}

/* A value reached from a living one is alive, and so are those it holds. */
static void
py_mem_reach(py_t *v, void *cookie)
{
    if (!being_tried(v))
        return;
    v->flags &= (uint8_t) ~PY_F_TRIED;
    py_mem_push(cookie, (pyheld_t *) v);
}

/* Splits the list into reachable containers and (still marked) unreachable ones. Linear in values and
 * references. */
static void
try_list(pyheld_t *first, tried_t *alive, tried_t *dead)
{
    for (pyheld_t *v = first; v != NULL; v = v->next) {
        v->h.flags |= PY_F_TRIED;
        set_outside(v, v->h.refs);
    }
    for (pyheld_t *v = first; v != NULL; v = v->next)
        py_walk_held(&v->h, subtract, NULL);
    for (pyheld_t *v = first; v != NULL; v = v->next) {
        if (py_mem_outside(v) > 0)
            py_mem_reach(&v->h, alive);
        while (dead->n < alive->n) /* `dead` counts what was walked, for now */
            py_walk_held(&alive->v[dead->n++]->h, py_mem_reach, alive);
    }
    dead->n = 0;
    for (pyheld_t *v = first; v != NULL; v = v->next) {
        if (being_tried(&v->h))
            py_mem_push(dead, v);
    }
}

/* ---- scopes and limits ----------------------------------------------------------------------- */

/* Bytes in use by values and buffers. */
static int64_t
in_use(void)
{
    return py_state.live + buf_meter.held;
}

static int64_t
smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Moves a portion of the remaining steps to `fuel`. */
static void
take_fuel(void)
{
    int64_t portion = smaller(FUEL, budget.steps_left);

    budget.steps_left -= portion;
    py_state.fuel = portion;
}

/* Limits can only become narrower: a scope within another has what that one has left, at most. */
void
py_scope_enter(py_scope_t *scope, const py_limits_t *limits)
{
    int64_t left = budget.steps_left + py_state.fuel;

    scope->limits = budget.limits;
    scope->bytes_limit = py_state.bytes_limit;
    scope->steps_left = left;
    scope->depth_limit = py_state.depth_limit;
    scope->deadline = budget.deadline;
    scope->held = budget.held;
    scope->notes = py_notes();
    scope->spent = budget.spent;
    budget.held = NULL;
    budget.spent = false;
    budget.limits = *limits;
    if (limits->bytes != 0)
        py_state.bytes_limit = smaller(py_state.bytes_limit, in_use() + (int64_t) limits->bytes);
    if (limits->depth != 0)
        py_state.depth_limit = (int) smaller(py_state.depth_limit, py_state.depth + limits->depth);
    if (limits->steps != 0)
        left = smaller(left, (int64_t) limits->steps);
    if (limits->deadline_ms != 0)
        budget.deadline = budget.deadline == 0 ? limits->deadline_ms
                                               : smaller(budget.deadline, limits->deadline_ms);
    scope->steps_given = left;
    budget.steps_left = left;
    take_fuel();
}

int64_t
py_deadline_ms(void)
{
    return budget.deadline;
}

/* Containers that are still alive join the list of the scope around; steps used count there too. */
void
py_scope_leave(py_scope_t *scope)
{
    pyheld_t *last;

    py_notes_drop(scope->notes);

    /* Empties the unreachable containers while holding a reference to each, so that none is freed while
     * another is visited. */
    tried_t alive = { NULL, 0, 0 }, dead = { NULL, 0, 0 };
    if (budget.held != NULL) {
        try_list(budget.held, &alive, &dead);

        /* Restores the backward links, which held counts during the trial. */
        pyheld_t *prev = NULL;
        for (pyheld_t *v = budget.held; v != NULL; v = v->next) {
            v->prev = prev;
            prev = v;
        }

        for (size_t i = 0; i < dead.n; i++) {
            dead.v[i]->h.flags &= (uint8_t) ~PY_F_TRIED;
            py_ref(&dead.v[i]->h);
        }
        for (size_t i = 0; i < dead.n; i++)
            py_drop_held(&dead.v[i]->h);
        for (size_t i = 0; i < dead.n; i++)
            py_unref(&dead.v[i]->h);
        free(alive.v);
        free(dead.v);
    }

    for (last = budget.held; last != NULL && last->next != NULL;)
        last = last->next;
    if (last == NULL) {
        budget.held = scope->held;
    } else if (scope->held != NULL) {
        last->next = scope->held;
        last->next->prev = last;
    }
    int64_t spent = scope->steps_given - (budget.steps_left + py_state.fuel);
    budget.steps_left = scope->steps_left - spent;
    budget.limits = scope->limits;
    budget.deadline = scope->deadline;
    budget.spent = scope->spent;
    py_state.bytes_limit = scope->bytes_limit;
    py_state.depth_limit = scope->depth_limit;
    take_fuel();
}

int
py_room(size_t bytes)
{
    if (bytes <= INT64_MAX / 2 && in_use() + (int64_t) bytes <= py_state.bytes_limit &&
        bytes < LIMIT_PY_VALUE)
        return 0;
    return py_raise_int(&py_LimitError, "it needs more than %zu MiB of memory",
                        (budget.limits.bytes != 0 ? budget.limits.bytes : LIMIT_PY_VALUE) >> 20);
}

void *
py_alloc_room(size_t size)
{
    return py_room(size) < 0 ? NULL : py_alloc(size);
}

size_t
py_room_left(void)
{
    int64_t left = smaller(py_state.bytes_limit - in_use(), LIMIT_PY_VALUE - 1);

    return left > 0 ? (size_t) left : 0;
}

/* Marks the budget as used up: the next step finds no fuel. */
static bool
py_mem_spend(void)
{
    budget.spent = true;
    budget.steps_left += py_state.fuel;
    py_state.fuel = 0;
    return py_room(SIZE_MAX) == 0;
}

/* buf_meter's callback: grants a buffer's growth, shrinking what it wants beyond `least` near the limit. */
static bool
py_mem_grant(size_t least, size_t *wanted)
{
    size_t left = py_room_left();

    if (least > left)
        return py_mem_spend();
    if (*wanted > left)
        *wanted = least + (left - least) / 2;
    return true;
}

bool
py_bound_texts(bool on)
{
    bool was = buf_meter.grant != NULL;

    buf_meter.grant = on ? py_mem_grant : NULL;
    return was;
}

bool
py_grant_(size_t bytes)
{
    return buf_meter.grant == NULL || bytes <= py_room_left() || py_mem_spend();
}

/* Grows by half while memory is plentiful, by a sixteenth when the scope's limit is near. */
size_t
py_next_cap(size_t cap, size_t size)
{
    size_t more = cap / 2 + 4;

    if (more * size <= BUF_UNASKED || more * size <= py_room_left())
        return cap + more;
    more = cap / 16 + 4;
    (void) py_grant_(more * size);
    return cap + more;
}

/* Refills the fuel, after all limits were checked. 0, or -1 with LimitError raised. */
int
py_tick_slow_(void)
{
    if (budget.spent)
        return py_room(SIZE_MAX);
    if (in_use() > py_state.bytes_limit)
        return py_room(0);
    if (budget.deadline != 0 && clock_mono_ms() > budget.deadline)
        return py_raise_int(&py_LimitError, "it takes too long");
    if (budget.steps_left <= 0)
        return py_raise_int(&py_LimitError, "more than %llu steps", (unsigned long long) budget.limits.steps);
    take_fuel();
    return 0;
}

void *
py_too_deep_(void)
{
    return py_raise(&py_RecursionError, "maximum recursion depth exceeded");
}
