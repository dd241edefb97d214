/* auth.h - who may be here: hello, acceptance, and the life of a minion's key.
 *
 * Layer      master
 * Threads    the front loop's
 * Tests      tests/t/1100-auth.bats, tests/t/1130-key-life.bats, tests/unit/master/test_front.c
 */
#ifndef MASTER_AUTH_H
#define MASTER_AUTH_H

#include "master/peers.h"

struct front;

/* When keylife.c looks at the ages of keys. */
typedef struct keylife {
    int64_t next_ms;  /* monotonic */
    int64_t again_ms; /* the same: when keys that could not be read are tried again; 0: all were */
    int64_t pause_ms; /* before that */
} keylife_t;

int auth_load(struct front *self, fail_t *err); /* key files to tables; also after SIGHUP */
void auth_hello(struct front *self, peer_t *peer, const json_t *body);
void auth_disconnected(struct front *self, peer_t *peer); /* frees `peer` */
void auth_goodbye(struct front *self, peer_t *peer);      /* it says so: its connection ends */
void auth_subscribed(struct front *self, const char *z85, int fd);
/* Ends all connections of a key that is good no more, and what else speaks for its id. `m` is whose it is,
 * or was. */
void auth_cut_key(struct front *self, minion_t *m, const char *z85, bool was_accepted);
void auth_rivals(struct front *self, int64_t now_ms);
/* A local key_apply: NEW {done: [id], failed: {id: reason}}. With `more` to come the disk waits for the
 * last one. */
json_t *auth_apply(struct front *self, const char *action, const json_t *ids, const json_t *from, bool more,
                   fail_t *err);
void auth_revoke(struct front *self, peer_t *peer, bool keep_data); /* may end `peer` */
/* keylife.c: keys that are too old. */
void keylife_tick(struct front *self, int64_t now_ms);
/* Its key is too old: it waits again, or is forgotten when it does already. May end `m`. */
void auth_expire(struct front *self, minion_t *m);
char auth_state_letter(const peer_t *peer);
/* A change of a key: a line of the audit log, and the event salt/key with what is in `more` (TAKES, may be
 * NULL). `peer` is who caused it; NULL: nobody, time has. */
void auth_tell(struct front *self, const peer_t *peer, const char *id, const char *act, json_t *more);

/* rekey.c: a minion's next key. */
void rekey_asked(struct front *self, peer_t *peer, const json_t *body); /* its message */
/* Whether this connection comes with the next key of its id: then that is the accepted one from now on,
 * and the old one and its connections are cut. */
bool rekey_came(struct front *self, peer_t *peer, minion_t *m);
/* From the files, `all_read`: of which all present keys are known. What can't be read now is not
 * forgotten: false. */
bool rekey_load(struct front *self, bool all_read);
void rekey_forget(struct front *self, minion_t *m); /* its key is accepted no more */
/* The log says which key files have names that are no ids: for the start. */
void auth_tell_unfit(front_t *self);

#endif
