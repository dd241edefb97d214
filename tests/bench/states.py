"""states.py - state runs: a thousand states beside real Salt's times, and many thousands to see that it stays linear."""

import os
import statistics

import fleet

THOUSAND = "{% for i in range(1000) %}\nnop_{{ i }}:\n  test.nop:\n    - name: nop {{ i }}\n{% endfor %}\n"
CHAINED = (
    "{% for i in range(1000) %}\nnop_{{ i }}:\n  test.nop:\n    - name: nop {{ i }}\n"
    "{% if i %}    - require:\n      - test: nop_{{ i - 1 }}\n{% endif %}\n{% endfor %}\n"
)
GROWTH = 1.6  # how much more than twice the time twice the states may take


def tree(folder, counts):
    """The SLS files; the large ones need no template, which has its own bound."""
    os.makedirs(folder)
    texts = {"thousand": THOUSAND, "thousand_req": CHAINED}
    for count in counts:
        chain = (f"s{i}:\n  test.nop:\n    - require:\n      - test: s{i + 1}\n" for i in range(count - 1))
        texts[f"chain{count}"] = "#!yaml\n" + "".join(chain) + f"s{count - 1}:\n  test.nop: []\n"
    for name, text in texts.items():
        with open(os.path.join(folder, name + ".sls"), "w") as f:
            f.write(text)


def run(bench):
    counts = (5000, 10000, 20000)
    roots = os.path.join(bench.site.root, "states")
    tree(roots, counts)
    _, minion = bench.small_fleet()

    def call(sls, *more):
        return minion.command("salt-call", "--local", "--file-root=" + roots, "state.apply", sls, *more)

    # Thirty and fifty times faster than Salt, whose times are in the reference's table.
    compiled = minion.command("salt-call", "--local", "--file-root=" + roots, "state.show_low_sls", "thousand", "--out=json")
    bench.command("state.show_low_sls of 1000", compiled, 758 / 50, "salt-call --local state.show_low_sls 1000", expect="nop 999")
    known = "salt-call --local state.apply 1000 "
    bench.command("state.apply of 1000 test.nop", call("thousand"), 1030 / 30, known + "test.nop", expect="Succeeded: 1000")
    bench.command("state.apply of 1000, each requires the one before", call("thousand_req"), 1990 / 50, known + "chained require")
    before = None
    for count in counts:
        took = [fleet.run_timed(call(f"chain{count}", "--out=quiet"))[0] for _ in range(bench.runs(8))]
        target = 2 * GROWTH * before if before else None
        bench.report.add(f"state.apply of {count}, each requires the one behind", took, "ms", target=target)
        before = statistics.median(took)
