/* renderer_user.c - renderers of users' files in Python (_renderers), of the package `salt` that is part of
 * this program (pyobjects, pydsl), and of Salt's own where its package is installed: render(data, saltenv,
 * sls, **kwargs).
 *
 * The file gets text or data, and gives either; a template's output comes as a stream, as in Salt. Marks of
 * peers' parts do not go through Python: a text with them is refused, and what is made of data with them
 * counts as a peer's as a whole. */
#include "common/base/str.h"
#include "common/py/py_peer.h"
#include "common/python/userfile.h"
#include "common/render/render_int.h"

/* TAKES `said`: text for the next renderer, or data. */
static int
renderer_user_give(rendering_t *run, py_t *said)
{
    AUTO(py) text = said;
    size_t len;

    if (!py_is(said, PY_STR))
        return run_give_data(run, STEAL(text));
    const char *bytes = py_text(said, &len);
    buf_clear(&run->text);
    buf_add(&run->text, bytes, len);
    jinja_marks_free(&run->marks);
    spans_free(&run->peer); /* with peer_data: warn */
    run->is_data = false;
    return 0;
}

int
render_user(rendering_t *run, const char *argline, fail_t *err)
{
    const userfile_t what = { .kind = "renderers",
                              .module = run->user,
                              .fun = "render",
                              .packaged = renderer_is_packaged(run->render->ctx, run->user),
                              .include = run->source->include,
                              .cookie = run->source->cookie };
    fail_auto_t why = FAIL_INIT;
    bool peer = run->is_data && py_holds_peer(run->data);

    if (!run->is_data && run_check_program(run, err) < 0)
        return -EINVAL;
    AUTO_FREE char *file = run_file(run);
    /* render(data, saltenv, sls, tmplpath=..., stream=..., argline=...) */
    const render_source_t *s = run->source;
    AUTO(py) args = py_list();
    AUTO(py) kwargs = py_dict();
    py_append_new(args, run->is_data ? py_ref(run->data) : py_str_utf8(buf_str(&run->text), run->text.len));
    py_append_new(args, py_strz(run->render->saltenv));
    py_append_new(args, py_strz(s->sls != NULL ? s->sls : ""));
    py_dict_sets_new(kwargs, "tmplpath", s->path != NULL ? py_strz(s->path) : py_ref(PY_None));
    py_dict_sets_new(kwargs, "stream", py_bool(!run->untouched && !run->is_data));
    if (*argline != '\0')
        py_dict_sets_new(kwargs, "argline", py_strz(argline));
    if (what.packaged && s->kept != NULL)
        py_dict_sets(kwargs, "compilation", py_dict_gets(s->kept, "compilation"));

    AUTO(py) said = NULL;
    if (render_may_python(run->render, &why) == 0)
        said = userfile_call(run->render->ctx, &what, args, kwargs, NULL, &why);
    if (said == NULL)
        return fail_set(err, -EINVAL, "%s%s%s", fail_text(&why), file != NULL ? "\nin " : "",
                        file != NULL ? file : "");
    call_note(run->render->ctx, run->user);
    return renderer_user_give(run, peer ? py_peer(STEAL(said), 0) : STEAL(said));
}
