// states.js - a matrix of states and minions out of the newest stored run of each, or of each one's newest run with
// test=True, which tells what has drifted. Drawn on a canvas of the size of the window: only cells in sight are drawn.
import { onEvent, runner } from './api.js';
import { letterOf, returnOf, stateCard, tagParts } from './returns.js';
import { choice, count, field, h, many, MARKS, mark, matcher, note, panel, problem, seldom, when, wordsOf } from './ui.js';

let CELL = 22, HEAD = 132, UNIT = 1; // pixels, and how large letters are: the root's, which is larger on a wall
const kinds = { o: 'ok', c: 'info', x: 'warn', f: 'bad', s: 'dim' };
const tally = (cells, letter) => cells.split(letter).length - 1;

// Minions whose states came out alike are one row.
function rowsOf(matrix, alike, fits) {
    const rows = [], by = new Map();
    for (const [id, [jid, us, cells, why]] of Object.entries(matrix.rows)) {
        if (!fits(id))
            continue;
        const key = why === null ? cells : `!${why}`;
        let row = alike ? by.get(key) : undefined;
        if (!row) {
            row = { ids: [], cells: (cells ?? '').padEnd(matrix.columns.length, '.'), why, jid, ms: 0, runs: {} };
            row.bad = why === null ? tally(row.cells, 'f') : 1e6;
            row.drift = tally(row.cells, 'x');
            row.changed = tally(row.cells, 'c');
            rows.push(row);
            by.set(key, row);
        }
        row.ids.push(id);
        row.runs[id] = jid;
        row.ms = Math.max(row.ms, us / 1000);
    }
    for (const row of rows)
        row.ids.sort();
    return rows.sort((a, b) => b.bad - a.bad || b.drift - a.drift || b.changed - a.changed || b.ids.length - a.ids.length || (a.ids[0] < b.ids[0] ? -1 : 1));
}

class Grid {
    constructor(open, say) {
        Object.assign(this, { open, say, rows: [], columns: [], at: [0, 0] });
        this.canvas = h('canvas', { 'aria-hidden': 'true' });
        this.space = h('div', { class: 'space' });
        this.scroll = h('div', { class: 'scroll matrix', tabindex: '0', role: 'application', 'aria-label': 'Matrix of states and minions: arrow keys move, Enter opens', 'aria-describedby': 'cell-said',
            onscroll: () => this.later(), onkeydown: (e) => this.keys(e), onfocus: () => this.later(), onblur: () => this.later(),
            onmousemove: (e) => this.point(e, false), onclick: (e) => this.point(e, true) }, this.canvas, this.space);
        new ResizeObserver(() => this.later()).observe(this.scroll);
        this.recolour = () => { this.colours = null; this.later(); };
    }
    show(rows, columns) {
        Object.assign(this, { rows, columns });
        this.at = [Math.min(this.at[0], Math.max(0, rows.length - 1)), Math.min(this.at[1], Math.max(0, columns.length - 1))];
        // As wide as the longest name needs, about.
        this.names = 28 + 7.6 * rows.slice(0, 2000).reduce((most, row) => Math.max(most, row.ids[0].length + (row.ids.length > 1 ? 2 + count(row.ids.length).length : 0)), 10);
        this.later();
        this.tell();
    }
    later() {
        this.waits ||= requestAnimationFrame(() => { this.waits = 0; this.draw(); });
    }
    get side() {
        return Math.min(this.names * UNIT, Math.max(110, this.scroll.clientWidth * 0.3));
    }
    draw() {
        const wide = this.scroll.clientWidth, tall = this.scroll.clientHeight, ratio = devicePixelRatio || 1;
        if (!wide || !tall)
            return;
        const css = getComputedStyle(document.documentElement);
        UNIT = parseFloat(css.fontSize) / 15;
        [CELL, HEAD] = [Math.round(22 * UNIT), Math.round(132 * UNIT)];
        this.colours ??= Object.fromEntries(['panel', 'ink', 'dim', 'line', 'accent', 'ok', 'info', 'warn', 'bad', 'ok-soft', 'info-soft', 'warn-soft', 'bad-soft', 'dim-soft'].map((name) => [name, css.getPropertyValue(`--${name}`).trim()]));
        const { colours, side } = this, g = this.canvas.getContext('2d');
        this.space.style.width = `${side + this.columns.length * CELL + 90}px`;
        this.space.style.height = `${HEAD + this.rows.length * CELL + 8}px`;
        this.canvas.width = wide * ratio;
        this.canvas.height = tall * ratio;
        this.canvas.style.width = `${wide}px`;
        this.canvas.style.height = `${tall}px`;
        g.scale(ratio, ratio);
        g.textBaseline = 'middle';
        const { scrollLeft: left, scrollTop: top } = this.scroll, font = css.getPropertyValue('--font');
        const firstRow = Math.floor(top / CELL), lastRow = Math.min(this.rows.length, firstRow + Math.ceil((tall - HEAD) / CELL) + 1);
        const firstColumn = Math.floor(left / CELL), lastColumn = Math.min(this.columns.length, firstColumn + Math.ceil((wide - side) / CELL) + 1);
        g.save();
        g.beginPath();
        g.rect(side, HEAD, wide, tall);
        g.clip();
        g.textAlign = 'center';
        for (let r = firstRow; r < lastRow; r++) {
            const row = this.rows[r], y = HEAD + r * CELL - top;
            if (row.why !== null) {
                g.textAlign = 'left';
                g.font = `${12 * UNIT}px ${font}`;
                g.fillStyle = colours.bad;
                g.fillText(`✕ ${row.why.replaceAll('\n', ' ')}`, side + 4, y + CELL / 2);
                g.textAlign = 'center';
                continue;
            }
            for (let c = firstColumn; c < lastColumn; c++) {
                const letter = row.cells[this.columns[c].at], kind = kinds[letter], x = side + c * CELL - left;
                if (!kind)
                    continue;
                g.fillStyle = colours[`${kind}-soft`];
                g.beginPath();
                g.roundRect(x + 1, y + 1, CELL - 2, CELL - 2, 4);
                g.fill();
                g.font = `${(letter === 'o' ? 16 : 12) * UNIT}px ${font}`;
                g.fillStyle = colours[kind];
                g.fillText(MARKS[letter][0], x + CELL / 2, y + CELL / 2 + 1);
            }
        }
        const [r, c] = this.at, focus = document.activeElement === this.scroll;
        if (this.rows[r]) {
            g.strokeStyle = focus ? colours.accent : colours.dim;
            g.lineWidth = focus ? 2.5 : 1;
            g.strokeRect(side + c * CELL - left + 0.5, HEAD + r * CELL - top + 0.5, CELL - 1, CELL - 1);
        }
        g.restore();
        // Names: of minions at the left, of states above.
        g.save();
        g.beginPath();
        g.rect(0, HEAD, side, tall);
        g.clip();
        g.font = `${13 * UNIT}px ${font}`;
        for (let i = firstRow; i < lastRow; i++) {
            const row = this.rows[i], y = HEAD + i * CELL - top + CELL / 2;
            g.fillStyle = i === r ? colours.accent : colours.ink;
            const extra = row.ids.length > 1 ? ` +${count(row.ids.length - 1)}` : '', room = side - 18 - g.measureText(extra).width;
            let name = row.ids[0];
            while (name.length > 4 && g.measureText(name).width > room)
                name = name.slice(0, -2).replace(/…?$/, '…');
            g.fillText(name, 10, y);
            if (extra) {
                g.fillStyle = colours.dim;
                g.fillText(extra, 10 + g.measureText(name).width, y);
            }
        }
        g.restore();
        g.save();
        g.beginPath();
        g.rect(side - 40, 0, wide, HEAD);
        g.clip();
        for (let i = firstColumn; i < lastColumn; i++) {
            const column = this.columns[i];
            g.save();
            g.translate(side + i * CELL - left + CELL / 2 + 2, HEAD - 8);
            g.rotate(-Math.PI / 3);
            g.fillStyle = i === c ? colours.accent : colours.ink;
            g.font = `${12 * UNIT}px ${font}`;
            g.fillText(column.id.length > 20 ? `${column.id.slice(0, 19)}…` : column.id, 0, 0);
            g.restore();
        }
        g.restore();
        g.strokeStyle = colours.line;
        g.lineWidth = 1;
        g.strokeRect(side - 0.5, HEAD - 0.5, wide, tall);
    }
    tell() {
        const row = this.rows[this.at[0]], column = this.columns[this.at[1]];
        this.say(row, column);
    }
    point(event, opens) {
        const box = this.scroll.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
        const r = Math.floor((y - HEAD + this.scroll.scrollTop) / CELL), c = Math.floor((x - this.side + this.scroll.scrollLeft) / CELL);
        if (y < HEAD || r < 0 || r >= this.rows.length || c >= this.columns.length)
            return;
        this.move(r, Math.max(0, x < this.side ? this.at[1] : c), false);
        if (opens)
            this.open(this.rows[r], x < this.side ? null : this.columns[this.at[1]]);
    }
    move(r, c, scrolls) {
        if (r === this.at[0] && c === this.at[1])
            return;
        this.at = [r, c];
        if (scrolls) {
            const { scroll, side } = this, x = c * CELL, y = r * CELL;
            scroll.scrollLeft = Math.min(x, Math.max(scroll.scrollLeft, x + CELL * 2 - (scroll.clientWidth - side)));
            scroll.scrollTop = Math.min(y, Math.max(scroll.scrollTop, y + CELL * 2 - (scroll.clientHeight - HEAD)));
        }
        this.tell();
        this.later();
    }
    keys(event) {
        if (event.ctrlKey || event.metaKey || event.altKey)
            return;
        const [r, c] = this.at, page = Math.max(1, Math.floor((this.scroll.clientHeight - HEAD) / CELL) - 1);
        const to = { ArrowDown: [r + 1, c], j: [r + 1, c], ArrowUp: [r - 1, c], k: [r - 1, c], ArrowRight: [r, c + 1], ArrowLeft: [r, c - 1], PageDown: [r + page, c], PageUp: [r - page, c], Home: [0, 0], End: [this.rows.length - 1, c] }[event.key];
        if (to)
            this.move(Math.max(0, Math.min(this.rows.length - 1, to[0])), Math.max(0, Math.min(this.columns.length - 1, to[1])), true);
        else if (event.key === 'Enter' && this.rows[r])
            this.open(this.rows[r], this.columns[c]);
        else
            return;
        event.preventDefault();
    }
}

// A minion's state, or all of them.
async function open(row, column) {
    const id = row.ids[0], others = row.ids.length > 1;
    const rest = h('div', null, h('p', { class: 'dim' }, 'Reading its return …'));
    panel(column ? `${id}: ${column.id}` : id, others ? h('details', null, h('summary', null, `${count(row.ids.length)} minions came out alike; this is the first`), h('p', { class: 'ids mono' }, row.ids.slice(0, 500).join(' '), row.ids.length > 500 ? ' …' : '')) : null,
        h('p', { class: 'dim' }, `Run ${row.runs[id]}, `, h('a', { href: `#/jobs/${row.runs[id]}` }, 'the whole job')), rest);
    try {
        const ret = (await runner('jobs.list_job', { jid: row.runs[id], minions: [id] })).Result?.[id];
        const found = column && ret && row.why === null ? Object.entries(ret.return).filter(([tag, one]) => tagParts(tag)?.fun === column.fun && (one.__id__ ?? tagParts(tag).id) === column.id) : [];
        rest.replaceChildren(...(found.length ? found.sort(([, a], [, b]) => 'fxcso'.indexOf(letterOf(a)) - 'fxcso'.indexOf(letterOf(b))).map(([tag, one]) => stateCard(tag, one)) : [ret ? returnOf(ret) : note('Its return is not in the store any more.')]));
    } catch (failure) {
        rest.replaceChildren(problem(failure));
    }
}

export const states = {
    name: 'states', title: 'States', key: '3',
    show(box, [which, wanted]) {
        let matrix = null, filter = '', alike = null, differing = false;
        const test = which === 'drift', mods = wanted ?? '';
        const address = (to, of) => { location.hash = `#/states/${to}${of ? `/${encodeURIComponent(of)}` : ''}`; };
        const search = field('Minion', { oninput: () => { filter = search.value; draw(); } });
        const kind = choice('Runs', [['run', 'Last run'], ['drift', '△ Drift']], test ? 'drift' : 'run', (value) => address(value, mods));
        const select = h('select', { 'aria-label': 'What was applied', onchange: () => address(test ? 'drift' : 'run', select.value) });
        const group = h('input', { type: 'checkbox', onchange: () => { alike = group.checked; draw(); } });
        const differ = h('input', { type: 'checkbox', onchange: () => { differing = differ.checked; draw(); } });
        const legend = h('p', { class: 'legend', role: 'status' }), said = h('p', { class: 'said-cell', id: 'cell-said', 'aria-live': 'polite' }), body = h('div', { class: 'body' }, note('Reading stored runs …'));
        const grid = new Grid(open, (row, column) => {
            if (!row || (!column && row.why === null)) {
                said.textContent = '';
                return;
            }
            const who = row.ids.length > 1 ? `${row.ids[0]} and ${count(row.ids.length - 1)} alike` : row.ids[0];
            if (row.why !== null)
                said.replaceChildren(h('b', null, who), ` ${row.why}`);
            else
                said.replaceChildren(mark(row.cells[column.at], true), ' ', h('b', null, column.id), ` ${column.fun}${column.sls ? ` in ${column.sls}` : ''} · ${who} · ${when(row.ms)}`);
        });
        function draw() {
            const rows = rowsOf(matrix, alike, matcher(filter));
            let columns = matrix.columns.map(([id, fun, sls], at) => ({ id, fun, sls, at }));
            if (differing)
                columns = columns.filter(({ at }) => rows.some((row) => 'fxcs'.includes(row.cells[at] || ' ')));
            const sums = {};
            for (const row of rows)
                for (const letter of 'fxcso')
                    sums[letter] = (sums[letter] ?? 0) + tally(row.cells, letter) * row.ids.length;
            const none = matrix.accepted - Object.keys(matrix.rows).length;
            legend.replaceChildren(...[...'fxcso'].filter((letter) => sums[letter]).map((letter) => h('span', null, mark(letter, true), ` ${count(sums[letter])}`)),
                h('span', { class: 'dim' }, `${many(Object.keys(matrix.rows).length, 'minion')}, ${many(matrix.columns.length, 'state')}${none > 0 ? `; ${count(none)} without such a run in the store` : ''}${matrix.left_out ? '; more states than are shown' : ''}`));
            if (rows.length === 0) {
                body.replaceChildren(Object.keys(matrix.rows).length ? note('No minion fits.', 'Clear the search.') : test ? note('No run with test=True is in the store.', 'This page starts none. A schedule of state.apply with test=True on the minions shows drift here.') : note('No such run is in the store.', 'It appears here when state.apply has run.'));
                return;
            }
            if (!grid.scroll.isConnected)
                body.replaceChildren(grid.scroll, said);
            grid.show(rows, columns);
        }
        // For ten thousand minions the master reads a hundred megabytes: it is asked seldom when it takes long.
        let busy = false, took = 0, last = 0;
        async function load() {
            if (busy || Date.now() - last < took * 20)
                return;
            busy = true;
            const begun = Date.now();
            try {
                matrix = await runner('overview.states', { test, mods });
            } catch (failure) {
                if (failure.kind === 'session')
                    throw failure;
                body.replaceChildren(problem(failure));
                return;
            } finally {
                busy = false;
                last = Date.now();
                took = last - begun;
            }
            const all = Object.entries(matrix.mods);
            if (!all.some(([name]) => name === mods))
                all.push([mods, 0]);
            // Without a highstate, what was applied instead is the better thing to begin with.
            if (wanted === undefined && !matrix.mods[''] && all.length > 1) {
                address(test ? 'drift' : 'run', all.filter(([name]) => name !== '').sort((a, b) => b[1] - a[1])[0][0]);
                return;
            }
            select.replaceChildren(...all.sort().map(([name, n]) => h('option', { value: name, selected: name === mods }, `${name === '' ? 'highstate' : name} (${many(n, 'run')})`)));
            alike ??= Object.keys(matrix.rows).length > 50;
            group.checked = alike;
            draw();
        }
        addEventListener('halite-theme', grid.recolour);
        box.append(h('div', { class: 'bar' }, h('h1', { id: 'title' }, 'States'), kind, select, search, h('label', { class: 'check' }, group, 'alike as one'), h('label', { class: 'check' }, differ, 'only states of note')), legend, body);
        load();
        const soon = seldom(load, 5000), timer = setInterval(load, 60000);
        const off = onEvent(({ tag, data }) => { if (/^salt\/job\/\d+\/ret\//.test(tag) && /^state\./.test(wordsOf(data?.fun))) soon(); });
        return () => { clearInterval(timer); off(); removeEventListener('halite-theme', grid.recolour); };
    },
};
