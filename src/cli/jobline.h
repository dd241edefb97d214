/* jobline.h - the jobs of one command and its line to the master: publish, then one piece of news after the
 * other.
 *
 * Survives a restart of the master: the line is opened again and the jobs are followed from where they are.
 *
 * Layer      cli
 * Threads    one
 * Errors     -EREMOTEIO: the master refused, with its text; else the line is broken
 * Tests      tests/unit/cli/test_cli.c
 */
#ifndef CLI_JOBLINE_H
#define CLI_JOBLINE_H

#include "common/local/follow.h"
#include "salt/base.h"

#define JOBLINE_RECONNECT_MS 15000 /* how long a master may take to come back */
#define JOBLINE_BREAKS       5     /* breaks in a row, each within that time, without any return */

typedef struct jobline jobline_t;

/* NEW, or NULL with *err: no master listens in `sock_dir`. `timeout_ms` is --timeout. */
jobline_t *jobline_new(const char *sock_dir, int64_t timeout_ms, fail_t *err);
void jobline_destroy(jobline_t **self_p);

/* Calls an operation whose only answer is its reply. TAKES *request_p. 0 and *ret_reply NEW, or a negative
 * errno. */
int jobline_call(jobline_t *self, json_t **request_p, json_t **ret_reply, fail_t *err);

/* Publish and follow. TAKES *request_p (without "op"). 0 and *ret_job BORROWED until jobline_forget, or NULL
 * when nobody matched; else a negative errno. */
int jobline_publish(jobline_t *self, json_t **request_p, follow_t **ret_job, fail_t *err);
/* Accepts NULL; sets *job_p to NULL. */
void jobline_forget(jobline_t *self, follow_t **job_p);

typedef enum news_kind {
    NEWS_RETURN, /* id and push */
    NEWS_SILENT, /* id, outcome and text */
    NEWS_OVER,   /* nothing more of this job */
    NEWS_EVENT,  /* push: an event that was asked for */
    NEWS_TICK    /* `until_ms` passed */
} news_kind_t;

typedef struct news {
    news_kind_t kind;
    follow_t *job;  /* BORROWED; NULL for NEWS_EVENT and NEWS_TICK */
    const char *id; /* BORROWED from the job or the push */
    json_t *push;   /* owned: the return, or the event */
    outcome_t outcome;
    char *text; /* owned */
} news_t;

void news_free(news_t *news);
/* The next news of any job, waiting until `until_ms` (monotonic) at most; -1: for ever. 0, or a negative
 * errno. */
int jobline_news(jobline_t *self, int64_t until_ms, news_t *ret, fail_t *err);
/* True when a received message is queued, so that reading does not block. */
bool jobline_more(const jobline_t *self);

#endif
