/* fuzz_peer.c - any template over data that two peers say: nothing of a peer may be in output that is not
 * marked as a peer's.
 *
 * The input is a template, a line "--", and a text. Both peers say that text, each with Greek letters of its
 * own in place of all letters. A peer's letter in an unmarked part of its render is a leak, unless the other
 * peer's render has it there too (then the template made it).
 */
#include <ctype.h>

#include "../lib/peer_pair.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LONGEST = 2048 };

static const char ours[] = "{\"s\": \"own\", \"l\": [\"o1\", \"o2\"], \"d\": {\"k\": \"o\"}}";

/* The two letters that a peer says, and the other forms in which output may have them: upper case, escapes,
 * hex. */
static const char *const letters[2][2] = { { "\xce\xb1", "\xce\xb6" }, { "\xcf\x89", "\xcf\x84" } };
static const char *const forms[2][10] = {
    { "\xce\xb1", "\xce\xb6", "\xce\x91", "\xce\x96", "u03b1", "u03b6", "%CE%B1", "xce\\xb1", "03B1" },
    { "\xcf\x89", "\xcf\x84", "\xce\xa9", "\xce\xa4", "u03c9", "u03c4", "%CF%89", "xcf\\x89", "03C9" },
};

static int
load_itself(void *cookie, const char *name, py_t *globals, jinja_known_fn *known, void *known_cookie,
            jinja_file_t *ret, fail_t *err)
{
    if (name[0] != 'm')
        return -ENOENT;
    ret->path = xstrdup(name);
    ret->text = xstrdup(cookie);
    ret->len = strlen(ret->text);
    return 0;
}

/* Writes a text with each letter replaced by one of the peer's. */
static void
speak(buf_t *out, const char *text, size_t who)
{
    for (; *text != '\0'; text++) {
        if (isalpha((unsigned char) *text))
            buf_puts(out, letters[who][*text & 1]);
        else
            buf_putc(out, *text);
    }
}

/* NEW members of a peer's data as JSON; NULL for a text that is not UTF-8. */
static char *
say(const char *text, size_t who)
{
    buf_auto_t spoken = BUF_INIT;

    speak(&spoken, text, who);
    const char *s = buf_str(&spoken), *one = letters[who][0], *two = letters[who][1];
    json_t *all = json_pack("{s:s, s:[s, s], s:{s:s, s:s}, s:i, s:s}", "s", s, "l", s, one, "d", "k", s, two,
                            one, "n", who == 0 ? 0x3b1 : 0x3c9, "c", one);
    char *said = all != NULL ? json_dumps(all, JSON_COMPACT) : NULL;
    json_decref(all);
    return said;
}

/* False for templates that would query the network, walk the disk, depend on chance, or contain peers'
 * letters themselves. */
static bool
is_fair(const char *template)
{
    static const char *const unfair[] = { "dns_check", "list_files", "rand", "\xce", "\xcf",
                                          "u03",       "U000003",    "xce",  "xcf" };

    for (size_t i = 0; i < NELEMS(unfair); i++)
        if (strstr(template, unfair[i]) != NULL)
            return false;
    return true;
}

/* True when an unmarked part holds a peer's letter in any form. */
static bool
has_any(const peer_out_t *o, size_t who)
{
    for (size_t i = 0; forms[who][i] != NULL; i++)
        if (memmem(buf_str(&o->rest), o->rest.len, forms[who][i], strlen(forms[who][i])) != NULL)
            return true;
    return false;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > LONGEST)
        return 0;
    char *template AUTO_FREE = xstrndup((const char *) data, size);
    char *text = strstr(template, "\n--\n");
    if (text == NULL)
        return 0;
    *text = '\0';
    char *said[2] = { say(text + 4, 0), say(text + 4, 1) };
    if (is_fair(template) && said[0] != NULL && said[1] != NULL) {
        const jinja_loader_t loader = { load_itself, template };
        peer_out_t o[2];
        int failed = peer_render(&loader, template, said[0], ours, &o[0]);
        failed += peer_render(&loader, template, said[1], ours, &o[1]);
        for (size_t who = 0; failed == 0 && who < 2; who++)
            salt_assert(!has_any(&o[who], who) || has_any(&o[1 - who], who));
        peer_out_free(&o[0]);
        peer_out_free(&o[1]);
    }
    free(said[0]);
    free(said[1]);
    return 0;
}
