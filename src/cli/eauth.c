/* eauth.c - see eauth.h. The login is done once; a line that is opened again uses its token, or, without -T,
 * the same credentials. */
#include "cli/eauth.h"

#include <errno.h>
#include <pwd.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "cli/timeout.h"
#include "common/base/clock.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "salt/log.h"
#include "salt/value.h"

#define LOGIN_MS  90000 /* a system may take its time */
#define TOKEN_MAX 4096

static const json_t *given, *options;
static json_t *login; /* {"token"} or {"eauth", "username", "password"}; NULL: none */
static bool looked;

void
eauth_set(const json_t *values, const json_t *opts)
{
    given = values;
    options = opts;
}

/* ---- asking ---------------------------------------------------------------------------------------- */

/* A line of the terminal, or of standard input where there is none; hidden: what is typed is not shown. NEW;
 * "" at the end. */
static char *
eauth_ask(const char *what, bool hidden)
{
    FILE *tty = fopen("/dev/tty", "r+e"), *in = tty != NULL ? tty : stdin, *out = tty != NULL ? tty : stderr;
    struct termios before, quiet;
    char *line = NULL;
    size_t cap = 0;
    bool changed = hidden && tcgetattr(fileno(in), &before) == 0;

    (void) fprintf(out, "%s: ", what);
    (void) fflush(out);
    if (changed) {
        quiet = before;
        quiet.c_lflag &= ~(tcflag_t) ECHO;
        (void) tcsetattr(fileno(in), TCSAFLUSH, &quiet);
    }
    ssize_t n = getline(&line, &cap, in);
    if (changed) {
        (void) tcsetattr(fileno(in), TCSAFLUSH, &before);
        (void) fprintf(out, "\n");
    }
    if (n <= 0)
        line[0] = '\0';
    line[strcspn(line, "\r\n")] = '\0';
    if (tty != NULL)
        (void) fclose(tty);
    return line;
}

/* The option, else what is asked for. */
static void
eauth_field(json_t *request, const char *name, bool hidden)
{
    const char *said = value_str(given, name, NULL);
    AUTO_FREE char *typed = said == NULL ? eauth_ask(name, hidden) : NULL;
    const char *text = said != NULL ? said : typed;
    const struct passwd *pw = !hidden && *text == '\0' ? getpwuid(geteuid()) : NULL;

    json_object_set_new(request, name,
                        pw != NULL ? json_string(pw->pw_name) : value_utf8(text, strlen(text)));
    if (typed != NULL)
        explicit_bzero(typed, strlen(typed));
}

/* ---- the token's file -------------------------------------------------------------------------------- */

static char *
eauth_token_path(void)
{
    const char *path = value_str(options, "token_file", ""), *home = getenv("HOME");

    if (!str_starts(path, "~/"))
        return xstrdup(path);
    return home != NULL && *home != '\0' ? fs_join(home, path + 2) : xstrdup("");
}

/* NEW {"token"}; NULL where there is none that is new enough. */
static json_t *
eauth_kept(void)
{
    AUTO_FREE char *path = eauth_token_path();
    buf_auto_t text = BUF_INIT;
    fail_auto_t err = FAIL_INIT;
    struct stat st;

    if (*path == '\0' || stat(path, &st) != 0)
        return NULL;
    int64_t now_s = clock_wall_us() / 1000000;
    if (now_s - st.st_mtime >= value_int(options, "token_expire", 0))
        return NULL;
    if (st.st_uid != geteuid() || (st.st_mode & 077) != 0) {
        log_warning("%s is not this user's alone (mode 0600): its token is not used", path);
        return NULL;
    }
    if (fs_read(path, TOKEN_MAX, &text, &err) < 0)
        return NULL;
    const char *token = str_trim((char *) buf_str(&text));
    json_t *kept = *token != '\0' ? json_pack("{s:s}", "token", token) : NULL;
    explicit_bzero(text.data, text.len);
    return kept;
}

/* ---- the line ------------------------------------------------------------------------------------------ */

/* Root, and who owns the master's socket. */
static bool
eauth_is_master(const char *sock_dir)
{
    AUTO_FREE char *path = fs_join(sock_dir, LOCAL_SOCKET_NAME);
    struct stat st;

    return geteuid() == 0 || (stat(path, &st) == 0 && st.st_uid == geteuid());
}

/* With -T: a token of the login, which is used from then on. */
static int
eauth_make_token(local_client_t *line, fail_t *err)
{
    json_t *request = json_copy(login);
    json_auto_t *reply = NULL;

    json_object_set_new(request, "op", json_string("login"));
    int rc = local_call(line, &request, &reply, err);
    if (rc < 0)
        return rc;
    json_decref(login);
    login = json_pack("{s:s}", "token", value_str(reply, "token", ""));
    /* The login has succeeded: that its token can't be kept for the next command is logged, and no failure.
     */
    const char *token = value_str(reply, "token", "");
    AUTO_FREE char *path = eauth_token_path();
    fail_auto_t why = FAIL_INIT;

    if (*path == '\0')
        log_error("the token is not kept: there is no HOME");
    else if (fs_write_atomic(path, token, strlen(token), 0600, &why) < 0)
        log_error("the token is not kept: %s", fail_text(&why));
    return 0;
}

static int
eauth_look(local_client_t *line, const char *sock_dir, fail_t *err)
{
    looked = true;
    if (value_str(given, "eauth", NULL) == NULL) {
        login = eauth_is_master(sock_dir) ? NULL : eauth_kept();
        return 0;
    }
    login = json_object();
    json_object_set(login, "eauth", value_get(given, "eauth"));
    eauth_field(login, "username", false);
    eauth_field(login, "password", true);
    return value_bool(given, "mktoken", false) ? eauth_make_token(line, err) : 0;
}

local_client_t *
eauth_connect(const char *sock_dir, int64_t timeout_ms, fail_t *err)
{
    AUTO(local_client) line = local_connect(sock_dir, err);
    json_auto_t *reply = NULL;

    if (line == NULL)
        return NULL;
    local_timeout(line, LOGIN_MS, NULL);
    if (!looked && eauth_look(line, sock_dir, err) < 0)
        return NULL;
    json_t *request = login != NULL ? json_copy(login) : NULL;
    if (request != NULL) {
        json_object_set_new(request, "op", json_string("become"));
        if (local_call(line, &request, &reply, err) < 0)
            return NULL;
    }
    timeout_set(line, timeout_ms);
    return STEAL(line);
}

bool
eauth_is_set(const char *sock_dir)
{
    json_auto_t *kept = eauth_is_master(sock_dir) ? NULL : eauth_kept();

    return value_str(given, "eauth", NULL) != NULL || kept != NULL;
}
