/* highstate_summary.c - the summary under a host's states: counts, percentages, run time, aligned as Salt
 * aligns them. */
#include "common/output/highstate.h"
#include "common/output/pytext.h"
#include "salt/value.h"

enum { LONGEST_LABEL = 9, SECONDS_FROM_MS = 999 }; /* "Succeeded" */

typedef struct summary {
    const output_opts_t *opts;
    buf_t *body;
    int width;
} summary_t;

static int
highstate_summary_digits(size_t n)
{
    return snprintf(NULL, 0, "%zu", n);
}

static void
highstate_summary_count_line(summary_t *s, colour_t c, const char *label, const char *count)
{
    buf_printf(s->body, "\n%s%s: %*s%s", colour_code(c, s->opts->colour), label,
               s->width - (int) strlen(label) - 2, count, colour_code(COLOUR_ENDC, s->opts->colour));
}

static void
highstate_summary_number_line(summary_t *s, colour_t c, const char *label, size_t count)
{
    AUTO_FREE char *text = xasprintf("%zu", count);

    highstate_summary_count_line(s, c, label, text);
}

/* A share in percent, rounded to two digits like Python's round(). */
static void
percent_line(summary_t *s, colour_t c, const char *label, size_t part, size_t all)
{
    if (all == 0)
        return;
    AUTO_FREE char *rounded = xasprintf("%.2f", (double) part / (double) all * 100);
    AUTO_FREE char *text = value_float_repr(strtod(rounded, NULL));
    highstate_summary_count_line(s, c, label, text);
}

void
hs_summary(const char *host, const hs_totals_t *t, const output_opts_t *opts, buf_t *body)
{
    const char *end = colour_code(COLOUR_ENDC, opts->colour);
    colour_t failed = t->failed > 0 ? COLOUR_RED : COLOUR_CYAN;
    int count_width = 0;

    /* The number of states, and the width of the largest count of one result (0 without states). */
    const size_t known[] = { t->ok, t->failed, t->not_run };
    size_t all = 0, i = 0;
    const char *key;
    void *n;
    for (size_t k = 0; k < NELEMS(known); k++) {
        all += known[k];
        if (known[k] > 0)
            count_width = highstate_summary_digits(known[k]) > count_width
                              ? highstate_summary_digits(known[k])
                              : count_width;
    }
    while (map_next(t->other, &i, &key, &n)) {
        all += *(size_t *) n;
        count_width = highstate_summary_digits(*(size_t *) n) > count_width
                          ? highstate_summary_digits(*(size_t *) n)
                          : count_width;
    }
    summary_t s = { opts, body, LONGEST_LABEL + count_width + 2 };

    buf_printf(body, "\n%s\nSummary for ", colour_code(COLOUR_CYAN, opts->colour));
    pytext_add_safe(body, host, strlen(host));

    /* Draws the rule above the totals. */
    buf_putc(s.body, '\n');
    buf_fill(s.body, '-', (size_t) s.width);

    buf_puts(body, end);
    highstate_summary_number_line(&s, COLOUR_GREEN, "Succeeded", t->ok + t->not_run);

    /* Append " (unchanged=N, changed=N)". */
    paint_t colour = s.opts->colour;
    const char *between = " (";
    if (t->not_run > 0) {
        buf_printf(s.body, "%s%sunchanged=%zu%s", between, colour_code(COLOUR_LIGHT_YELLOW, colour),
                   t->not_run, colour_code(COLOUR_ENDC, colour));
        between = ", ";
    }
    if (t->changed > 0) {
        buf_printf(s.body, "%s%schanged=%zu%s", between, colour_code(COLOUR_GREEN, colour), t->changed,
                   colour_code(COLOUR_ENDC, colour));
        between = ", ";
    }
    buf_puts(s.body, *between == ',' ? ")" : "");

    size_t kept = opts->person ? t->kept : 0;
    highstate_summary_number_line(&s, failed, "Failed", t->failed - kept);
    if (kept > 0)
        buf_printf(body, "%s, not run: %zu%s", colour_code(COLOUR_YELLOW, opts->colour), kept,
                   colour_code(COLOUR_ENDC, opts->colour));
    if (opts->state_output_pct) {
        percent_line(&s, COLOUR_GREEN, "Success %", t->ok + t->not_run, all);
        percent_line(&s, failed, "Failure %", t->failed, all);
    }
    if (t->with_warnings > 0)
        highstate_summary_number_line(&s, COLOUR_LIGHT_RED, "Warnings", t->with_warnings);
    buf_printf(body, "\n%s", colour_code(COLOUR_CYAN, opts->colour));
    buf_fill(body, '-', (size_t) s.width);
    buf_printf(body, "\nTotal states run: %*zu%s", s.width - 7, all, end);
    if (opts->state_output_profile) {
        /* Appends the total time, in seconds from SECONDS_FROM_MS on. */
        double ms = t->run_ms + t->parallel_ms;
        bool seconds = ms > SECONDS_FROM_MS;
        AUTO_FREE char *text = xasprintf("%.3f", seconds ? ms / 1000 : ms);
        buf_printf(s.body, "\n%sTotal run time: %*s %s%s", colour_code(COLOUR_CYAN, s.opts->colour),
                   s.width - 5, text, seconds ? "s" : "ms", colour_code(COLOUR_ENDC, s.opts->colour));
    }
}
