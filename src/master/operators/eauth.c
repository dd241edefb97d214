/* eauth.c - the requests login, become, token_list, token_revoke and explain: whom a connection may speak
 * for.
 *
 * A login is asked of salt-auth (authline.h) and answered when that has answered. A failure is answered a
 * second or so later, at a time that does not tell what was wrong; several in a row make the same process's
 * user wait before it may try the same name again, twice as long each time; salt-api's clients are told apart
 * by their addresses, so that nobody holds up a name for others. */
#include "common/base/clock.h"
#include "common/base/str.h"
#include "common/crypto/keys.h"
#include "common/host/passwd.h"
#include "master/front/noise.h"
#include "master/front/part.h"
#include "master/front/request.h"
#include "master/operators/acl.h"
#include "master/operators/authline.h"
#include "master/operators/lconn.h"
#include "master/operators/tokens.h"
#include "salt/log.h"
#include "salt/value.h"

#define FAIL_MS     750    /* a failure is answered after so long at least, */
#define FAIL_MORE   500    /* and up to so much later, at random */
#define ANSWER_MS   60000  /* salt-auth has its own deadline (auth/system.h), which is shorter */
#define TRIES_FREE  5      /* failures in a row without a wait */
#define TRIES_MS    4000   /* the first wait, which begins before the failure is answered */
#define TRIES_MAX   60000  /* the longest one */
#define TRIES_QUIET 600000 /* after so long failures are forgotten */
#define EXPIRE_MS   60000
#define API_USER    "salt-api" /* who its unit runs it as, where api_user is not set */

typedef struct attempt {
    struct attempt *next;
    json_int_t id, n;   /* of the question, and of the operator's request */
    lconn_t *c;         /* NULL: it has closed */
    char *user, *eauth; /* owned */
    char *who;          /* owned: whose failures it counts among */
    double lasts_s;     /* of its token */
    bool become;        /* no token is made */
    int64_t since_ms;   /* monotonic */
    int64_t answer_ms;  /* monotonic: when the failure is to be told; 0: there is no answer yet */
} attempt_t;

/* Failures in a row. */
typedef struct tries {
    char *who; /* owned: "UID/ADDRESS/EAUTH/USER"; NULL: free */
    unsigned n;
    int64_t last_ms, until_ms; /* monotonic */
} tries_t;

typedef struct eauth {
    front_t *front;
    authline_t *line;
    tokens_t *tokens;
    attempt_t *attempts;
    size_t n_attempts;
    json_int_t last_id;
    int64_t expire_ms;
    uid_t api; /* salt-api's, -1: there is no such user, or nobody may log in */
    tries_t tries[LIMIT_AUTH_TRIES];
} eauth_t;

static eauth_t *
eauth_own(const front_t *front)
{
    return front->own[PART_eauth];
}

/* ---- failures in a row ---------------------------------------------------------------------------- */

/* BORROWED; of one that has none a place, of whoever was quiet for longest. */
static tries_t *
eauth_tries(eauth_t *self, const char *who)
{
    tries_t *oldest = &self->tries[0];
    int64_t now = clock_mono_ms();

    for (size_t i = 0; i < NELEMS(self->tries); i++) {
        tries_t *one = &self->tries[i];
        if (one->who != NULL && now - one->last_ms > TRIES_QUIET)
            free(STEAL(one->who));
        if (str_eq(one->who, who))
            return one;
        if (one->who == NULL || (oldest->who != NULL && one->last_ms < oldest->last_ms))
            oldest = one;
    }
    free(oldest->who);
    *oldest = (tries_t){ .who = xstrdup(who), .last_ms = now };
    return oldest;
}

/* Some systems (LDAP) take a name in any case: each spelling is the same user's. An address is taken from
 * those alone who could do without. NEW. */
static char *
eauth_who(const eauth_t *self, const lconn_t *c, const json_t *request, const char *eauth, const char *user)
{
    bool told = lconn_is_admin(c) || (self->api != (uid_t) -1 && lconn_uid(c) == self->api);
    char *who = xasprintf("%u/%.64s/%s/%s", (unsigned) lconn_uid(c),
                          told ? value_str(request, "from", "") : "", eauth, user);

    for (char *p = who; *p != '\0'; p++)
        *p = *p >= 'A' && *p <= 'Z' ? (char) (*p | 0x20) : *p;
    return who;
}

/* True, with *err, while the name or address has failed too often of late. */
static bool
eauth_must_wait(eauth_t *self, const char *who, fail_t *err)
{
    const tries_t *tries = eauth_tries(self, who);
    int64_t left = tries->until_ms - clock_mono_ms();

    if (left > 0)
        (void) fail_set(err, -EAGAIN, "too many failed logins: the next one may be tried in %lld seconds",
                        (long long) (left / 1000 + 1));
    return left > 0;
}

/* A success forgives all failures; after TRIES_FREE failures each further one doubles the wait, up to
 * TRIES_MAX. */
static void
eauth_count(eauth_t *self, const char *who, bool ok)
{
    tries_t *tries = eauth_tries(self, who);
    int64_t wait = TRIES_MS;

    tries->n = ok ? 0 : tries->n + 1;
    for (unsigned i = TRIES_FREE; i < tries->n && wait < TRIES_MAX; i++)
        wait *= 2;
    tries->last_ms = clock_mono_ms();
    tries->until_ms = tries->n < TRIES_FREE ? 0 : tries->last_ms + (wait < TRIES_MAX ? wait : TRIES_MAX);
}

/* ---- what came of it -------------------------------------------------------------------------------- */

/* Failures are written as far as there is room (audit_write_spare): guessing must not fill the disk. */
static void
eauth_audit(eauth_t *self, lconn_t *c, const char *op, const char *eauth, const char *user, bool ok)
{
    json_t *line = json_pack("{s:s}", "op", op);

    lconn_sign(c, line);
    json_t *by = value_utf8(eauth, strlen(eauth)), *as = value_utf8(user, strlen(user));
    (void) json_object_update_new(line, json_pack("{s:o, s:o, s:b, s:s}", "eauth", by, "as", as, "allowed",
                                                  ok, "outcome", ok ? "ok" : "refused"));
    if (ok)
        audit_write(self->front->audit, &line);
    else
        audit_write_spare(self->front->audit, AUDIT_USERS, &line);
}

/* NEW reply about an identity. */
static json_t *
eauth_told(eauth_t *self, const json_t *as)
{
    static const char *const fields[] = { "user", "eauth", "start", "expire" };
    json_auto_t *rules = acl_rules(self->front, value_str(as, "user", ""), as, NULL);
    json_t *reply = json_object();

    for (size_t i = 0; i < NELEMS(fields); i++)
        json_object_set(reply, fields[i], value_get(as, fields[i]));
    if (json_array_size(value_get(as, "groups")) > 0)
        json_object_set(reply, "groups", value_get(as, "groups"));
    json_object_set_new(reply, "perms", json_array_size(rules) > 0 ? rules_shown(rules) : json_object());
    return reply;
}

/* NEW reply; NULL with *err. */
static json_t *
eauth_success(eauth_t *self, const attempt_t *try, const json_t *answer, fail_t *err)
{
    /* The identity: a token keeps it, a connection becomes it. */
    double now = (double) clock_wall_us() / 1e6;
    json_t *groups = value_get(answer, "groups");
    json_t *as = json_pack("{s:s, s:s, s:o, s:f, s:f, s:I, s:s}", "user", try->user, "eauth", try->eauth,
                           "groups", json_is_array(groups) ? json_incref(groups) : json_array(), "start", now,
                           "expire", now + try->lasts_s, "uid", (json_int_t) lconn_uid(try->c), "hash", "");

    if (json_is_array(value_get(answer, "rules"))) {
        json_object_set(as, "granted", value_get(answer, "rules"));
        json_object_set_new(as, "granted_by", json_string(value_str(answer, "rules_of", try->eauth)));
    }
    if (json_object_size(value_get(answer, "places")) > 0)
        json_object_set(as, "places", value_get(answer, "places"));
    if (conf_bool(self->front->conf, "keep_acl_in_token"))
        json_object_set_new(as, "rules", acl_rules(self->front, try->user, as, NULL));
    char text[TOKEN_TEXT + 1];

    if (try->become) {
        json_t *reply = eauth_told(self, as);
        if (lconn_become(try->c, &as, err))
            return reply;
        json_decref(reply);
        return NULL;
    }
    const json_t *token = tokens_add(self->tokens, as, text, err);
    if (token == NULL)
        return NULL;
    json_t *reply = eauth_told(self, token);
    json_object_set_new(reply, "token", json_string(text));
    explicit_bzero(text, sizeof(text));
    return reply;
}

/* Takes the attempt out of the list; the caller frees it. */
static attempt_t *
eauth_take(eauth_t *self, attempt_t **link)
{
    attempt_t *try = *link;

    *link = try->next;
    self->n_attempts--;
    return try;
}

static void
eauth_free(attempt_t *try)
{
    free(try->user);
    free(try->eauth);
    free(try->who);
    free(try);
}

/* The same words for an unknown user, a wrong password and a broken system: a guesser learns nothing. */
static void
eauth_refuse(attempt_t *try)
{
    fail_auto_t err = FAIL_INIT;

    (void) fail_set(&err, -EACCES, "Authentication failure of type \"eauth\" occurred for user %.200s.",
                    try->user);
    if (try->c != NULL)
        request_answer(try->c, try->n, NULL, &err);
    eauth_free(try);
}

/* The answer is put off by a time that is partly random, so that its delay does not tell which check failed.
 * The log has the reason. */
static void
eauth_failed(eauth_t *self, attempt_t *try, const char *why)
{
    uint32_t more;

    key_random(&more, sizeof(more));
    try->answer_ms = try->since_ms + FAIL_MS + more % FAIL_MORE;
    noise_warn(self->front, "login of '%.100s' by %.40s has failed: %.300s", try->user, try->eauth, why);
    if (try->c == NULL)
        return;
    eauth_count(self, try->who, false);
    eauth_audit(self, try->c, try->become ? "become" : "login", try->eauth, try->user, false);
}

/* TAKES try. A connection that has gone meanwhile gets neither a token nor an entry in the audit log. */
static void
eauth_succeeded(eauth_t *self, attempt_t *try, const json_t *answer)
{
    fail_auto_t err = FAIL_INIT;

    if (try->c != NULL) {
        eauth_count(self, try->who, true);
        eauth_audit(self, try->c, try->become ? "become" : "login", try->eauth, try->user, true);
        json_t *reply = eauth_success(self, try, answer, &err);
        log_info("login of '%s' by %s", try->user, try->eauth);
        request_answer(try->c, try->n, reply, &err);
    }
    eauth_free(try);
}

/* authline_fn */
static void
eauth_answered(void *cookie, const json_t *answer)
{
    eauth_t *self = cookie;

    for (attempt_t **link = &self->attempts, *try; (try = *link) != NULL;) {
        bool his = answer == NULL || value_int(answer, "id", -1) == try->id;
        if (!his || try->answer_ms != 0) {
            link = &try->next;
        } else if (answer != NULL && value_bool(answer, "ok", false)) {
            eauth_succeeded(self, eauth_take(self, link), answer);
        } else {
            eauth_failed(self, try,
                         answer != NULL ? value_str(answer, "why", "wrong user or password")
                                        : "salt-auth has ended");
            link = &try->next;
        }
    }
}

/* ---- asking ------------------------------------------------------------------------------------------- */

/* A system's parameters in external_auth, without ^. NEW. */
static json_t *
eauth_config(const front_t *front, const char *system)
{
    json_t *config = json_object(), *one;
    const char *key;

    json_object_foreach (value_get(conf_get(front->conf, "external_auth"), system), key, one)
        if (*key == '^')
            json_object_set(config, key + 1, one);
    return config;
}

/* What salt-auth gets of the configuration: the system's parameters, and the options that begin with its
 * name. NEW. */
static json_t *
eauth_question(eauth_t *self, const attempt_t *try, const json_t *request)
{
    static const char *const not_his[] = { "op", "n", "as", "token_expire", "pillar_exact", "eauth", "from" };
    json_t *options = json_object(), *load = json_copy((json_t *) request), *one;
    AUTO_FREE char *prefix = xasprintf("auth.%s.", try->eauth);
    const char *key;

    json_object_foreach (self->front->opts, key, one)
        if (str_starts(key, prefix) || (str_eq(key, "sharedsecret") && str_eq(try->eauth, key)))
            json_object_set(options, key, one);
    for (size_t i = 0; i < NELEMS(not_his); i++)
        json_object_del(load, not_his[i]);
    /* A target such as "ldap(OU=web,dc=example)" stands for minions that the system knows: it is asked for
     * them. */
    json_t *places = json_array(), *rules, *rule, *calls;
    const char *user, *tgt;
    size_t k;

    json_object_foreach (value_get(conf_get(self->front->conf, "external_auth"), try->eauth), user, rules)
        json_array_foreach (rules, k, rule)
            json_object_foreach (rule, tgt, calls)
                if (str_starts(tgt, ACL_PLACE) && !value_lists(places, tgt))
                    json_array_append_new(places, json_string(tgt));
    /* The argument of salt-engine, which salt-auth starts when the system is a file in Python. */
    static const char *const own[] = { "log_level", "log_file", "log_level_logfile" };
    json_t *overrides = json_object();
    json_auto_t *told = json_pack("{s:s, s:s, s:b, s:o}", "conf",
                                  value_str(self->front->opts, "config_dir", ""), "side", "master", "login",
                                  true, "overrides", overrides);

    for (size_t i = 0; i < NELEMS(own); i++)
        json_object_set(overrides, own[i], value_get(self->front->opts, own[i]));
    AUTO_FREE char *host = value_dump(told);
    const char *acl = conf_str(self->front->conf, "eauth_acl_module");
    return json_pack("{s:I, s:s, s:o, s:o, s:o, s:o, s:s, s:{s:s, s:o}}", "id", try->id, "system", try->eauth,
                     "config", eauth_config(self->front, try->eauth), "options", options, "load", load,
                     "places", places, "host", host, "acl", "system", acl, "config",
                     eauth_config(self->front, acl));
}

/* Seconds that the token shall hold: the option's, or the user's own choice where he has one. */
static double
eauth_lasts(const front_t *front, const char *eauth, const char *user, const json_t *request)
{
    double said = value_num(request, "token_expire", 0), most = 315360000;
    json_t *may = conf_get(front->conf, "token_expire_user_override");
    bool his = json_is_true(may) || value_lists(value_get(may, eauth), user);

    return his && said > 0 ? (said < most ? said : most) : (double) conf_int(front->conf, "token_expire");
}

static bool
eauth_is_name(const char *text)
{
    return *text != '\0' && strlen(text) <= LIMIT_AUTH_NAME && strpbrk(text, "\n\r") == NULL;
}

/* The answer comes later: NULL without *err. */
static json_t *
eauth_begin(eauth_t *self, lconn_t *c, const json_t *request, bool become, fail_t *err)
{
    const char *eauth = value_str(request, "eauth", ""), *user = value_str(request, "username", "");
    AUTO_FREE char *who = eauth_who(self, c, request, eauth, user);

    if (!eauth_is_name(user) || !eauth_is_name(eauth) || !json_is_string(value_get(request, "password"))) {
        (void) fail_set(err, -EINVAL, "a login needs the texts 'eauth', 'username' and 'password'");
        return NULL;
    }
    if (eauth_must_wait(self, who, err))
        return NULL;
    if (self->n_attempts >= LIMIT_AUTH_ATTEMPTS) {
        (void) fail_set(err, -EAGAIN, "%d logins are under way already: try again in a moment",
                        LIMIT_AUTH_ATTEMPTS);
        return NULL;
    }
    attempt_t *try = xcalloc(1, sizeof(*try));
    *try = (attempt_t){ .next = self->attempts,
                        .id = ++self->last_id,
                        .n = value_int(request, "n", 0),
                        .c = c,
                        .user = xstrdup(user),
                        .eauth = xstrdup(eauth),
                        .who = STEAL(who),
                        .become = become,
                        .lasts_s = eauth_lasts(self->front, eauth, user, request),
                        .since_ms = clock_mono_ms() };
    self->attempts = try;
    self->n_attempts++;
    if (value_get(conf_get(self->front->conf, "external_auth"), eauth) == NULL) {
        eauth_failed(self, try, "external_auth does not name this system");
        return NULL;
    }
    json_auto_t *question = eauth_question(self, try, request);
    fail_auto_t trouble = FAIL_INIT;
    if (authline_ask(self->line, question, &trouble) < 0)
        eauth_failed(self, try, fail_text(&trouble));
    return NULL;
}

/* ---- requests ------------------------------------------------------------------------------------------ */

static json_t *
eauth_login(front_t *front, lconn_t *c, const json_t *request, fail_t *err)
{
    return eauth_begin(eauth_own(front), c, request, false, err);
}

static json_t *
eauth_become(front_t *front, lconn_t *c, const json_t *request, fail_t *err)
{
    eauth_t *self = eauth_own(front);
    const char *text = value_str(request, "token", NULL);

    if (text == NULL)
        return eauth_begin(self, c, request, true, err);
    /* Wrong tokens hold up nobody who has a right one: salt-api is one user for all who ask it. */
    const json_t *token = tokens_by_text(self->tokens, text);
    if (token == NULL ||
        value_get(conf_get(front->conf, "external_auth"), value_str(token, "eauth", "")) == NULL) {
        AUTO_FREE char *who = eauth_who(self, c, request, "token", "");
        bool bounded = !lconn_is_admin(c) && lconn_as(c) == NULL;
        if (bounded && eauth_must_wait(self, who, err))
            return NULL;
        (void) fail_set(err, -EACCES, "Authentication failure of type \"token\" occurred.");
        if (bounded)
            eauth_count(self, who, false);
        eauth_audit(self, c, "become", "token", "", false);
        return NULL;
    }
    json_t *reply = eauth_told(self, token), *as = json_incref((json_t *) token);
    if (lconn_become(c, &as, err))
        return reply;
    json_decref(reply);
    return NULL;
}

static json_t *
eauth_list(front_t *front, lconn_t *c, const json_t *request, fail_t *err)
{
    return json_pack("{s:o}", "tokens", tokens_list(eauth_own(front)->tokens, NULL, NULL));
}

/* Who has a token's text may end it; by hash and by user that is root's to do. */
static json_t *
eauth_revoke(front_t *front, lconn_t *c, const json_t *request, fail_t *err)
{
    eauth_t *self = eauth_own(front);
    const char *text = value_str(request, "token", NULL), *hash = value_str(request, "hash", NULL);
    const char *user = value_str(request, "user", NULL);
    const json_t *token = text != NULL   ? tokens_by_text(self->tokens, text)
                          : hash != NULL ? tokens_by_hash(self->tokens, hash)
                                         : NULL;
    json_auto_t *all = user != NULL ? tokens_list(self->tokens, user, value_str(request, "eauth", NULL))
                                    : NULL;
    json_t *one;
    size_t i;

    if (text == NULL && !lconn_is_admin(c)) {
        (void) fail_set(err, -EACCES, "only root and the master's user may revoke others' tokens");
        return NULL;
    }
    size_t n = json_array_size(all) + (token != NULL);
    if (token != NULL)
        tokens_drop(self->tokens, value_str(token, "hash", ""));
    json_array_foreach (all, i, one)
        tokens_drop(self->tokens, value_str(one, "hash", ""));
    return json_pack("{s:I}", "revoked", (json_int_t) n);
}

static json_t *
eauth_explain(front_t *front, lconn_t *c, const json_t *request, fail_t *err)
{
    return acl_explain(front, request, err);
}

const request_row_t request_login = { .fn = eauth_login };
const request_row_t request_become = { .fn = eauth_become };
const request_row_t request_token_list = { .fn = eauth_list };
const request_row_t request_token_revoke = { .fn = eauth_revoke };
const request_row_t request_explain = { .fn = eauth_explain };

/* ---- life ---------------------------------------------------------------------------------------------- */

/* salt-auth may hang with its system: a login without an answer in time has failed. Late failures are
 * answered when their time has come. */
static void
eauth_tick(front_t *front, int64_t now_ms)
{
    eauth_t *self = eauth_own(front);

    authline_tick(self->line, now_ms);
    for (attempt_t **link = &self->attempts, *try; (try = *link) != NULL;) {
        if (try->answer_ms == 0 && now_ms - try->since_ms > ANSWER_MS)
            eauth_failed(self, try, "salt-auth does not answer");
        if (try->answer_ms != 0 && now_ms >= try->answer_ms)
            eauth_refuse(eauth_take(self, link));
        else
            link = &try->next;
    }
    if (now_ms < self->expire_ms)
        return;
    self->expire_ms = now_ms + EXPIRE_MS;
    tokens_expire(self->tokens);
}

/* salt-api is known by its user: requests that come from that user bring the address of the client that they
 * are for. Where nobody may log in the user is not looked up, as name services are libraries of some 400 kB. */
static void
eauth_reload(front_t *front)
{
    const char *api = conf_str(front->conf, "api_user");
    passwd_space_auto_t space = { 0 };
    const struct passwd *user = NULL;

    if (json_object_size(conf_get(front->conf, "external_auth")) > 0)
        user = passwd_user(&space, *api != '\0' ? api : API_USER);
    eauth_own(front)->api = user != NULL ? user->pw_uid : (uid_t) -1;
}

static int
eauth_start(front_t *front, fail_t *err)
{
    eauth_t *self = eauth_own(front);

    self->front = front;
    self->line = authline_new(front->loop, eauth_answered, self);
    self->tokens = tokens_new(front, err);
    eauth_reload(front);
    return self->tokens != NULL ? 0 : err->code;
}

static bool
eauth_destroy(front_t *front)
{
    eauth_t *self = eauth_own(front);

    while (self->attempts != NULL)
        eauth_free(eauth_take(self, &self->attempts));
    for (size_t i = 0; i < NELEMS(self->tries); i++)
        free(self->tries[i].who);
    authline_destroy(&self->line);
    tokens_destroy(&self->tokens);
    return true;
}

static void
eauth_line_closed(front_t *front, lconn_t *c)
{
    for (attempt_t *try = eauth_own(front)->attempts; try; try = try->next)
        if (try->c == c)
            try->c = NULL;
}

const front_part_t part_eauth = { .name = "eauth",
                                  .size = sizeof(eauth_t),
                                  .start = eauth_start,
                                  .reload = eauth_reload,
                                  .destroy = eauth_destroy,
                                  .tick = eauth_tick,
                                  .every_ms = 100,
                                  .line_closed = eauth_line_closed };
