/* renewal.c - see renewal.h. Which masters know the next key is a bit mask of their indices. */
#include "uplink/renewal.h"

#include <unistd.h>

#include "common/base/fs.h"
#include "common/base/str.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

#define OWN      "minion"
#define NEXT     "minion_next"
#define AGAIN_MS 30000

struct renewal {
    char *dir;
    char *pem;      /* owned: the next public key; NULL: no renewal is under way */
    unsigned known; /* a bit for each master that has stored it */
    int masters;
    bool due;
    int64_t again_ms; /* monotonic: when it is due in any case */
};

/* Sets the next key's text and starts asking anew. TAKES pem; NULL ends the renewal. */
static void
set_pem(renewal_t *self, char *pem)
{
    free(self->pem);
    self->pem = pem;
    self->known = 0;
    self->due = pem != NULL;
}

int
renewal_begin(renewal_t *self, fail_t *err)
{
    self->due = true;
    if (self->pem != NULL)
        return 0;
    key_pair_tidy(self->dir, NEXT);
    AUTO(key_pair) next = key_pair_open(self->dir, NEXT, NULL, err);

    if (next == NULL)
        return -EIO;
    set_pem(self, key_public_pem(key_pair_public(next)));
    return 0;
}

renewal_t *
renewal_new(const char *pki_dir, int masters)
{
    renewal_t *self = xcalloc(1, sizeof(*self));
    AUTO_FREE char *pem = xasprintf("%s/" NEXT ".pem", pki_dir);
    fail_auto_t err = FAIL_INIT;

    salt_assert(masters <= LIMIT_MASTERS);
    self->dir = xstrdup(pki_dir);
    self->masters = masters;
    int there = fs_look(pem, &err);
    if (there < 0 || (there > 0 && renewal_begin(self, &err) != 0))
        log_error("the next key: %s", fail_text(&err));
    return self;
}

void
renewal_destroy(renewal_t **self_p)
{
    renewal_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    free(self->dir);
    free(self->pem);
    free(self);
}

void
renewal_soon(renewal_t *self)
{
    self->due = true;
}

json_t *
renewal_question(renewal_t *self, int64_t now_ms)
{
    if (self->pem == NULL || (!self->due && now_ms < self->again_ms))
        return NULL;
    self->due = false;
    self->again_ms = now_ms + AGAIN_MS;
    return json_pack("{s:s}", "key", self->pem);
}

bool
renewal_answered_by(const renewal_t *self, int master)
{
    return (self->known >> master & 1) != 0;
}

void
renewal_answered(renewal_t *self, int master, const json_t *body)
{
    const char *error = value_str(body, "error", NULL);

    if (self->pem == NULL || !str_eq(value_str(body, "key", ""), self->pem) ||
        value_bool(body, "again", false))
        return;
    if (error == NULL) {
        self->known |= 1u << master;
        return;
    }
    AUTO_FREE char *pem = xasprintf("%s/" NEXT ".pem", self->dir);

    log_error("a master refuses this minion's next key: %s", error);
    (void) unlink(pem);
    key_pair_tidy(self->dir, NEXT);
    set_pem(self, NULL);
}

key_pair_t *
renewal_take(renewal_t *self, fail_t *err)
{
    if (self->pem == NULL || self->masters == 0 || self->known != (1u << self->masters) - 1)
        return NULL;
    set_pem(self, NULL);
    return key_pair_replace(self->dir, OWN, NEXT, err) == 0 ? key_pair_open(self->dir, OWN, NULL, err) : NULL;
}
