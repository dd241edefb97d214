/* front.h - what all parts of the master share: one thread, the front loop, owns all sockets and tables.
 *
 * A part is a row of parts.def and a file with a descriptor (part.h); what it alone needs is in its own
 * struct. What several parts build on has a header of its own, from the bottom up:
 *
 *   peers.h jobs.h keystore.h store.h ring.h ...   tables and the store: they know no front
 *   hooks.h noise.h storage.h numbers.h bus.h       what happened, the log, the store, events
 *   gate.h post.h ports.h identity.h refused.h      connections: what is sent, who is cut, what is refused
 *   known.h acks.h notes.h lconn.h targets.h ...    minions, commits, operators
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
#include "common/net/zap.h"
#include "common/plugin/registry.h"
#include "keyring/audit.h"
#include "master/jobs/jobs.h"
#include "keyring/keystore.h"
#include "master/minions/peers.h"
#include "master/store/store.h"
#include "master/store/store_read.h"

/* The index of a part's row. */
typedef enum part_id {
#define PART(name) PART_##name,
#include "master/front/parts.def"
#undef PART
    PARTS
} part_id_t;

struct front_part;
typedef struct bus bus_t;
typedef struct lconn lconn_t; /* an operator's connection: lconn.h */

typedef struct front_counters { /* for the status request */
    uint64_t in, out, returns, events, refused, duplicates, jobs, handshakes_failed;
} front_counters_t;

typedef struct front {
    conf_t *conf;
    json_t *opts;                   /* BORROWED from conf */
    registry_t *runners, *wheels;   /* BORROWED, as the next two */
    registry_t *modules;            /* what the templates of pillars call */
    const masterctx_tables_t *host; /* the master as a minion; NULL: none */
    zloop_t *loop;
    void *zctx;
    long max_files;     /* descriptors that the process may have */
    int64_t started_ms; /* monotonic */
    bool stop;
    int exit_code;

    const struct front_part *const *parts; /* by part_id_t; NULL: none, in a test */
    size_t n_parts, n_started;
    int64_t next_ms[PARTS]; /* monotonic: each part's next tick */
    void *own[PARTS];       /* each part's own struct: only its file looks at it */

    /* Tables: parts make them, all use them. */
    zap_t *zap;
    keystore_t *keystore;
    audit_t *audit;
    peers_t *peers;
    jobs_t *jobs;
    store_t *store;
    store_reader_t *reader;
    bus_t *bus;
    void *router, *pub;  /* the minions' ports; NULL: not yet */
    uint64_t seq;        /* of the last event */
    uint64_t row_ticket; /* of the newest job or return: a runner that is asked for now finds it */
    front_counters_t counters;
} front_t;

front_t *front_new(conf_t **conf_p, const char *conf_dir, json_t *overrides, registry_t *runners,
                   registry_t *wheels, const masterctx_tables_t *host, fail_t *err); /* TAKES *conf_p */
bool front_destroy(front_t **self_p); /* false: a runner's thread still uses what it was given */
int front_run(front_t *self);         /* returns the exit code */

#endif
