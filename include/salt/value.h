/* value.h - helpers on top of jansson, with Python's meaning where Salt users see it.
 *
 * Ownership  stated per function; json_auto_t (jansson's) drops a NEW reference at the end of the scope
 * Tests      tests/unit/common/test_value.c
 */
#ifndef SALT_VALUE_H
#define SALT_VALUE_H

#include "salt/base.h"

/* A member of an object, BORROWED, or the default. `obj` may be NULL or not an object. */
const char *value_str(const json_t *obj, const char *key, const char *dflt);
json_int_t value_int(const json_t *obj, const char *key, json_int_t dflt);
double value_num(const json_t *obj, const char *key, double dflt);
bool value_bool(const json_t *obj, const char *key, bool dflt);
json_t *value_get(const json_t *obj, const char *key);

/* Python's truth: None, False, 0, "" and empty containers are false; NULL is false. */
bool value_truthy(const json_t *v);
/* True when both are equal in Python (1 == 1.0, else deep equality). */
bool value_equal(const json_t *a, const json_t *b);
/* True when the array has such a value, or such a text. Any other type has none. */
bool value_has(const json_t *list, const json_t *v);
bool value_lists(const json_t *list, const char *text);
/* NEW: Python's str() of each element, with `between` between them; of any other value its str(). */
char *value_joined(const json_t *v, const char *between);

/* Walks "a:b:0:c" through objects and arrays as salt.utils.data.traverse_dict_and_list does: a whole-key
 * match is tried for each part; an array takes an index, or searches its object elements for the key.
 * BORROWED, or NULL when absent. */
json_t *value_path(const json_t *root, const char *path, const char *delim);

/* Merges `over` into `base` as salt.utils.dictupdate.update: objects recurse, lists are replaced or appended.
 * Only `base` is changed. */
void value_merge(json_t *base, const json_t *over, bool append_lists);

/* repr() and str() as Python prints them ('a', None, [1, {'k': True}], 1e+16, ...). NEW text. */
char *value_repr(const json_t *v);
char *value_pystr(const json_t *v);
/* repr() of a float as Python prints it. */
char *value_float_repr(double d);

/* Parses JSON from a peer or a file, with limits on depth and size; duplicate keys and trailing bytes are
 * refused. NEW, or NULL with *err set. `what` names the source in the message. */
json_t *value_parse(const char *text, size_t len, size_t limit, const char *what, fail_t *err);
/* The same for what peers send: returns -ENOMEM in *err when memory does not suffice, and the process goes
 * on. */
json_t *value_parse_peer(const char *text, size_t len, size_t limit, const char *what, fail_t *err);
/* The same for messages between our own processes, which may be nested LIMIT_FRAME_DEPTH deep. */
json_t *value_parse_frame(const char *text, size_t len, const char *what, fail_t *err);
/* True when the value has at most `levels` levels: a text has 0, [] has 1, [[]] has 2. */
bool value_nests(const json_t *v, int levels);
/* Writes compact JSON, keys in their order. NEW text. */
char *value_dump(const json_t *v);

/* Makes a string; each byte of invalid UTF-8 becomes U+FFFD. NEW reference. */
json_t *value_utf8(const char *bytes, size_t len);
/* Makes a string by printf. NEW. */
json_t *value_fmt(const char *fmt, ...) PRINTF(1, 2);

/* The keys of an object in the order of their bytes. NEW array. */
json_t *value_sorted_keys(const json_t *object);
/* The texts of a list, sorted. NEW array. */
json_t *value_sorted_texts(const json_t *list);

#endif
