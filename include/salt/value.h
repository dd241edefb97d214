/* value.h - helpers over jansson, with Python's meaning where Salt users see it.
 *
 * Ownership  said per function; json_auto_t (jansson's) drops a NEW reference at the end of the scope
 * Tests      tests/unit/common/test_value.c
 */
#ifndef SALT_VALUE_H
#define SALT_VALUE_H

#include "salt/base.h"

/* BORROWED member of an object, or the default. Accept a NULL or non-object `obj`. */
const char *value_str(const json_t *obj, const char *key, const char *dflt);
json_int_t value_int(const json_t *obj, const char *key, json_int_t dflt);
double value_num(const json_t *obj, const char *key, double dflt);
bool value_bool(const json_t *obj, const char *key, bool dflt);
json_t *value_get(const json_t *obj, const char *key);

/* Python's truth: None, False, 0, "" and empty containers are false; NULL is false. */
bool value_truthy(const json_t *v);
/* Whether both print the same in Python (1 == 1.0, else deep equality). */
bool value_equal(const json_t *a, const json_t *b);
/* Whether an array has such a value, or such a text. What is no array has none. */
bool value_has(const json_t *list, const json_t *v);
bool value_lists(const json_t *list, const char *text);

/* Walk "a:b:0:c" through objects and arrays as salt.utils.data.traverse_dict_and_list does: a whole-key match
 * is tried for each part, an array takes an index or searches its object elements for the key. BORROWED, or
 * NULL when absent. */
json_t *value_path(const json_t *root, const char *path, const char *delim);

/* Merge `over` into `base` as salt.utils.dictupdate.update: objects recurse, lists are replaced or appended.
 * `base` is changed, `over` is not. */
void value_merge(json_t *base, const json_t *over, bool append_lists);

/* NEW text: repr() and str() as Python prints them ('a', None, [1, {'k': True}], 1e+16, ...). */
char *value_repr(const json_t *v);
char *value_pystr(const json_t *v);
/* repr() of a float as Python prints it. */
char *value_float_repr(double d);

/* Parse JSON from a peer or a file: duplicates refused, depth and size limited, trailing bytes refused.
 * NEW, or NULL with *err set. `what` names the source in the message. */
json_t *value_parse(const char *text, size_t len, size_t limit, const char *what, fail_t *err);
/* The same for what peers send: -ENOMEM when there is no memory for it, which ends nothing else. */
json_t *value_parse_peer(const char *text, size_t len, size_t limit, const char *what, fail_t *err);
/* The same for what our own processes tell each other: it may be nested LIMIT_FRAME_DEPTH deep. */
json_t *value_parse_frame(const char *text, size_t len, const char *what, fail_t *err);
/* Whether it is nested at most so deep: a text is of level 0, [] of 1, [[]] of 2. */
bool value_nests(const json_t *v, int levels);
/* NEW text, compact; keys in their order. */
char *value_dump(const json_t *v);

/* NEW reference to a string; invalid UTF-8 is replaced byte by byte with U+FFFD. */
json_t *value_utf8(const char *bytes, size_t len);
/* NEW string by printf. */
json_t *value_fmt(const char *fmt, ...) PRINTF(1, 2);

/* The keys of an object in the order of their bytes. NEW array. */
json_t *value_sorted_keys(const json_t *object);
/* NEW array: the texts of a list, in order. */
json_t *value_sorted_texts(const json_t *list);

#endif
