/* yaml.c - driver `yaml` of sdb: values in YAML files, laid over each other. */
#include "common/base/buf.h"
#include "common/base/fs.h"
#include "common/base/str.h"
#include "common/py/py_error.h"
#include "common/py/py_json.h"
#include "common/py/py_merge.h"
#include "common/py/py_traverse.h"
#include "common/py/py_yaml.h"
#include "plugins/lib/call/pyargs.h"
#include "plugins/lib/call/subcall.h"
#include "plugins/lib/sdb/driver.h"
#include "salt/log.h"

/* Values of a file, with `decrypt` after GPG's messages in them were opened. NEW; NULL with *err. */
static py_t *
sdb_yaml_load(call_ctx_t *ctx, const char *path, bool decrypt, fail_t *err)
{
    buf_auto_t text = BUF_INIT;
    yproblem_t problem = YPROBLEM_INIT;

    if (fs_read(path, LIMIT_FILE_READ, &text, err) < 0)
        return NULL;
    if (decrypt) {
        json_auto_t *said = sub_call(ctx, err, "slsutil.renderer", "{s:s, s:s}", "string", buf_str(&text),
                                     "default_renderer", "yaml|gpg");
        return said != NULL ? py_from_json(said) : NULL;
    }
    py_t *data = py_yaml_load_safe(buf_str(&text), text.len, &problem);
    if (data == NULL) {
        (void) fail_kind(err, FAIL_COMMAND, -EINVAL, "%s: %s", path, problem.text);
        py_clear();
    }
    yproblem_free(&problem);
    return data;
}

/* A file that is not there, or no mapping, is told in the log and left out, as in Salt. */
static py_t *
sdb_yaml_get(call_ctx_t *ctx, py_t *profile, const char *key, fail_t *err)
{
    py_t *merge = py_dict_gets(profile, "merge");
    json_auto_t *files = py_dict_gets(profile, "files") != NULL ? py_to_json(py_dict_gets(profile, "files"))
                                                                : NULL;
    json_t *path;
    size_t i;
    bool is = merge != NULL && py_is(merge, PY_DICT);
    const char *strategy = is ? pyarg_text(merge, "strategy", "smart") : "smart";
    bool lists = is && (pyarg_flag(merge, "merge_lists") || pyarg_flag(merge, "merge_list"));
    AUTO(py) all = py_dict();

    json_array_foreach (files, i, path) {
        const char *name = json_is_string(path) ? json_string_value(path) : "";
        fail_auto_t why = FAIL_INIT;
        AUTO(py) data = sdb_yaml_load(ctx, name, pyarg_flag(profile, "gpg"), &why);
        if (data == NULL || !py_is(data, PY_DICT)) {
            log_error("sdb: the file '%s' is left out: %s", name,
                      data == NULL ? fail_text(&why) : "it has no mapping");
            continue;
        }
        py_t *both = py_merge(all, data, strategy, lists);
        if (both == NULL)
            return NULL;
        py_unref(all);
        all = both;
    }
    AUTO(py) where = py_strz(key);
    py_t *found = py_traverse(all, where, ":");
    return found != NULL || py_raised() != NULL ? found : py_ref(PY_None);
}

static py_t *
sdb_yaml_set(call_ctx_t *ctx, py_t *profile, const char *key, py_t *value, fail_t *err)
{
    (void) fail_kind(err, FAIL_COMMAND, -ENOTSUP, "Values of YAML files are not set by sdb: edit the files");
    return NULL;
}

const sdb_driver_t sdb_yaml = { .name = "yaml", .get = sdb_yaml_get, .set = sdb_yaml_set };
