/* front.h - the state that all parts of the master share. One thread, the front loop, owns all sockets and
 * tables, so nothing here is locked.
 *
 * A part is a row of parts.def and a file with a descriptor (part.h); its own state is in a struct of its
 * own. Modules that several parts build on have headers of their own, from the bottom up:
 *
 *   peers.h jobs.h keystore.h store.h ring.h ...   tables and the store: they know no front
 *   hooks.h noise.h storage.h numbers.h bus.h       what happened, the log, the store, events
 *   gate.h post.h ports.h identity.h refused.h      connections: what is sent, who is cut, what is refused
 *   miniondata.h acks.h notes.h lconn.h targets.h   minions, commits, operators
 *
 * Layer      master
 * Threads    the front loop's; workers and the store talk to it by sockets and descriptors
 * Tests      tests/t (whole daemons), tests/unit/master for the tables
 */
#ifndef MASTER_FRONT_FRONT_H
#define MASTER_FRONT_FRONT_H

#include <czmq.h>

#include "common/conf/conf.h"
#include "common/masterctx/masterctx.h"
#include "common/net/wire.h"
#include "common/net/zap.h"
#include "common/plugin/registry.h"
#include "keyring/audit.h"
#include "master/jobs/jobs.h"
#include "keyring/keystore.h"
#include "master/events/prefixes.h"
#include "master/minions/peers.h"
#include "master/store/store.h"
#include "master/store/store_read.h"

/* Index of a part in parts.def. */
typedef enum part_id {
#define PART(name) PART_##name,
#include "master/front/parts.def"
#undef PART
    PARTS
} part_id_t;

struct front_part;
typedef struct bus bus_t;
typedef struct lconn lconn_t; /* an operator's connection, see lconn.h */

/* Outcomes of a hello; the names are Salt 3008's (figures.c), "pending" is ours. */
typedef enum auth_result {
    AUTH_SUCCESS,
    AUTH_PENDING,
    AUTH_INVALID_ID,
    AUTH_MAX_MINIONS,
    AUTH_REJECTED,
    AUTH_RESULTS
} auth_result_t;

typedef struct front_counters { /* for the requests status and metrics */
    uint64_t in, out, returns, events, refused, duplicates, jobs, handshakes_failed;
    uint64_t auth[AUTH_RESULTS], handled[MSG_COUNT];
    prefixes_t tags;
} front_counters_t;

typedef struct front {
    conf_t *conf;
    json_t *opts;                   /* BORROWED from conf */
    registry_t *runners, *wheels;   /* BORROWED, as are the next two */
    registry_t *modules;            /* functions for pillar templates */
    const masterctx_tables_t *host; /* the master's own grains and modules; NULL: none */
    zloop_t *loop;
    void *zctx;
    long max_files;     /* limit of descriptors of the process */
    int64_t started_ms; /* monotonic */
    bool stop;
    int exit_code;

    const struct front_part *const *parts; /* by part_id_t; NULL in a test without parts */
    size_t n_parts, n_started;
    int64_t next_ms[PARTS]; /* monotonic: each part's next tick */
    void *own[PARTS];       /* each part's own struct; only its file uses it */

    /* Tables, made by one part each and used by all. */
    zap_t *zap;
    keystore_t *keystore;
    audit_t *audit;
    peers_t *peers;
    jobs_t *jobs;
    store_t *store;
    store_reader_t *reader;
    bus_t *bus;
    void *router, *pub;  /* the minions' ports; NULL: not bound yet */
    uint64_t seq;        /* number of the last event */
    uint64_t row_ticket; /* ticket of the newest job or return; readers find it once committed */
    front_counters_t counters;
} front_t;

/* Start the master. TAKES *conf_p, also on failure; registries and `host` are BORROWED. NEW, or NULL with
 * *err. */
front_t *front_new(conf_t **conf_p, const char *conf_dir, json_t *overrides, registry_t *runners,
                   registry_t *wheels, const masterctx_tables_t *host, fail_t *err); /* TAKES *conf_p */
bool front_destroy(front_t **self_p); /* false: a thread still runs; the process must exit */
int front_run(front_t *self);         /* run until a signal; returns the exit code */

#endif
