/* fuzz_reactor.c - the reactor's rules from hostile configurations, and hostile events.
 *
 * The input is the option as YAML, a line "%%", then a line of JSON for each step: [seconds, tag, data], or
 * seconds alone. Rules that are saved and restored at each step must fire the same as those that never were.
 */
#include "common/base/str.h"
#include "common/data/yaml.h"
#include "common/reactor/rules.h"
#include "salt/limits.h"
#include "salt/value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STEPS_MAX 100

/* NEW array of what a step fires. */
static json_t *
s_step(rules_t *rules, int64_t us, uint64_t seq, const json_t *step)
{
    const char *tag = json_string_value(json_array_get(step, 1));
    json_t *event = json_array_get(step, 2);
    json_t *out = rules_due(rules, us);

    if (tag != NULL && json_is_object(event)) {
        json_auto_t *more = rules_event(rules, seq, us, tag, event);
        json_array_extend(out, more);
    }
    return out;
}

/* NEW rules with the state of `from`, carried through text as on disk. */
static rules_t *
s_restored(const json_t *option, const rules_t *from)
{
    json_auto_t *state = rules_state(from);
    AUTO_FREE char *text = value_dump(state);
    json_auto_t *back = json_loads(text, JSON_ALLOW_NUL, NULL);
    rules_t *rules = rules_new(option, NULL);

    rules_restore(rules, back);
    return rules;
}

static void
s_steps(const json_t *option, char *lines)
{
    AUTO(rules) kept = rules_new(option, NULL);
    AUTO(rules) saved = s_restored(option, kept);
    int64_t us = 1000000;
    char *rest = NULL;
    uint64_t seq = 0;

    for (char *line = strtok_r(lines, "\n", &rest); line != NULL && seq < STEPS_MAX;
         line = strtok_r(NULL, "\n", &rest)) {
        json_auto_t *step = json_loads(line, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        const json_t *seconds = json_is_array(step) ? json_array_get(step, 0) : step;
        double more = json_number_value(seconds);
        us += more > 0 && more < 1e6 ? (int64_t) (more * 1e6) : 0;
        json_auto_t *a = s_step(kept, us, ++seq, step), *b = s_step(saved, us, seq, step);
        salt_assert(json_equal(a, b));
        rules_t *fresh = s_restored(option, saved);
        rules_destroy(&saved);
        saved = fresh;
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 16384)
        return 0;
    AUTO_FREE char *text = xstrndup((const char *) data, size);
    char *lines = strstr(text, "\n%%\n");
    fail_auto_t err = FAIL_INIT;
    size_t entry;

    if (lines != NULL) {
        *lines = '\0';
        lines += 4;
    }
    json_auto_t *option = yaml_load(text, strlen(text), "reactor", NULL, NULL);
    /* A text would name a file to read. */
    if (option == NULL || json_is_string(option))
        return 0;
    int rc = rules_check(option, &entry, &err);
    salt_assert((rc == 0) == (err.code == 0));
    if (rc < 0 || lines == NULL)
        return 0;
    AUTO(rules) rules = rules_new(option, NULL);
    json_decref(rules_tags(rules));
    json_decref(rules_files(rules));
    s_steps(option, lines);
    return 0;
}
