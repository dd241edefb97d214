/* connfail.c - see connfail.h. Sentences are templates with places in braces; each names the cause, then the
 * remedy.
 */
#include "uplink/connfail.h"

#include <netdb.h>

#include "common/base/buf.h"
#include "common/base/str.h"

#define TELL_MS     120000
#define TELL_MAX_MS 3600000
#define CHANGE_S    60 /* seconds of `changes` that one change costs: some at once, then one a minute */

/* ---- the table ----------------------------------------------------------------------------------- */

/* {host}, {port}, {id}, {finger}, {detail}: the facts; {more}: "; " and the detail, or nothing. */
static const char *const sentences[CONNFAIL_WHYS] = {
    [CONNFAIL_NAME] = "the name can't be resolved: {detail}. Check the option master, and /etc/hosts and "
                      "/etc/resolv.conf here (getent hosts {host})",
    [CONNFAIL_RESOLVER] =
        "the resolver gives no answer for this name. Check /etc/resolv.conf here and the name "
        "server (getent hosts {host}), or give master as an address",
    [CONNFAIL_NOTHING] =
        "nothing answers at {host}:{port}: {detail}. Start salt-master there (systemctl start "
        "salt-master), or correct the options master, master_port, publish_port and hello_port here",
    [CONNFAIL_TIMEOUT] = "no answer from {host}:{port}: {detail}. Check that the machine is up, and that no "
                         "firewall on the way holds back TCP to these ports",
    [CONNFAIL_NO_ROUTE] = "no way leads to {host}:{port}: {detail}. Check the network and the routes of this "
                          "machine (ip route)",
    [CONNFAIL_LOCAL] =
        "this machine can't connect to {host}:{port}: {detail}. Check the option source_address, "
        "the firewall and the limits here",
    [CONNFAIL_NO_HELLO] =
        "a master answers at {host}, but not at the port that introduces its key: {detail}. "
        "Open that port, or copy the master's master.pub to minion_master.pub in pki_dir here",
    [CONNFAIL_SILENT] = "{host}:{port} takes the connection and then says nothing: salt-master is stopped or "
                        "overloaded, or another program listens there. Look at its log and at ss -tlnp there",
    [CONNFAIL_SALT] =
        "a Salt master, not Halite, answers at {host}:{port}: it speaks ZeroMQ without the "
        "encryption that Halite needs. Install Halite's salt-master there, or name a Halite master "
        "in the option master",
    [CONNFAIL_FOREIGN] = "no Halite master, but another program answers at {host}:{port}{detail}. Check the "
                         "options master and master_port here, and ss -tlnp there",
    [CONNFAIL_PENDING] =
        "this minion's key waits for acceptance; its fingerprint is {finger}. On the master, "
        "compare it by salt-key -f {id} and run: salt-key -a {id}{more}",
    [CONNFAIL_REJECTED] =
        "this minion's key was rejected there; its fingerprint is {finger}. On the master: "
        "salt-key -a {id} --include-rejected accepts it, salt-key -d {id} lets it ask anew{more}",
    [CONNFAIL_BARRED] =
        "the master refuses this minion's key before a word is said: it was rejected there, or too "
        "many unknown keys wait (salt-key -L). On the master: salt-key -a {id} --include-rejected "
        "accepts it; its fingerprint is {finger}",
    [CONNFAIL_DENIED] =
        "the master denies the id {id} to this minion: {detail}. The fingerprint here is {finger}",
    [CONNFAIL_DUPLICATE] = "{detail}",
    [CONNFAIL_FULL] = "{detail}. On the master: salt-key -L, then accept, reject or delete some",
    [CONNFAIL_PROTOCOL] = "{detail}",
    [CONNFAIL_STRANGER] = "{detail}",
};

char *
connfail_sentence(const connfail_facts_t *facts)
{
    char port[16];
    (void) snprintf(port, sizeof(port), "%d", facts->port);
    AUTO_FREE char *more = xasprintf("%s%s", str_empty(facts->detail) ? "" : "; ",
                                     facts->detail != NULL ? facts->detail : "");
    const struct {
        const char *name, *value;
    } fills[] = { { "{host}", facts->host },     { "{port}", port },
                  { "{id}", facts->id },         { "{finger}", facts->finger },
                  { "{detail}", facts->detail }, { "{more}", more } };
    buf_auto_t out = BUF_INIT;

    /* A single pass from left to right: a brace in a fact is never taken for a place. */
    for (const char *p = sentences[facts->why]; *p != '\0';) {
        size_t i = 0;
        while (i < NELEMS(fills) && !str_starts(p, fills[i].name))
            i++;
        if (i == NELEMS(fills)) {
            buf_putc(&out, *p++);
            continue;
        }
        buf_puts(&out, fills[i].value != NULL ? fills[i].value : "");
        p += strlen(fills[i].name);
    }
    return xstrdup(buf_str(&out));
}

connfail_why_t
connfail_of_welcome(const char *state)
{
    static const struct {
        const char *state;
        connfail_why_t why;
    } rows[] = { { "pending", CONNFAIL_PENDING },
                 { "rejected", CONNFAIL_REJECTED },
                 { "duplicate", CONNFAIL_DUPLICATE },
                 { "protocol", CONNFAIL_PROTOCOL },
                 { "full", CONNFAIL_FULL } };

    for (size_t i = 0; i < NELEMS(rows); i++)
        if (str_eq(state, rows[i].state))
            return rows[i].why;
    return CONNFAIL_DENIED;
}

/* ---- ports --------------------------------------------------------------------------------------- */

/* The reason for connect()'s errno; anything unknown is this machine's own trouble. */
static connfail_why_t
of_errno(int code)
{
    static const struct {
        int code;
        connfail_why_t why;
    } rows[] = { { ECONNREFUSED, CONNFAIL_NOTHING },  { ECONNRESET, CONNFAIL_NOTHING },
                 { ETIMEDOUT, CONNFAIL_TIMEOUT },     { ENETUNREACH, CONNFAIL_NO_ROUTE },
                 { EHOSTUNREACH, CONNFAIL_NO_ROUTE }, { ENETDOWN, CONNFAIL_NO_ROUTE } };

    for (size_t i = 0; i < NELEMS(rows); i++)
        if (code == rows[i].code)
            return rows[i].why;
    return CONNFAIL_LOCAL;
}

/* Judges the first bytes of a port that took the connection: a ZMTP greeting with CURVE is a Halite master's
 * (false: nothing is wrong); ZMTP with NULL is a Salt master's. */
static bool
of_greeting(const knock_said_t *said, connfail_facts_t *facts, char **ret_detail)
{
    if (said->greets == KNOCK_ZMTP && str_eq(said->mechanism, "CURVE"))
        return false;
    facts->why = said->greets == KNOCK_NOT         ? CONNFAIL_SILENT
                 : said->greets == KNOCK_FOREIGN   ? CONNFAIL_FOREIGN
                 : str_eq(said->mechanism, "NULL") ? CONNFAIL_SALT
                                                   : CONNFAIL_FOREIGN;
    if (said->greets == KNOCK_ZMTP && facts->why == CONNFAIL_FOREIGN)
        *ret_detail = xasprintf(" (ZeroMQ with the mechanism %s)", said->mechanism);
    return true;
}

bool
connfail_of_knock(const knock_said_t *said, const int ports[KNOCK_PORTS], bool asks, connfail_facts_t *facts,
                  char **ret_detail)
{
    int hello = KNOCK_PORTS - 1;

    *ret_detail = NULL;
    facts->port = ports[0];
    if (said->name != 0) {
        facts->why = CONNFAIL_NAME;
        *ret_detail = xstrdup(gai_strerror(said->name));
        return true;
    }
    if (said->code[0] == 0 && of_greeting(said, facts, ret_detail))
        return true;
    if (said->code[0] == 0 && (!asks || said->code[hello] == 0))
        return false;
    facts->why = said->code[0] == 0 ? CONNFAIL_NO_HELLO : of_errno(said->code[0]);

    /* Each port that failed, with the text and name of its errno. */
    buf_auto_t out = BUF_INIT;
    for (int i = 0; i < KNOCK_PORTS; i++) {
        if (said->code[i] == 0)
            continue;
        const char *name = strerrorname_np(said->code[i]);
        buf_printf(&out, "%sport %d: %s (%s)", out.len > 0 ? ", " : "", ports[i], strerror(said->code[i]),
                   name != NULL ? name : "?");
    }
    *ret_detail = xstrdup(buf_str(&out));

    return true;
}

/* ---- telling ------------------------------------------------------------------------------------- */

bool
connfail_log_due(connfail_log_t *self, const char *sentence, int64_t now_ms)
{
    bool same = self->last != NULL && str_eq(self->last, sentence);

    if (same ? now_ms < self->next_ms : !rate_spare(&self->changes, now_ms))
        return false;
    self->pause_ms = !same ? TELL_MS : self->pause_ms * 2 < TELL_MAX_MS ? self->pause_ms * 2 : TELL_MAX_MS;
    self->next_ms = now_ms + self->pause_ms;
    if (!same) {
        rate_owe(&self->changes, CHANGE_S - 1);
        char *old = self->last;
        self->last = xstrdup(sentence);
        free(old);
    }
    return true;
}

void
connfail_log_reset(connfail_log_t *self)
{
    free(STEAL(self->last));
}
