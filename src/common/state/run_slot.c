/* run_slot.c - slots: "__slot__:salt:mod.fun(arg, key=value).path.in.return ~ appended" is replaced by the
 * function's return when the state runs. A malformed slot, or one of an unknown function, stays as text, as
 * in Salt; if the function fails, so does the state.
 *
 * Arguments are split with Python's shlex rules, as salt.utils.args.parse_function() does. */
#include <ctype.h>

#include "common/base/buf.h"
#include "common/base/str.h"
#include "common/py/py_json.h"
#include "common/py/py_wire.h"
#include "common/state/run_call.h"
#include "salt/log.h"
#include "salt/state.h"

#define SLOT         "__slot__:"
#define SLOT_SALT    SLOT "salt:"
#define MAX_BRACKETS 64

/* ---- words, as a shell reads them ---------------------------------------------------------- */

typedef struct lexer {
    const char *at;
    buf_t word;
    bool quoted; /* the word was quoted, so it is no sign */
} lexer_t;

static bool
run_slot_is_word(char c)
{
    return isalnum((unsigned char) c) || c == '_' || (c & 0x80) != 0;
}

/* Read the next word or sign; false at the end and at an unterminated quote. */
static bool
run_slot_next_word(lexer_t *self)
{
    buf_clear(&self->word);
    self->quoted = false;
    while (isspace((unsigned char) *self->at))
        self->at++;
    if (*self->at == '\0')
        return false;
    if (!run_slot_is_word(*self->at) && strchr("'\"\\", *self->at) == NULL) {
        buf_putc(&self->word, *self->at++);
        return true;
    }
    for (;;) {
        if (*self->at == '\'' || *self->at == '"') {
            /* Reads a quoted word. */
            char quote = *self->at++;

            self->quoted = true;
            for (; *self->at != quote; self->at++) {
                if (*self->at == '\\' && (self->at[1] == quote || self->at[1] == '\\'))
                    self->at++;
                if (*self->at == '\0')
                    return false;
                buf_putc(&self->word, *self->at);
            }
            self->at++;
        } else if (*self->at == '\\' && self->at[1] != '\0') {
            buf_putc(&self->word, self->at[1]);
            self->at += 2;
        } else if (run_slot_is_word(*self->at)) {
            buf_putc(&self->word, *self->at++);
        } else {
            return true;
        }
    }
}

/* True when the word is one of the signs; in quotes it is an ordinary word. */
static bool
run_slot_is_sign(const lexer_t *self, const char *signs)
{
    return !self->quoted && self->word.len == 1 && strchr(signs, self->word.data[0]) != NULL;
}

/* ---- mod.fun(...) -------------------------------------------------------------------------- */

typedef struct slot_call {
    buf_t fun;
    json_t *args, *kwargs;
    const char *rest; /* behind the closing parenthesis */
} slot_call_t;

/* Keeps track of brackets. False: one does not match, or they are nested too deep. */
static bool
open_or_close(const lexer_t *lex, char *brackets, size_t *depth)
{
    static const char opening[] = "[{(", closing[] = "]})";

    if (run_slot_is_sign(lex, opening)) {
        if (*depth == MAX_BRACKETS)
            return false;
        brackets[(*depth)++] = closing[strchr(opening, lex->word.data[0]) - opening];
    } else if (run_slot_is_sign(lex, closing)) {
        if (*depth == 0 || brackets[--*depth] != lex->word.data[0])
            return false;
    }
    return true;
}

/* Read arguments up to the closing parenthesis; brackets nest up to MAX_BRACKETS. */
static bool
read_arguments(lexer_t *lex, slot_call_t *self)
{
    char brackets[MAX_BRACKETS];
    size_t depth = 0;
    buf_auto_t word = BUF_INIT;
    AUTO_FREE char *key = NULL;
    bool any = false;

    while (run_slot_next_word(lex)) {
        if (depth == 0 && run_slot_is_sign(lex, ",)")) {
            bool end = lex->word.data[0] == ')';

            if (key != NULL)
                json_object_set_new(self->kwargs, key, value_utf8(buf_str(&word), word.len));
            else if (any)
                json_array_append_new(self->args, value_utf8(buf_str(&word), word.len));
            free(key);
            key = NULL;
            buf_clear(&word);

            any = false;
            if (end) {
                self->rest = lex->at;
                return true;
            }
        } else if (depth == 0 && run_slot_is_sign(lex, "=")) {
            free(key); /* of "a=b=c" */
            key = xstrdup(buf_str(&word));
            buf_clear(&word);
        } else if (!open_or_close(lex, brackets, &depth)) {
            return false;
        } else {
            buf_add(&word, lex->word.data, lex->word.len);
            any = true;
        }
    }
    return false;
}

/* Reads a slot's call: the function up to the parenthesis, then the arguments. */
static bool
read_call(const char *text, slot_call_t *self)
{
    lexer_t lex = { .at = text, .word = BUF_INIT };
    bool good = false;

    while (run_slot_next_word(&lex)) {
        if (run_slot_is_sign(&lex, "(")) {
            good = self->fun.len > 0 && read_arguments(&lex, self);
            break;
        }
        buf_add(&self->fun, lex.word.data, lex.word.len);
    }
    buf_free(&lex.word);
    return good;
}

/* ---- the value ----------------------------------------------------------------------------- */

/* Apply ".path.in.return ~ appended" to the return. NEW. */
static json_t *
with_rest(json_t *ret, const char *rest)
{
    const char *tilde = strchr(rest, '~');
    AUTO_FREE char *path = tilde != NULL ? xstrndup(rest, (size_t) (tilde - rest)) : xstrdup(rest);
    AUTO_FREE char *more = xstrdup(tilde != NULL ? tilde + 1 : "");
    const char *dotted = str_trim(path);
    char *appended = str_trim(more);
    size_t n = strlen(appended);
    json_t *found = *dotted == '.' ? value_path(ret, dotted + 1, ".") : ret;

    /* Quotes around the text that is appended come off, as in Salt since 3006.28. */
    if (n >= 2 && strchr("'\"", appended[0]) != NULL && appended[n - 1] == appended[0]) {
        appended[n - 1] = '\0';
        appended++;
    }
    if (tilde != NULL && json_is_string(found))
        return value_fmt("%s%s", json_string_value(found), appended);
    if (tilde != NULL)
        log_error("Ignoring slot append, slot result is not a string");
    return found != NULL ? json_incref(found) : json_null();
}

/* Replace the slots of a text, an object's values, a list's elements, and values of objects in a list.
 * *ret_made NEW, or NULL when `v` has none. `depth` bounds the nesting as Salt does. */
static int
replaced(call_ctx_t *ctx, json_t *v, int depth, json_t **ret_made, bool *ret_said, fail_t *err)
{
    json_auto_t *made = NULL;
    json_t *inner, *one;
    const char *key;
    size_t i;
    int rc = 0;

    *ret_made = NULL;
    if (json_is_string(v) && str_starts(json_string_value(v), SLOT)) {
        /* Evaluate a slot; the text stays when it is none. A peer's data that takes part is noted. */
        const char *text = json_string_value(v);
        slot_call_t call = { .fun = BUF_INIT, .args = json_array(), .kwargs = json_object() };
        fail_auto_t why = FAIL_INIT;
        json_t *ret = NULL;
        bool said = false;
        int code = 0;
        *ret_made = NULL;
        if (!str_starts(text, SLOT_SALT) || !read_call(text + strlen(SLOT_SALT), &call) ||
            !ctx_has(ctx, buf_str(&call.fun)))
            log_warning("Malformed slot: %s", text);
        else if ((code = call_said(ctx, buf_str(&call.fun), call.args, call.kwargs, &ret, &said, &why)) < 0)
            (void) fail_set(err, code, "slot %s: %s", text, fail_text(&why));
        else
            *ret_made = with_rest(ret, call.rest);
        *ret_said = *ret_said || said;
        json_decref(ret);
        json_decref(call.args);
        json_decref(call.kwargs);
        buf_free(&call.fun);
        return code;
    }
    json_object_foreach (depth > 0 ? v : NULL, key, inner) {
        if ((rc = replaced(ctx, inner, 0, &one, ret_said, err)) < 0)
            return rc;
        if (one == NULL)
            continue;
        made = made != NULL ? made : json_copy(v);
        json_object_set_new(made, key, one);
    }
    json_array_foreach (depth > 1 ? v : NULL, i, inner) {
        if ((rc = replaced(ctx, inner, depth - 1, &one, ret_said, err)) < 0)
            return rc;
        if (one == NULL)
            continue;
        made = made != NULL ? made : json_copy(v);
        json_array_set_new(made, i, one);
    }
    *ret_made = STEAL(made);
    return 0;
}

int
state_slots(call_ctx_t *ctx, json_t *kwargs, fail_t *err)
{
    const char *key;
    json_t *v, *made;
    void *next;

    json_object_foreach_safe (kwargs, next, key, v) {
        bool said = false;
        int rc = replaced(ctx, v, 2, &made, &said, err);
        if (rc < 0)
            return rc;
        if (made == NULL)
            continue;
        if (said) {
            /* Mark the argument as data that a peer sent, like arguments that a rendered file takes from
             * peers. */
            AUTO(py) peer = py_from_json_peer(made);
            json_t *wire = py_to_wire_peer(peer), *natives = json_object_get(ctx_chunk(ctx), CHUNK_NATIVES);
            if (natives == NULL)
                json_object_set_new(ctx_chunk(ctx), CHUNK_NATIVES, natives = json_object());
            json_object_set_new(natives, key, wire != NULL ? wire : json_null());
            py_clear();
        }
        json_object_set_new(kwargs, key, made);
    }
    return 0;
}
