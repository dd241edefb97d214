/* tls.c - state module `tls`: a certificate is valid now, and for some time to come. It changes nothing;
 * times in the comment are written as Python writes a timedelta. */
#include <math.h>

#include "common/base/buf.h"
#include "common/base/clock.h"
#include "common/base/str.h"
#include "plugins/lib/x509/tlsdir.h"
#include "plugins/lib/x509/tlsrows.h"
#include "salt/state.h"

enum { US_PER_S = 1000000 };

/* Python's str() of a timedelta: "2 days, 3:04:05.000006". NEW. */
static char *
delta_text(int64_t us)
{
    const int64_t day = (int64_t) 24 * 60 * 60 * US_PER_S;
    int64_t days = us / day - (us % day < 0), rest = us - days * day, s = rest / US_PER_S;
    buf_auto_t out = BUF_INIT;

    if (days != 0)
        buf_printf(&out, "%lld day%s, ", (long long) days, days == 1 || days == -1 ? "" : "s");
    buf_printf(&out, "%d:%02d:%02d", (int) (s / 3600), (int) (s / 60 % 60), (int) (s % 60));
    if (rest % US_PER_S != 0)
        buf_printf(&out, ".%06d", (int) (rest % US_PER_S));
    return buf_steal(&out);
}

/* The sum of weeks, days, ... in microseconds, of at most a hundred thousand years. */
static int64_t
least_time(const json_t *args)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {
        { "weeks", 604800 }, { "days", 86400 }, { "hours", 3600 }, { "minutes", 60 }, { "seconds", 1 }
    };
    const double most = 100000.0 * 366 * 86400;
    double sum = 0;

    for (size_t i = 0; i < NELEMS(units); i++)
        sum += value_num(args, units[i].name, 0) * units[i].seconds;
    return llround(fmax(-most, fmin(most, sum)) * US_PER_S);
}

/* Times are compared in microseconds, since Salt tells what is left with them. */
static int
tls_valid_certificate(call_ctx_t *ctx, json_t *args, json_t **ret_value, fail_t *err)
{
    const char *name = value_str(args, "name", "");
    int64_t now = clock_wall_us(), least = least_time(args);
    json_t *ret = *ret_value = state_ret_args(args);
    fail_auto_t why = FAIL_INIT;
    AUTO(xdoc) cert = NULL;

    int there = tls_read_doc(XDOC_CERT, name, &cert, &why);
    if (there < 0)
        return state_ret_fail(ret, &why);
    if (there == 0)
        return state_ret_set(ret, STATE_FALSE, "[Errno 2] No such file or directory: '%s'", name);
    if (now < cert->from * US_PER_S)
        return state_ret_set(ret, STATE_FALSE, "Certificate is not yet valid");
    if (now > cert->until * US_PER_S)
        return state_ret_set(ret, STATE_FALSE, "Certificate is expired");
    int64_t remaining = cert->until * US_PER_S - now;
    AUTO_FREE char *left = delta_text(remaining), *least_text = delta_text(least);
    if (remaining < least)
        return state_ret_set(ret, STATE_FALSE, "Certificate will expire in %s, which is less than %s", left,
                             least_text);
    return state_ret_set(ret, STATE_TRUE, "Certificate is valid for %s", left);
}

static const arg_t valid_args[] = {
    TLS_STR("name", ARG_REQUIRED, "Path of the certificate"),
    ARG("weeks", ARG_FLOAT, "0", "It must hold for so many weeks more"),
    ARG("days", ARG_FLOAT, "0", "Days to be added"),
    ARG("hours", ARG_FLOAT, "0", "Hours to be added"),
    ARG("minutes", ARG_FLOAT, "0", "Minutes to be added"),
    ARG("seconds", ARG_FLOAT, "0", "Seconds to be added"),
    ARGS_END,
};

static const func_t funcs[] = {
    { "valid_certificate", tls_valid_certificate, valid_args, 0,
      "Check that a certificate is valid, now and for some time." CLI_EXAMPLE(
          "salt '*' state.single tls.valid_certificate /etc/pki/www.crt days=14") },
};

PLUGIN(state, tls, .doc = "Certificates that are to be valid", FUNCS(funcs));
