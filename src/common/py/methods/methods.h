/* methods.h - the functions behind the tables of py_methods.c, and their shared helpers.
 *
 * Layer      common/py; for the files of this folder
 * Ownership  as py_method_fn says */
#ifndef COMMON_PY_METHODS_METHODS_H
#define COMMON_PY_METHODS_METHODS_H

#include "common/py/py_methods.h"
#include "common/py/py_obj.h"

/* A method that a table names. */
#define METHOD(name)    py_t *name(py_t *self, py_t *const *slots, const py_args_t *args)
/* Head of a method's definition; not every method uses all three parameters. */
#define METHOD_OF(name) py_t *name(py_t *self, py_t *const *slots, const py_args_t *args)

METHOD(m_str_capitalize);
METHOD(m_str_casefold);
METHOD(m_str_center);
METHOD(m_str_count);
METHOD(m_str_encode);
METHOD(m_str_endswith);
METHOD(m_str_expandtabs);
METHOD(m_str_find);
METHOD(m_str_format);
METHOD(m_str_format_map);
METHOD(m_str_index);
METHOD(m_str_isalnum);
METHOD(m_str_isalpha);
METHOD(m_str_isascii);
METHOD(m_str_isdecimal);
METHOD(m_str_isdigit);
METHOD(m_str_isidentifier);
METHOD(m_str_islower);
METHOD(m_str_isnumeric);
METHOD(m_str_isprintable);
METHOD(m_str_isspace);
METHOD(m_str_istitle);
METHOD(m_str_isupper);
METHOD(m_str_join);
METHOD(m_str_ljust);
METHOD(m_str_lower);
METHOD(m_str_lstrip);
METHOD(m_str_maketrans);
METHOD(m_str_partition);
METHOD(m_str_removeprefix);
METHOD(m_str_removesuffix);
METHOD(m_str_replace);
METHOD(m_str_rfind);
METHOD(m_str_rindex);
METHOD(m_str_rjust);
METHOD(m_str_rpartition);
METHOD(m_str_rsplit);
METHOD(m_str_rstrip);
METHOD(m_str_split);
METHOD(m_str_splitlines);
METHOD(m_str_startswith);
METHOD(m_str_strip);
METHOD(m_str_swapcase);
METHOD(m_str_title);
METHOD(m_str_translate);
METHOD(m_str_upper);
METHOD(m_str_zfill);
METHOD(m_markup_escape);
METHOD(m_markup_html);
METHOD(m_markup_striptags);
METHOD(m_markup_unescape);
METHOD(m_bytes_capitalize);
METHOD(m_bytes_center);
METHOD(m_bytes_decode);
METHOD(m_bytes_expandtabs);
METHOD(m_bytes_hex);
METHOD(m_bytes_isalnum);
METHOD(m_bytes_isalpha);
METHOD(m_bytes_isascii);
METHOD(m_bytes_isdigit);
METHOD(m_bytes_islower);
METHOD(m_bytes_isspace);
METHOD(m_bytes_istitle);
METHOD(m_bytes_isupper);
METHOD(m_bytes_join);
METHOD(m_bytes_ljust);
METHOD(m_bytes_lower);
METHOD(m_bytes_partition);
METHOD(m_bytes_removeprefix);
METHOD(m_bytes_removesuffix);
METHOD(m_bytes_rjust);
METHOD(m_bytes_rpartition);
METHOD(m_bytes_splitlines);
METHOD(m_bytes_swapcase);
METHOD(m_bytes_title);
METHOD(m_bytes_upper);
METHOD(m_bytes_zfill);
METHOD(m_list_append);
METHOD(m_list_clear);
METHOD(m_list_copy);
METHOD(m_list_extend);
METHOD(m_list_insert);
METHOD(m_list_pop);
METHOD(m_list_remove);
METHOD(m_list_reverse);
METHOD(m_list_sort);
METHOD(m_seq_count);
METHOD(m_seq_index);
METHOD(m_range_start);
METHOD(m_range_stop);
METHOD(m_range_step);
METHOD(m_slice_start);
METHOD(m_slice_stop);
METHOD(m_slice_step);
METHOD(m_dict_clear);
METHOD(m_dict_copy);
METHOD(m_dict_fromkeys);
METHOD(m_dict_get);
METHOD(m_dict_items);
METHOD(m_dict_keys);
METHOD(m_dict_move_to_end);
METHOD(m_dict_pop);
METHOD(m_dict_popitem);
METHOD(m_dict_popitem_ordered);
METHOD(m_dict_setdefault);
METHOD(m_dict_update_method);
METHOD(m_dict_values);
METHOD(m_set_add);
METHOD(m_set_clear);
METHOD(m_set_copy);
METHOD(m_set_difference);
METHOD(m_set_difference_update);
METHOD(m_set_discard);
METHOD(m_set_intersection);
METHOD(m_set_intersection_update);
METHOD(m_set_isdisjoint);
METHOD(m_set_issubset);
METHOD(m_set_issuperset);
METHOD(m_set_pop);
METHOD(m_set_remove);
METHOD(m_set_symmetric_difference);
METHOD(m_set_symmetric_difference_update);
METHOD(m_set_union);
METHOD(m_set_update);
METHOD(m_int_as_integer_ratio);
METHOD(m_int_bit_count);
METHOD(m_int_bit_length);
METHOD(m_int_conjugate);
METHOD(m_int_one);
METHOD(m_int_to_bytes);
METHOD(m_int_zero);
METHOD(m_float_as_integer_ratio);
METHOD(m_float_conjugate);
METHOD(m_float_hex);
METHOD(m_float_is_integer);
METHOD(m_float_zero);
METHOD(m_view_isdisjoint);

/* py_bind for a method of type `owner`, which some messages name: "str.upper() takes no arguments". */
int py_bind_method(const py_args_t *args, const py_sig_t *sig, const char *owner, py_t **slots);
/* A start or end as slices take it: None and NULL are the default, huge ones are cut. 0 or -1 raised. */
int py_slice_arg(py_t *v, int64_t dflt, int64_t *ret_v);
/* Name of a value's type in "argument must be str, not None". */
const char *py_arg_name(const py_t *v);
/* A number as a flag; NULL leaves *ret_v. 0 or -1 raised. */
int py_flag_arg(py_t *v, bool *ret_v);
/* Brings start and end into [0, len] as slices do. */
void py_slice_adjust(int64_t *start, int64_t *end, int64_t len);
/* NEW str or bytes of the same type as `like`. */
py_t *py_text_like(const py_t *like, const char *text, size_t len);
/* [start, end) of code points (bytes of bytes) as byte offsets. */
typedef struct py_window {
    const char *start, *end;
    size_t first; /* code points before `start` */
    bool ok;      /* `from` is not after `to` */
} py_window_t;
int py_window(py_t *text, py_t *from, py_t *to, py_window_t *ret_w);

#endif
