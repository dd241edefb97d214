/* summary.c - see summary.h: counts returns and formats Salt's --summary. */
#include "cli/summary.h"

#include "common/cli/ttyguard.h"

#define RULE "-------------------------------------------\n"

static void
summary_add_name(buf_t *names, const char *id)
{
    buf_printf(names, " %s%s", id, ttyguard_bound(stdout));
}

void
summary_return(summary_t *self, const char *id, int retcode)
{
    self->returned++;
    if (retcode == 0)
        return;
    self->n_failed++;
    summary_add_name(&self->failed, id);
}

void
summary_silent(summary_t *self, const char *id, outcome_t outcome)
{
    self->silent++;
    summary_add_name(outcome == OUTCOME_NOT_CONNECTED ? &self->not_connected : &self->no_response, id);
}

static void
summary_add_names(buf_t *out, const char *what, const buf_t *ids)
{
    if (ids->len > 0)
        buf_printf(out, "%s:%s\n", what, buf_str(ids));
}

void
summary_format(const summary_t *self, bool verbose, buf_t *out)
{
    buf_printf(out, "\n\n" RULE "Summary\n" RULE "# of minions targeted: %zu\n# of minions returned: %zu\n",
               self->returned + self->silent, self->returned);
    buf_printf(out, "# of minions that did not return: %zu\n# of minions with errors: %zu\n", self->silent,
               self->n_failed);
    if (verbose) {
        summary_add_names(out, "Minions not connected", &self->not_connected);
        summary_add_names(out, "Minions not responding", &self->no_response);
        summary_add_names(out, "Minions with failures", &self->failed);
    }
    buf_puts(out, RULE);
}

void
summary_free(summary_t *self)
{
    buf_free(&self->not_connected);
    buf_free(&self->no_response);
    buf_free(&self->failed);
}
