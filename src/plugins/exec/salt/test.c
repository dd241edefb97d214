/* test.c - execution module `test`: whether the minion answers, what it sees of its arguments, and what
 * failures look like. Functions that Salt has for its own tests of loader and interpreter (cross_test,
 * provider, module_report ...) answer from this program's registry of plug-ins. */
#include "salt/plugin.h"

#include <execinfo.h>
#include <inttypes.h>
#include <math.h>
#include <sys/random.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/digest.h"
#include "common/base/str.h"
#include "common/plugin/registry.h"
#include "common/py/py.h"

enum {
    FIB_LIMIT = 100000, /* digits grow with the number */
    STACK_FRAMES = 64,
    LIMB = 1000000000 /* base of the big Fibonacci numbers */
};

/* ---- answers ------------------------------------------------------------------------------- */

/* test.ping and its like: rows of one function. */
static int
test_true(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_true();
    return 0;
}

/* Nothing here is deprecated. Who tests how warnings reach him gets the two of Salt, whatever the level of the log:
 * Python writes its warnings to stderr, too. */
static int
test_deprecation_warning(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    static const char *const warnings[] = {
        "This is a test deprecation warning by version.",
        "This is a test deprecation warning by date very far into the future (3000-01-01).",
    };

    for (size_t i = 0; i < NELEMS(warnings); i++)
        (void) fprintf(stderr, "test.deprecation_warning: DeprecationWarning: %s\n", warnings[i]);
    *ret_value = json_true();
    return 0;
}

/* For tests of how False is shown and counted. */
static int
test_false(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_false();
    return 0;
}

/* The text as it came: tuples, bytes and the like too. */
static py_t *
test_echo(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    return py_ref(py_dict_gets(args, "text"));
}

/* The argument that the row names. */
static int
test_argument(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_incref(value_get(args, ctx_row(ctx)->data.text));
    return 0;
}

/* {"args": (...), "kwargs": {...}}: the row declares just these two. Python's *args are a tuple. */
static py_t *
exec_test_arg(call_ctx_t *ctx, py_t *args, fail_t *err)
{
    const py_t *given = py_dict_gets(args, "args");
    size_t n = py_seq_len(given);
    py_t *tuple = py_tuple(n);

    for (size_t i = 0; i < n; i++)
        py_tuple_set(tuple, i, py_seq_at(given, i));
    py_dict_sets_new(args, "args", tuple);
    return py_ref(args);
}

/* repr() of the tuple that Python would have. Salt passes positional arguments as a tuple, which JSON
 * lacks. */
static json_t *
tuple_repr(const json_t *list)
{
    AUTO_FREE char *text = value_repr(list);

    text[strlen(text) - 1] = '\0';
    return value_fmt("(%s%s", text + 1, json_array_size(list) == 1 ? ",)" : ")");
}

static int
test_arg_repr(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    AUTO_FREE char *kwargs = value_repr(value_get(args, "kwargs"));

    *ret_value = json_pack("{s:o, s:s}", "args", tuple_repr(value_get(args, "args")), "kwargs", kwargs);
    return 0;
}

/* Python's name of the type. NEW. */
static json_t *
type_text(const json_t *v)
{
    static const char *const names[] = {
        [JSON_OBJECT] = "dict", [JSON_ARRAY] = "list", [JSON_STRING] = "str", [JSON_INTEGER] = "int",
        [JSON_REAL] = "float",  [JSON_TRUE] = "bool",  [JSON_FALSE] = "bool", [JSON_NULL] = "NoneType",
    };

    return value_fmt("<class '%s'>", names[json_typeof(v)]);
}

/* Names of Python's types, in the form that type() prints. */
static int
test_arg_type(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *list = json_array(), *dict = json_object(), *v;
    const char *key;
    size_t i;

    json_array_foreach (value_get(args, "args"), i, v)
        json_array_append_new(list, type_text(v));
    json_object_foreach (value_get(args, "kwargs"), key, v)
        json_object_set_new(dict, key, type_text(v));
    *ret_value = json_pack("{s:o, s:o}", "args", list, "kwargs", dict);
    return 0;
}

/* The version of Salt that this program stands for; test.halite_version tells its own. */
static int
test_version(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_string(HALITE_VERSION);
    return 0;
}

/* The configuration as the job sees it, with the overrides of the call. */
static int
exec_test_get_opts(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_incref(ctx_opts(ctx));
    return 0;
}

/* Salt packs what its loader gives to modules: options with the grains in them. */
static int
test_opts_pkg(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_copy(ctx_opts(ctx));
    json_object_set(*ret_value, "grains", ctx_grains(ctx));
    return 0;
}

/* True, with the exit code asked for as the job's. */
static int
test_retcode(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    ctx_set_retcode(ctx, (int) value_int(args, "code", 0));
    *ret_value = json_true();
    return 0;
}

/* Salt's text; the function has moved long ago. */
static int
test_tty(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_string("ERROR: This function has been moved to cmd.tty");
    return 0;
}

/* ---- time ---------------------------------------------------------------------------------- */

/* Whole seconds, as time.sleep(int(length)), with Python's texts for what is no number. A text that is a number with
 * a fraction is none for int(). */
static int
exec_test_sleep(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_t *length = value_get(args, "length");
    double seconds = trunc(value_num(args, "length", 0));

    if (json_is_boolean(length)) {
        seconds = json_is_true(length);
    } else if (json_is_string(length)) {
        AUTO_FREE char *digits = str_replace(json_string_value(length), "_", "");
        AUTO_FREE char *shown = value_repr(length);
        long long number = 0;
        if (!str_to_int(str_trim(digits), INT64_MIN, INT64_MAX, &number))
            return fail_set(err, -EINVAL, "ValueError: invalid literal for int() with base 10: %s", shown);
        seconds = (double) number;
    } else if (!json_is_number(length)) {
        return fail_kind(err, FAIL_INVOCATION, -EINVAL,
                         "int() argument must be a string, a bytes-like object or a real number, not '%s'",
                         json_is_array(length)    ? "list"
                         : json_is_object(length) ? "dict"
                                                  : "NoneType");
    }
    if (seconds < 0 || seconds > INT32_MAX)
        return fail_set(err, -EINVAL, "ValueError: sleep length must be non-negative");
    clock_pause(seconds);
    *ret_value = json_true();
    return 0;
}

/* A number from 0 to `max` inclusive. The remainder favours small numbers a little, which no use of it here
 * minds. */
static uint64_t
random_upto(uint64_t max)
{
    uint64_t n = 0;

    salt_assert(getrandom(&n, sizeof(n), 0) == (ssize_t) sizeof(n));
    return max == UINT64_MAX ? n : n % (max + 1);
}

/* Up to `max` seconds, both ends included. */
static int
test_rand_sleep(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_int_t max = value_int(args, "max", 60);

    if (max < 0)
        return fail_set(err, -EINVAL,
                        "ValueError: empty range for randrange() (0, %" JSON_INTEGER_FORMAT
                        ", %" JSON_INTEGER_FORMAT ")",
                        max + 1, max + 1);
    clock_pause((double) random_upto((uint64_t) max));
    *ret_value = json_true();
    return 0;
}

/* ---- numbers ------------------------------------------------------------------------------- */

/* Little-endian limbs. Numbers of Fibonacci outgrow 64 bits at the 93rd. */
typedef struct big {
    uint32_t *limbs;
    size_t n;
} big_t;

/* b += a, where b >= a in limbs or one shorter. The sum may be a limb longer, for which there is room. */
static void
big_add(big_t *b, const big_t *a)
{
    uint32_t carry = 0;

    for (size_t i = 0; i < a->n || i < b->n || carry != 0; i++) {
        if (i == b->n)
            b->limbs[b->n++] = 0;
        uint32_t sum = b->limbs[i] + (i < a->n ? a->limbs[i] : 0) + carry;
        carry = sum >= LIMB;
        b->limbs[i] = carry != 0 ? sum - LIMB : sum;
    }
}

/* An integer as long as it fits, then its digits. NEW. */
static json_t *
big_value(const big_t *b)
{
    buf_auto_t text = BUF_INIT;

    buf_printf(&text, "%u", b->limbs[b->n - 1]);
    for (size_t i = b->n - 1; i-- > 0;)
        buf_printf(&text, "%09u", b->limbs[i]);
    long long n;
    return str_to_int(buf_str(&text), 0, INT64_MAX, &n) ? json_integer(n) : json_string(buf_str(&text));
}

/* Seconds of a clock that only goes forward, as finely as it is kept. */
static double
mono_seconds(void)
{
    struct timespec now;

    (void) clock_gettime(CLOCK_MONOTONIC, &now);
    return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

/* [the number, seconds that it took]. A bound keeps a call from taking hours, where Salt has none. */
static int
test_fib(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    double start = mono_seconds();
    json_int_t num = value_int(args, "num", 0);

    if (num < 0)
        return fail_set(err, -EINVAL, "ValueError: Negative number is not allowed!");
    if (num > FIB_LIMIT)
        return fail_kind(err, FAIL_INVOCATION, -ERANGE, "num must be at most %d", FIB_LIMIT);

    /* The num-th Fibonacci number by repeated addition, quadratic in its digits. */
    size_t room = (size_t) num / 40 + 2; /* limbs: 0.209 digits a step, 9 digits a limb */
    big_t now = { xcalloc(room, sizeof(uint32_t)), 1 }, next = { xcalloc(room, sizeof(uint32_t)), 1 };
    next.limbs[0] = 1;
    for (json_int_t i = 0; i < num; i++) {
        big_add(&now, &next);
        big_t last = now;
        now = next;
        next = last;
    }
    json_t *value = big_value(&now);
    free(now.limbs);
    free(next.limbs);

    *ret_value = json_pack("[o, f]", value, mono_seconds() - start);
    return 0;
}

/* As in Python, halving makes floats. [steps, seconds]. Salt divides by "/", so that all after the first
 * halving are floats. The bound keeps doubles exact. */
static int
test_collatz(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    double begin = mono_seconds();
    json_int_t start = value_int(args, "start", 0);
    json_t *steps = json_array();
    bool is_float = false;

    if (start < 1 || start > 1LL << 40) {
        json_decref(steps);
        return fail_kind(err, FAIL_INVOCATION, -ERANGE, "start must be from 1 to 2**40");
    }
    for (double n = (double) start; n != 1.0;) {
        json_array_append_new(steps, is_float ? json_real(n) : json_integer((json_int_t) n));
        bool even = fmod(n, 2.0) == 0.0;
        is_float = is_float || even;
        n = even ? n / 2 : n * 3 + 1;
    }
    *ret_value = json_pack("[o, f]", steps, mono_seconds() - begin);
    return 0;
}

/* The digest of a random number's digits, by hash_type or the option of that name. */
static int
test_random_hash(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *type = value_str(args, "hash_type", "");
    json_int_t size = value_int(args, "size", 1);

    if (*type == '\0')
        type = value_str(ctx_opts(ctx), "hash_type", "sha256");
    if (size < 0)
        return fail_set(err, -EINVAL,
                        "ValueError: empty range for randrange() (0, %" JSON_INTEGER_FORMAT
                        ", %" JSON_INTEGER_FORMAT ")",
                        size + 1, size + 1);
    AUTO_FREE char *number = xasprintf("%" PRIu64, random_upto((uint64_t) size));
    AUTO_FREE char *hex = digest_bytes(type, number, strlen(number), err);
    if (hex == NULL)
        return -EINVAL;
    *ret_value = json_string(hex);
    return 0;
}

/* ---- other functions ----------------------------------------------------------------------- */

/* Salt's example of calling another function by an attribute. */
static int
test_attr_call(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return ctx_call(ctx, "grains.items", NULL, NULL, ret_value, err);
}

/* config.option of a name that has a default. */
static int
test_conf_test(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    json_auto_t *name = json_pack("[s]", "test.foo");

    return ctx_call(ctx, "config.option", name, NULL, ret_value, err);
}

/* The function by its name, with the other arguments; an unknown name is the loader's error. */
static int
test_cross_test(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *fun = value_str(args, "func", "");

    return ctx_find_named(ctx, fun, err) != NULL
               ? ctx_call(ctx, fun, value_get(args, "args"), NULL, ret_value, err)
               : -ENOENT;
}

/* None, or the error's text, in place of a failure. */
static int
test_try(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    fail_auto_t inner = FAIL_INIT;
    const char *fun = value_str(args, "module", "");

    if (ctx_find_named(ctx, fun, &inner) != NULL &&
        ctx_call(ctx, fun, NULL, value_get(args, "kwargs"), ret_value, &inner) == 0)
        return 0;
    *ret_value = value_bool(args, "return_try_exception", false) ? json_string(fail_text(&inner))
                                                                 : json_null();
    return 0;
}

/* ---- failures ------------------------------------------------------------------------------ */

/* The job fails with this text. */
static int
test_exception(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    return fail_set(err, -EIO, "Exception: %s", value_str(args, "message", ""));
}

/* None for a truth. */
static int
test_assertion(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    if (!value_truthy(value_get(args, "assertion")))
        return fail_set(err, -EINVAL, "AssertionError");
    *ret_value = json_null();
    return 0;
}

/* Exceptions by the words that the minion has for them; a FAIL_GENERIC one shows its name. */
static const struct {
    const char *name;
    fail_kind_t kind;
} exceptions[] = {
    { "salt.exceptions.ArgumentValueError", FAIL_COMMAND },
    { "salt.exceptions.AuthenticationError", FAIL_GENERIC },
    { "salt.exceptions.AuthorizationError", FAIL_GENERIC },
    { "salt.exceptions.CheckError", FAIL_COMMAND },
    { "salt.exceptions.CodePageError", FAIL_COMMAND },
    { "salt.exceptions.CommandExecutionError", FAIL_COMMAND },
    { "salt.exceptions.CommandNotFoundError", FAIL_PROGRAM },
    { "salt.exceptions.EauthAuthenticationError", FAIL_GENERIC },
    { "salt.exceptions.FileLockError", FAIL_GENERIC },
    { "salt.exceptions.FileserverConfigError", FAIL_GENERIC },
    { "salt.exceptions.GitLockError", FAIL_GENERIC },
    { "salt.exceptions.GitRemoteError", FAIL_GENERIC },
    { "salt.exceptions.InvalidConfigError", FAIL_COMMAND },
    { "salt.exceptions.InvalidEntityError", FAIL_COMMAND },
    { "salt.exceptions.InvalidKeyError", FAIL_GENERIC },
    { "salt.exceptions.LoaderError", FAIL_GENERIC },
    { "salt.exceptions.LoggingRuntimeError", FAIL_GENERIC },
    { "salt.exceptions.MinionError", FAIL_GENERIC },
    { "salt.exceptions.MissingSmb", FAIL_GENERIC },
    { "salt.exceptions.NotImplemented", FAIL_GENERIC },
    { "salt.exceptions.NxosCliError", FAIL_GENERIC },
    { "salt.exceptions.NxosClientError", FAIL_GENERIC },
    { "salt.exceptions.NxosError", FAIL_GENERIC },
    { "salt.exceptions.NxosRequestNotSupported", FAIL_GENERIC },
    { "salt.exceptions.PkgParseError", FAIL_GENERIC },
    { "salt.exceptions.PublishError", FAIL_GENERIC },
    { "salt.exceptions.SaltCacheError", FAIL_GENERIC },
    { "salt.exceptions.SaltClientError", FAIL_GENERIC },
    { "salt.exceptions.SaltClientTimeout", FAIL_GENERIC },
    { "salt.exceptions.SaltCloudConfigError", FAIL_GENERIC },
    { "salt.exceptions.SaltCloudException", FAIL_GENERIC },
    { "salt.exceptions.SaltCloudExecutionFailure", FAIL_GENERIC },
    { "salt.exceptions.SaltCloudExecutionTimeout", FAIL_GENERIC },
    { "salt.exceptions.SaltCloudNotFound", FAIL_GENERIC },
    { "salt.exceptions.SaltCloudPasswordError", FAIL_GENERIC },
    { "salt.exceptions.SaltCloudSystemExit", FAIL_GENERIC },
    { "salt.exceptions.SaltConfigurationError", FAIL_GENERIC },
    { "salt.exceptions.SaltDaemonNotRunning", FAIL_GENERIC },
    { "salt.exceptions.SaltDeserializationError", FAIL_GENERIC },
    { "salt.exceptions.SaltException", FAIL_GENERIC },
    { "salt.exceptions.SaltInvocationError", FAIL_INVOCATION },
    { "salt.exceptions.SaltMasterError", FAIL_GENERIC },
    { "salt.exceptions.SaltMasterUnresolvableError", FAIL_GENERIC },
    { "salt.exceptions.SaltNoMinionsFound", FAIL_GENERIC },
    { "salt.exceptions.SaltRenderError", FAIL_GENERIC },
    { "salt.exceptions.SaltReqTimeoutError", FAIL_GENERIC },
    { "salt.exceptions.SaltRunnerError", FAIL_GENERIC },
    { "salt.exceptions.SaltSyndicMasterError", FAIL_GENERIC },
    { "salt.exceptions.SaltWheelError", FAIL_GENERIC },
    { "salt.exceptions.TemplateError", FAIL_GENERIC },
    { "salt.exceptions.TimedProcTimeoutError", FAIL_GENERIC },
    { "salt.exceptions.TimeoutError", FAIL_GENERIC },
    { "salt.exceptions.TokenAuthenticationError", FAIL_GENERIC },
    { "salt.exceptions.VMwareApiError", FAIL_COMMAND },
    { "salt.exceptions.VMwareConnectionError", FAIL_COMMAND },
    { "salt.exceptions.VMwareFileNotFoundError", FAIL_COMMAND },
    { "salt.exceptions.VMwareMultipleObjectsError", FAIL_COMMAND },
    { "salt.exceptions.VMwareNotFoundError", FAIL_COMMAND },
    { "salt.exceptions.VMwareObjectExistsError", FAIL_COMMAND },
    { "salt.exceptions.VMwareObjectNotFoundError", FAIL_COMMAND },
    { "salt.exceptions.VMwareObjectRetrievalError", FAIL_COMMAND },
    { "salt.exceptions.VMwarePowerOnError", FAIL_COMMAND },
    { "salt.exceptions.VMwareRuntimeError", FAIL_COMMAND },
    { "salt.exceptions.VMwareSaltError", FAIL_COMMAND },
    { "salt.exceptions.VMwareSystemError", FAIL_COMMAND },
    { "salt.exceptions.VMwareVmCreationError", FAIL_COMMAND },
    { "salt.exceptions.VMwareVmRegisterError", FAIL_COMMAND },
    { "TypeError", FAIL_ARGUMENTS },
    { "Exception", FAIL_GENERIC },
    { "ArithmeticError", FAIL_GENERIC },
    { "AssertionError", FAIL_GENERIC },
    { "AttributeError", FAIL_GENERIC },
    { "BufferError", FAIL_GENERIC },
    { "EOFError", FAIL_GENERIC },
    { "FileExistsError", FAIL_GENERIC },
    { "FileNotFoundError", FAIL_GENERIC },
    { "FloatingPointError", FAIL_GENERIC },
    { "ImportError", FAIL_GENERIC },
    { "IndexError", FAIL_GENERIC },
    { "InterruptedError", FAIL_GENERIC },
    { "KeyError", FAIL_GENERIC },
    { "LookupError", FAIL_GENERIC },
    { "MemoryError", FAIL_GENERIC },
    { "NameError", FAIL_GENERIC },
    { "NotImplementedError", FAIL_GENERIC },
    { "OSError", FAIL_GENERIC },
    { "OverflowError", FAIL_GENERIC },
    { "PermissionError", FAIL_GENERIC },
    { "RecursionError", FAIL_GENERIC },
    { "RuntimeError", FAIL_GENERIC },
    { "StopIteration", FAIL_GENERIC },
    { "SyntaxError", FAIL_GENERIC },
    { "TimeoutError", FAIL_GENERIC },
    { "UnicodeError", FAIL_GENERIC },
    { "ValueError", FAIL_GENERIC },
    { "ZeroDivisionError", FAIL_GENERIC },
};

/* False for a name that is no exception, as by Salt. */
static int
test_raise_exception(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");

    for (size_t i = 0; i < NELEMS(exceptions); i++) {
        if (strcmp(name, exceptions[i].name) != 0)
            continue;
        /* Python's str() of an exception: nothing, its one argument, or the tuple of several. */
        const json_t *given = value_get(args, "args");
        json_auto_t *shown = json_array_size(given) == 0   ? json_string("")
                             : json_array_size(given) == 1 ? json_incref(json_array_get(given, 0))
                                                           : tuple_repr(given);
        AUTO_FREE char *text = value_pystr(shown);
        if (exceptions[i].kind != FAIL_GENERIC)
            return fail_kind(err, exceptions[i].kind, -EIO, "%s", text);
        return fail_set(err, -EIO, "%s%s%s", name, *text != '\0' ? ": " : "", text);
    }
    *ret_value = json_false();
    return 0;
}

/* Frames of this program, innermost last; Salt shows Python's. */
static int
test_stack(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    void *frames[STACK_FRAMES];
    buf_auto_t text = BUF_INIT;
    int n = backtrace(frames, STACK_FRAMES);
    char **names = backtrace_symbols(frames, n);

    salt_assert(names != NULL);
    for (int i = n - 1; i >= 0; i--)
        buf_printf(&text, "  %s\n", names[i]);
    free(names);
    *ret_value = json_string(buf_str(&text));
    return 0;
}

/* ---- what is built in ---------------------------------------------------------------------- */

/* "" for a module that is not there. */
static int
test_provider(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const plugin_t *p = registry_provider(ctx_registry(ctx, PLUGIN_EXEC), ctx, value_str(args, "module", ""));

    *ret_value = json_string(p != NULL ? p->file : "");
    return 0;
}

static void
exec_test_add_provider(void *cookie, const plugin_t *p, const char *why)
{
    if (why == NULL)
        json_object_set_new(cookie, p->file, json_string(plugin_name(p)));
}

static int
test_providers(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_object();
    registry_each_plugin(ctx_registry(ctx, PLUGIN_EXEC), ctx, exec_test_add_provider, *ret_value);
    return 0;
}

/* `why` is the reason why the module can't be used here. */
static void
add_not_loaded(void *cookie, const plugin_t *p, const char *why)
{
    if (why != NULL)
        json_array_append_new(cookie, json_string(p->file));
}

static int
test_not_loaded(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    *ret_value = json_array();
    registry_each_plugin(ctx_registry(ctx, PLUGIN_EXEC), ctx, add_not_loaded, *ret_value);
    return 0;
}

/* Names of functions and of their modules, each once. */
typedef struct report {
    json_t *functions, *modules;
} report_t;

static void
add_to_report(void *cookie, const char *name, const plugin_t *p, const func_t *f)
{
    report_t *self = cookie;

    if (!value_lists(self->modules, plugin_name(p)))
        json_array_append_new(self->modules, json_string(plugin_name(p)));
    json_array_append_new(self->functions, json_string(name));
}

/* Attributes are Salt's word for functions; nothing is ever missing here. */
static int
test_module_report(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    report_t r = { json_array(), json_array() };

    registry_each(ctx_registry(ctx, PLUGIN_EXEC), ctx, add_to_report, &r);
    *ret_value = json_pack("{s:o, s:O, s:O, s:o, s:O, s:[], s:[]}", "functions", r.functions,
                           "function_attrs", r.functions, "function_subs", r.functions, "modules", r.modules,
                           "module_attrs", r.modules, "missing_attrs", "missing_subs");
    return 0;
}

/* ---- table --------------------------------------------------------------------------------- */

static const arg_t text_args[] = {
    ARG("text", ARG_ANY, ARG_REQUIRED, "What to send back"),
    ARGS_END,
};
static const arg_t data_args[] = {
    ARG("data", ARG_ANY, ARG_REQUIRED, "What to return"),
    ARGS_END,
};
static const arg_t any_args[] = {
    ARG("args", ARG_ANY, ARG_STAR, "Any positional arguments"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Any keyword arguments"),
    ARGS_END,
};
static const arg_t kwarg_args[] = {
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Any keyword arguments"),
    ARGS_END,
};
static const arg_t retcode_args[] = {
    ARG("code", ARG_INT, "42", "The exit code of the job"),
    ARGS_END,
};
static const arg_t sleep_args[] = {
    ARG("length", ARG_ANY, ARG_REQUIRED, "Seconds; fractions are cut off"),
    ARGS_END,
};
static const arg_t rand_sleep_args[] = {
    ARG("max", ARG_INT, "60", "The most seconds to sleep"),
    ARGS_END,
};
static const arg_t fib_args[] = {
    ARG("num", ARG_INT, ARG_REQUIRED, "Which Fibonacci number"),
    ARGS_END,
};
static const arg_t collatz_args[] = {
    ARG("start", ARG_INT, ARG_REQUIRED, "The number to start from"),
    ARGS_END,
};
static const arg_t random_hash_args[] = {
    ARG("size", ARG_INT, "9999999999", "The largest number to draw"),
    ARG("hash_type", ARG_STR, "null", "Digest; by default the configuration's hash_type"),
    ARGS_END,
};
static const arg_t cross_args[] = {
    ARG("func", ARG_STR, ARG_REQUIRED, "The function to call"),
    ARG("args", ARG_LIST, "null", "Its arguments"),
    ARGS_END,
};
static const arg_t try_args[] = {
    ARG("module", ARG_STR, ARG_REQUIRED, "The function to call"),
    ARG("return_try_exception", ARG_BOOL, "false", "Return the text of a failure instead of None"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Its arguments"),
    ARGS_END,
};
static const arg_t exception_args[] = {
    ARG("message", ARG_STR, "\"Test Exception\"", "The text of the exception"),
    ARGS_END,
};
static const arg_t assertion_args[] = {
    ARG("assertion", ARG_ANY, ARG_REQUIRED, "Must be true"),
    ARGS_END,
};
static const arg_t raise_args[] = {
    ARG("name", ARG_STR, ARG_REQUIRED, "A built-in exception, or one of salt.exceptions"),
    ARG("args", ARG_ANY, ARG_STAR, "What the exception is made from"),
    ARG("kwargs", ARG_ANY, ARG_STARSTAR, "Not used"),
    ARGS_END,
};
static const arg_t provider_args[] = {
    ARG("module", ARG_STR, ARG_REQUIRED, "A module's name, such as service"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "arg", NATIVE(exec_test_arg), any_args, FN_READONLY | FN_RAW_KWARGS | FN_NATIVE,
      "Return the positional and keyword arguments as the minion got them, what Salt adds to a published job "
      "included." CLI_EXAMPLE("salt '*' test.arg 1 \"two\" 3.1 txt=\"hello\" wow='{a: 1, b: \"hello\"}'") },
    { "arg_clean", NATIVE(exec_test_arg), any_args, FN_READONLY | FN_NATIVE,
      "Like test.arg, without the ``__pub*`` keywords." CLI_EXAMPLE(
          "salt '*' test.arg_clean 1 \"two\" 3.1 txt=\"hello\" wow='{a: 1, b: \"hello\"}'") },
    { "arg_repr", test_arg_repr, any_args, FN_READONLY | FN_RAW_KWARGS,
      "Return the arguments as Python's ``repr()`` shows them." CLI_EXAMPLE(
          "salt '*' test.arg_repr 1 \"two\" 3.1 txt=\"hello\" wow='{a: 1, b: \"hello\"}'") },
    { "arg_type", test_arg_type, any_args, FN_READONLY | FN_RAW_KWARGS,
      "Return the types of the arguments." CLI_EXAMPLE("salt '*' test.arg_type 1 'int'") },
    { "assertion", test_assertion, assertion_args, FN_READONLY,
      "Fail when the argument is not true." CLI_EXAMPLE("salt '*' test.assertion False") },
    { "attr_call", test_attr_call, NULL, FN_READONLY | FN_PEER_GRAINS,
      "Call grains.items from another module." CLI_EXAMPLE("salt '*' test.attr_call") },
    { "collatz", test_collatz, collatz_args, FN_READONLY,
      "Return the Collatz sequence of a number and the seconds it took." CLI_EXAMPLE(
          "salt '*' test.collatz 3") },
    { "conf_test", test_conf_test, NULL, FN_READONLY,
      "Return the option ``test.foo`` of the minion's configuration, or its default." CLI_EXAMPLE(
          "salt '*' test.conf_test") },
    { "cross_test", test_cross_test, cross_args, FN_CALLS,
      "Call another function from inside this one." CLI_EXAMPLE(
          "salt '*' test.cross_test file.gid_to_group '[0]'") },
    { "deprecation_warning", test_deprecation_warning, NULL, FN_READONLY,
      "Return ``True``, and print two warnings on stderr." CLI_EXAMPLE("salt \\* test.deprecation_warning") },
    { "echo", NATIVE(test_echo), text_args, FN_READONLY | FN_NATIVE,
      "Return a string - used for testing the connection" CLI_EXAMPLE(
          "salt '*' test.echo 'foo bar baz quo qux'") },
    { "exception", test_exception, exception_args, FN_READONLY,
      "Fail as a module with an unexpected error does." CLI_EXAMPLE("salt '*' test.exception 'Oh noes!'") },
    { "false", test_false, NULL, FN_READONLY, "Always return ``False``" CLI_EXAMPLE("salt '*' test.false") },
    { "fib", test_fib, fib_args, FN_READONLY,
      "Return a Fibonacci number and the seconds it took. Numbers over 64 bits are returned as "
      "text." CLI_EXAMPLE("salt '*' test.fib 3") },
    { "get_opts", exec_test_get_opts, NULL, FN_READONLY | FN_PEER_GRAINS,
      "Return the minion's whole configuration." CLI_EXAMPLE("salt '*' test.get_opts") },
    { "kwarg", test_argument, kwarg_args, FN_READONLY | FN_RAW_KWARGS,
      "Return the keyword arguments, what Salt adds to a published job included." CLI_EXAMPLE(
          "salt '*' test.kwarg num=1 txt=\"two\" env='{a: 1, b: \"hello\"}'"),
      .data.text = "kwargs" },
    { "module_report", test_module_report, NULL, FN_READONLY,
      "Return the usable modules and functions." CLI_EXAMPLE("salt '*' test.module_report") },
    { "not_loaded", test_not_loaded, NULL, FN_READONLY,
      "List the modules that can't be used on this host." CLI_EXAMPLE("salt '*' test.not_loaded") },
    { "opts_pkg", test_opts_pkg, NULL, FN_READONLY | FN_PEER_GRAINS,
      "Return the minion's whole configuration and its grains." CLI_EXAMPLE("salt '*' test.opts_pkg") },
    { "outputter", test_argument, data_args, FN_READONLY,
      "Return the argument, to see how an outputter shows it." CLI_EXAMPLE("salt '*' test.outputter foobar"),
      .data.text = "data" },
    { "ping", test_true, NULL, FN_READONLY,
      "Used to make sure the minion is up and responding. Not an ICMP ping.\n\nReturns ``True``." CLI_EXAMPLE(
          "salt '*' test.ping") },
    { "provider", test_provider, provider_args, FN_READONLY,
      "Return which file provides a module here, or an empty text." CLI_EXAMPLE(
          "salt '*' test.provider service") },
    { "providers", test_providers, NULL, FN_READONLY,
      "Return every file that provides a module, and the module's name." CLI_EXAMPLE(
          "salt '*' test.providers") },
    { "raise_exception", test_raise_exception, raise_args, FN_READONLY,
      "Fail with the named exception, to see how it is reported. Returns ``False`` when there is none of "
      "that name." CLI_EXAMPLE(
          "salt '*' test.raise_exception TypeError \"An integer is required\"\n    "
          "salt '*' test.raise_exception salt.exceptions.CommandExecutionError \"Something went "
          "wrong\"") },
    { "rand_sleep", test_rand_sleep, rand_sleep_args, FN_READONLY,
      "Sleep for a random number of seconds, so that minions return at different times." CLI_EXAMPLE(
          "salt '*' test.rand_sleep 60") },
    { "rand_str", test_random_hash, random_hash_args, FN_READONLY,
      "The old name of test.random_hash." CLI_EXAMPLE("salt '*' test.rand_str") },
    { "random_hash", test_random_hash, random_hash_args, FN_READONLY,
      "Return the digest of a random number." CLI_EXAMPLE("salt '*' test.random_hash\n    "
                                                          "salt '*' test.random_hash hash_type=sha512") },
    { "retcode", test_retcode, retcode_args, FN_READONLY,
      "End the job with this exit code." CLI_EXAMPLE("salt '*' test.retcode 42") },
    { "sleep", exec_test_sleep, sleep_args, FN_READONLY,
      "Sleep for so many seconds, then return ``True``." CLI_EXAMPLE("salt '*' test.sleep 20") },
    { "stack", test_stack, NULL, FN_READONLY,
      "Return the current call stack of the minion." CLI_EXAMPLE("salt '*' test.stack") },
    { "true", test_true, NULL, FN_READONLY, "Always return ``True``" CLI_EXAMPLE("salt '*' test.true") },
    { "try", test_try, try_args, FN_CALLS,
      "Call another function; a failure becomes ``None``, or its text with "
      "``return_try_exception=True``." CLI_EXAMPLE(
          "salt '*' test.try module=test.assertion assertion=False") },
    { "tty", test_tty, any_args, FN_READONLY,
      "Moved to cmd.tty." CLI_EXAMPLE("salt '*' test.tty tty0 'This is a test'") },
    { "version", test_version, NULL, FN_READONLY,
      "Return the version of Salt that this minion speaks." CLI_EXAMPLE("salt '*' test.version") },
};

PLUGIN(exec, test, .doc = "Check on a minion, its arguments and how it fails", FUNCS(funcs));
