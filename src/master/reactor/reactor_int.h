/* reactor_int.h - types and functions shared by the files of the reactor; reactor.c lists them.
 *
 * Layer      master, private to reactor*.c
 * Threads    the reactor's, unless said otherwise
 * Tests      tests/t/6100-reactor.bats
 */
#ifndef MASTER_REACTOR_REACTOR_INT_H
#define MASTER_REACTOR_REACTOR_INT_H

#include <stdatomic.h>

#include "common/local/client.h"
#include "common/masterctx/masterctx.h"
#include "common/reactor/reaction.h"
#include "common/reactor/rules.h"
#include "master/front/front.h"
#include "master/reactor/reactor_stats.h"

/* Shared with the front loop: strings and tables are constant while the thread lives, counters are atomic. */
typedef struct reactor_shared {
    char *sock_dir, *store_path;
    store_t *store;
    registry_t *runners, *wheels;
    const masterctx_tables_t *host;
    bool cut;                /* a template still rendered when the thread ended */
    atomic_bool over;        /* set last by the thread; orders memory for the thread sanitizer */
    uint64_t begin;          /* the event after which it starts without a cursor */
    rstats_t *stats;         /* what each rule's file has done, with a lock of its own: reactor_stats.c */
    struct parents *parents; /* child to parent, with a lock of its own */
    atomic_size_t told; /* messages of the front loop, each counted before a later event or answer is sent */
    atomic_size_t waiting, under_way;
    atomic_uint_least64_t begun, failed, seq;
    atomic_uint_least64_t settled; /* the cursor that is on the disk */
} reactor_shared_t;

#define RENDER_AGAIN_MS 500   /* pause before a read or request that failed for now is retried, */
#define PASSES_MS       60000 /* and how long it is retried while the system lacks something */
/* A file's rendering of an event. Owned by a render actor while it is in a batch, else by the loop. */
typedef struct rtask {
    struct rtask *next;                    /* in its file's queue, or its batch */
    struct rtask *open_next, **open_where; /* in the list of all open tasks */
    char *firing;                          /* owned: JSON of rules.h */
    char *file;                            /* owned: the file, as it is configured */
    char *outcome;                         /* owned: JSON {"reactions", "errors"}; NULL: try again */
    int64_t tried_ms;                      /* monotonic: first failed attempt; 0: none */
    uint64_t seq;
    bool snapped;       /* the pending snapshot waits for it */
    json_t *jids;       /* owned: jids that the event is about, see ancestry_jids; NULL: none */
    json_t *list;       /* owned: its reactions, once rendered */
    struct react *work; /* owned array, one for each in `list` */
    size_t n_unbegun, n_open;
} rtask_t;

/* The unit of work for a render actor: consecutive tasks of one file. */
typedef struct rbatch {
    rtask_t *tasks;
    json_t *opts; /* owned: a new configuration; NULL: unchanged */
    char *file;
    atomic_bool passed;
} rbatch_t;

typedef enum step {
    STEP_BLOCKED, /* waits for reactions that it requires */
    STEP_READY,   /* in the queue */
    STEP_ASKED,   /* requested from the front loop, no answer yet */
    STEP_BEGUN,   /* runs; its end is awaited */
    STEP_TRUE,
    STEP_FALSE
} step_t;

typedef struct react {
    struct react *next; /* in the queue */
    rtask_t *task;
    json_t *what; /* BORROWED from the task's list */
    step_t step;
    bool watched;     /* its end matters: another requires it, or it is a runner or wheel function */
    bool begun;       /* durable, or over: the cursor may pass it */
    bool counted;     /* counted in n_running */
    int64_t tried_ms; /* monotonic: first time it was put off; 0: never */
    json_int_t n;     /* number of the request */
    char *jid;
    json_t *left; /* owned: {minion: true} without a successful return yet */
    char *why;    /* owned: the error, when false */
} react_t;

typedef struct rworker {
    zactor_t *actor;
    rbatch_t *batch; /* in work; NULL: idle */
    bool stale;      /* its configuration is out of date */
} rworker_t;

typedef struct rfile {
    rtask_t *head, **tail;
    bool busy;        /* an actor renders it */
    int64_t after_ms; /* monotonic: not before this */
} rfile_t;

typedef struct rloop {
    reactor_shared_t *shared;
    zsock_t *pipe;
    size_t heard;          /* messages of the front loop read */
    json_t *opts, *option; /* owned */
    bool leader;           /* false: no event is reacted to, but the cursor moves on (reactor.set_leader) */
    rules_t *rules;
    struct change
        *changes; /* rules and leadership that take force behind events not looked at yet, in order */

    /* events: reactor_loop.c */
    local_client_t *events;
    store_reader_t *reader; /* NULL: not open yet, and then no connection is either */
    bool restored;          /* the last run's cursor was read; nothing is looked at before */
    bool shown_unread;      /* the log says already that the store can't be read */
    uint64_t routed;        /* every event up to this was looked at */
    uint64_t catch_to;      /* events up to this are read from the journal, not the connection */
    int64_t catch_until_ms; /* monotonic: when to give up waiting for them in the journal */
    bool subscribed;        /* the subscription has the newest rules' tags; else events are ignored */
    bool events_more;       /* events may be buffered */
    bool line_more;         /* answers may be buffered */
    json_int_t fence;       /* number of the request whose answer follows all earlier events */
    int64_t fence_us;       /* when it was sent */
    int64_t fence_next_ms;  /* when to send the next just to move the cursor */
    int64_t connect_next_ms;
    bool shown_backlog;
    int64_t backlog_next_ms;
    bool unchecked; /* nobody has checked yet that the rules' files exist */

    /* the cursor */
    uint64_t written, snap_seq;
    uint64_t ticket;  /* the store's ticket of `written` */
    char *snap_rules; /* owned: state of the rules for the pending snapshot; NULL: none */
    size_t snap_open;
    int64_t snap_next_ms;
    bool dirty;

    rtask_t *open; /* every task */
    size_t bytes;  /* bytes of their events */

    /* rendering: reactor_render.c */
    map_t *files; /* name -> rfile_t */
    rworker_t pool[LIMIT_REACTOR_WORKERS];
    size_t n_pool, n_waiting; /* tasks not rendered yet */

    /* reactions: reactor_work.c */
    local_client_t *line;
    size_t n_tasks;     /* with open reactions */
    size_t n_reactions; /* reactions not begun */
    size_t n_asked, n_running;
    react_t *ready[2], **ready_tail[2]; /* queues of reactions for minions and for the master */
    int64_t ask_after_ms[2];            /* monotonic: the queue rests until then */
    map_t *asked;                       /* request number -> react_t */
    map_t *begun;                       /* jid -> react_t */
    map_t *warned;                      /* warnings already logged */
    struct ancestry *ancestry;
} rloop_t;

/* reactor_loop.c */
void reactor_actor(zsock_t *pipe, void *arg); /* `arg` is the reactor_shared_t */
/* reactor_task.c */
void rtask_open(rloop_t *self, rtask_t *task);
void rtask_close(rloop_t *self, rtask_t *task);
void rtask_begun(rloop_t *self, rtask_t *task); /* all its reactions are durable */
void rtask_free(rtask_t *task);

/* reactor_render.c */
void rrender_add(rloop_t *self, rtask_t **task_p); /* TAKES; queue for rendering */
void rrender_warm(rloop_t *self);                  /* start an actor before the first event */
void rrender_turn(rloop_t *self);                  /* give queued tasks to idle actors */
void rrender_ready(rloop_t *self, rworker_t *w);   /* an actor has answered */
void rrender_reload(rloop_t *self);
bool rrender_destroy(rloop_t *self); /* false: an actor is still rendering */

/* reactor_work.c */
void work_take(rloop_t *self, rtask_t *task); /* TAKES a rendered task */
void work_turn(rloop_t *self);                /* request what may begin */
void work_heard(rloop_t *self, const json_t *msg);
void work_lost(rloop_t *self);           /* the connection broke: request again what has no answer */
json_t *work_begun(const rloop_t *self); /* NEW [{jid, file, id, fun}] of the master's functions that run */
/* Report an error in the log and as an event. `where` is {"file", "line"?, "id"?} or NULL. */
void work_error(rloop_t *self, const json_t *where, uint64_t seq, const char *fmt, ...) PRINTF(4, 5);
void work_fire(rloop_t *self, const char *tag, json_t **data_p);

/* reactor_ancestry.c */
typedef struct ancestry ancestry_t;
ancestry_t *ancestry_new(struct parents *parents); /* BORROWED */
void ancestry_destroy(ancestry_t **self_p);
/* NEW [jid] that the event is about, among them the event's own name as a child of whoever fired it. */
json_t *ancestry_jids(uint64_t seq, const char *tag, const json_t *data);
/* The highest count of `part` among the ancestors of these jids; negative with *err when the store can't be
 * read. */
int ancestry_count(ancestry_t *self, store_reader_t *r, const json_t *jids, const char *part, fail_t *err);
/* Child to parent, written by the front loop and read by the thread; locked. */
typedef struct parents parents_t;
parents_t *parents_new(void);
void parents_destroy(parents_t **self_p);
void parents_add(parents_t *self, const char *child, const char *parent);
void parents_event(char out[32], uint64_t seq); /* an event's name as a child */
/* Record that `part` began `jid` in reaction to an event about `jids`. */
void ancestry_add(ancestry_t *self, store_reader_t *r, const char *jid, const json_t *jids, const char *part);

#endif
