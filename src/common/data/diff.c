/* diff.c - unified differences with difflib's choice of matching blocks.
 *
 * The texts are split into lines and each distinct line gets a number. As difflib does, the longest common
 * run is found first, then those to its left and right; the gaps between the runs are the changes, printed as
 * hunks with CONTEXT equal lines around. Line counts, bytes and steps are bounded, because the search is
 * quadratic for unlucky texts. */
#include "common/data/diff.h"

#include "common/base/buf.h"
#include "salt/limits.h"

enum { CONTEXT = 3, POPULAR_FROM = 200 };

/* Lines become small numbers first: equal lines, equal numbers. */
typedef struct seqs {
    const diff_line_t *a, *b;
    size_t n_a, n_b;
    size_t *id_a, *id_b;
    size_t n_ids;
    size_t *first;          /* per id: where its places in b start in `places`; n_ids + 1 entries */
    size_t *places;         /* places in b, ascending per id */
    size_t *run, *next_run; /* per place in b + 1: length of the common run that ends there */
    size_t steps;           /* of the search for such runs: it is given up above DIFF_STEPS */
} seqs_t;

typedef struct block {
    size_t i, j, n;
} block_t;

typedef struct blocks {
    block_t *v;
    size_t n, cap;
} blocks_t;

/* Offset after the line that begins at `at`, its line end included. CRLF counts as one line end. */
static size_t
diff_line_end(const char *text, size_t at, size_t len, bool lf_only)
{
    while (at < len && text[at] != '\n' && (lf_only || text[at] != '\r'))
        at++;
    if (at + 1 < len && text[at] == '\r' && text[at + 1] == '\n')
        at++;
    return at < len ? at + 1 : len;
}

diff_line_t *
diff_lines(const char *text, size_t len, bool lf_only, size_t *ret_n)
{
    diff_line_t *lines = NULL;
    size_t n = 0, cap = 0;

    for (size_t at = 0; at < len;) {
        size_t end = diff_line_end(text, at, len, lf_only);
        if (n == cap) {
            cap = cap * 2 + 16;
            lines = xrealloc(lines, cap * sizeof(*lines));
        }
        lines[n++] = (diff_line_t){ text + at, end - at };
        at = end;
    }
    *ret_n = n;
    return lines;
}

/* ---- numbering ------------------------------------------------------------------------------- */

typedef struct entry {
    diff_line_t line;
    size_t *id;
} entry_t;

static int
entry_cmp(const void *pa, const void *pb)
{
    const entry_t *a = pa, *b = pb;

    if (a->line.len != b->line.len)
        return a->line.len < b->line.len ? -1 : 1;
    return memcmp(a->line.text, b->line.text, a->line.len);
}

/* Sorts all lines of both texts and gives equal ones the same number: O(n log n) instead of hashing. */
static void
number_lines(seqs_t *s)
{
    size_t n = s->n_a + s->n_b;
    entry_t *entries = xcalloc(n + 1, sizeof(*entries));

    s->id_a = xcalloc(s->n_a + 1, sizeof(size_t));
    s->id_b = xcalloc(s->n_b + 1, sizeof(size_t));
    for (size_t i = 0; i < s->n_a; i++)
        entries[i] = (entry_t){ s->a[i], &s->id_a[i] };
    for (size_t i = 0; i < s->n_b; i++)
        entries[s->n_a + i] = (entry_t){ s->b[i], &s->id_b[i] };
    qsort(entries, n, sizeof(*entries), entry_cmp);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && entry_cmp(&entries[i - 1], &entries[i]) != 0)
            s->n_ids++;
        *entries[i].id = s->n_ids;
    }
    s->n_ids++;
    free(entries);
}

/* ---- matching blocks ------------------------------------------------------------------------- */

/* `run` is reset at the places that the last line touched only; clearing all of it for each line would be
 * quadratic. */
static void
clear_runs(seqs_t *s, size_t id)
{
    for (size_t p = s->first[id]; p < s->first[id + 1]; p++)
        s->run[s->places[p] + 1] = 0;
}

/* SequenceMatcher.find_longest_match: the longest run common to a[alo,ahi) and b[blo,bhi), the first of
 * equals. run[j + 1] is the length of the common run that ends at line i - 1 of a and j of b. At the end the
 * run is extended over popular lines. The result is meaningless once `steps` exceeds DIFF_STEPS; the caller
 * checks. */
static block_t
longest_match(seqs_t *s, size_t alo, size_t ahi, size_t blo, size_t bhi)
{
    block_t best = { alo, blo, 0 };

    for (size_t i = alo; i < ahi && s->steps <= DIFF_STEPS; i++) {
        size_t id = s->id_a[i];
        s->steps += 1 + s->first[id + 1] - s->first[id];
        for (size_t p = s->first[id]; p < s->first[id + 1]; p++) {
            size_t j = s->places[p];
            if (j < blo)
                continue;
            if (j >= bhi)
                break;
            size_t k = s->next_run[j + 1] = s->run[j] + 1;
            if (k > best.n)
                best = (block_t){ i + 1 - k, j + 1 - k, k };
        }
        if (i > alo)
            clear_runs(s, s->id_a[i - 1]);
        size_t *swap = s->run;
        s->run = s->next_run;
        s->next_run = swap;
    }
    if (ahi > alo)
        clear_runs(s, s->id_a[ahi - 1]);
    while (best.i > alo && best.j > blo && s->id_a[best.i - 1] == s->id_b[best.j - 1])
        best = (block_t){ best.i - 1, best.j - 1, best.n + 1 };
    while (best.i + best.n < ahi && best.j + best.n < bhi &&
           s->id_a[best.i + best.n] == s->id_b[best.j + best.n])
        best.n++;
    return best;
}

static void
blocks_add(blocks_t *list, block_t b)
{
    if (list->n == list->cap) {
        list->cap = list->cap * 2 + 16;
        list->v = xrealloc(list->v, list->cap * sizeof(b));
    }
    list->v[list->n++] = b;
}

typedef struct range {
    size_t alo, ahi, blo, bhi;
} range_t;

static int
block_cmp(const void *pa, const void *pb)
{
    const block_t *a = pa, *b = pb;

    if (a->i != b->i)
        return a->i < b->i ? -1 : 1;
    return a->j < b->j ? -1 : a->j > b->j;
}

/* SequenceMatcher.get_matching_blocks with an explicit stack instead of recursion: the blocks sorted, joined,
 * and ended by an empty one at both ends. False when the search took more than DIFF_STEPS. */
static bool
matching_blocks(seqs_t *s, blocks_t *out)
{
    size_t n = 1, cap = 16;
    range_t *todo = xcalloc(cap, sizeof(*todo));

    todo[0] = (range_t){ 0, s->n_a, 0, s->n_b };
    while (n > 0 && s->steps <= DIFF_STEPS) {
        range_t r = todo[--n];
        block_t b = longest_match(s, r.alo, r.ahi, r.blo, r.bhi);
        if (b.n == 0)
            continue;
        blocks_add(out, b);
        if (n + 2 > cap) {
            cap *= 2;
            todo = xrealloc(todo, cap * sizeof(*todo));
        }
        if (r.alo < b.i && r.blo < b.j)
            todo[n++] = (range_t){ r.alo, b.i, r.blo, b.j };
        if (b.i + b.n < r.ahi && b.j + b.n < r.bhi)
            todo[n++] = (range_t){ b.i + b.n, r.ahi, b.j + b.n, r.bhi };
    }
    free(todo);
    if (out->n > 0)
        qsort(out->v, out->n, sizeof(*out->v), block_cmp);

    /* Blocks that touch become one. */
    size_t kept = 0;
    for (size_t k = 0; k < out->n; k++) {
        block_t b = out->v[k];
        block_t *last = kept > 0 ? &out->v[kept - 1] : NULL;
        if (last != NULL && last->i + last->n == b.i && last->j + last->n == b.j)
            last->n += b.n;
        else
            out->v[kept++] = b;
    }
    out->n = kept;

    blocks_add(out, (block_t){ s->n_a, s->n_b, 0 });
    return s->steps <= DIFF_STEPS;
}

/* ---- printing -------------------------------------------------------------------------------- */

static void
diff_put_lines(buf_t *out, char mark, const diff_line_t *lines, size_t from, size_t to)
{
    for (size_t k = from; k < to; k++) {
        buf_putc(out, mark);
        buf_add(out, lines[k].text, lines[k].len);
    }
}

/* "-3,4" of a hunk's head: 1-based first line and length, the length omitted when 1. An empty range names the
 * line before. */
static void
put_range(buf_t *out, char mark, size_t from, size_t to)
{
    size_t n = to - from;

    buf_printf(out, "%c%zu", mark, n == 0 ? from : from + 1);
    if (n != 1)
        buf_printf(out, ",%zu", n);
}

/* A gap between two matching blocks: a[i1,i2) became b[j1,j2). */
typedef struct change {
    size_t i1, i2, j1, j2;
} change_t;

/* Changes first..last with up to CONTEXT equal lines around and all equal ones between. */
static void
put_hunk(const seqs_t *s, const change_t *c, size_t first, size_t last, buf_t *out)
{
    size_t before = c[first].i1 < c[first].j1 ? c[first].i1 : c[first].j1;
    if (before > CONTEXT)
        before = CONTEXT;
    size_t after = s->n_a - c[last].i2 < s->n_b - c[last].j2 ? s->n_a - c[last].i2 : s->n_b - c[last].j2;
    if (after > CONTEXT)
        after = CONTEXT;
    size_t from = c[first].i1 - before;

    buf_puts(out, "@@ ");
    put_range(out, '-', from, c[last].i2 + after);
    buf_putc(out, ' ');
    put_range(out, '+', c[first].j1 - before, c[last].j2 + after);
    buf_puts(out, " @@\n");
    for (size_t k = first; k <= last; k++) {
        diff_put_lines(out, ' ', s->a, from, c[k].i1);
        diff_put_lines(out, '-', s->a, c[k].i1, c[k].i2);
        diff_put_lines(out, '+', s->b, c[k].j1, c[k].j2);
        from = c[k].i2;
    }
    diff_put_lines(out, ' ', s->a, from, from + after);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

static char *
diff_too_large(size_t len_a, size_t len_b)
{
    return xasprintf("Replace text of %zu bytes by one of %zu bytes (too large to compare by lines)", len_a,
                     len_b);
}

static size_t
diff_bytes_of(const diff_line_t *lines, size_t n)
{
    size_t len = 0;

    for (size_t i = 0; i < n; i++)
        len += lines[i].len;
    return len;
}

/* ---- whole ----------------------------------------------------------------------------------- */

/* NEW, or NULL when it takes too many steps. */
static char *
diff_compare(seqs_t *s, const char *from_name, const char *to_name)
{
    blocks_t blocks = { NULL, 0, 0 };
    buf_t out = BUF_INIT;

    number_lines(s);

    /* Lists for each line its places in b (counting sort). As difflib's autojunk does, lines that fill
     * more than a hundredth of a text of POPULAR_FROM lines or more are left out: they extend a match but
     * never begin one. */
    size_t *count = xcalloc(s->n_ids + 1, sizeof(size_t));
    size_t limit = s->n_b >= POPULAR_FROM ? s->n_b / 100 + 1 : s->n_b;
    s->first = xcalloc(s->n_ids + 1, sizeof(size_t));
    s->places = xcalloc(s->n_b + 1, sizeof(size_t));
    for (size_t j = 0; j < s->n_b; j++)
        count[s->id_b[j]]++;
    for (size_t id = 0; id < s->n_ids; id++)
        s->first[id + 1] = s->first[id] + (count[id] > limit ? 0 : count[id]);
    size_t *fill = xcalloc(s->n_ids + 1, sizeof(size_t));
    memcpy(fill, s->first, s->n_ids * sizeof(size_t));
    for (size_t j = 0; j < s->n_b; j++) {
        size_t id = s->id_b[j];
        if (count[id] <= limit)
            s->places[fill[id]++] = j;
    }
    free(fill);
    free(count);

    s->run = xcalloc(s->n_b + 2, sizeof(size_t));
    s->next_run = xcalloc(s->n_b + 2, sizeof(size_t));
    bool through = matching_blocks(s, &blocks);
    change_t *changes = xcalloc(blocks.n, sizeof(*changes));
    size_t n = 0;

    /* A change is the gap before a block of equal lines; the last block has no lines and stands at both ends. */
    for (size_t k = 0, i = 0, j = 0; through && k < blocks.n; k++) {
        const block_t *b = &blocks.v[k];
        if (i < b->i || j < b->j)
            changes[n++] = (change_t){ i, b->i, j, b->j };
        i = b->i + b->n;
        j = b->j + b->n;
    }
    if (n > 0) {
        buf_printf(&out, "--- %s\n+++ %s\n", from_name, to_name);

        /* Changes whose equal lines in between number at most twice CONTEXT share a hunk, as in difflib's
         * get_grouped_opcodes. */
        for (size_t first = 0, last; first < n; first = last + 1) {
            last = first;
            while (last + 1 < n && changes[last + 1].i1 - changes[last].i2 <= 2 * CONTEXT)
                last++;
            put_hunk(s, changes, first, last, &out);
        }
    }
    free(changes);
    free(blocks.v);
    if (!through)
        return NULL;

    /* Cuts a difference above LIMIT_DIFF_TEXT after a whole line and tells how many bytes are left out. */
    if (out.len <= LIMIT_DIFF_TEXT)
        return buf_steal(&out);
    size_t keep = LIMIT_DIFF_TEXT;
    while (keep > 0 && out.data[keep - 1] != '\n')
        keep--;
    char *cut = xasprintf("%.*s... %zu more bytes of difference\n", (int) keep, out.data, out.len - keep);
    buf_free(&out);
    return cut;
}

char *
diff_unified(const diff_line_t *a, size_t n_a, const diff_line_t *b, size_t n_b, const char *from_name,
             const char *to_name)
{
    seqs_t s = { .a = a, .b = b, .n_a = n_a, .n_b = n_b };
    size_t len_a = diff_bytes_of(a, n_a), len_b = diff_bytes_of(b, n_b);
    char *diff = NULL;

    size_t same = 0;
    while (n_a == n_b && same < n_a && a[same].len == b[same].len &&
           memcmp(a[same].text, b[same].text, a[same].len) == 0)
        same++;
    if (n_a == n_b && same == n_a)
        return xstrdup("");
    if (len_a <= LIMIT_DIFF_FILE && len_b <= LIMIT_DIFF_FILE && n_a <= DIFF_LINES && n_b <= DIFF_LINES)
        diff = diff_compare(&s, from_name, to_name);

    free(s.id_a);
    free(s.id_b);
    free(s.first);
    free(s.places);
    free(s.run);
    free(s.next_run);

    return diff != NULL ? diff : diff_too_large(len_a, len_b);
}

/* Counts the lines before diff_lines allocates the array, which for short lines is larger than the text. */
static bool
diff_fits(const char *text, size_t len, bool lf_only)
{
    size_t n = 0;

    if (len > LIMIT_DIFF_FILE)
        return false;
    for (size_t at = 0; at < len && n <= DIFF_LINES; n++)
        at = diff_line_end(text, at, len, lf_only);
    return n <= DIFF_LINES;
}

static char *
texts_diff(const char *a, size_t len_a, const char *b, size_t len_b, bool lf_only, const char *from_name,
           const char *to_name)
{
    size_t n_a, n_b;

    if (len_a == len_b && memcmp(a, b, len_a) == 0)
        return xstrdup("");
    if (!diff_fits(a, len_a, lf_only) || !diff_fits(b, len_b, lf_only))
        return diff_too_large(len_a, len_b);
    diff_line_t *lines_a = diff_lines(a, len_a, lf_only, &n_a);
    diff_line_t *lines_b = diff_lines(b, len_b, lf_only, &n_b);
    char *text = diff_unified(lines_a, n_a, lines_b, n_b, from_name, to_name);

    free(lines_a);
    free(lines_b);
    return text;
}

char *
diff_texts(const char *a, size_t len_a, const char *b, size_t len_b, const char *from_name,
           const char *to_name)
{
    return texts_diff(a, len_a, b, len_b, false, from_name, to_name);
}

char *
diff_texts_lf(const char *a, size_t len_a, const char *b, size_t len_b, const char *from_name,
              const char *to_name)
{
    return texts_diff(a, len_a, b, len_b, true, from_name, to_name);
}
