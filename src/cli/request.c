/* request.c - see request.h: makes the request {tgt, tgt_type, fun, arg} of the command line's words. Several
 * functions ("a,b") take their arguments in groups, which --args-separator parts. */
#include "cli/request.h"

#include "common/base/str.h"
#include "common/data/args.h"
#include "salt/value.h"

enum {
    EXIT_USAGE = 64,
    DOC_WORDS = 3 /* target, sys.doc, and one name */
};

/* ---- the target ------------------------------------------------------------------------------ */

/* "a,b" or "a b". NEW. */
static json_t *
cli_request_id_list(const char *text)
{
    char **ids = str_split(text, strchr(text, ',') != NULL ? ", " : " \t\n", true);
    json_t *list = json_array();

    for (size_t i = 0; ids[i] != NULL; i++)
        json_array_append_new(list, value_utf8(ids[i], strlen(ids[i])));
    strv_free(ids);
    return list;
}

/* Target with its type and delimiter. NEW. */
json_t *
request_target(const json_t *values, const char *target)
{
    const char *type = value_str(values, "tgt_type", "glob");
    json_t *tgt = str_eq(type, "list") ? cli_request_id_list(target) : value_utf8(target, strlen(target));
    json_t *request = json_pack("{s:o, s:s}", "tgt", tgt, "tgt_type", type);

    if (value_get(values, "delimiter") != NULL)
        json_object_set(request, "delimiter", value_get(values, "delimiter"));
    return request;
}

/* Copy of a request for these ids alone. NEW. */
json_t *
request_for(const json_t *request, json_t *ids)
{
    json_t *copy = json_copy((json_t *) request);

    json_object_set(copy, "tgt", ids);
    json_object_set_new(copy, "tgt_type", json_string("list"));
    json_object_del(copy, "delimiter");
    return copy;
}

/* ---- several functions ----------------------------------------------------------------------- */

static void
cli_request_add_word(json_t *groups, const char *word, size_t len)
{
    json_array_append_new(json_array_get(groups, json_array_size(groups) - 1), value_utf8(word, len));
}

/* A separator is looked for as a word of its own first; when their number does not fit, also within words, as
 * in Salt. *ret NEW list of groups. */
int
request_split(char *const *words, size_t n, const char *separator, size_t n_funs, json_t **ret, fail_t *err)
{
    json_auto_t *groups = json_pack("[[]]");
    size_t alone = 0;

    if (str_empty(separator)) {
        (void) fail_set(err, -EINVAL, "option --args-separator: must not be empty");
        return EXIT_USAGE;
    }
    for (size_t i = 0; i < n; i++)
        alone += str_eq(words[i], separator) ? 1 : 0;
    if (alone == n_funs - 1) {
        /* A separator that stands alone parts the arguments. */
        for (size_t i = 0; i < n; i++) {
            if (str_eq(words[i], separator))
                json_array_append_new(groups, json_array());
            else
                cli_request_add_word(groups, words[i], strlen(words[i]));
        }
    } else {
        /* A separator inside of words parts them, too: "a,b". */
        for (size_t i = 0; i < n; i++) {
            const char *p = words[i], *at;
            for (; (at = strstr(p, separator)) != NULL; p = at + strlen(separator)) {
                if (at > p)
                    cli_request_add_word(groups, p, (size_t) (at - p));
                json_array_append_new(groups, json_array());
            }
            if (*p != '\0' || p == words[i])
                cli_request_add_word(groups, p, strlen(p));
        }
    }
    size_t n_groups = json_array_size(groups);
    if (n_groups != n_funs) {
        (void) fail_set(err, -EINVAL,
                        n_groups < n_funs
                            ? "Cannot execute compound command without defining all arguments.\n"
                            : "Cannot execute compound command with more arguments than commands.\n");
        return EXIT_INCOMPLETE;
    }
    *ret = STEAL(groups);
    return 0;
}

/* Arguments of one of several functions. NEW. */
static json_t *
typed_group(const json_t *group, const json_t *no_parse)
{
    size_t n = json_array_size(group), i;
    AUTO_FREE char **words = xcalloc(n + 1, sizeof(*words));
    json_t *word;

    json_array_foreach (group, i, word)
        words[i] = (char *) json_string_value(word);
    return args_parse(words, n, no_parse);
}

/* Adds the lists of functions and of their arguments. 0, or the exit code. */
static int
add_compound(json_t *request, const json_t *values, const char *funs, char *const *words, size_t n,
             fail_t *err)
{
    json_t *names = json_array(), *args = json_array(), *group;
    json_auto_t *groups = NULL;
    char **parts = str_split(funs, ",", false);
    size_t i;

    for (i = 0; parts[i] != NULL; i++)
        json_array_append_new(names, value_utf8(parts[i], strlen(parts[i])));
    strv_free(parts);
    json_object_set_new(request, "fun", names);
    json_object_set_new(request, "arg", args);
    int rc = request_split(words, n, value_str(values, "args_separator", ","), json_array_size(names),
                           &groups, err);
    json_array_foreach (groups, i, group)
        json_array_append_new(args, typed_group(group, value_get(values, "no_parse")));
    return rc;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Options that travel with the job: how the value is read. */
static const struct {
    const char *option, *field;
    bool typed;
} extras[] = {
    { "metadata", "metadata", true },
    { "return", "ret", false },
    { "return_config", "ret_config", false },
    { "return_kwargs", "ret_kwargs", true },
};

/* -d: the words as they would be to ask for documentation. NEW array, ends with NULL; the texts are BORROWED.
 */
static char **
doc_words(char *const *words, size_t n, size_t *ret_n)
{
    static char all[] = "*", sys_doc[] = "sys.doc";
    char **out = xcalloc(n + 3, sizeof(*out));
    size_t len = 0;

    out[len++] = n > 0 ? words[0] : all;
    if (n < 2 || !str_eq(words[1], sys_doc))
        out[len++] = sys_doc;
    for (size_t i = 1; i < n; i++)
        out[len++] = words[i];
    *ret_n = len;
    return out;
}

int
request_build(const json_t *values, char *const *given, size_t n_given, json_t **ret, fail_t *err)
{
    AUTO_FREE char **asked = NULL;
    char *const *words = given;
    size_t n = n_given;
    int rc = 0;

    if (value_bool(values, "doc", false))
        words = asked = doc_words(given, n_given, &n);
    if (n < 2) {
        (void) fail_set(err, -EINVAL,
                        n == 0 ? "\nCannot execute command without defining a target.\n\n"
                               : "\nIncomplete options passed.\n\n");
        return EXIT_INCOMPLETE;
    }
    if (asked != NULL && n > DOC_WORDS) {
        (void) fail_set(err, -EINVAL, "You can only get documentation for one method at one time.");
        return EXIT_USAGE;
    }
    json_auto_t *request = request_target(values, words[0]);
    if (strchr(words[1], ',') != NULL) {
        rc = add_compound(request, values, words[1], words + 2, n - 2, err);
    } else {
        json_object_set_new(request, "fun", value_utf8(words[1], strlen(words[1])));
        json_object_set_new(request, "arg", args_parse(words + 2, n - 2, value_get(values, "no_parse")));
    }

    /* Adds the job's metadata and the other settings of a request. */
    for (size_t i = 0; i < NELEMS(extras); i++) {
        const char *text = value_str(values, extras[i].option, "");
        if (*text != '\0')
            json_object_set_new(request, extras[i].field,
                                extras[i].typed ? arg_type_word(text) : value_utf8(text, strlen(text)));
    }

    if (rc == 0)
        *ret = STEAL(request);
    return rc;
}
