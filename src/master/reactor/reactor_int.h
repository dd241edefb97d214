/* reactor_int.h - what the files of the reactor's thread share; reactor.c lists them.
 *
 * Layer      master, private to reactor*.c
 * Threads    the reactor's, but where it says another
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

/* What the front loop gives the thread and reads of it. */
typedef struct reactor_shared {
    char *sock_dir, *store_path;
    store_t *store;
    registry_t *runners, *wheels;
    const masterctx_tables_t *host;
    bool cut;          /* a template still rendered when the thread ended */
    atomic_bool over;  /* the thread's last word, which orders memory where the thread sanitizer sees it */
    uint64_t begin;    /* number of the event after which it begins when it has no cursor */
    struct born *born; /* who begot what: reactor_kin.c */
    atomic_size_t
        told; /* words of the front loop, each counted before an event or answer of after it is told */
    atomic_size_t waiting, under_way;
    atomic_uint_least64_t begun, failed, seq;
    atomic_uint_least64_t settled; /* the cursor that is on the disk */
} reactor_shared_t;

#define RENDER_AGAIN_MS 500   /* until what could not be read, or begun, for now is tried again, */
#define PASSES_MS       60000 /* and how long what the system lacks is hoped to come back */

/* A file's turn for one event. It belongs to a render actor meanwhile. */
typedef struct rtask {
    struct rtask *next;                    /* of its file, or its batch */
    struct rtask *open_next, **open_where; /* of all */
    char *firing;                          /* JSON of rules.h */
    char *outcome;                         /* JSON {"reactions", "errors"}; set by the actor; NULL: again */
    int64_t tried_ms;                      /* monotonic: when it was first tried in vain; 0: never */
    uint64_t seq;
    bool snapped;       /* the snapshot waits for it */
    json_t *jids;       /* of what the event tells about; NULL: of nothing */
    json_t *list;       /* its reactions, once rendered */
    struct react *work; /* as many */
    size_t n_unbegun, n_open;
} rtask_t;

/* What a render actor gets at one time: tasks of one file. */
typedef struct rbatch {
    rtask_t *tasks;
    json_t *opts; /* owned: another configuration from now on; NULL: as before */
    char *file;
    atomic_bool passed;
} rbatch_t;

typedef enum step {
    STEP_BLOCKED, /* requires others */
    STEP_READY,   /* in the queue */
    STEP_ASKED,   /* the front loop was asked */
    STEP_BEGUN,   /* its end is waited for */
    STEP_TRUE,
    STEP_FALSE
} step_t;

typedef struct react {
    struct react *next; /* in the queue */
    rtask_t *task;
    json_t *what; /* BORROWED of the task's list */
    step_t step;
    bool watched;     /* another one requires it, or it is a runner's or wheel's */
    bool begun;       /* it is on the disk, or over */
    bool counted;     /* among those of the master that run */
    int64_t tried_ms; /* monotonic: when it was first refused for now; 0: never */
    json_int_t n;     /* number of the request */
    char *jid;
    json_t *left; /* {minion: true} of those who have not returned */
    char *why;    /* why it is false */
} react_t;

typedef struct rworker {
    zactor_t *actor;
    rbatch_t *batch; /* it works on; NULL: idle */
    bool stale;      /* its copy of the configuration is */
} rworker_t;

typedef struct rfile {
    rtask_t *head, **tail;
    bool busy;        /* an actor renders it */
    int64_t after_ms; /* monotonic: not before */
} rfile_t;

typedef struct rloop {
    reactor_shared_t *shared;
    zsock_t *pipe;
    size_t heard;          /* of the front loop's words */
    json_t *opts, *option; /* owned */
    bool leader;
    rules_t *rules;
    struct change
        *changes; /* what holds behind events that were not looked at yet, in order: reactor_loop.c */

    /* events: reactor_loop.c */
    local_client_t *ears;
    store_reader_t *reader; /* NULL: not open yet, and then no line is either */
    bool restored;          /* the last run's place was read: only from then on anything is looked at */
    bool shown_unread;      /* the log has it that the store can't be read */
    uint64_t routed;        /* every event up to it was looked at */
    uint64_t catch_to;      /* events up to it are in the journal, not on the line */
    int64_t catch_until_ms; /* how long to wait for them to get there */
    bool in_tune;           /* the line has what the newest rules want; else it is not listened to */
    bool ears_more;         /* there may be events that were read already */
    bool line_more;         /* and answers */
    json_int_t fence;       /* number of the request whose answer comes after all events of before */
    int64_t fence_us;       /* when it was asked */
    int64_t fence_next_ms;  /* when to ask again to move the cursor */
    int64_t connect_next_ms;
    bool shown_backlog;
    int64_t backlog_next_ms;
    bool unchecked; /* nobody has looked whether the files are there */

    /* the cursor */
    uint64_t written, snap_seq;
    uint64_t ticket;  /* of the store, for `written` */
    char *snap_rules; /* NULL: no snapshot waits */
    size_t snap_open;
    int64_t snap_next_ms;
    bool dirty;

    rtask_t *open; /* every task that there is */
    size_t bytes;  /* of their events */

    /* rendering: reactor_render.c */
    map_t *files; /* name -> rfile_t */
    rworker_t pool[LIMIT_REACTOR_WORKERS];
    size_t n_pool, n_waiting; /* tasks that are not rendered */

    /* reactions: reactor_work.c */
    local_client_t *line;
    size_t n_tasks;     /* with something open */
    size_t n_reactions; /* not begun */
    size_t n_asked, n_running;
    react_t *ready[2], **ready_tail[2]; /* of minions, of the master */
    int64_t ask_after_ms[2];            /* monotonic: none of them is asked for before */
    map_t *asked;                       /* number -> react_t */
    map_t *begun;                       /* jid -> react_t */
    map_t *warned;                      /* what was said once */
    struct kin *kin;
} rloop_t;

/* reactor_loop.c */
void reactor_actor(zsock_t *pipe, void *arg); /* `arg` is the reactor_shared_t */
/* reactor_task.c */
void rtask_open(rloop_t *self, rtask_t *task);
void rtask_close(rloop_t *self, rtask_t *task);
void rtask_begun(rloop_t *self, rtask_t *task); /* all that it sets off is on the disk */
void rtask_free(rtask_t *task);

/* reactor_render.c */
void rrender_add(rloop_t *self, rtask_t **task_p); /* TAKES */
void rrender_warm(rloop_t *self);                  /* gather what templates see, before the first event */
void rrender_turn(rloop_t *self);                  /* give idle actors what waits */
void rrender_ready(rloop_t *self, rworker_t *w);   /* an actor has an answer */
void rrender_reload(rloop_t *self);
bool rrender_destroy(rloop_t *self); /* false: an actor is still at work */

/* reactor_work.c */
void work_take(rloop_t *self, rtask_t *task); /* TAKES: it is rendered */
void work_turn(rloop_t *self);                /* ask for what may begin */
void work_heard(rloop_t *self, const json_t *msg);
void work_lost(rloop_t *self);           /* the line broke: ask again for what has no answer */
json_t *work_begun(const rloop_t *self); /* NEW [{jid, file, id, fun}] of the master's functions under way */
/* An error, once in the log and as an event. `where` is {"file", "line"?, "id"?} or NULL. */
void work_error(rloop_t *self, const json_t *where, uint64_t seq, const char *fmt, ...) PRINTF(4, 5);
void work_fire(rloop_t *self, const char *tag, json_t **data_p);

/* reactor_kin.c */
typedef struct kin kin_t;
kin_t *kin_new(struct born *born); /* `born` BORROWED */
void kin_destroy(kin_t **self_p);
/* [jid] of what an event tells about, and its own name as a child of who fired it. NEW. */
json_t *kin_jids(uint64_t seq, const char *tag, const json_t *data);
/* How often `part` is among the ancestors of what has these jids, or negative with *err when the store
 * can't say. */
int kin_count(kin_t *self, store_reader_t *reader, const json_t *jids, const char *part, fail_t *err);
/* Children and their parents, told by the front loop and looked up by the thread. */
typedef struct born born_t;
born_t *born_new(void);
void born_destroy(born_t **self_p);
void born_add(born_t *self, const char *child, const char *parent);
void born_event(char out[32], uint64_t seq); /* an event's name as a child */
/* `jid` was begun by `part`, as a reaction to what has `jids`. */
void kin_add(kin_t *self, store_reader_t *reader, const char *jid, const json_t *jids, const char *part);

#endif
