/* test_parts.c - the table of the minion's parts: what its rows promise to the job server that walks them. */
#include "unit/unit.h"

#include "common/base/str.h"
#include "minion/parts.h"

/* Calls `fn` with each pair of different parts, both ways. */
static void
each_pair(void (*fn)(const minion_part_t *a, const minion_part_t *b))
{
    for (const minion_part_t *const *a = minion_parts; *a; a++)
        for (const minion_part_t *const *b = minion_parts; *b; b++)
            if (a != b)
                fn(*a, *b);
}

static void
names_differ(const minion_part_t *a, const minion_part_t *b)
{
    assert_string_not_equal(a->name, b->name);
}

static void
requests_differ(const minion_part_t *a, const minion_part_t *b)
{
    for (const part_request_t *x = a->requests; x && x->op; x++)
        for (const part_request_t *y = b->requests; y && y->op; y++)
            assert_string_not_equal(x->op, y->op);
}

static void
test_one_owner(void **state)
{
    each_pair(names_differ);
    each_pair(requests_differ);
}

static void
test_pairs_of_hooks(void **state)
{
    size_t n = 0;
    for (const minion_part_t *const *row = minion_parts; *row; row++, n++) {
        const minion_part_t *part = *row;
        assert_true(!part->fd == !part->ready);
        assert_true(!part->start == !part->destroy);
        assert_true(!part->next_ms || part->tick);
        for (const part_message_t *m = part->messages; m && m->name; m++)
            assert_non_null(m->fn);
        for (const part_request_t *r = part->requests; r && r->op; r++)
            assert_non_null(r->fn);
        for (const part_event_t *e = part->events; e && e->tag; e++)
            assert_non_null(e->fn);
    }
    assert_true(n > 0);
}

UNIT_MAIN(cmocka_unit_test(test_one_owner), cmocka_unit_test(test_pairs_of_hooks))
