// fleet.js - every minion: up, down, waiting for its key to be accepted; address, version, since when.
import { onEvent, runner } from './api.js';
import { List } from './list.js';
import { ago, choice, count, field, h, json, mark, matcher, note, pairs, panel, problem, seldom, short, when, wordsOf } from './ui.js';

const order = { pending: 0, down: 1, up: 2, rejected: 3 };
const text = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

async function open([id, state, address, version, seen]) {
    const rest = h('div', null, h('p', { class: 'dim' }, 'Reading its grains …'));
    const seenText = seen ? `${when(seen)} (${ago(seen)})` : state === 'up' ? '' : 'not since the master’s start';
    panel(id, mark(state, true), pairs([['Address', address], ['Version', version], [state === 'up' ? 'Connected since' : 'Last seen', seenText]]), rest);
    if (state === 'pending' || state === 'rejected') {
        rest.replaceChildren(h('p', { class: 'dim' }, `Its key is ${state === 'pending' ? 'not accepted yet' : 'rejected'}. On the master: `, h('code', null, `salt-key -f '${id}'`)));
        return;
    }
    try {
        const grains = (await runner('cache.grains', { tgt: id }))[id] ?? {};
        const some = ['os', 'osrelease', 'kernelrelease', 'cpuarch', 'num_cpus', 'mem_total', 'virtual', 'saltversion', 'roles'];
        rest.replaceChildren(h('h3', null, 'Grains, as it last sent them'),
            pairs(some.filter((name) => grains[name] !== undefined).map((name) => [name, wordsOf(grains[name])])),
            h('details', null, h('summary', null, 'All grains'), json(grains)));
    } catch (failure) {
        rest.replaceChildren(problem(failure));
    }
}

export const fleet = {
    name: 'fleet', title: 'Fleet', key: '1',
    show(box) {
        let rows = [], shown = '', filter = '';
        const tiles = h('div', { class: 'tiles' }), search = field('Minion, address or version', { oninput: () => { filter = search.value; draw(); } });
        const said = h('p', { class: 'dim count', role: 'status' }), body = h('div', { class: 'body' });
        const list = new List({
            label: 'Minions', key: (row) => row[0], open, sorted: { name: 'state', down: false },
            columns: [
                { name: 'state', title: 'State', sort: (a, b) => order[a[1]] - order[b[1]] || text(a[0], b[0]) },
                { name: 'id', title: 'Minion', sort: (a, b) => text(a[0], b[0]) },
                { name: 'address', title: 'Address', sort: (a, b) => text(a[2] ?? '', b[2] ?? '') },
                { name: 'version', title: 'Version', sort: (a, b) => text(a[3] ?? '', b[3] ?? '') },
                { name: 'seen', title: 'Last seen', sort: (a, b) => (b[1] === 'up' ? Infinity : b[4] ?? 0) - (a[1] === 'up' ? Infinity : a[4] ?? 0) || 0 },
            ],
            cells: ([id, state, address, version, seen]) => [mark(state, true), id, (address ?? '').replace(/:\d+$/, '') || '–', version || '–',
                state === 'up' ? h('span', { title: seen ? `connected since ${when(seen)}` : '' }, 'connected') : seen ? h('span', { title: when(seen) }, state === 'pending' ? `waits, ${short(seen)}` : `${ago(seen)} ago`.replace('now ago', 'now')) : h('span', { class: 'dim' }, 'before the master’s start')],
            empty: () => (rows.length === 0 ? note('No minion is known yet.', 'A minion whose key waits for acceptance appears here by itself.') : note('No minion fits.', 'Clear the search, or choose another state.')),
        });
        const show = (value) => { shown = value; draw(); };
        function draw() {
            const fits = matcher(filter);
            list.show(rows.filter((row) => (shown === '' || row[1] === shown) && (fits(row[0]) || fits(row[2] ?? '') || fits(row[3] ?? ''))));
            said.textContent = list.rows.length === rows.length ? '' : `${count(list.rows.length)} of ${count(rows.length)}`;
        }
        function summary() {
            const sums = { up: 0, down: 0, pending: 0, rejected: 0 };
            for (const row of rows)
                sums[row[1]]++;
            const options = [['', 'All', rows.length], ['up', 'Up', sums.up], ['down', 'Down', sums.down], ['pending', 'Pending', sums.pending], ...(sums.rejected ? [['rejected', 'Rejected', sums.rejected]] : [])];
            tiles.replaceChildren(choice('State', options.map(([value, word, n]) => [value, h('b', { class: value && n ? `n-${value}` : '' }, count(n)), h('span', null, value ? mark(value) : null, ' ', word)]), shown, show));
        }
        async function load() {
            try {
                rows = (await runner('overview.fleet')).rows;
            } catch (failure) {
                if (failure.kind === 'session')
                    throw failure;
                body.replaceChildren(problem(failure));
                return;
            }
            if (!list.box.isConnected)
                body.replaceChildren(list.box);
            summary();
            draw();
        }
        box.append(h('div', { class: 'bar' }, h('h1', { id: 'title' }, 'Fleet'), search, said), tiles, body);
        body.append(note('Asking the master …'));
        load();
        const soon = seldom(load, 2000), timer = setInterval(load, 30000);
        const off = onEvent(({ tag }) => { if (/^salt\/(auth|presence|key|minion\/[^/]+\/start)/.test(tag)) soon(); });
        return () => { clearInterval(timer); off(); };
    },
};
