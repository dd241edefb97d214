/* py_error.c - the thread's pending exception. Messages are cut at MESSAGE_MAX bytes; a LimitError is never
 * replaced, so that no template can hide it. */
#include "common/py/py_error.h"

#include "common/py/py_ops.h"

/* Longest message kept; Python has no limit. */
enum { MESSAGE_MAX = 8192 };

#define EXC(name_, base_) const py_exc_t py_##name_ = { #name_, base_ }
EXC(TypeError, NULL);
EXC(ValueError, NULL);
EXC(LookupError, NULL);
EXC(KeyError, &py_LookupError);
EXC(IndexError, &py_LookupError);
EXC(AttributeError, NULL);
EXC(ArithmeticError, NULL);
EXC(ZeroDivisionError, &py_ArithmeticError);
EXC(OverflowError, &py_ArithmeticError);
EXC(RuntimeError, NULL);
EXC(RecursionError, &py_RuntimeError);
EXC(NotImplementedError, &py_RuntimeError);
EXC(StopIteration, NULL);
EXC(UnicodeError, &py_ValueError);
EXC(UnicodeDecodeError, &py_UnicodeError);
EXC(UnicodeEncodeError, &py_UnicodeError);
EXC(MemoryError, NULL);
EXC(UndefinedError, NULL);
EXC(LimitError, NULL);

static _Thread_local py_error_t current;

void
py_error_free(py_error_t *e)
{
    free(e->message);
    py_unref(e->about);
    *e = (py_error_t) PY_ERROR_INIT;
}

/* Sets the pending exception. TAKES `message`. */
static void
py_error_set(const py_exc_t *type, char *message, size_t len)
{
    if (current.type == &py_LimitError) {
        free(message);
        return;
    }
    py_error_free(&current);
    current = (py_error_t){ type, message, len, NULL };
}

/* Bytes of a message that are kept: cut at MESSAGE_MAX, at a character. `text` has at least MESSAGE_MAX + 1
 * bytes then. */
static size_t
py_error_kept(const char *text, size_t len)
{
    if (len <= MESSAGE_MAX)
        return len;
    for (len = MESSAGE_MAX; len > 0 && (text[len] & 0xc0) == 0x80;)
        len--;
    return len;
}

static char *
py_error_copy_of(const char *text, size_t len)
{
    char *copy = xcalloc(len + 1, 1);

    memcpy(copy, text, len);
    return copy;
}

/* A long message is cut. */
void *
py_raise(const py_exc_t *type, const char *fmt, ...)
{
    char text[MESSAGE_MAX + 2];
    va_list ap;

    text[0] = '\0';
    va_start(ap, fmt);
    int n = vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    /* vsnprintf fails for more than 2 GiB. */
    size_t len = py_error_kept(text, n >= 0 ? (size_t) n : strlen(text));
    py_error_set(type, py_error_copy_of(text, len), len);
    return NULL;
}

/* KeyError, whose message is the key's repr. */
void *
py_raise_key(py_t *key)
{
    buf_auto_t text = BUF_INIT;

    if (py_repr_to(&text, key) < 0)
        return NULL;
    size_t len = py_error_kept(buf_str(&text), text.len);
    py_error_set(&py_KeyError, py_error_copy_of(buf_str(&text), len), len);
    return NULL;
}

const py_exc_t *
py_raised(void)
{
    return current.type;
}

bool
py_exc_is(const py_exc_t *type, const py_exc_t *base)
{
    for (; type != NULL; type = type->base) {
        if (type == base)
            return true;
    }
    return false;
}

bool
py_raised_is(const py_exc_t *type)
{
    return py_exc_is(current.type, type);
}

const char *
py_raised_text(void)
{
    return current.message != NULL ? current.message : "";
}

py_t *
py_raised_about(void)
{
    return current.about;
}

void
py_raise_about(py_t *v)
{
    if (current.type != &py_LimitError && current.about == NULL)
        current.about = py_ref(v);
}

void
py_clear(void)
{
    py_error_free(&current);
}

void
py_take_error(py_error_t *ret_e)
{
    *ret_e = current;
    current = (py_error_t) PY_ERROR_INIT;
}

void
py_restore_error(py_error_t *e)
{
    py_error_free(&current);
    current = *e;
    *e = (py_error_t) PY_ERROR_INIT;
}
