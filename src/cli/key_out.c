/* key_out.c - output of salt-key: data by the outputter, sentences to stdout, or to stderr when a program
 * reads the data. */
#include "cli/key_cli.h"
#include "common/base/str.h"
#include "salt/value.h"

/* Outputters that programs read. */
static const char *const structured[] = { "json", "yaml", "raw", "pprint" };

static bool
is_structured(const char *out)
{
    for (size_t i = 0; i < NELEMS(structured); i++)
        if (str_eq(out, structured[i]))
            return true;
    return false;
}

int
key_out_init(key_cli_t *cli)
{
    fail_auto_t err = FAIL_INIT;

    if (show_init(&cli->show, cli->values, cli->opts, &err) != 0)
        return key_out_fail("%s", fail_text(&err));
    cli->show.quiet = false; /* --quiet is about sentences: who asks for a list wants it */
    cli->structured = is_structured(cli->show.output);
    cli->prose = cli->structured ? stderr : stdout;
    return 0;
}

/* 0, or 1 when writing failed. */
int
key_out_show(key_cli_t *cli, const json_t *data)
{
    show_data(&cli->show, data, "key", 0);
    return cli->show.failed ? 1 : 0;
}

/* Nothing with --quiet. */
void
key_out_say(const key_cli_t *cli, const char *fmt, ...)
{
    va_list ap;

    if (value_bool(cli->values, "quiet", false))
        return;
    va_start(ap, fmt);
    vfprintf(cli->prose, fmt, ap);
    va_end(ap);
}

/* Prints the error and returns 1, the exit code. */
int
key_out_fail(const char *fmt, ...)
{
    va_list ap;

    fflush(stdout);
    va_start(ap, fmt);
    AUTO_FREE char *text = xvasprintf(fmt, ap);
    va_end(ap);
    fprintf(stderr, "salt-key: %s\n", text);
    return 1;
}
