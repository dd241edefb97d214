// jobs.js - the newest jobs along time with their verdicts, and one job with those of its minions.
import { jobsAllowed, onEvent, runner } from './api.js';
import { List } from './list.js';
import { brief, choice, count, field, h, mark, matcher, note, pairs, panel, problem, seldom, short, svg, when, wordsOf } from './ui.js';
import { returnOf } from './returns.js';

const names = wordsOf, target = wordsOf;
export const argsOf = (arg) => [arg ?? []].flat().map((one) => (one && one.__kwarg__ ? Object.entries(one).filter(([name]) => name !== '__kwarg__').map(([name, value]) => `${name}=${brief(value, 60)}`).join(' ') : brief(one, 80))).join(' ');

function verdict(job) {
    if (job.n_minions === undefined)
        return 'unknown';
    return job.running ? 'running' : job.n_failed ? 'failed' : job.n_returned < job.n_minions ? 'silent' : 'returned';
}

// How many returned, failed, are silent: as a bar, and as figures.
function counts(job) {
    if (job.n_minions === undefined)
        return h('span', { class: 'dim' }, '–');
    const well = job.n_returned - job.n_failed, silent = job.n_minions - job.n_returned;
    const bar = svg('svg', { class: 'share', viewBox: '0 0 100 8', preserveAspectRatio: 'none', 'aria-hidden': 'true' });
    let x = 0;
    for (const [n, kind] of [[well, 'ok'], [job.n_failed, 'bad'], [silent, job.running ? 'info' : 'warn']]) {
        const width = job.n_minions ? (n / job.n_minions) * 100 : 0;
        if (n)
            bar.append(svg('rect', { x, y: 0, width, height: 8, class: `fill-${kind}` }));
        x += width;
    }
    return h('span', { class: 'counts' }, bar, h('span', { class: 'figures' }, well || !job.n_minions ? h('span', { class: 'ok' }, `✓ ${count(well)}`) : null, job.n_failed ? h('span', { class: 'bad' }, `✕ ${count(job.n_failed)}`) : null,
        silent ? h('span', { class: job.running ? 'info' : 'warn' }, `${job.running ? '▸' : '?'} ${count(silent)}`) : null));
}

// Time from the oldest job to now, in slices: a column of each with its verdicts, worst below.
function timeline(jobs, pick) {
    const wide = 120, now = Date.now(), first = jobs.reduce((low, job) => Math.min(low, job.ms), now - 60000), slice = (now - first) / wide + 1;
    const slots = Array.from({ length: wide }, () => ({ failed: 0, silent: 0, running: 0, returned: 0, unknown: 0, n: 0 }));
    for (const job of jobs) {
        const slot = slots[Math.min(wide - 1, Math.max(0, Math.floor((job.ms - first) / slice)))];
        slot[verdict(job)]++;
        slot.n++;
    }
    const most = Math.max(4, ...slots.map((slot) => slot.n));
    const chart = svg('svg', { viewBox: `0 0 ${wide * 10} 72`, preserveAspectRatio: 'none', 'aria-hidden': 'true' });
    slots.forEach((slot, i) => {
        let y = 72;
        for (const [name, kind] of [['failed', 'bad'], ['silent', 'warn'], ['running', 'info'], ['returned', 'ok'], ['unknown', 'dim']]) {
            const tall = (slot[name] / most) * 70;
            if (tall)
                chart.append(svg('rect', { x: i * 10 + 1.5, y: y - tall, width: 7, height: tall, class: `fill-${kind}`, onclick: () => pick(first + (i + 1) * slice) }));
            y -= tall;
        }
    });
    const sums = jobs.reduce((all, job) => ({ ...all, [verdict(job)]: (all[verdict(job)] ?? 0) + 1 }), {});
    return h('figure', { class: 'timeline' }, chart,
        h('figcaption', null, h('span', null, short(first)), h('span', { class: 'legend' }, ['returned', 'failed', 'silent', 'running'].filter((name) => sums[name]).map((name) => h('span', null, mark(name, true), ` ${count(sums[name])}`))), h('span', null, 'now')));
}

// ---- one job --------------------------------------------------------------------------------------

async function openReturn(jid, id) {
    const body = panel(id, h('p', { class: 'dim' }, 'Reading its return …'));
    try {
        const job = await runner('jobs.list_job', { jid, minions: [id] });
        const ret = job.Result?.[id];
        body.replaceChildren(ret ? returnOf(ret) : note('It has returned nothing.', 'Nothing of this minion is in the store for this job.'));
    } catch (failure) {
        body.replaceChildren(problem(failure));
    }
}

function one(box, jid) {
    let rows = [], shown = '', filter = '', live = false;
    const search = field('Minion', { oninput: () => { filter = search.value; draw(); } });
    const head = h('div', { class: 'card' }), tiles = h('div', { class: 'tiles' }), body = h('div', { class: 'body' }, note('Asking the master …'));
    const rank = { failed: 0, silent: 1, returned: 9 };
    const list = new List({
        label: 'Minions of the job', key: (row) => row[0], open: (row) => openReturn(jid, row[0]), sorted: { name: 'state', down: false },
        columns: [{ name: 'state', title: 'Verdict', sort: (a, b) => (rank[a[1]] ?? 5) - (rank[b[1]] ?? 5) || (a[0] < b[0] ? -1 : 1) }, { name: 'id', title: 'Minion', sort: (a, b) => (a[0] < b[0] ? -1 : 1) }, { name: 'code', title: 'Exit code' }],
        cells: ([id, word, code]) => [mark(word, true), id, code === null || code === undefined ? '–' : String(code)],
        empty: () => (rows.length ? note('No minion fits.') : note('No minion matched the target.')),
    });
    function draw() {
        const fits = matcher(filter);
        list.show(rows.filter((row) => (shown === '' || row[1] === shown) && fits(row[0])));
    }
    async function load() {
        let found;
        try {
            found = await runner('overview.job', { jid });
        } catch (failure) {
            if (failure.kind === 'session')
                throw failure;
            body.replaceChildren(problem(failure));
            return;
        }
        const { job } = found;
        rows = Object.entries(found.minions).map(([id, [word, code]]) => [id, word, code]);
        const sums = {};
        for (const row of rows)
            sums[row[1]] = (sums[row[1]] ?? 0) + 1;
        live = rows.some((row) => row[1] === 'running' || row[1] === 'delivered');
        head.replaceChildren(h('h2', { class: 'mono' }, `${names(job.fun)} ${argsOf(job.arg)}`),
            pairs([['Target', `${target(job.tgt)}${job.tgt_type && job.tgt_type !== 'glob' ? ` (${job.tgt_type})` : ''}`], ['User', job.user], ['Begun', when(job.start_us / 1000)], ['Job', jid]]));
        tiles.replaceChildren(choice('Verdict', [['', 'All', rows.length], ...Object.entries(sums).map(([word, n]) => [word, word, n])].map(([value, word, n]) => [value, h('b', null, count(n)), h('span', null, value ? [mark(value), ' '] : null, word)]), shown, (value) => { shown = value; draw(); }));
        if (!list.box.isConnected)
            body.replaceChildren(list.box);
        draw();
    }
    box.append(h('div', { class: 'bar' }, h('a', { href: '#/jobs', class: 'back' }, '← Jobs'), h('h1', { id: 'title', class: 'unseen' }, `Job ${jid}`), search), head, tiles, body);
    load();
    const soon = seldom(load, 1500), timer = setInterval(() => live && load(), 5000);
    const off = onEvent(({ tag }) => { if (tag.startsWith(`salt/job/${jid}/`)) soon(); });
    return () => { clearInterval(timer); off(); };
}

// ---- all ------------------------------------------------------------------------------------------

async function read(n) {
    try {
        const { columns, rows, running } = await runner('overview.jobs', { count: n });
        const runs = new Set(running);
        return { jobs: rows.map((row) => {
            const job = Object.fromEntries(columns.map((name, i) => [name, row[i]]));
            return { ...job, ms: job.start_us / 1000, running: runs.has(job.jid) };
        }) };
    } catch (failure) {
        if (failure.kind !== 'denied')
            throw failure;
        // A rule of @jobs shows which jobs there are, though not what became of them.
        const all = await jobsAllowed().catch(() => { throw failure; });
        const at = (jid) => Date.parse(`${jid.slice(0, 4)}-${jid.slice(4, 6)}-${jid.slice(6, 8)}T${jid.slice(8, 10)}:${jid.slice(10, 12)}:${jid.slice(12, 14)}`);
        return { partly: true, jobs: Object.entries(all).map(([jid, job]) => ({ jid, ms: at(jid), fun: job.Function, arg: job.Arguments, tgt: job.Target, tgt_type: job['Target-type'], user: job.User })).reverse().slice(0, n) };
    }
}

export const jobs = {
    name: 'jobs', title: 'Jobs', key: '2',
    show(box, [jid]) {
        if (jid)
            return one(box, jid);
        let all = [], shown = '', filter = '', n = 200;
        const search = field('Function, target, user or job', { oninput: () => { filter = search.value; draw(); } });
        const chart = h('div'), body = h('div', { class: 'body' }, note('Asking the master …')), said = h('p', { class: 'dim count', role: 'status' });
        const list = new List({
            label: 'Jobs', key: (job) => job.jid, open: (job) => { location.hash = `#/jobs/${encodeURIComponent(job.jid)}`; },
            columns: [{ name: 'time', title: 'Begun' }, { name: 'state', title: 'Verdict' }, { name: 'what', title: 'Function' }, { name: 'target', title: 'Target' }, { name: 'user', title: 'User' }, { name: 'sum', title: 'Minions' }],
            cells: (job) => [h('time', { title: when(job.ms) }, short(job.ms)), verdict(job) === 'unknown' ? '' : mark(verdict(job), true), h('span', { title: names(job.fun) }, h('b', null, names(job.fun)), ' ', h('span', { class: 'dim' }, brief(argsOf(job.arg)))), brief(target(job.tgt), 80), job.user ?? '', counts(job)],
            empty: () => (all.length ? note('No job fits.', 'Clear the search, or choose another verdict.') : note('No job was begun yet.', 'Jobs appear here as they begin.')),
        });
        const only = choice('Verdicts', [['', 'All'], ['failed', '✕ Failed'], ['silent', '? Silent'], ['running', '▸ Running']], shown, (value) => { shown = value; draw(); });
        function draw() {
            const fits = matcher(filter);
            list.show(all.filter((job) => (shown === '' || verdict(job) === shown) && (filter === '' || fits(names(job.fun)) || fits(target(job.tgt)) || fits(job.user ?? '') || fits(job.jid))));
            said.textContent = list.rows.length === all.length ? '' : `${count(list.rows.length)} of ${count(all.length)}`;
        }
        async function load() {
            let partly;
            try {
                ({ jobs: all, partly } = await read(n));
            } catch (failure) {
                if (failure.kind === 'session')
                    throw failure;
                body.replaceChildren(problem(failure));
                return;
            }
            chart.replaceChildren(all.length ? timeline(all, (ms) => { const i = list.rows.findIndex((job) => job.ms <= ms); if (i >= 0) list.go(i); }) : '',
                partly ? h('p', { class: 'hint' }, 'Without a rule for the runner overview.jobs their verdicts are not shown.') : '');
            if (!list.box.isConnected)
                body.replaceChildren(list.box);
            more.hidden = all.length < n || n >= 1000;
            draw();
        }
        const more = h('button', { type: 'button', class: 'quiet', hidden: true, onclick: () => { n = 1000; load(); } }, 'The newest 1,000');
        box.append(h('div', { class: 'bar' }, h('h1', { id: 'title' }, 'Jobs'), search, only, said, more), chart, body);
        load();
        const soon = seldom(load, 2000), timer = setInterval(load, 30000);
        const off = onEvent(({ tag }) => { if (/^salt\/job\/\d+\/(new|ret)/.test(tag)) soon(); });
        return () => { clearInterval(timer); off(); };
    },
};
