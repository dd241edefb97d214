/* view.c - see view.h. */
#include "api/view.h"

#include "common/base/plainwrite.h"
#include "common/base/str.h"
#include "salt/value.h"

enum { PIECES = 5 };

struct view {
    json_t *jobs, *minions;   /* by jid, by id; in the order in which they came */
    size_t bytes[VIEW_PARTS]; /* of the events that made them: they have less as text */
    uint64_t number[VIEW_PARTS], shown[VIEW_PARTS];
    char *text[VIEW_PARTS]; /* owned: as it was at number `shown` */
};

view_t *
view_new(void)
{
    view_t *self = xcalloc(1, sizeof(*self));

    self->jobs = json_object();
    self->minions = json_object();
    return self;
}

void
view_destroy(view_t **self_p)
{
    view_t *self = STEAL(*self_p);

    if (self == NULL)
        return;
    json_decref(self->jobs);
    json_decref(self->minions);
    for (size_t i = 0; i < VIEW_PARTS; i++)
        free(self->text[i]);
    free(self);
}

/* BORROWED: the object `key` of `in`, made when it is not there. */
static json_t *
member(json_t *in, const char *key)
{
    json_t *one = value_get(in, key);

    if (json_is_object(one))
        return one;
    one = json_object();
    json_object_set_new(in, key, one);
    return one;
}

/* The oldest leave, a single one that is too large as well: GET /jobs/JID has it. So many do that the next
 * look at the whole is far away. Its length as text is returned. */
static size_t
view_shrink(json_t *object)
{
    size_t len = json_dumpb(object, NULL, 0, 0);

    if (len <= VIEW_BYTES)
        return len;
    while (len > VIEW_BYTES / 2 && json_object_size(object) > 0) {
        void *oldest = json_object_iter(object);
        size_t its = strlen(json_object_iter_key(oldest)) +
                     json_dumpb(json_object_iter_value(oldest), NULL, 0, 0);
        len -= its < len ? its : len;
        (void) json_object_del(object, json_object_iter_key(oldest));
    }
    return len;
}

static void
view_job(view_t *self, char **pieces, size_t n, const json_t *data)
{
    bool grains = str_eq(value_str(data, "fun", ""), "grains.items");
    size_t len = json_dumpb(data, NULL, 0, 0);

    if (n < 4)
        return;
    if (str_eq(pieces[3], "new")) {
        static const char *const fields[] = { "fun", "tgt", "tgt_type" };
        const char *jid = value_str(data, "jid", "");
        json_t *minions = json_object(), *id, *job;
        size_t i;

        json_array_foreach (value_get(data, "minions"), i, id)
            if (json_is_string(id))
                json_object_set_new(minions, json_string_value(id), json_pack("{s:b}", "success", false));
        job = json_pack("{s:s, s:O?, s:o}", "jid", jid, "start_time", value_get(data, "_stamp"), "minions",
                        minions);
        for (i = 0; i < NELEMS(fields); i++)
            json_object_set(job, fields[i], value_get(data, fields[i]));
        json_object_set_new(job, "state", json_string("running"));
        json_object_set_new(self->jobs, jid, job);
        if (grains) {
            /* Grains are asked anew: those of before do not count any longer. */
            json_t *minion;
            size_t k;

            json_array_foreach (value_get(data, "minions"), k, minion)
                if (json_is_string(minion))
                    (void) json_object_del(self->minions, json_string_value(minion));
        }
    } else if (n == PIECES && str_eq(pieces[3], "ret")) {
        /* A job is complete when all minions have succeeded, as in Salt: a job with a failure stays
         * "running". */
        static const char *const fields[] = { "return", "retcode", "success" };
        json_t *job = member(self->jobs, pieces[2]), *minions = member(job, "minions"),
               *minion = member(minions, pieces[4]), *one;
        bool complete = true;
        const char *key;

        for (size_t i = 0; i < NELEMS(fields); i++)
            json_object_set(minion, fields[i], value_get(data, fields[i]));
        json_object_foreach (minions, key, one)
            if (!(complete = value_truthy(value_get(one, "success"))))
                break;
        if (complete)
            json_object_set_new(job, "state", json_string("complete"));
        if (grains) {
            json_object_set(member(self->minions, pieces[4]), "grains", value_get(data, "return"));
            self->number[VIEW_OF_MINIONS]++;
            self->bytes[VIEW_OF_MINIONS] += len;
        }
    } else {
        return;
    }
    self->bytes[VIEW_OF_JOBS] += len;
    self->number[VIEW_OF_JOBS]++;
}

void
view_take(view_t *self, const char *tag, const json_t *data)
{
    char **pieces = str_split(tag, "/", false);
    size_t n = strv_len(pieces);

    if (n > 1 && str_eq(pieces[1], "job"))
        view_job(self, pieces, n, data);
    else if (n > 1 && str_eq(pieces[1], "key")) {
        const char *act = value_str(data, "act", ""), *id = value_str(data, "id", "");

        if (str_eq(act, "delete"))
            (void) json_object_del(self->minions, id);
        else if (str_eq(act, "accept"))
            (void) member(self->minions, id);
        self->bytes[VIEW_OF_MINIONS] += strlen(id);
        self->number[VIEW_OF_MINIONS]++;
    } else if (n > 1 && str_eq(pieces[1], "presence") && json_is_array(value_get(data, "present"))) {
        /* Minions that are not present leave. Salt asks new ones for their grains, by a job of the stream's
         * user for each stream, which makes it forget all others; a stream that is read begins no jobs here.
         */
        const json_t *present = value_get(data, "present");
        json_t *left = json_object(), *one;
        bool changed = false;
        size_t i;

        json_array_foreach (present, i, one) {
            if (!json_is_string(one))
                continue;
            changed = changed || value_get(self->minions, json_string_value(one)) == NULL;
            json_object_set(left, json_string_value(one), member(self->minions, json_string_value(one)));
        }
        changed = changed || json_object_size(left) != json_object_size(self->minions);
        json_decref(self->minions);
        self->minions = left;
        self->bytes[VIEW_OF_MINIONS] += changed ? json_dumpb(present, NULL, 0, 0) : 0;
        self->number[VIEW_OF_MINIONS] += changed;
    }
    while (json_object_size(self->jobs) > VIEW_JOBS)
        (void) json_object_del(self->jobs, json_object_iter_key(json_object_iter(self->jobs)));
    if (self->bytes[VIEW_OF_JOBS] > VIEW_BYTES)
        self->bytes[VIEW_OF_JOBS] = view_shrink(self->jobs);
    if (self->bytes[VIEW_OF_MINIONS] > VIEW_BYTES)
        self->bytes[VIEW_OF_MINIONS] = view_shrink(self->minions);
    strv_free(pieces);
}

uint64_t
view_number(const view_t *self, view_part_t part)
{
    return self->number[part];
}

/* NEW: minions as a list. */
static json_t *
minions_list(const view_t *self)
{
    json_t *list = json_array(), *one;
    const char *id;

    json_object_foreach (self->minions, id, one) {
        json_t *shown = json_copy(one);
        json_object_set_new(shown, "id", json_string(id));
        json_array_append_new(list, shown);
    }
    return list;
}

const char *
view_text(view_t *self, view_part_t part, size_t *ret_len)
{
    if (self->text[part] == NULL || self->shown[part] != self->number[part]) {
        json_auto_t *whole = part == VIEW_OF_JOBS ? json_pack("{s:O}", "jobs", self->jobs)
                                                  : json_pack("{s:o}", "minions", minions_list(self));
        free(self->text[part]);
        buf_auto_t text = BUF_INIT;
        int rc = plain_add_blanks(whole, &text);
        salt_assert(rc == 0);
        self->text[part] = buf_steal(&text);
        self->shown[part] = self->number[part];
    }
    *ret_len = strlen(self->text[part]);
    return self->text[part];
}
