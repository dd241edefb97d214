/* view.h - jobs and minions as GET /ws?format_events tells them: pictures of what the events of one user
 * amount to.
 *
 * Format     the shapes of Salt's rest_cherrypy/event_processor.py: {"jobs": {JID: {"jid", "start_time",
 *            "minions": {ID: {"success", "return", "retcode"}}, "fun", "tgt", "tgt_type", "state":
 *            "running"|"complete"}}} and {"minions": [{"id", "grains"}]}
 * Bounds     VIEW_JOBS jobs and VIEW_BYTES of text: the oldest jobs go first, then grains
 * Layer      api; pure
 * Threads    one
 * Tests      tests/unit/api/test_api_view.c, which has Salt's own answers; tests/t/6330-api-streams.bats
 */
#ifndef API_VIEW_H
#define API_VIEW_H

#include "salt/base.h"

#define VIEW_JOBS  100
#define VIEW_BYTES (2 * 1024 * 1024)

typedef enum view_part { VIEW_OF_JOBS, VIEW_OF_MINIONS, VIEW_PARTS } view_part_t;

typedef struct view view_t;

view_t *view_new(void); /* NEW */
void view_destroy(view_t **self_p);
/* Takes an event into account. The parts that have changed have a new number afterwards. */
void view_take(view_t *self, const char *tag, const json_t *data);
/* How often the part has changed. */
uint64_t view_number(const view_t *self, view_part_t part);
/* The part as it is now. BORROWED until the next call. */
const char *view_text(view_t *self, view_part_t part, size_t *ret_len);

#endif
