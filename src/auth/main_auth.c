/* main_auth.c - salt-auth: checks passwords for the master, which starts it (master/operators/authline.h has
 * the messages).
 *
 * Each login is a process of its own, which answers by itself; one that takes too long, or dies, is answered
 * for here. It ends when the master's end of the line closes. */
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "auth/system.h"
#include "common/base/clock.h"
#include "common/base/memory.h"
#include "common/base/str.h"
#include "common/host/proc.h"
#include "salt/limits.h"
#include "salt/log.h"
#include "salt/value.h"

#define AUTH_FD 3

static const struct {
    const char *name;
    system_fn *fn;
} systems[] = {
#define SYSTEM(name) { #name, system_##name },
#include "auth/systems.def"
#undef SYSTEM
};

/* A login under way. */
typedef struct child {
    pid_t pid; /* 0: free */
    json_int_t id;
    int64_t end_ms; /* monotonic */
} child_t;

static child_t children[LIMIT_AUTH_CHILDREN];

static child_t *
auth_free_child(void)
{
    for (size_t i = 0; i < NELEMS(children); i++)
        if (children[i].pid == 0)
            return &children[i];
    return NULL;
}

static json_t *
auth_no(json_int_t id, const char *why)
{
    json_t *said = value_utf8(why, strlen(why));

    return json_pack("{s:I, s:b, s:o}", "id", id, "ok", false, "why", said);
}

/* TAKES answer. One that is longer than the line's messages (a user of thousands of groups) becomes a
 * refusal: the master can't read a part of a message. */
static void
auth_answer(json_t *answer)
{
    json_int_t id = value_int(answer, "id", 0);
    AUTO_FREE char *text = value_dump(answer);
    size_t len = strlen(text);

    json_decref(answer);
    if (len > LIMIT_AUTH_MSG) {
        json_auto_t *no = auth_no(
            id, "the user has more groups than an answer to the master can hold (64 KB of names, those of "
                "minions by ldap(...) among them): narrow the search for groups");
        free(text);
        text = value_dump(no);
        len = strlen(text);
    }
    if (send(AUTH_FD, text, len, MSG_NOSIGNAL) < 0 && errno != EPIPE)
        log_error("an answer to the master is lost: %s", strerror(errno));
}

/* ---- in the child ----------------------------------------------------------------------------------- */

/* NULL: the system is none of those that are built in. */
static system_fn *
auth_system(const char *name)
{
    for (size_t i = 0; i < NELEMS(systems); i++)
        if (str_eq(systems[i].name, name))
            return systems[i].fn;
    return NULL;
}

/* eauth_acl_module: another system than the one of the login says what the user may do. Of those that are
 * built in only `rest` says anything. 1, or negative with *err. */
static int
auth_rules(const json_t *question, const login_t *login, json_t *found, fail_t *err)
{
    const json_t *other = value_get(question, "acl");
    const char *name = value_str(other, "system", "");
    login_t asked = *login;

    if (*name == '\0' || str_eq(name, login->eauth))
        return 1;
    json_object_del(found, "rules");
    json_object_set_new(found, "rules_of", json_string(name));
    asked.config = value_get(other, "config");
    if (auth_system(name) == NULL)
        return system_python_rules(name, value_str(question, "host", ""), &asked, found, err);
    json_auto_t *its = json_object();
    int rc = str_eq(name, "rest") ? system_rest(&asked, its, err) : 1;
    if (rc > 0 && value_get(its, "rules") != NULL)
        json_object_set(found, "rules", value_get(its, "rules"));
    return rc < 0 ? rc : 1;
}

static json_t *
auth_check(const json_t *question)
{
    const char *name = value_str(question, "system", "");
    const json_t *load = value_get(question, "load");
    const login_t login = {
        value_str(load, "username", ""), value_str(load, "password", ""), name,
        value_get(question, "config"),   value_get(question, "options"),  value_get(question, "places")
    };
    json_int_t id = value_int(question, "id", 0);
    json_auto_t *found = json_object();
    fail_auto_t err = FAIL_INIT;
    system_fn *fn = auth_system(name);
    int rc = fn != NULL ? fn(&login, found, &err)
                        : system_python(name, value_str(question, "host", ""), &login, found, &err);

    if (rc > 0)
        rc = auth_rules(question, &login, found, &err);
    if (rc <= 0)
        return auth_no(id, err.code != 0 ? fail_text(&err) : "wrong user or password");
    (void) json_object_update_new(found, json_pack("{s:I, s:b}", "id", id, "ok", true));
    return json_incref(found);
}

/* ---- in the parent ----------------------------------------------------------------------------------- */

/* False when the master has ended. */
static bool
auth_take(void)
{
    static char text[LIMIT_AUTH_MSG];
    fail_auto_t err = FAIL_INIT;
    ssize_t n = recv(AUTH_FD, text, sizeof(text), 0);

    if (n <= 0)
        return n < 0 && errno == EINTR;
    json_auto_t *question = value_parse(text, (size_t) n, sizeof(text), "the master", &err);
    explicit_bzero(text, (size_t) n);
    if (question != NULL) {
        /* A child per login, in a process group of its own: a library may block, crash or fork. */
        child_t *child = auth_free_child();
        pid_t parent = getpid(), pid = fork();

        if (pid == 0) {
            proc_fresh_signals(NULL);
            proc_end_with(parent);
            (void) setpgid(0, 0);
            auth_answer(auth_check(question));
            _exit(0);
        }
        if (pid > 0)
            (void) setpgid(pid, pid);
        *child = (child_t){ pid < 0 ? 0 : pid, value_int(question, "id", 0),
                            clock_mono_ms() + DEADLINE_S * 1000 };
        if (pid < 0)
            auth_answer(auth_no(child->id, "fork has failed"));
    } else
        log_error("%s", fail_text(&err));
    return true;
}

/* False for the master's wish that all ends. */
static bool
auth_reap(int signals)
{
    struct signalfd_siginfo info;
    int status;
    pid_t pid;

    if (read(signals, &info, sizeof(info)) == sizeof(info) && info.ssi_signo == SIGTERM)
        return false;
    while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
        for (size_t i = 0; i < NELEMS(children); i++) {
            if (children[i].pid != pid)
                continue;
            (void) kill(-pid, SIGKILL); /* what it has started */
            if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
                auth_answer(auth_no(children[i].id, "the system took too long, or its library has crashed"));
            children[i].pid = 0;
        }
    return true;
}

static void
auth_serve(int signals)
{
    for (bool goes_on = true; goes_on;) {
        bool room = auth_free_child() != NULL;
        struct pollfd polled[] = { { signals, POLLIN, 0 }, { room ? AUTH_FD : -1, POLLIN, 0 } };
        /* A child beyond its deadline is killed, as its library may hang; the wait is that for the next
         * deadline. */
        int64_t now = clock_mono_ms(), least = -1;

        for (size_t i = 0; i < NELEMS(children); i++) {
            int64_t left = children[i].end_ms - now;
            if (children[i].pid == 0)
                continue;
            if (left <= 0)
                (void) kill(-children[i].pid, SIGKILL);
            if (left > 0 && (least < 0 || left < least))
                least = left;
        }
        if (poll(polled, NELEMS(polled), (int) least) < 0)
            continue;
        if (polled[0].revents != 0)
            goes_on = auth_reap(signals);
        if (goes_on && polled[1].revents != 0)
            goes_on = auth_take();
    }
    for (size_t i = 0; i < NELEMS(children); i++)
        if (children[i].pid > 0)
            (void) kill(-children[i].pid, SIGKILL);
}

int
main(int argc, char **argv)
{
    const struct rlimit none = { 0, 0 };
    sigset_t set;
    int type = 0;
    socklen_t len = sizeof(type);

    memory_begin();
    (void) setlocale(LC_ALL, "C");
    (void) setenv("LC_ALL", "C", 1);
    log_init("salt-auth", LEVEL_WARNING, false);
    if (getsockopt(AUTH_FD, SOL_SOCKET, SO_TYPE, &type, &len) != 0 || type != SOCK_SEQPACKET) {
        (void) fprintf(stderr, "salt-auth: salt-master starts this program; it is no command\n");
        return EXIT_FAILURE;
    }
    /* A process that was told passwords leaves no memory to others. */
    (void) setrlimit(RLIMIT_CORE, &none);
    (void) prctl(PR_SET_DUMPABLE, 0);
    (void) sigemptyset(&set);
    (void) sigaddset(&set, SIGCHLD);
    (void) sigaddset(&set, SIGTERM);
    (void) sigprocmask(SIG_BLOCK, &set, NULL);
    int signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signals < 0)
        return EXIT_FAILURE;
    auth_serve(signals);
    return 0;
}
