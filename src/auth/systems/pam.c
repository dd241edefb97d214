/* pam.c - the system `pam`: Linux-PAM, loaded when it is needed. The account is checked as well as the
 * password, as an expired or locked one has a right password too.
 *
 * The declarations are those of Linux-PAM's pam_appl.h and _pam_types.h, whose binary interface is fixed. */
#include <grp.h>
#include <pwd.h>

#include "auth/system.h"
#include "common/base/str.h"
#include "common/host/library.h"
#include "salt/value.h"

enum {
    SUCCESS = 0,
    BUF_ERR = 5,
    CONV_ERR = 19,
    ECHO_OFF = 1,
    ECHO_ON = 2,
    TEXT_ERROR = 3,
    TEXT_INFO = 4,
    SILENT = 0x8000
};

struct message {
    int style;
    const char *text;
};
struct response {
    char *text;
    int unused;
};
struct conversation {
    int (*fn)(int n, const struct message **asked, struct response **ret, void *cookie);
    void *cookie;
};

typedef struct pam {
    int (*start)(const char *service, const char *user, const struct conversation *conv, void **ret);
    int (*authenticate)(void *handle, int flags);
    int (*acct_mgmt)(void *handle, int flags);
    int (*end)(void *handle, int status);
    const char *(*strerror)(void *handle, int code);
} pam_t;

static const char *const pam_libraries[] = { "libpam.so.0", NULL };
static const library_symbol_t pam_symbols[] = { { "pam_start", offsetof(pam_t, start) },
                                                { "pam_authenticate", offsetof(pam_t, authenticate) },
                                                { "pam_acct_mgmt", offsetof(pam_t, acct_mgmt) },
                                                { "pam_end", offsetof(pam_t, end) },
                                                { "pam_strerror", offsetof(pam_t, strerror) } };

/* Answers what is not shown with the password and what is shown with the name; notes need no answer. */
static int
pam_answer(int n, const struct message **asked, struct response **ret, void *cookie)
{
    const login_t *login = cookie;
    struct response *all = calloc((size_t) n, sizeof(*all)); /* freed by the library */

    if (n <= 0 || all == NULL)
        return free(all), n <= 0 ? CONV_ERR : BUF_ERR;
    for (int i = 0; i < n; i++) {
        int style = asked[i]->style;
        if (style == ECHO_OFF || style == ECHO_ON)
            all[i].text = strdup(style == ECHO_OFF ? login->password : login->user);
    }
    *ret = all;
    return SUCCESS;
}

/* The names of all groups of the host that the user is in. NEW. */
static json_t *
pam_groups(const char *user)
{
    const struct passwd *pw = getpwnam(user);
    json_t *names = json_array();
    gid_t gids[1024];
    int n = NELEMS(gids);

    if (pw == NULL || getgrouplist(user, pw->pw_gid, gids, &n) < 0)
        return names;
    for (int i = 0; i < n; i++) {
        const struct group *group = getgrgid(gids[i]);
        if (group != NULL)
            json_array_append_new(names, json_string(group->gr_name));
    }
    return names;
}

int
system_pam(const login_t *login, json_t *found, fail_t *err)
{
    const char *service = value_str(login->options, "auth.pam.service", "login");
    const struct conversation conv = { pam_answer, (void *) login };
    fail_auto_t why = FAIL_INIT;
    void *handle = NULL;
    pam_t pam;

    if (library_open(pam_libraries, pam_symbols, NELEMS(pam_symbols), &pam, &why) == NULL)
        return fail_set(err, -ENOENT, "%s: install the package libpam0g", fail_text(&why));
    int rc = pam.start(service, login->user, &conv, &handle);
    const char *step = "pam_start";
    if (rc == SUCCESS) {
        step = "pam_authenticate";
        rc = pam.authenticate(handle, SILENT);
    }
    if (rc == SUCCESS) {
        step = "pam_acct_mgmt";
        rc = pam.acct_mgmt(handle, SILENT);
    }
    if (rc != SUCCESS)
        (void) fail_set(err, -EACCES, "%s: %s (service %s)", step,
                        handle != NULL ? pam.strerror(handle, rc) : "failed", service);
    if (handle != NULL)
        (void) pam.end(handle, rc);
    if (rc == SUCCESS)
        json_object_set_new(found, "groups", pam_groups(login->user));
    return rc == SUCCESS ? 1 : 0;
}
