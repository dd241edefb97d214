/* python.c - systems in Python: salt-engine has the interpreter's host, which this program does without. The
 * password goes by a pipe. */
#include "auth/system.h"
#include "common/host/keeper.h"
#include "common/host/prog.h"
#include "salt/limits.h"
#include "salt/value.h"

static int
python_ask(const char *name, const char *host, const login_t *login, bool rules, json_t *found, fail_t *err)
{
    static const char *const told[] = { "groups", "rules" };
    AUTO_FREE char *program = keeper_program("salt-engine");
    json_auto_t *question = json_pack("{s:s, s:s, s:s, s:s, s:b}", "system", name, "username", login->user,
                                      "password", login->password, "eauth", login->eauth, "rules", rules);
    char *text = value_dump(question);
    prog_auto_t prog = PROG_INIT;
    proc_result_t res = { 0 };

    prog_adds(&prog, program != NULL ? program : "salt-engine", host, NULL);
    prog.in = text;
    prog.timeout_ms = DEADLINE_S * 1000;
    int rc = prog_run(&prog, &res, err);
    explicit_bzero(text, strlen(text));
    free(text);
    json_auto_t *answer = rc == 0 ? value_parse(buf_str(&res.out), res.out.len, LIMIT_AUTH_MSG, "salt-engine",
                                                err)
                                  : NULL;
    proc_result_free(&res);
    if (answer == NULL)
        return rc < 0 ? rc : fail_set(err, -EIO, "salt-engine gives no answer to a log-in by %s", name);
    for (size_t i = 0; i < NELEMS(told); i++)
        if (json_is_array(value_get(answer, told[i])))
            json_object_set(found, told[i], value_get(answer, told[i]));
    if (value_bool(answer, "ok", false))
        return 1;
    return value_get(answer, "why") != NULL ? fail_set(err, -EACCES, "%s", value_str(answer, "why", "")) : 0;
}

int
system_python(const char *name, const char *host, const login_t *login, json_t *found, fail_t *err)
{
    return python_ask(name, host, login, false, found, err);
}

int
system_python_rules(const char *name, const char *host, const login_t *login, json_t *found, fail_t *err)
{
    return python_ask(name, host, login, true, found, err);
}
