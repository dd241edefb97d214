// events.js - events as they come, in a ring of the newest, with filters.
import { onEvent, onStatus } from './api.js';
import { List } from './list.js';
import { brief, choice, clock, count, field, h, json, matcher, note, panel, wordsOf } from './ui.js';

const KEPT = 5000;
const kinds = { job: /^salt\/job\/|^\d{20}$/, auth: /^salt\/(auth|key|gate)/, minion: /^salt\/(minion|presence|beacon)|^minion_/, run: /^salt\/(run|wheel|batch|orch)/ };
const own = /^(runner\.)?overview\.|^(runner\.)?orchestrate\.(list|show|graph)$|^(runner\.)?jobs\.list_job$|^(runner\.)?cache\.grains$/;
const kindOf = (tag) => Object.keys(kinds).find((name) => kinds[name].test(tag)) ?? 'other';
// Kept while another view is shown, so that coming back finds what has been.
let ring = [], total = 0;
onEvent(({ tag, data }) => {
    const mine = /^salt\/run\//.test(tag) && own.test(wordsOf(data?.fun));
    ring.push({ n: ++total, tag, data, kind: kindOf(tag), mine, ms: Date.parse(`${data?._stamp ?? ''}Z`) || Date.now() });
    if (ring.length > KEPT + 500)
        ring = ring.slice(-KEPT);
});

const summary = (data) => brief(data?.cmd === '_return' || data?.return !== undefined ? { fun: data.fun, id: data.id, retcode: data.retcode, return: data.return } : Object.fromEntries(Object.entries(data ?? {}).filter(([name]) => name !== '_stamp')), 300);

export const events = {
    name: 'events', title: 'Events', key: '5',
    show(box) {
        let held = false, kind = '', hide = true, tags = '', words = '', frozen = [];
        const byTag = field('Tag, as salt/job/*', { id: 'tag-filter', oninput: () => { tags = byTag.value; draw(); } });
        const byText = field('Text in the data', { class: 'search second', oninput: () => { words = byText.value.toLowerCase(); draw(); } });
        const only = choice('Kinds', [['', 'All'], ['job', 'Jobs'], ['minion', 'Minions'], ['auth', 'Keys'], ['run', 'Runners'], ['other', 'Other']], kind, (value) => { kind = value; draw(); });
        const said = h('p', { class: 'dim count', role: 'status' });
        const hold = h('button', { type: 'button', class: 'quiet', id: 'hold', 'aria-pressed': 'false', onclick: toggle }, '❙❙ Hold');
        const asks = h('label', { class: 'check' }, h('input', { type: 'checkbox', checked: true, onchange: (event) => { hide = event.target.checked; draw(); } }), 'without this page’s own questions');
        const list = new List({
            label: 'Events, the newest first', key: (event) => event.n, open: (event) => panel(event.tag, h('p', { class: 'dim' }, clock(event.ms)), json(event.data)),
            columns: [{ name: 'time', title: 'Time' }, { name: 'tag', title: 'Tag' }, { name: 'data', title: 'Data' }],
            cells: (event) => [clock(event.ms), event.tag, h('span', { class: 'dim' }, summary(event.data))],
            empty: () => (ring.length ? note('No event fits.', 'Change the filters above.') : note('No event has come yet.', 'Events appear here as they happen; those of before are in the journal: salt-run state.event.')),
        });
        function draw() {
            const fits = matcher(tags), source = held ? frozen : ring;
            const rows = source.filter((event) => (kind === '' || event.kind === kind) && !(hide && event.mine) && fits(event.tag) && (words === '' || JSON.stringify(event.data ?? null).toLowerCase().includes(words))).reverse();
            list.show(rows);
            said.textContent = `${count(rows.length)} of ${count(source.length)}${total > source.length && !held ? `, ${count(total)} came` : ''}${held && total > (frozen.at(-1)?.n ?? 0) ? `, ${count(total - (frozen.at(-1)?.n ?? 0))} more since` : ''}`;
        }
        function toggle() {
            held = !held;
            frozen = ring.slice();
            hold.setAttribute('aria-pressed', String(held));
            hold.textContent = held ? '▶ Go on' : '❙❙ Hold';
            draw();
        }
        const key = (event) => { if (event.key === 'p' && !event.target.matches?.('input') && !event.ctrlKey && !event.metaKey) toggle(); };
        addEventListener('keydown', key);
        const refused = h('div');
        box.append(h('div', { class: 'bar' }, h('h1', { id: 'title' }, 'Events'), byTag, byText, hold), h('div', { class: 'bar low' }, only, asks, said), refused, h('div', { class: 'body' }, list.box));
        let due = 0;
        const off = onEvent(() => { due ||= setTimeout(() => { due = 0; draw(); }, 250); });
        const quiet = onStatus((word) => refused.replaceChildren(word === 'refused' ? h('p', { class: 'hint' }, 'Your rules show no events of this master.') : ''));
        draw();
        return () => { clearTimeout(due); off(); quiet(); removeEventListener('keydown', key); };
    },
};
