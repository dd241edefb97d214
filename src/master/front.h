/* front.h - the master's front loop: one thread that owns all sockets and tables. Its parts are the .c files
 * named below; they share this struct and nothing else.
 *
 *   front.c    start, the zloop, timers, signals       bus.c      event numbers, journal, listeners
 *   auth.c     hello, acceptance, cutting connections  lsock.c    the local socket; lconn.c, a connection
 *   inbound.c  what minions send                       requests.c what operators ask
 *   publish.c  jobs, delivery, verdicts                workers.c  runners and wheel functions in actors
 *   fileline.c from and to the file workers            listen.c   who hears which events; fire.c fires
 *   mine.c     what minions know of each other         notes.c    work that is named; commits
 *   presence.c who came and went, as events            gate.c     descriptors: who is turned away
 *   reactor.c  what files do to events                 pillars.c  pillars, compiled in actors
 *   names.c    what completion at a prompt is told
 *   targets.c  which minions are meant                numbers.c  numbers of events outlive a killed master
 *
 * Layer      master
 * Threads    the front loop's; workers and the store talk to it by sockets and descriptors
 * Tests      tests/t (whole daemons), tests/unit/master for the tables
 */
#ifndef MASTER_FRONT_H
#define MASTER_FRONT_H

#include <czmq.h>

#include "common/base/buf.h"
#include "common/base/rate.h"
#include "common/conf/conf.h"
#include "common/crypto/keys.h"
#include "common/masterctx/masterctx.h"
#include "common/net/sock.h"
#include "common/net/wire.h"
#include "common/net/zap.h"
#include "common/plugin/registry.h"
#include "master/alike.h"
#include "keyring/audit.h"
#include "master/auth.h"
#include "master/clockwatch.h"
#include "master/files.h"
#include "master/jobs.h"
#include "keyring/keystore.h"
#include "master/peers.h"
#include "master/refusals.h"
#include "master/rotate.h"
#include "master/store.h"
#include "master/store_read.h"

typedef struct front_counters { /* for the status request */
    uint64_t in, out, returns, events, refused, duplicates, jobs, handshakes_failed;
} front_counters_t;

typedef struct lsock lsock_t;
typedef struct lconn lconn_t; /* an operator's connection: lconn.h */
typedef struct workers workers_t;
typedef struct bus bus_t;
typedef struct pillars pillars_t;
typedef struct reactor reactor_t;
typedef struct notes notes_t;
typedef struct gate gate_t;
typedef struct pending_ack pending_ack_t; /* a return or event whose row waits for its commit: inbound.c */

/* Acknowledgements, in the order of their tickets. */
typedef struct ack_line {
    pending_ack_t *first, **tail;
    bool timer;         /* s_ack_again is due */
    bool crowded;       /* at the last look, */
    int64_t looked_ms;  /* monotonic, */
    uint64_t looked_in; /* when so many messages had come */
} ack_line_t;

typedef struct front {
    conf_t *conf;
    json_t *opts; /* BORROWED from conf */
    char *conf_dir;
    json_t *overrides; /* the command line's, for a reload */
    zloop_t *loop;
    void *zctx;
    void *router, *pub, *hello, *monitor, *pub_monitor, *hello_monitor;
    int signal_fd;
    bool stop;
    int exit_code;
    rotation_t own; /* the master's key */
    zap_t *zap;
    gate_t *gate;
    bool pending_full;     /* LIMIT_PENDING_KEYS wait */
    rate_t strangers;      /* events that unaccepted keys may cause */
    refusals_t *refusals;  /* that are told, or will be */
    rate_t rekeys;         /* next keys that go to the disk */
    rate_t noise;          /* lines about what peers do wrong */
    uint64_t noise_unsaid; /* lines that were not written */
    keystore_t *keystore;
    peers_t *peers;
    knowledge_t known;
    jobs_t *jobs;
    store_t *store;
    store_reader_t *reader;
    char *store_trouble;
    uint64_t seq;        /* of the last event */
    uint64_t pub_seq;    /* of the last broadcast */
    uint64_t row_ticket; /* of the newest job or return: a runner that is asked for now finds it */
    bus_t *bus;
    ack_line_t acks;
    map_t *uncommitted; /* "JID/ID" of returns -> pending_ack_t */
    lsock_t *lsock;
    workers_t *workers;
    files_t *files;
    registry_t *runners, *wheels;
    registry_t *modules;            /* what the templates of pillars call */
    const masterctx_tables_t *host; /* the master as a minion; NULL: none */
    pillars_t *pillars;
    reactor_t *reactor;
    notes_t *notes;
    audit_t *audit;
    int64_t started_ms; /* monotonic */
    keylife_t keylife;
    int64_t grace_from_ms;  /* monotonic: since then minions are on their way back */
    int64_t expire_next_ms; /* monotonic */
    int64_t status_ms;      /* monotonic: the next word to the service manager */
    int64_t rest_ms;        /* monotonic: when memory goes back; 0: it has */
    uint64_t rest_done;     /* what the counters said at the last look */
    clockwatch_t clock;
    json_t *present;         /* owned: who was connected at the last turn, while presence_events is on */
    int64_t present_next_ms; /* monotonic */
    front_counters_t counters;
} front_t;

/* front.c */
front_t *front_new(conf_t **conf_p, const char *conf_dir, json_t *overrides, registry_t *runners,
                   registry_t *wheels, const masterctx_tables_t *host, fail_t *err); /* TAKES *conf_p */
bool front_destroy(front_t **self_p); /* false: a runner's thread still uses what it was given */
int front_run(front_t *self);         /* returns the exit code */
/* A warning about what a peer does; of many only some are written, and how many were not. */
void front_noise(front_t *self, const char *fmt, ...) PRINTF(2, 3);
/* What a peer at this address was refused: counted, and told in the log and by salt/gate/refused
 * (refusals.h). */
void front_refused(front_t *self, refusal_t kind, const char *address, const char *fmt, ...) PRINTF(4, 5);

/* inbound.c */
int inbound_router(zloop_t *loop, zmq_pollitem_t *item, void *arg); /* also for the ports' monitors */
int inbound_pub(zloop_t *loop, zmq_pollitem_t *item, void *arg);
int inbound_hello(zloop_t *loop, zmq_pollitem_t *item, void *arg);
int inbound_store(zloop_t *loop, zmq_pollitem_t *item, void *arg);
void inbound_trouble(front_t *self);
void inbound_monitors(front_t *self); /* who came or went by now: before one is cut by its descriptor */
void inbound_forget(front_t *self);   /* at the end: what waits for a commit */

/* publish.c */
/* Publish for an operator: NEW reply {jid, minions, missing}; `follower` may be NULL. */
json_t *publish_job(front_t *self, const json_t *request, const char *user, void *follower, fail_t *err);
void publish_start(front_t *self, const char *jid); /* send what publish_job prepared */
void publish_again(front_t *self, const char *jid); /* a note's job is asked for again */
/* NEW [id]: whose a job is that is to be followed, or NULL with *err. One that publish_restore left out is
 * taken up; `bounded`: unless those that were so fill their memory. */
json_t *publish_find(front_t *self, const char *jid, bool bounded, fail_t *err);
void publish_tick(front_t *self, int64_t now_ms);
void publish_connected(front_t *self, minion_t *m, const json_t *hello, bool rebooted);
void publish_elsewhere(front_t *self, const minion_t *m, const char *jid); /* another master has its return */
void publish_disconnected(front_t *self, minion_t *m);
void publish_dismissed(front_t *self, minion_t *m); /* its key is accepted no more */
int publish_send(front_t *self, peer_t *peer, wire_msg_t msg, const json_t *body);
int publish_restore(front_t *self, fail_t *err); /* unfinished jobs of the last run; fails without memory */
void publish_verdict(void *front, job_t *job, job_target_t *target);
/* How long a minion that is not connected may still take to come back after the master's start; 0: its
 * time is over. */
int64_t publish_awaits_ms(const front_t *self, const minion_t *m);
/* NEW: what followers are told of a target; NULL: nothing, or its return tells it. */
json_t *publish_verdict_push(front_t *self, const job_t *job, const job_target_t *target);
void publish_done(void *front, job_t *job);

/* fileline.c */
void fileline_asked(front_t *self, peer_t *peer, wire_msg_t msg, const json_t *body, const void *raw,
                    size_t len);
int fileline_ready(zloop_t *loop, zmq_pollitem_t *item, void *arg); /* the workers have something to send */

/* presence.c */
void presence_tick(front_t *self, int64_t now_ms);
size_t presence_count(const front_t *self); /* accepted minions that are connected */

/* lsock.c */
lsock_t *lsock_new(front_t *front, const char *sock_dir, fail_t *err);
void lsock_destroy(lsock_t **self_p);
void lsock_reload(lsock_t *self); /* the configuration changed */
void lsock_tick(lsock_t *self);
void lsock_answer(lsock_t *self); /* answers that waited for the end of the turn */
void lsock_serve(lsock_t *self);  /* events to those who listen and keep up */
void lsock_resume(lsock_t *self); /* paused ones go on, if the journal has caught up, or can't */
size_t lsock_listeners(const lsock_t *self);

/* requests.c */
void requests_handle(front_t *self, lconn_t *c, const json_t *request);
/* A request as text: true when it was one to fire events, and is answered. */
bool requests_fire(front_t *self, lconn_t *c, const char *text, size_t len);
void requests_named(lconn_t *c, json_int_t n, json_t *names); /* the answer that came later. BORROWED */
void requests_closed(front_t *self, lconn_t *c);
bool requests_may_read(front_t *self, const lconn_t *c); /* an administrator, or named in publisher_acl */

#endif
